{{- define "leeway.extenderConfig" -}}
apiVersion: leeway.scheduling/v1alpha1
kind: ExtenderConfiguration
listen:
{{- if eq .Values.mode "second-scheduler" }}
  # Only the containers of the pod reach loopback, so the scheduler beside needs no certificate.
  scheduler: 127.0.0.1:8888
{{- else }}
  scheduler: {{ printf "%s:8888" .Values.podAddress | quote }}
{{- end }}
  ops: {{ printf "%s:8080" .Values.podAddress | quote }}
{{- if eq .Values.mode "extender-service" }}
tls:
  scheduler:
    certFile: /etc/leeway/tls/tls.crt
    keyFile: /etc/leeway/tls/tls.key
    # Only who shows a certificate of this CA is answered.
    clientCAFile: /etc/leeway/tls/ca.crt
{{- end }}
# Pods of any other scheduler name are judged by their node-affinity annotation only. The plugins
# are named, because each needs its part of the scheduler's configuration.
profiles:
- schedulerName: {{ .Values.schedulerName }}
  plugins:
  - {name: NodeUnschedulable}
  - {name: TaintToleration, weight: 3}
  - {name: NodeAffinity, weight: 2}
  - {name: VolumeBinding}
  # Soft constraints, the cluster's defaults among them, are scored by kube-scheduler itself.
  - {name: PodTopologySpread, weight: 0}
{{- with .Values.leeway.featureGates }}
featureGates: {{ toJson . }}
{{- end }}
reasons: {{ .Values.leeway.reasons }}
noExecute: {{ .Values.leeway.noExecute }}
{{- if .Values.leeway.explain.enabled }}
explain: {enabled: true}
{{- end }}
{{- with .Values.leeway.maxStaleness }}
maxStaleness: {{ . }}
{{- end }}
# The scheduler sends names. Whole nodes, which would need more, do not come.
limits: {requestBytes: 33554432, cacheBytes: {{ int64 .Values.leeway.cacheBytes }}}
logging: {format: {{ .Values.leeway.logging.format }}, verbosity: {{ .Values.leeway.logging.verbosity }}}
{{- end -}}
