{{- define "leeway.extenderConfig" -}}
apiVersion: leeway.scheduling/v1alpha1
kind: ExtenderConfiguration
listen:
{{- if eq .Values.mode "second-scheduler" }}
  # Only containers of this pod reach loopback, so the scheduler needs no certificate.
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
    # Leeway answers only clients with a certificate of this CA.
    clientCAFile: /etc/leeway/tls/ca.crt
{{- end }}
# Leeway judges pods of any other scheduler name only by their node-affinity annotation. The plugins
# are listed, because each needs its part of the scheduler's configuration.
profiles:
- schedulerName: {{ .Values.schedulerName }}
  plugins:
  - {name: NodeUnschedulable}
  - {name: TaintToleration, weight: 3}
  - {name: NodeAffinity, weight: 2}
  - {name: VolumeBinding}
  # kube-scheduler itself scores soft constraints, including the cluster's defaults.
  - {name: PodTopologySpread, weight: 0}
{{- with .Values.leeway.featureGates }}
featureGates: {{ toJson . }}
{{- end }}
reasons: {{ .Values.leeway.reasons }}
refusals: {{ .Values.leeway.refusals }}
noExecute: {{ .Values.leeway.noExecute }}
nudge: {perSecond: {{ .Values.leeway.nudgesPerSecond }}}
{{- if .Values.leeway.explain.enabled }}
explain: {enabled: true}
{{- end }}
{{- with .Values.leeway.maxStaleness }}
maxStaleness: {{ . }}
{{- end }}
# The scheduler sends names. Only whole nodes would need more.
limits: {requestBytes: 33554432, inFlightBytes: {{ int64 .Values.leeway.inFlightBytes }}, cacheBytes: {{ int64 .Values.leeway.cacheBytes }}}
logging: {format: {{ .Values.leeway.logging.format }}, verbosity: {{ .Values.leeway.logging.verbosity }}}
{{- end -}}
