"""The eyes: where the nodes come from when a request only names them."""
