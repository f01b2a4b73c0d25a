"""Everything that is remembered, within one budget of bytes.

All caches of a process share one budget, so what they hold together is bounded however the
traffic is mixed. An entry weighs what it takes in memory, its key included. When the budget is
used up, the entry that was unused for longest goes, whichever cache it is in.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Final, Generic, TypeVar
from weakref import WeakSet

import msgspec

MAX_BYTES: Final = 64 << 20
# One entry may take this share of the budget; a heavier one is computed each time.
MAX_SHARE: Final = 0.25

# What rules take, parsed and compiled, for each character of them written as JSON. A test compares
# the weights with what tracemalloc sees, over tolerations, terms and selectors of many shapes.
BYTES_A_CHARACTER: Final = 16
# What an entry takes beside that.
ENTRY_BYTES: Final = 1_024

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_ENCODE: Final = msgspec.json.Encoder().encode


def weight_of(rules: object) -> int:
    """About what rules take in memory, as a key and compiled."""
    return ENTRY_BYTES + BYTES_A_CHARACTER * len(_ENCODE(rules))


class _Entry:
    """A value and where it is kept. Equal only to itself, so that looking it up is cheap."""

    __slots__ = ("cache", "key", "value", "weight")

    def __init__(self, cache: "LRU[Any, Any]", key: Hashable, value: object, weight: int) -> None:
        self.cache = cache
        self.key = key
        self.value = value
        self.weight = weight


class CacheBudget:
    """The bytes that all caches may hold together, and in which order entries were used."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self.bytes = 0
        self.caches: WeakSet[LRU[Any, Any]] = WeakSet()
        self._order: OrderedDict[_Entry, None] = OrderedDict()

    def trim(self) -> None:
        """Drop what was unused for longest until the rest fits; the newest entry always does."""
        while self.bytes > self.max_bytes:
            oldest = next(iter(self._order))
            oldest.cache._evict(oldest)


class LRU(Generic[K, V]):
    """One cache: values by key, with its share of the budget."""

    def __init__(
        self,
        name: str,
        budget: CacheBudget,
        *,
        share: float = MAX_SHARE,
        on_evict: Callable[[K, V], object] | None = None,
    ) -> None:
        self.name = name
        self._heaviest = int(share * budget.max_bytes)
        self.bytes = self.hits = self.misses = self.evictions = 0
        self._budget = budget
        self._on_evict = on_evict
        self._entries: dict[K, _Entry] = {}
        budget.caches.add(self)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def get(self, key: K) -> V | None:
        """The value of a key; it counts as used now."""
        entry = self._entries.get(key)
        if entry is None:
            self.misses += 1
            return None
        self.hits += 1
        self._budget._order.move_to_end(entry)
        value: V = entry.value  # type: ignore[assignment]  # as it was put
        return value

    def peek(self, key: K) -> V | None:
        """The value of a key; it counts neither as used nor as asked for."""
        entry = self._entries.get(key)
        value: V | None = None if entry is None else entry.value  # type: ignore[assignment]
        return value

    def put(self, key: K, value: V, weight: int) -> bool:
        """Keep a value; False if it is too heavy to be kept."""
        self.drop(key)
        budget = self._budget
        if weight > self._heaviest:
            return False
        entry = self._entries[key] = _Entry(self, key, value, weight)
        budget._order[entry] = None
        self._weigh(weight)
        return True

    def reweigh(self, key: K, weight: int) -> None:
        """The value has grown or shrunk, and counts as used; too heavy a one is dropped."""
        entry = self._entries.get(key)
        if entry is None:
            return
        if weight > self._heaviest:
            self._evict(entry)
            return
        # To the end first: `trim` must find the others before this one.
        self._budget._order.move_to_end(entry)
        change, entry.weight = weight - entry.weight, weight
        self._weigh(change)

    def values(self) -> Iterator[V]:
        """All values, without using them."""
        return (entry.value for entry in self._entries.values())  # type: ignore[misc]  # as put

    def clear(self) -> None:
        """Forget everything, without a word to `on_evict`."""
        for key in list(self._entries):
            self.drop(key)

    def drop(self, key: K) -> None:
        """Forget a key, without a word to `on_evict`."""
        entry = self._entries.get(key)
        if entry is not None:
            self._remove(entry)

    def _weigh(self, change: int) -> None:
        self.bytes += change
        self._budget.bytes += change
        self._budget.trim()

    def _evict(self, entry: _Entry) -> None:
        self._remove(entry)
        self.evictions += 1
        if self._on_evict is not None:
            self._on_evict(entry.key, entry.value)  # type: ignore[arg-type]  # as they were put

    def _remove(self, entry: _Entry) -> None:
        del self._entries[entry.key]  # type: ignore[arg-type]  # as it was put
        del self._budget._order[entry]
        self.bytes -= entry.weight
        self._budget.bytes -= entry.weight
