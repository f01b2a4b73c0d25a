"""Proposals: changes that may make a plugin let a pod pass; `fixes.py` tries each."""

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from extender.framework.snapshot import NodeInfo, Snapshot
from extender.model.core_v1 import Pod
from extender.review.explain.schema import Change

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Case:
    """A pod, a node, and the cluster around them."""

    pod: Pod
    node: NodeInfo
    snapshot: Snapshot


class Edit(NamedTuple):
    """One change, and the pod and node with it."""

    change: Change
    pod: Pod
    node: NodeInfo


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change to try; the cheapest is tried first, and only then it is made."""

    cost: float
    make: Callable[[], Edit]
    additive: bool = False  # nothing that matched before can stop matching


class Estimate(NamedTuple):
    """At least so many changes, which cost at least so much; smaller ones sort first."""

    changes: int
    cost: float

    def plus(self, other: "Estimate") -> "Estimate":
        """Both."""
        return Estimate(self.changes + other.changes, self.cost + other.cost)


NOTHING_TO_DO: Final = Estimate(0, 0.0)
INCURABLE: Final = Estimate(1_000, math.inf)


class OncePerPod(Generic[T]):
    """What was read from the last pod: thousands of questions are about the same one."""

    def __init__(self, read: Callable[[Case], T]) -> None:
        self._read = read
        self._last: tuple[Pod, T] | None = None

    def of(self, case: Case) -> T:
        """What is read from the pod of a case."""
        if self._last is None or self._last[0] is not case.pod:
            self._last = case.pod, self._read(case)
        return self._last[1]


class Cure(Protocol):
    """Knows how to cure the refusals of one plugin."""

    def obstacles(self, case: Case) -> int:
        """The number of obstacles; a proposal must reduce it."""
        ...

    def facet(self, case: Case) -> Hashable:
        """What the estimate depends on; nodes with equal facets are equally far."""
        ...

    def estimate(self, case: Case) -> Estimate:
        """A lower bound of what its proposals cost, without making them."""
        ...

    def proposals(self, case: Case) -> Iterable[Proposal]:
        """Changes to try."""
        ...

    def advice(self, case: Case) -> list[str]:
        """Advice for what no change of the pod can cure."""
        ...
