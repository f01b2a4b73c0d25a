"""Lists in order: sorting, the least and the greatest element, sums.

A list of static type dyn may mix types; its overload is chosen by the first element.
"""

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.charges import BY_TRAVERSAL, Charge, self_comparison, walked
from extender.match.cel.library.estimates import TRAVERSAL, each_with_each, elements
from extender.match.cel.library.functions import Function, function, overload
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
# In upstream's order: the name in ids of Kubernetes' functions, and the one in cel-go's.
_KINDS: Final[Mapping[str, str]] = {
    **{name: name for name in ("int", "uint", "double", "bool")},
    "duration": "google.protobuf.Duration",
    "timestamp": "google.protobuf.Timestamp",
    **{name: name for name in ("string", "bytes")},
}
# Go sorts up to this many elements by insertion, and with NaN the algorithm shows in the result.
_INSERTION_SIZE: Final = 12


def _compare(a: Value, b: Value) -> int | None:
    """-1, 0 or 1; None for NaN and for types that cannot be compared."""
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
    """Whether all elements have one type, for which Python compares as CEL does."""
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
    # Not sum(): newer Pythons compensate for rounding errors.
    return functools.reduce(operator.add, items, 0.0)


def _sort(items: list[Value]) -> list[Value]:
    return _sort_by(items, items)


def _sort_by(items: list[Value], keys: list[Value]) -> list[Value]:
    """The items in the order of their keys; what has equal keys keeps its order.

    Upstream sorts stably up to twelve elements only.
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


def _sort_factor(kind: str) -> float:
    return 2.0 + TRAVERSAL if kind in ("string", "bytes") else 2.0


_SUMS: Final[Mapping[str, Callable[[Sequence[Value]], Value]]] = {
    "int": _sum_of(int, lowest=INT_MIN, highest=INT_MAX),
    "uint": _sum_of(Uint, lowest=0, highest=UINT_MAX, overflow="unsigned integer overflow"),
    "double": _sum_of_doubles,
    "duration": _sum_of(Duration, lowest=INT_MIN, highest=INT_MAX),
}


FUNCTIONS: Final[tuple[Function, ...]] = (
    function(
        "isSorted",
        *(
            overload(f"list_{kind}_is_sorted_bool", f"list({kind}).() -> bool", _is_sorted)
            for kind in _KINDS
        ),
        estimate=elements,
        charge=BY_TRAVERSAL,
        work=walked(3),
    ),
    *(
        function(
            name,
            *(
                overload(f"list_{kind}_{name}_{kind}", f"list({kind}).() -> {kind}", best)
                for kind in _KINDS
            ),
            estimate=elements,
            charge=BY_TRAVERSAL,
            work=walked(3),
        )
        for name, best in (
            ("min", _best_of("min", better=1)),
            ("max", _best_of("max", better=-1)),
        )
    ),
    function(
        "sum",
        *(
            overload(f"list_{kind}_sum_{kind}", f"list({kind}).() -> {kind}", total)
            for kind, total in _SUMS.items()
        ),
        estimate=elements,
        charge=BY_TRAVERSAL,
        work=walked(3),
    ),
    function(
        "sort",
        *(
            overload(
                f"list_{name}_sort",
                f"list({kind}).() -> list({kind})",
                _sort,
                estimate=each_with_each(0, _sort_factor(kind)),
                charge=Charge(by_arguments=self_comparison),
            )
            for kind, name in _KINDS.items()
        ),
        singleton=True,
    ),
    function(
        "@sortByAssociatedKeys",
        *(
            overload(
                f"list_{name}_sortByAssociatedKeys",
                f"list(T).(list({kind})) -> list(T)",
                _sort_by,
                estimate=each_with_each(1, _sort_factor(kind)),
                charge=Charge(by_arguments=lambda _, keys: self_comparison(keys)),
            )
            for kind, name in _KINDS.items()
        ),
        singleton=True,
    ),
)
