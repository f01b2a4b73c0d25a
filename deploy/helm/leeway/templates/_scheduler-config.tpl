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
# Back-off is all that bounds how often a refused pod is asked about; its default ends at 10 s.
podMaxBackoffSeconds: 60
profiles:
- schedulerName: {{ .Values.schedulerName }}
  # All nodes, not a sample that may hold none that fits.
  percentageOfNodesToScore: 100
  plugins:
    multiPoint:
      disabled:
      # Leeway enforces every taint, because an extender can only remove nodes.
      - name: TaintToleration
      # With it on, Leeway would never be asked about a cordoned node.
      - name: NodeUnschedulable
    # Leeway enforces hard topology spread constraints, with extended rules for the nodes that
    # count. The scores stay here: they know the cluster's default constraints.
    preFilter:
      disabled:
      - name: PodTopologySpread
    filter:
      disabled:
      - name: PodTopologySpread
    score:
      disabled:
      # Leeway scores native preferred terms too, and they would count twice.
      - name: NodeAffinity
  pluginConfig:
  - name: DefaultPreemption
    args:
      # All candidates, not a random tenth that may hold none that the pod tolerates.
      minCandidateNodesPercentage: 100
extenders:
- urlPrefix: {{ include "leeway.url" . }}
  filterVerb: filter
  prioritizeVerb: prioritize
  # Without it, preemption would empty nodes that the pod does not tolerate.
  preemptVerb: preempt
  # In-tree TaintToleration's.
  weight: 3
  # Names only, looked up in Leeway's own view of the cluster.
  nodeCacheCapable: true
  # Ignored, no taint would be enforced while Leeway is away. No managedResources either: they
  # would exempt pods that ask for none of them.
  ignorable: false
  # A hang costs this much per pod, one after the other.
  httpTimeout: 5s
{{- if eq .Values.mode "second-scheduler" }}
  # Loopback inside of the pod.
  enableHTTPS: false
{{- else }}
  enableHTTPS: true
  tlsConfig:
    # What Leeway's certificate is made out for, however it is reached.
    serverName: {{ include "leeway.serverName" . }}
    # Read once, at the scheduler's start. Without it the scheduler would trust anybody.
    caFile: {{ .Values.scheduler.tls.caFile }}
    # What tells Leeway that it is the scheduler who asks.
    certFile: {{ .Values.scheduler.tls.certFile }}
    keyFile: {{ .Values.scheduler.tls.keyFile }}
{{- end }}
{{- end -}}
