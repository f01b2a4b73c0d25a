"""Extended rules of manifests as plain fields, before the manifests reach a cluster."""
