{{- define "leeway.releaseName" -}}
{{- if contains "leeway" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-leeway" (.Release.Name | trunc 43 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{/* A controller has names of its own, so that it can run beside an extender. The longest, of its
Service, has 63 characters. */}}
{{- define "leeway.fullname" -}}
{{- $name := include "leeway.releaseName" . -}}
{{- if and (eq .Values.mode "compile") (not (hasSuffix "-controller" $name)) -}}
{{- printf "%s-controller" ($name | trunc 42 | trimSuffix "-") -}}
{{- else -}}
{{- $name -}}
{{- end -}}
{{- end -}}

{{- define "leeway.program" -}}
app.kubernetes.io/name: {{ eq .Values.mode "compile" | ternary "leeway-controller" "leeway" }}
{{- end -}}

{{- define "leeway.selectorLabels" -}}
{{ include "leeway.program" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "leeway.labels" -}}
{{ include "leeway.program" . }}
{{ include "leeway.releaseLabels" . }}
{{- end -}}

{{- define "leeway.releaseLabels" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
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

{{/* `helm upgrade --reuse-values` of an older release knows no such value, and an empty prefix would
have the webhooks ask about every object with an annotation. */}}
{{- define "leeway.annotationPrefix" -}}
{{ .Values.leeway.annotationPrefix | default "scheduling.leeway/" }}
{{- end -}}

{{/* Where Leeway's pods have the certificate of the admission listener. */}}
{{- define "leeway.admissionSecret" -}}
{{- $default := eq .Values.mode "compile" | ternary "leeway-controller-tls" "leeway-admission-tls" -}}
{{ .Values.admission.secretName | default $default }}
{{- end -}}
