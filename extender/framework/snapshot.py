"""The cluster at one instant, as plugins see it.

What nodes share is interned when a node enters, so that a verdict on it can be found by
identity: nodes with the same taints hold the same TaintSet.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final
from weakref import WeakValueDictionary

from msgspec import Struct

from extender.match.taints import HARD_EFFECTS, PREFER_NO_SCHEDULE
from extender.model.core_v1 import Node, Taint


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class TaintSet:
    """The taints of a node in its order, sorted by what they do. Equal only to itself."""

    hard: tuple[Taint, ...]
    soft: tuple[Taint, ...]


class NodeInfo(Struct, frozen=True, gc=False, eq=False):
    """One node: what scheduling reads of it, with what it shares interned."""

    name: str
    labels: Mapping[str, str]
    taints: TaintSet
    unschedulable: bool

    def same_as(self, other: "NodeInfo") -> bool:
        """Whether no plugin could tell the two apart."""
        return (
            self.taints is other.taints
            and self.unschedulable == other.unschedulable
            and self.labels == other.labels
        )


class Interner:
    """Gives equal taint lists one TaintSet, for as long as anybody holds it."""

    def __init__(self) -> None:
        self._taint_sets: WeakValueDictionary[tuple[Taint, ...], TaintSet] = WeakValueDictionary()

    def node_info(self, node: Node) -> NodeInfo:
        """The node as plugins see it."""
        meta, spec = node.metadata, node.spec
        return NodeInfo(
            name=meta.name if meta else "",
            labels=(meta.labels if meta else None) or {},
            taints=self._taint_set((spec.taints if spec else None) or ()),
            unschedulable=spec.unschedulable if spec else False,
        )

    def _taint_set(self, taints: tuple[Taint, ...]) -> TaintSet:
        known = self._taint_sets.get(taints)
        if known is None:
            known = self._taint_sets[taints] = TaintSet(
                hard=tuple(t for t in taints if t.effect in HARD_EFFECTS),
                soft=tuple(t for t in taints if t.effect == PREFER_NO_SCHEDULE),
            )
        return known


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All nodes of the cluster at one instant."""

    nodes: Mapping[str, NodeInfo] = field(default_factory=dict)
    generation: int = 0
    current: bool = True  # False: the source is cut off, and this is how the cluster last was


def snapshot_of(nodes: Iterable[Node], *, generation: int = 0) -> Snapshot:
    """A snapshot of these nodes; of two with one name the later stands."""
    interner = Interner()
    infos = map(interner.node_info, nodes)
    return Snapshot({info.name: info for info in infos}, generation)


@dataclass(frozen=True, slots=True)
class AttributeFacet:
    """One attribute of a node, which is cheap to compare."""

    attribute: str

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        """The attribute of each node."""
        return list(map(attrgetter(self.attribute), nodes))


@dataclass(frozen=True, slots=True)
class LabelsFacet:
    """The values of some labels, and the node's name where a rule reads it."""

    keys: tuple[str, ...]
    with_name: bool = False

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        """The values of each node, None for a label it does not carry."""
        columns: list[list[str | None]] = [
            [node.labels.get(key) for node in nodes] for key in self.keys
        ]
        if self.with_name:
            columns.append([node.name for node in nodes])
        return list(zip(*columns, strict=True)) if columns else [None] * len(nodes)


TAINTS: Final = AttributeFacet("taints")
UNSCHEDULABLE: Final = AttributeFacet("unschedulable")
