"""Leeway: a scheduler extender that understands more tolerations than kube-scheduler does.

cli        the commands; builds everything
server     the doors: scheduler, ops, admission
review     what a person or the API server is told about rules, as functions
cluster    the eyes: a watched API server, or manifests
wire       the language of kube-scheduler, bytes to arguments and verdicts to bytes
config     one file and some flags to a frozen Config
plugins    NodeUnschedulable, TaintToleration, NodeAffinity
framework  the contract, the snapshot, the runner
match      does A select B? tolerations, selectors, versions
model      Kubernetes objects as scheduling reads them
"""

__version__ = "0.1.0"
