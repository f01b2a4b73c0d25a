"""Lists in order: sorting, the least and the greatest element, sums.

A list of static type dyn may mix types; its overload is chosen by the first element.
"""

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.values import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    Duration,
    Timestamp,
    Uint,
    Value,
)

_NUMBERS: Final = frozenset({int, Uint, float})
_ORDERED: Final = _NUMBERS | {bool, str, bytes, Duration, Timestamp}
_KINDS: Final[Mapping[str, str]] = {  # the name in ids of Kubernetes' functions, and in cel-go's
    **{name: name for name in ("int", "uint", "double", "bool", "string", "bytes")},
    "duration": "google.protobuf.Duration",
    "timestamp": "google.protobuf.Timestamp",
}
# Go sorts up to this many elements by insertion, which shows where NaN is among them.
_INSERTION_SIZE: Final = 12


def _compare(a: Value, b: Value) -> int | None:
    """-1, 0 or 1; None where there is no order: NaN, and types that have nothing in common."""
    kinds = {type(a), type(b)}
    if len(kinds) > 1:
        if not kinds <= _NUMBERS:
            return None
        if float in kinds:
            # An integer is rounded to a double before it is compared with one.
            a, b = float(a), float(b)  # type: ignore[arg-type]
    if a != a or b != b:
        return None
    return int(a > b) - int(a < b)  # type: ignore[operator]


def _is_uniform(items: Sequence[Value]) -> bool:
    """Whether all elements have one type, so that Python's own comparison is CEL's."""
    kinds = set(map(type, items))
    return len(kinds) == 1 and kinds <= _ORDERED


def _ordered(item: Value) -> Value:
    if type(item) not in _ORDERED:
        raise EvaluationError("no such overload")
    return item


def _is_sorted(items: Sequence[Value]) -> bool:
    if _is_uniform(items):
        return not any(map(operator.gt, items, items[1:]))  # type: ignore[arg-type]
    return all(_compare(a, b) != 1 for a, b in pairwise(map(_ordered, items)))


def _best_of(name: str, *, better: int) -> Callable[[Sequence[Value]], Value]:
    """`min` or `max`: an element is replaced by a later one if it compares as `better`."""
    plain: Callable[..., Value] = min if better == 1 else max

    def best(items: Sequence[Value]) -> Value:
        if not items:
            raise EvaluationError(f"{name} called on empty list")
        if _is_uniform(items):
            return plain(items)
        return functools.reduce(
            lambda kept, item: item if _compare(kept, item) == better else kept,
            map(_ordered, items),
        )

    return best


def _sum_of(
    kind: type[int], *, lowest: int, highest: int, overflow: str = "integer overflow"
) -> Callable[[Sequence[Value]], int]:
    def total(items: Sequence[Value]) -> int:
        result = 0
        for item in items:
            if type(item) is not kind:
                raise EvaluationError("no such overload")
            result += item
            if not lowest <= result <= highest:
                raise EvaluationError(overflow)
        return kind(result)

    return total


def _sum_of_doubles(items: Sequence[Value]) -> float:
    if any(type(item) is not float for item in items):
        raise EvaluationError("no such overload")
    # Not sum(): it corrects for what rounding has lost.
    return functools.reduce(operator.add, items, 0.0)


def _sort(items: list[Value]) -> list[Value]:
    return _sort_by(items, items)


def _sort_by(items: list[Value], keys: list[Value]) -> list[Value]:
    """The items in the order of their keys; what has equal keys keeps its order.

    Upstream's order of equal keys is the same up to twelve elements, then anything.
    """
    if len(items) != len(keys):
        raise EvaluationError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
            f"but got {len(items)} and {len(keys)} elements respectively"
        )
    if not items:
        return items
    kinds = set(map(type, keys))
    if type(keys[0]) not in _ORDERED:
        raise EvaluationError("list elements must be comparable")
    if len(kinds) > 1:
        raise EvaluationError("list elements must have the same type")
    if len(keys) <= _INSERTION_SIZE and kinds == {float}:
        return [items[index] for index in _inserted(keys)]
    return [items[index] for index in sorted(range(len(items)), key=keys.__getitem__)]  # type: ignore[arg-type]


def _inserted(keys: Sequence[Value]) -> list[int]:
    order: list[int] = []
    for index, key in enumerate(keys):
        place = index
        while place and _compare(key, keys[order[place - 1]]) == -1:
            place -= 1
        order.insert(place, index)
    return order


OVERLOADS: Final[Mapping[str, Callable[..., Value]]] = {
    **{f"list_{kind}_is_sorted_bool": _is_sorted for kind in _KINDS},
    **{f"list_{kind}_min_{kind}": _best_of("min", better=1) for kind in _KINDS},
    **{f"list_{kind}_max_{kind}": _best_of("max", better=-1) for kind in _KINDS},
    **{f"list_{name}_sort": _sort for name in _KINDS.values()},
    **{f"list_{name}_sortByAssociatedKeys": _sort_by for name in _KINDS.values()},
    "list_int_sum_int": _sum_of(int, lowest=INT_MIN, highest=INT_MAX),
    "list_uint_sum_uint": _sum_of(
        Uint, lowest=0, highest=UINT_MAX, overflow="unsigned integer overflow"
    ),
    "list_duration_sum_duration": _sum_of(Duration, lowest=INT_MIN, highest=INT_MAX),
    "list_double_sum_double": _sum_of_doubles,
}
