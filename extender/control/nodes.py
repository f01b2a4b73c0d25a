"""The nodes, as far as compile mode reads them: their taints."""

from collections.abc import Callable, Sequence

from extender.cluster.resources import Key
from extender.model.core_v1 import Node
from extender.native.universe import Difference, TaintUniverse


class TaintedNodes:
    """A store that keeps the taints of the cluster, and tells what a change means."""

    def __init__(
        self,
        taints: TaintUniverse,
        on_change: Callable[[str, Difference], None] = lambda _name, _difference: None,
    ) -> None:
        self._taints = taints
        self._on_change = on_change
        self._keys: dict[Key, None] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def keys(self) -> Sequence[Key]:
        """The names of all nodes."""
        return list(self._keys)

    def put(self, key: Key, obj: Node) -> None:
        """A node came, or changed."""
        self._keys[key] = None
        self._tell(key, self._taints.put(key, obj))

    def remove(self, key: Key) -> None:
        """A node is gone."""
        self._keys.pop(key, None)
        self._tell(key, self._taints.remove(key))

    def _tell(self, name: str, difference: Difference) -> None:
        if difference.appeared or difference.evicting:
            self._on_change(name, difference)
