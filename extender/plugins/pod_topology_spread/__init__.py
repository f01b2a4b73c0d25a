"""PodTopologySpread: pods are spread evenly over the domains of the nodes that they may use."""

from extender.plugins.pod_topology_spread.constraints import REASON_TOO_LARGE, REASON_TOO_MANY
from extender.plugins.pod_topology_spread.filtering import (
    REASON,
    REASON_IN_FLIGHT,
    REASON_MISSING_LABEL,
)
from extender.plugins.pod_topology_spread.plugin import PodTopologySpread

__all__ = [
    "REASON",
    "REASON_IN_FLIGHT",
    "REASON_MISSING_LABEL",
    "REASON_TOO_LARGE",
    "REASON_TOO_MANY",
    "PodTopologySpread",
]
