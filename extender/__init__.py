"""Leeway: a scheduler extender that understands more tolerations than kube-scheduler does.

cli        the commands; builds everything
server     the listeners: scheduler, ops, admission
review     validate, explain, scan and doctor, as functions over the core
cluster    the cluster, from a watched API server or from manifests
wire       kube-scheduler's protocol: bytes to arguments, verdicts to bytes
config     one file and some flags to a frozen Config
plugins    NodeUnschedulable, TaintToleration, NodeAffinity, VolumeBinding, PodTopologySpread
framework  the plugin interface, the snapshot, the runner
match      does A select B? tolerations, selectors, versions
model      Kubernetes objects as scheduling reads them
"""

__version__ = "0.1.0"
