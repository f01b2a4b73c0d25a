{{- define "leeway.schedulerConfig" -}}
# docs/scheduler.md gives the reason for each setting. Do not shorten it.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
{{- if eq .Values.mode "extender-service" }}
clientConnection:
  kubeconfig: {{ .Values.scheduler.kubeconfig }}
{{- end }}
# The default lease belongs to the cluster's own scheduler.
leaderElection:
  leaderElect: true
  resourceNamespace: {{ .Release.Namespace }}
  resourceName: {{ .Values.schedulerName }}
# Only back-off limits how often kube-scheduler asks about a refused pod. The default is 10 s at
# most.
podMaxBackoffSeconds: 60
profiles:
- schedulerName: {{ .Values.schedulerName }}
  # All nodes, and not a sample that may contain none that fits.
  percentageOfNodesToScore: 100
  plugins:
    multiPoint:
      disabled:
      # An extender can only remove nodes, so Leeway enforces every taint.
      - name: TaintToleration
      # If it is on, kube-scheduler never asks Leeway about a cordoned node.
      - name: NodeUnschedulable
    # Leeway enforces hard topology spread constraints, with extended rules for the nodes that
    # count. The scores stay on: they know the cluster's default constraints.
    preFilter:
      disabled:
      - name: PodTopologySpread
    filter:
      disabled:
      - name: PodTopologySpread
    score:
      disabled:
      # Leeway scores native preferred terms too. Here they would count twice.
      - name: NodeAffinity
  pluginConfig:
  - name: DefaultPreemption
    args:
      # All candidates, and not a random tenth that may contain none that the pod tolerates.
      minCandidateNodesPercentage: 100
extenders:
- urlPrefix: {{ include "leeway.url" . }}
  filterVerb: filter
  prioritizeVerb: prioritize
  # Without it, preemption would evict pods from nodes that the pod does not tolerate.
  preemptVerb: preempt
  # The weight of in-tree TaintToleration.
  weight: 3
  # kube-scheduler sends only names. Leeway looks them up in its own view of the cluster.
  nodeCacheCapable: true
  # If true, nobody enforces taints while Leeway is away. For the same reason there are no
  # managedResources: pods that ask for none of them would skip Leeway.
  ignorable: false
  # If Leeway hangs, each pod waits this long, one after the other.
  httpTimeout: 5s
{{- if eq .Values.mode "second-scheduler" }}
  # Loopback inside the pod.
  enableHTTPS: false
{{- else }}
  enableHTTPS: true
  tlsConfig:
    # The name in Leeway's certificate, whatever address the scheduler calls.
    serverName: {{ include "leeway.serverName" . }}
    # The scheduler reads it once, at start. Without it the scheduler would trust anybody.
    caFile: {{ .Values.scheduler.tls.caFile }}
    # The client certificate proves to Leeway that the caller is the scheduler.
    certFile: {{ .Values.scheduler.tls.certFile }}
    keyFile: {{ .Values.scheduler.tls.keyFile }}
{{- end }}
{{- end -}}
