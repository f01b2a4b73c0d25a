"""An index of terms: finds the few terms that a node can match, among many.

A term that begins with an `In` requirement is pinned: a node with another value cannot match it.
The lookup takes the same time however many terms there are. Evaluating only the terms it returns
gives the same result and the same findings.
"""

from collections.abc import Iterable, Mapping, Sequence

# The first label of a term (None: the node's name), and the values that it accepts.
Pin = tuple[str | None, frozenset[str]]


class TermIndex:
    """The indexes of terms, by the value that they are pinned to."""

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
        # How many terms one node may have to be compared with.
        self.most = len(self._free)
        for by_value in self._pinned.values():
            self.most += max(map(len, by_value.values()))

    def places(self, name: str, labels: Mapping[str, str]) -> Sequence[int]:
        """The indexes of the terms that a node can match, in ascending order."""
        if not self._pinned:
            return self._free
        found = list(self._free)
        for key, by_value in self._pinned.items():
            value = name if key is None else labels.get(key)
            if value:
                found += by_value.get(value, ())
            elif key is None:  # as upstream: a node without a name matches any field requirement
                found += sorted({place for places in by_value.values() for place in places})
            elif value is not None:
                found += by_value.get("", ())
        found.sort()
        return found
