"""Functions that treat lists as sets, and `distinct`.

Elements of one simple type are looked up by hash; upstream compares all with all.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Final

from extender.match.cel.equality import same
from extender.match.cel.library.charges import CONTAINERS, Charge, Work, heft
from extender.match.cel.library.estimates import ONE, Estimate, Operand, Rule
from extender.match.cel.library.functions import Function, function, overload
from extender.match.cel.values import Duration, Timestamp, Uint, Value, bound_items, size

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
    if item == item:  # NaN equals nothing, but a set finds the same object
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


def _estimate(factor: float) -> Rule:
    def rule(first: Operand, second: Operand) -> Estimate:
        return Estimate((first.size * second.size).scaled(factor) + ONE)

    return rule


def _charge(factor: int) -> Charge:
    return Charge(by_arguments=lambda a, b: 1 + factor * size(a) * size(b))


def _all_with_all(*lists: Value) -> int:
    """Elements that are lists or maps are compared one by one, others are looked up."""
    total = sum(map(heft, lists))
    if any(type(item) in CONTAINERS for items in lists if type(items) is list for item in items):
        total *= max(map(size, lists))
    return total


LOOKED_UP: Final = Work(by_arguments=_all_with_all)


FUNCTIONS: Final[tuple[Function, ...]] = (
    function(
        "sets.contains",
        overload("list_sets_contains_list", "(list(T), list(T)) -> bool", _contains),
        estimate=_estimate(1.0),
        charge=_charge(1),
        work=LOOKED_UP,
    ),
    function(
        "sets.intersects",
        overload("list_sets_intersects_list", "(list(T), list(T)) -> bool", _intersects),
        estimate=_estimate(1.0),
        charge=_charge(1),
        work=LOOKED_UP,
    ),
    function(
        "sets.equivalent",
        overload("list_sets_equivalent_list", "(list(T), list(T)) -> bool", _equivalent),
        estimate=_estimate(2.0),
        charge=_charge(2),
        work=LOOKED_UP,
    ),
)
