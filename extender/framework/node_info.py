"""A node as plugins see it, with what it shares with others interned.

Nodes with the same taints hold the same TaintSet, so that a verdict on it is found by identity.
"""

from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from weakref import WeakValueDictionary

from msgspec import Struct

from extender.match.taints import HARD_EFFECTS, PREFER_NO_SCHEDULE
from extender.model.core_v1 import Node, Taint


class Alike:
    """Stands for some taints, and is equal only to itself: all sets that have them share it."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class TaintSet:
    """The taints of a node in its order, sorted by what they do. Equal only to itself."""

    hard: tuple[Taint, ...]
    soft: tuple[Taint, ...]
    hard_alike: Alike = field(default_factory=Alike, repr=False)
    soft_alike: Alike = field(default_factory=Alike, repr=False)


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


class Facet(Hashable, Protocol):
    """What of a node a verdict depends on: nodes alike in it are asked once."""

    @property
    def key_bytes(self) -> int:
        """About what one key takes in memory beyond what nodes hold anyway."""
        ...

    def within(self, labels: Container[str]) -> "Facet":
        """The facet that tells nodes apart as this one does, if they have no other labels."""
        ...

    def seen(self, nodes: Sequence[NodeInfo]) -> Sequence[NodeInfo]:
        """The nodes with nothing that the facet does not read, as far as that can be left out."""
        ...

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        """One key a node, in order; equal keys promise equal verdicts."""
        ...


class Interner:
    """Gives equal taint lists one TaintSet, for as long as anybody holds it."""

    def __init__(self) -> None:
        self._taint_sets: WeakValueDictionary[tuple[Taint, ...], TaintSet] = WeakValueDictionary()
        self._alike: WeakValueDictionary[tuple[Taint, ...], Alike] = WeakValueDictionary()

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
            hard = tuple(t for t in taints if t.effect in HARD_EFFECTS)
            soft = tuple(t for t in taints if t.effect == PREFER_NO_SCHEDULE)
            known = TaintSet(hard, soft, self._alike_in(hard), self._alike_in(soft))
            self._taint_sets[taints] = known
        return known

    def _alike_in(self, taints: tuple[Taint, ...]) -> Alike:
        known = self._alike.get(taints)
        if known is None:
            known = self._alike[taints] = Alike()
        return known
