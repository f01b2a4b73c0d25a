"""Lists taken as sets, and what it means that an element is in a list.

Elements of one simple type are looked up by hash; upstream compares all with all.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Final

from extender.match.cel.equality import same
from extender.match.cel.values import Duration, Timestamp, Uint, Value, bound_items

_HASHED: Final = frozenset({str, int, Uint, float, bytes, bool, Duration, Timestamp})


def distinct(items: list[Value]) -> list[Value]:
    """The elements without the later ones that equal an earlier one."""
    found: list[Value] = []
    if _are_hashed(items):
        known: set[Value] = set()
        for item in items:
            if item not in known:
                found.append(item)
                _remember(known, item)
        return found
    bound_items(len(items) ** 2)  # upstream charges twice that
    for item in items:
        if not any(same(item, other) for other in found):
            found.append(item)
    return found


def _are_hashed(*lists: Sequence[Value]) -> bool:
    kinds = set(map(type, chain(*lists)))
    return len(kinds) == 1 and kinds <= _HASHED


def _remember(known: set[Value], item: Value) -> None:
    if item == item:  # NaN equals nothing, but Python finds the very same object
        known.add(item)


def _members(items: Sequence[Value]) -> AbstractSet[Value]:
    known: set[Value] = set()
    for item in items:
        _remember(known, item)
    return known


def _contains(items: Sequence[Value], wanted: Sequence[Value]) -> bool:
    if not items or not wanted:
        return not wanted
    if _are_hashed(items, wanted):
        members = _members(items)
        return all(item in members for item in wanted)
    bound_items(len(items) * len(wanted))
    return all(any(same(item, other) for other in items) for item in wanted)


def _intersects(a: Sequence[Value], b: Sequence[Value]) -> bool:
    if not a or not b:
        return False
    if _are_hashed(a, b):
        members = _members(b)
        return any(item in members for item in a)
    bound_items(len(a) * len(b))
    return any(any(same(item, other) for other in b) for item in a)


def _equivalent(a: Sequence[Value], b: Sequence[Value]) -> bool:
    return _contains(a, b) and _contains(b, a)


OVERLOADS: Final[Mapping[str, Callable[..., Value]]] = {
    "list_sets_contains_list": _contains,
    "list_sets_intersects_list": _intersects,
    "list_sets_equivalent_list": _equivalent,
}
