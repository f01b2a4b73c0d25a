"""What extended rules of manifests come to as plain fields, before they reach a cluster."""
