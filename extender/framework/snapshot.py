"""The cluster at one instant, as plugins see it, and the facets by which nodes are alike."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import attrgetter
from typing import Final

from msgspec import Struct

from extender.framework.node_info import Interner, NodeInfo, TaintSet
from extender.framework.node_table import NodeTable
from extender.framework.pod_index import PodIndex
from extender.framework.volumes import Volumes
from extender.match.selectors import Term
from extender.model.core_v1 import Node

# Nodes are a part of the snapshot: whoever works with it finds them here.
__all__ = [
    "HARD_TAINTS",
    "SOFT_TAINTS",
    "TAINTS",
    "UNSCHEDULABLE",
    "AttributeFacet",
    "Interner",
    "LabelsFacet",
    "NodeInfo",
    "Snapshot",
    "TaintSet",
    "snapshot_of",
]


_LABELS: Final = attrgetter("labels")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The cluster at one instant."""

    nodes: Mapping[str, NodeInfo] = field(default_factory=dict)
    generation: int = 0
    current: bool = True  # False: the source is cut off, and this is how the cluster last was
    pods: PodIndex | None = None  # None: nobody told us of pods
    volumes: Volumes | None = None  # None: nobody told us of volumes
    generations: Mapping[str, int] = field(default_factory=dict)  # by resource
    table: NodeTable | None = field(default=None, compare=False)  # the same nodes, as rows

    def generation_of(self, resources: Iterable[str]) -> int:
        """One number for several resources; it changes whenever one of them does."""
        return sum(self.generations.get(resource, 0) for resource in resources)


def snapshot_of(nodes: Iterable[Node], *, generation: int = 0) -> Snapshot:
    """A snapshot of these nodes; of two with one name the later stands."""
    interner = Interner()
    infos = {info.name: info for info in map(interner.node_info, nodes)}
    return Snapshot(infos, generation, table=NodeTable(infos.values()))


class AttributeFacet(Struct, frozen=True, gc=False):
    """One attribute of a node, which is cheap to compare."""

    attribute: str

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        """The attribute of each node."""
        return list(map(attrgetter(self.attribute), nodes))


class LabelsFacet(Struct, frozen=True, gc=False):
    """The values of some labels, and the node's name where a rule reads it."""

    keys: tuple[str, ...]
    with_name: bool = False

    @classmethod
    def of(cls, terms: Iterable[Term], labels: Iterable[str] = ()) -> "LabelsFacet":
        """What these terms and exact labels read."""
        keys = set(labels)
        with_name = False
        for term in terms:
            keys |= term.label_keys
            with_name = with_name or bool(term.field_tests)
        return cls(tuple(sorted(keys)), with_name)

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        """The values of each node, None for a label it does not carry."""
        labels = list(map(_LABELS, nodes))
        columns: list[list[str | None]] = [
            list(map(dict.get, labels, repeat(key))) for key in self.keys
        ]
        if self.with_name:
            columns.append([node.name for node in nodes])
        return list(zip(*columns, strict=True)) if columns else [None] * len(nodes)


TAINTS: Final = AttributeFacet("taints")
# A filter looks at hard taints only and a score at soft ones: of either there are fewer.
HARD_TAINTS: Final = AttributeFacet("taints.hard_alike")
SOFT_TAINTS: Final = AttributeFacet("taints.soft_alike")
UNSCHEDULABLE: Final = AttributeFacet("unschedulable")
