"""Finding, among many terms, the few that a node can fulfil.

A term that begins with "this label is one of these" is pinned: a node that has another value
fails it at once, so it need not be asked. Which terms are left is found by looking up, however
many there are, and asking only those gives the same answer and notices the same values.
"""

from collections.abc import Iterable, Mapping, Sequence

# The label that a term begins with, None for the node's name, and the values it may have.
Pin = tuple[str | None, frozenset[str]]


class TermIndex:
    """The places of terms, by what they are pinned to."""

    def __init__(self, pins: Iterable[Pin | None]) -> None:
        self._free: list[int] = []
        self._pinned: dict[str | None, dict[str, list[int]]] = {}
        for place, pin in enumerate(pins):
            if pin is None:
                self._free.append(place)
                continue
            key, values = pin
            by_value = self._pinned.setdefault(key, {})
            for value in values:
                by_value.setdefault(value, []).append(place)
        # How many terms one node can have to be asked about.
        self.most = len(self._free)
        for by_value in self._pinned.values():
            self.most += max(map(len, by_value.values()))

    def places(self, name: str, labels: Mapping[str, str]) -> Sequence[int]:
        """The terms that a node of this name and these labels may fulfil, in their order."""
        if not self._pinned:
            return self._free
        found = list(self._free)
        for key, by_value in self._pinned.items():
            value = name if key is None else labels.get(key)
            if value:
                found += by_value.get(value, ())
            elif key is None:  # a node without a name is not asked about it
                found += sorted({place for places in by_value.values() for place in places})
            elif value is not None:
                found += by_value.get("", ())
        found.sort()
        return found
