"""What an operator decides about compiled tolerations."""

from dataclasses import dataclass
from typing import Final

from extender.model.core_v1 import Taint

# A pod that tolerates these "by the way" would run on control planes and on nodes that are about
# to be removed.
DEFAULT_PROTECTED: Final = (
    "node-role.kubernetes.io/",
    "karpenter.sh/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "node.cloudprovider.kubernetes.io/",
)

# Kubernetes sets these itself when a node is in trouble; they are protected whatever is configured.
CONDITION_TAINTS: Final = frozenset(
    f"node.kubernetes.io/{condition}"
    for condition in (
        "not-ready",
        "unreachable",
        "unschedulable",
        "memory-pressure",
        "disk-pressure",
        "pid-pressure",
        "network-unavailable",
        "out-of-service",
    )
)


@dataclass(frozen=True, slots=True)
class CompileSettings:
    """Whose rules are compiled, for which taints, and how much is added to one pod."""

    scheduler_names: frozenset[str] = frozenset({"default-scheduler"})  # empty: all
    extra_taints: tuple[Taint, ...] = ()  # of node groups that are scaled to zero
    max_tolerations: int = 64  # added to one pod
    protected_taints: tuple[str, ...] = DEFAULT_PROTECTED
    no_execute_grace: int = 30  # seconds; 0: no guard

    def is_protected(self, key: str) -> bool:
        """Whether only a rule that names this key may tolerate it."""
        return key in CONDITION_TAINTS or any(
            key.startswith(entry) if entry.endswith("/") else key == entry
            for entry in self.protected_taints
        )
