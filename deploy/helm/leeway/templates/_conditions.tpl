{{/* CEL: what the API server asks the webhooks about. Each takes the context and the path of a pod
or of a pod template. */}}
{{- define "leeway.isAnnotated" -}}
{{ index . 1 }}.?metadata.?annotations.orValue({}).exists(name, name.startsWith('{{ include "leeway.annotationPrefix" (index . 0) }}'))
{{- end -}}

{{- define "leeway.hasTolerationRules" -}}
{{- $path := index . 1 -}}
{{ include "leeway.isAnnotated" . }}
{{- with index . 0 }}
|| {{ $path }}.?spec.?tolerations.orValue([]).exists(each,
  each.?expression.hasValue() || each.?operator.orValue('') in {{ include "leeway.comparingOperators" . }})
{{- end -}}
{{- end -}}

{{- define "leeway.hasRules" -}}
{{- $path := index . 1 -}}
{{ include "leeway.hasTolerationRules" . }}
{{- with index . 0 }}
|| {{ $path }}.?spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution
  .?nodeSelectorTerms.orValue([]).exists(term, term.?matchExpressions.orValue([]).exists(
  each, each.?operator.orValue('') in {{ include "leeway.semverOperators" . }}))
|| {{ $path }}.?spec.?affinity.?nodeAffinity.?preferredDuringSchedulingIgnoredDuringExecution
  .orValue([]).exists(term, term.?preference.?matchExpressions.orValue([]).exists(
  each, each.?operator.orValue('') in {{ include "leeway.semverOperators" . }}))
{{- end -}}
{{- end -}}

{{/* The operators that need the webhooks, as CEL lists; a test holds them to extender/match/operators.py. */}}
{{- define "leeway.semverOperators" -}}
['SemverGt', 'SemverLt', 'SemverEq']
{{- end -}}
{{- define "leeway.comparingOperators" -}}
['Gt', 'Lt', 'SemverGt', 'SemverLt', 'SemverEq']
{{- end -}}
