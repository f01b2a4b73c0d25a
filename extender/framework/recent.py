"""What was used lately, within bounds of number and of weight."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Values by key; the longest unused are dropped first. What is too heavy is never kept."""

    def __init__(self, max_entries: int, max_weight: int) -> None:
        self._max_entries = max_entries
        self._max_weight = max_weight
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self.weight = 0

    def get(self, key: K) -> V | None:
        """What is kept for a key; from now on it counts as used."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: V, weight: int) -> None:
        """Keep a value instead of what was kept for the key."""
        self.drop(key)
        if weight > self._max_weight:
            return
        self._entries[key] = value, weight
        self.weight += weight
        while len(self._entries) > self._max_entries or self.weight > self._max_weight:
            _, (_, dropped) = self._entries.popitem(last=False)
            self.weight -= dropped

    def drop(self, key: K) -> None:
        """Keep nothing for a key."""
        _, weight = self._entries.pop(key, (None, 0))
        self.weight -= weight

    def __len__(self) -> int:
        return len(self._entries)
