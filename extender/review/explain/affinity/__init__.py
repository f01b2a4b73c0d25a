"""Refusals by NodeAffinity: each term against the node's labels, and the rule that nearly fits."""
