"""The cluster at one instant, as plugins see it, and the facets by which nodes are alike."""

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import attrgetter
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from extender.framework.columns.node_table import NodeTable
from extender.framework.node_info import Interner, NodeInfo, TaintSet
from extender.framework.pods.index import PodIndex
from extender.framework.volumes import Volumes
from extender.match.selectors import Term
from extender.model.core_v1 import Node

# Nodes are a part of the snapshot: whoever works with it finds them here.
__all__ = [
    "HARD_TAINTS",
    "NODE",
    "SOFT_TAINTS",
    "TAINTS",
    "UNSCHEDULABLE",
    "AttributeFacet",
    "Interner",
    "LabelFacet",
    "LabelsFacet",
    "NodeInfo",
    "Snapshot",
    "TaintSet",
    "snapshot_of",
]


# With more labels than this a key has those that a node carries, not a place for each.
MAX_DENSE: Final = 32

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
    table: NodeTable = field(default_factory=NodeTable, compare=False)  # the same nodes, as rows

    def generation_of(self, resources: Iterable[str]) -> int:
        """One number for several resources; it changes whenever one of them does."""
        return sum(self.generations.get(resource, 0) for resource in resources)


def snapshot_of(nodes: Iterable[Node], *, generation: int = 0) -> Snapshot:
    """A snapshot of these nodes; of two with one name the later stands."""
    interner = Interner()
    infos = {info.name: info for info in map(interner.node_info, nodes)}
    return Snapshot(infos, generation, table=NodeTable(infos.values(), lasting=True))


class AttributeFacet(Struct, frozen=True, gc=False):
    """One attribute of a node, which is cheap to compare."""

    attribute: str

    @property
    def key_bytes(self) -> int:
        """A reference to what the node holds."""
        return 0

    def within(self, labels: Container[str]) -> "AttributeFacet":
        """It reads no label by itself."""
        return self

    def seen(self, nodes: Sequence[NodeInfo]) -> Sequence[NodeInfo]:
        """All of them."""
        return nodes

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

    @property
    def key_bytes(self) -> int:
        """A tuple of references to what the labels of a node hold."""
        return 56 + 8 * min(len(self.keys), 2 * MAX_DENSE)

    def within(self, labels: Container[str]) -> "LabelsFacet":
        """Labels that no node has tell no nodes apart, and a pod may name 50,000 of them."""
        keys = tuple([key for key in self.keys if key in labels])
        return self if len(keys) == len(self.keys) else LabelsFacet(keys, self.with_name)

    def seen(self, nodes: Sequence[NodeInfo]) -> Sequence[NodeInfo]:
        """The nodes without other labels."""
        keys = frozenset(self.keys)
        return [
            replace(node, labels={k: v for k, v in node.labels.items() if k in keys})
            for node in nodes
        ]

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        """The values of each node, None for a label it does not carry."""
        if len(self.keys) > MAX_DENSE:
            return self._sparse_column(nodes)
        labels = list(map(_LABELS, nodes))
        columns: list[list[str | None]] = [
            list(map(dict.get, labels, repeat(key))) for key in self.keys
        ]
        if self.with_name:
            columns.append([node.name for node in nodes])
        return list(zip(*columns, strict=True)) if columns else [None] * len(nodes)

    def _sparse_column(self, nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        """What each node has of the labels: a pod may name thousands, and a node has few."""
        keys = frozenset(self.keys)
        found = []
        for node in nodes:
            key = [text for pair in node.labels.items() if pair[0] in keys for text in pair]
            if self.with_name:
                key.append(node.name)
            found.append(tuple(key))
        return found


_NO_LABELS: Final = LabelsFacet(())


class LabelFacet(Struct, frozen=True, gc=False):
    """The value of one label; None for a node without it."""

    key: str

    @property
    def key_bytes(self) -> int:
        """A reference to what the labels of a node hold."""
        return 0

    def within(self, labels: Container[str]) -> "LabelFacet | LabelsFacet":
        """All labels that no node has share a column."""
        return self if self.key in labels else _NO_LABELS

    def seen(self, nodes: Sequence[NodeInfo]) -> Sequence[NodeInfo]:
        """All of them."""
        return nodes

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        """The value of each node."""
        key = self.key
        return [node.labels.get(key) for node in nodes]


TAINTS: Final = AttributeFacet("taints")
# A filter looks at hard taints only and a score at soft ones: of either there are fewer.
HARD_TAINTS: Final = AttributeFacet("taints.hard_alike")
SOFT_TAINTS: Final = AttributeFacet("taints.soft_alike")
UNSCHEDULABLE: Final = AttributeFacet("unschedulable")
# No two nodes are alike in it.
NODE: Final = AttributeFacet("name")
