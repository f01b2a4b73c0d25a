"""What may be changed so that a plugin lets a pod pass; nothing is told before it was tried."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from extender.framework.snapshot import NodeInfo, Snapshot
from extender.model.core_v1 import Pod
from extender.review.explain.schema import Change


@dataclass(frozen=True, slots=True)
class Case:
    """A pod, a node, and the cluster around them."""

    pod: Pod
    node: NodeInfo
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Proposal:
    """One change, and how pod and node are with it; the smallest cost is tried first."""

    cost: float
    change: Change
    pod: Pod
    node: NodeInfo
    additive: bool = False  # nothing that matched before can stop matching


class Cure(Protocol):
    """What is known of the refusals of one plugin."""

    def obstacles(self, case: Case) -> int:
        """How much stands in the way; a proposal must make it less."""
        ...

    def proposals(self, case: Case) -> Iterable[Proposal]:
        """What could be changed."""
        ...

    def advice(self, case: Case) -> list[str]:
        """What helps and lies outside of the pod."""
        ...
