{{- define "leeway.fullname" -}}
{{- if contains "leeway" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-leeway" (.Release.Name | trunc 43 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{- define "leeway.selectorLabels" -}}
app.kubernetes.io/name: leeway
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "leeway.labels" -}}
{{ include "leeway.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* REPOSITORY:TAG or REPOSITORY@DIGEST, from a list of image and default tag. */}}
{{- define "leeway.reference" -}}
{{- $image := index . 0 -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default (index . 1) }}
{{- end -}}
{{- end -}}

{{- define "leeway.image" -}}
{{- if not .Values.image.repository -}}
{{- fail "image.repository is not set: build the image with `make image`, push it to your registry, and name it with --set image.repository=REGISTRY/leeway." -}}
{{- end -}}
{{ include "leeway.reference" (list .Values.image .Chart.AppVersion) }}
{{- end -}}

{{/* vX.Y.Z of kube-scheduler, without the suffix of a provider. */}}
{{- define "leeway.schedulerVersion" -}}
{{- $asked := .Values.scheduler.image.tag | default .Capabilities.KubeVersion.Version -}}
{{- $version := regexFind "^v?[0-9]+\\.[0-9]+\\.[0-9]+" $asked -}}
{{- if not $version -}}
{{- fail (printf "scheduler.image.tag is %q: it must begin with the version of kube-scheduler, such as v1.36.3, because feature gates depend on it." $asked) -}}
{{- end -}}
{{- $version -}}
{{- end -}}

{{/* The gates for prompt retries, by version: a scheduler with an unknown gate does not start. */}}
{{- define "leeway.schedulerGates" -}}
{{- $version := include "leeway.schedulerVersion" . -}}
{{- $own := dict -}}
{{- if semverCompare "<1.32.0-0" $version -}}
{{- $_ := set $own "SchedulerQueueingHints" true -}}
{{- end -}}
{{- $pairs := list -}}
{{- range $name, $on := merge (dict) .Values.scheduler.featureGates $own -}}
{{- $pairs = append $pairs (printf "%s=%t" $name $on) -}}
{{- end -}}
{{- join "," $pairs -}}
{{- end -}}

{{- define "leeway.serverName" -}}
{{ include "leeway.fullname" . }}.{{ .Release.Namespace }}.svc
{{- end -}}

{{/* Where the scheduler calls Leeway. */}}
{{- define "leeway.url" -}}
{{- if eq .Values.mode "second-scheduler" -}}
http://127.0.0.1:8888
{{- else if .Values.scheduler.url -}}
{{ .Values.scheduler.url }}
{{- else if contains ":" .Values.service.clusterIP -}}
https://[{{ .Values.service.clusterIP }}]:8888
{{- else -}}
https://{{ .Values.service.clusterIP | default (include "leeway.serverName" .) }}:8888
{{- end -}}
{{- end -}}

{{- define "leeway.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* The operators that need the webhook, as CEL lists; a test holds them to extender/match/operators.py. */}}
{{- define "leeway.semverOperators" -}}
['SemverGt', 'SemverLt', 'SemverEq']
{{- end -}}
{{- define "leeway.comparingOperators" -}}
['Gt', 'Lt', 'SemverGt', 'SemverLt', 'SemverEq']
{{- end -}}
