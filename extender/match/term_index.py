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

    def __init__(self, pins: Iterable[Pin | None], costs: Sequence[int]) -> None:
        self._free: list[int] = []
        # Mostly one place a value, and then no list: one term may have 50,000 values.
        self._pinned: dict[str | None, dict[str, int | list[int]]] = {}
        dearest: dict[str | None, int] = {}
        for place, pin in enumerate(pins):
            if pin is None:
                self._free.append(place)
            else:
                key, values = pin
                _enter(self._pinned.setdefault(key, {}), values, place)
                dearest[key] = max(dearest.get(key, 0), costs[place])
        # What the terms cost that one node may have to be compared with.
        self.most = sum([costs[place] for place in self._free])
        for key, by_value in self._pinned.items():
            shared = [places for places in by_value.values() if isinstance(places, list)]
            sums = [sum([costs[place] for place in places]) for places in shared]
            self.most += max([dearest[key], *sums])

    def places(self, name: str, labels: Mapping[str, str]) -> Sequence[int]:
        """The indexes of the terms that a node can match, in ascending order."""
        if not self._pinned:
            return self._free
        found = list(self._free)
        for key, by_value in self._pinned.items():
            value = name if key is None else labels.get(key)
            if value or (value is not None and key is not None):
                found += _places(by_value.get(value, ()))
            elif key is None:  # as upstream: a node without a name matches any field requirement
                found += {place for places in by_value.values() for place in _places(places)}
        found.sort()
        return found


def _enter(by_value: dict[str, int | list[int]], values: Iterable[str], place: int) -> None:
    for value in values:
        known = by_value.setdefault(value, place)
        if isinstance(known, list):
            known.append(place)
        elif known != place:
            by_value[value] = [known, place]


def _places(entered: int | Sequence[int]) -> Sequence[int]:
    return (entered,) if isinstance(entered, int) else entered
