"""Refusals by PodTopologySpread: the counts of the domains, and the skew that would do."""
