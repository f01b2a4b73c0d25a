"""Pods as they count for others: those with the same labels together, and who is selected.

A pod that comes or goes changes one entry here for each selector that meets it. Nobody ever walks
over all pods.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from extender.match.label_selectors import Selector

if TYPE_CHECKING:  # they point at each other
    from extender.framework.pods.in_flight import Reservation
    from extender.framework.pods.topology import Tally


# What an entry takes: a node of a selection, a cohort of it.
NODE_BYTES: Final = 110
COHORT_BYTES: Final = 200
# A selection that has doubled is weighed again, but not for so few nodes.
MIN_NODES: Final = 64


class PodInfo(Struct, frozen=True, gc=False):
    """A pod on a node, or nominated to one."""

    namespace: str
    name: str
    uid: str
    node_name: str
    nominated_node_name: str
    terminating: bool
    labels: Mapping[str, str]
    priority: int = 0

    @property
    def id(self) -> str:
        """Who it is; objects out of files may have no UID."""
        return pod_id(self.namespace, self.name, self.uid)

    def counts_as(self, other: "PodInfo") -> bool:
        """Whether nobody who counts pods could tell the two apart."""
        return (
            self.labels is other.labels
            and self.node_name == other.node_name
            and self.nominated_node_name == other.nominated_node_name
            and self.terminating == other.terminating
            and self.uid == other.uid
            and self.priority == other.priority
        )


def pod_id(namespace: str, name: str, uid: str) -> str:
    """The UID of a pod, or its name where it has none."""
    return uid or f"{namespace}/{name}"


@dataclass(slots=True, eq=False)
class Cohort:
    """The pods of one namespace with the same labels."""

    labels: Mapping[str, str]
    placed: dict[str, str] = field(default_factory=dict)  # pod to node
    nominated: dict[str, tuple[str, int]] = field(default_factory=dict)  # pod to node and priority
    selections: list["Selection"] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Selection:
    """The pods of one namespace that a selector means, counted by node."""

    namespace: str
    selector: Selector
    on_node: Counter[str] = field(default_factory=Counter)
    cohorts: set[Cohort] = field(default_factory=set)
    tallies: list["Tally"] = field(default_factory=list)
    weighed: int = 0  # nodes with which it was weighed last
    in_flight: dict[str, "Reservation"] = field(default_factory=dict)

    def means(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether such a pod is counted here."""
        return namespace == self.namespace and self.selector.counts(labels)

    def link(self, cohort: Cohort) -> None:
        """These pods are meant."""
        self.cohorts.add(cohort)
        cohort.selections.append(self)
        self.on_node.update(cohort.placed.values())

    @property
    def nbytes(self) -> int:
        """About what it takes in memory."""
        self.weighed = len(self.on_node)
        return NODE_BYTES * self.weighed + COHORT_BYTES * len(self.cohorts)

    def add(self, node: str, change: int) -> bool:
        """A pod that is meant came to a node, or left it; whether it is time to weigh again."""
        count = self.on_node[node] + change
        if count:
            self.on_node[node] = count
        else:
            del self.on_node[node]
        for tally in self.tallies:
            tally.add(node, change)
        return len(self.on_node) > 2 * self.weighed + MIN_NODES

    def victims(self, node: str, pods: Collection[str]) -> int:
        """How many of these pods are meant and on this node."""
        return sum(cohort.placed.get(pod) == node for cohort in self.cohorts for pod in pods)

    def crowded(self, pod: str) -> bool:
        """Whether others that are meant are on their way, or the pod had to wait for one."""
        own = self.in_flight.get(pod)
        return len(self.in_flight) > (own is not None and bool(own.nodes))
