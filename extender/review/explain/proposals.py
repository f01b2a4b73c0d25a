"""Proposals: changes that may make a plugin let a pod pass; `fixes.py` tries each."""

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
    """One change, and the pod and node with it; the cheapest is tried first."""

    cost: float
    change: Change
    pod: Pod
    node: NodeInfo
    additive: bool = False  # nothing that matched before can stop matching


class Cure(Protocol):
    """Knows how to cure the refusals of one plugin."""

    def obstacles(self, case: Case) -> int:
        """The number of obstacles; a proposal must reduce it."""
        ...

    def proposals(self, case: Case) -> Iterable[Proposal]:
        """Changes to try."""
        ...

    def advice(self, case: Case) -> list[str]:
        """Advice for what no change of the pod can cure."""
        ...
