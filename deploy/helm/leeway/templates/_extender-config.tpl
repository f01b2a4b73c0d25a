{{- define "leeway.extenderConfig" -}}
apiVersion: leeway.scheduling/v1alpha1
kind: ExtenderConfiguration
{{ if eq .Values.mode "compile" -}}
{{ include "leeway.controllerKeys" . }}
{{- else -}}
{{ include "leeway.extenderKeys" . }}
{{- end }}
logging: {format: {{ .Values.leeway.logging.format }}, verbosity: {{ .Values.leeway.logging.verbosity }}}
{{- end -}}

{{- define "leeway.extenderKeys" -}}
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
{{- if ne (include "leeway.annotationPrefix" .) "scheduling.leeway/" }}
annotationPrefix: {{ include "leeway.annotationPrefix" . }}
{{- end }}
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
{{- end -}}

{{- define "leeway.controllerKeys" -}}
listen:
  ops: {{ printf "%s:8080" .Values.podAddress | quote }}
  admission: {{ printf "%s:8443" .Values.podAddress | quote }}
tls:
  admission:
    certFile: /etc/leeway/admission/tls.crt
    keyFile: /etc/leeway/admission/tls.key
compile:
  # The controller never touches pods of any other scheduler name. [] means all names.
  schedulerNames: {{ toJson .Values.compile.schedulerNames }}
  extraTaints: {{ toJson .Values.compile.extraTaints }}
  maxTolerations: {{ int64 .Values.compile.maxTolerations }}
  # Only a rule that names such a key tolerates it.
  protectedTaints:
  {{- toYaml .Values.compile.protectedTaints | nindent 4 }}
  noExecuteGrace: {{ .Values.compile.noExecuteGrace }}
leaderElection: {namespace: {{ .Release.Namespace }}, name: {{ include "leeway.fullname" . }}}
{{- with .Values.compile.extenderSchedulerNames }}
# Extenders enforce the node-affinity annotation for pods of these names. The webhook refuses it on
# other pods that are compiled.
profiles:
{{- range . }}
- schedulerName: {{ . | quote }}
{{- end }}
{{- end }}
# The webhooks ask about annotations with the same prefix.
annotationPrefix: {{ include "leeway.annotationPrefix" . }}
{{- with .Values.leeway.featureGates }}
featureGates: {{ toJson . }}
{{- end }}
{{- with .Values.leeway.maxStaleness }}
maxStaleness: {{ . }}
{{- end }}
# The API server sends two objects of 3 MiB at most.
limits: {requestBytes: 8388608, inFlightBytes: {{ int64 .Values.leeway.inFlightBytes }}, cacheBytes: {{ int64 .Values.leeway.cacheBytes }}, writesPerSecond: {{ int64 .Values.compile.writesPerSecond }}}
{{- end -}}
