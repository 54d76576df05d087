{{/* The two services: name, port and the other constants of the images. */}}
{{- define "services" -}}
vault: { port: 4200 }
tracker: { port: 6969 }
{{- end }}

{{- define "image" -}}
{{ .root.Values.image.repository }}/{{ .name }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{- define "selector" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{- define "labels" -}}
{{ include "selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "user" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* What the pods of both services have. */}}
{{- define "pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
securityContext: {{- include "user" . | nindent 2 }}
{{- with .values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
volumes:
  - name: tmp
    emptyDir: { medium: Memory, sizeLimit: 64Mi }
  - name: secrets
    secret:
      secretName: {{ .secret.name }}
      defaultMode: 0440
      items:
        {{- range .secret.keys }}
        - { key: {{ . }}, path: {{ . }} }
        {{- end }}
{{- end }}

{{/* What their containers have. */}}
{{- define "container" -}}
image: {{ include "image" . }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext: {{- include "confined" . | nindent 2 }}
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  - { name: secrets, mountPath: /run/secrets/{{ .name }}, readOnly: true }
env:
  {{- $name := .name }}
  {{- range .secret.keys }}
  - { name: {{ . }}_FILE, value: /run/secrets/{{ $name }}/{{ . }} }
  {{- end }}
{{- end }}
