"""The taints of a cluster: which there are, on how many nodes each, and on which node which."""

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from extender.match.taints import CORDON, NO_EXECUTE
from extender.model.core_v1 import Node, Taint


class TaintUniverse:
    """Kept node by node; a heartbeat changes nothing."""

    def __init__(self, extra: Iterable[Taint] = ()) -> None:
        self._extra = frozenset(extra)
        self._counts: Counter[Taint] = Counter(dict.fromkeys(self._extra, 0))
        self._nodes: dict[str, frozenset[Taint]] = {}

    @property
    def counts(self) -> Mapping[Taint, int]:
        """On how many nodes each taint is; a live view. Taints of no node as yet are on none."""
        return MappingProxyType(self._counts)

    def __len__(self) -> int:
        return len(self._nodes)

    def on(self, node: str) -> frozenset[Taint]:
        """The taints of a node; none if the node is unknown."""
        return self._nodes.get(node, frozenset())

    def put(self, name: str, node: Node) -> "Difference":
        """Add or replace a node."""
        return self._set(name, _taints(node))

    def remove(self, name: str) -> "Difference":
        """Remove a node, which may be unknown."""
        return self._set(name, None)

    def _set(self, name: str, new: frozenset[Taint] | None) -> "Difference":
        old = self._nodes.pop(name, frozenset())
        if new is not None:
            self._nodes[name] = new
        new = new or frozenset()
        appeared = frozenset(each for each in new - old if each not in self._counts)
        self._counts.update(new - old)
        for each in old - new:
            self._counts[each] -= 1
            if not self._counts[each] and each not in self._extra:
                del self._counts[each]
        return Difference(appeared, evicting=_evicting(new) != _evicting(old))


class Difference:
    """What the change of a node means for others."""

    __slots__ = ("appeared", "evicting")

    def __init__(self, appeared: frozenset[Taint], *, evicting: bool) -> None:
        self.appeared = appeared  # taints that no node had before
        self.evicting = evicting  # whether the NoExecute taints of the node have changed


def _taints(node: Node) -> frozenset[Taint]:
    spec = node.spec
    if spec is None:
        return frozenset()
    taints = frozenset(spec.taints or ())
    return taints | {CORDON} if spec.unschedulable else taints


def _evicting(taints: Iterable[Taint]) -> frozenset[Taint]:
    return frozenset(each for each in taints if each.effect == NO_EXECUTE)
