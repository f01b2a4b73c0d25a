"""Functions of lists, and how a macro adds an entry to a map."""

from collections.abc import Hashable, Iterator
from typing import Final

from extender.match.cel.equality import same
from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.charges import (
    BY_TRAVERSAL,
    LIST_BASE,
    Charge,
    self_comparison,
    walked,
)
from extender.match.cel.library.estimates import (
    LIMIT,
    Estimate,
    Operand,
    each_with_each,
    elements,
    exactly,
    new_list,
    wrapped,
)
from extender.match.cel.library.functions import Function, function, overload
from extender.match.cel.library.sets import LOOKED_UP, distinct
from extender.match.cel.values import (
    MISSING,
    Value,
    bound_items,
    find,
    from_key,
    map_key,
    shown,
    size,
)

Entries = dict[Hashable, Value]


def insert(entries: Entries, key: Value, value: Value) -> None:
    """Add an entry in place; the caller must be the only one that holds the map."""
    if find(entries, key) is not MISSING:
        raise EvaluationError(f"insert failed: key {shown(key)} already exists")
    entries[map_key(key)] = value


def insert_all(entries: Entries, added: Entries) -> None:
    """Add entries in place; the caller must be the only one that holds the map."""
    for key, value in added.items():
        insert(entries, from_key(key), value)


def _with_entry(entries: Entries, key: Value, value: Value) -> Entries:
    bound_items(len(entries) + 1)
    grown = dict(entries)
    insert(grown, key, value)
    return grown


def _with_entries(entries: Entries, added: Entries) -> Entries:
    bound_items(len(entries) + len(added))
    grown = dict(entries)
    insert_all(grown, added)
    return grown


def _range(count: int) -> list[Value]:
    bound_items(count)
    return list(range(count))


def _slice(items: list[Value], start: int, end: int) -> list[Value]:
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(
            f"cannot slice({start}, {end}), start index must be less than or equal to end index"
        )
    if end > len(items):
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


def _flatten(items: list[Value], depth: int = 1) -> list[Value]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    flat: list[Value] = []
    open_lists: list[Iterator[Value]] = [iter(items)]
    steps = 0
    while open_lists:
        for item in open_lists[-1]:
            steps += 1  # empty inner lists take time too, though they add nothing
            bound_items(steps)
            if type(item) is list and len(open_lists) <= depth:
                open_lists.append(iter(item))
                break
            flat.append(item)
        else:
            open_lists.pop()
    return flat


def _index_of(items: list[Value], wanted: Value) -> int:
    return next((index for index, item in enumerate(items) if same(item, wanted)), -1)


def _last_index_of(items: list[Value], wanted: Value) -> int:
    backwards = range(len(items) - 1, -1, -1)
    return next((index for index in backwards if same(items[index], wanted)), -1)


def add_lists(a: list[Value], b: list[Value]) -> list[Value]:
    """`a + b`."""
    bound_items(len(a) + len(b))
    return a + b


def _estimate_slice(items: Operand, start: Operand, end: Operand) -> Estimate:
    size = end.written_count(items.size.most) - start.written_count(0)
    return new_list(exactly(wrapped(size)), 1.0)


def _estimate_flatten(items: Operand, depth: Operand | None = None) -> Estimate:
    return new_list(items.size, 1.0 if depth is None else float(depth.written_count(LIMIT)))


def _charge_flatten(items: Value, depth: Value = 1) -> int:
    levels = depth if type(depth) is int else 1
    return max(int(size(items) * float(levels)), 0) + LIST_BASE


_BY_ITEMS: Final = Charge(by_result=lambda result: size(result) + LIST_BASE)


FUNCTIONS: Final[tuple[Function, ...]] = (
    function(
        "lists.range",
        overload("lists_range", "(int) -> list(int)", _range),
        estimate=lambda count: new_list(exactly(count.written_count(LIMIT)), 1.0),
        charge=_BY_ITEMS,
    ),
    function(
        "slice",
        overload("list_slice", "list(T).(int, int) -> list(T)", _slice),
        estimate=_estimate_slice,
        charge=_BY_ITEMS,
    ),
    function(
        "reverse",
        overload("list_reverse", "list(T).() -> list(T)", lambda items: items[::-1]),
        estimate=lambda items: new_list(items.size, 1.0),
        charge=_BY_ITEMS,
    ),
    function(
        "flatten",
        # Upstream does not look at the elements first: see plan/dispatch.
        overload("list_flatten", "list(list(T)).() -> list(T)", _flatten),
        overload("list_flatten_int", "list(dyn).(int) -> list(dyn)", _flatten),
        estimate=_estimate_flatten,
        charge=Charge(by_arguments=_charge_flatten),
        work=walked(6),
    ),
    function(
        "distinct",
        overload("list_distinct", "list(T).() -> list(T)", distinct),
        estimate=each_with_each(0, 2.0),
        charge=Charge(by_arguments=self_comparison),
        work=LOOKED_UP,
    ),
    function(
        "indexOf",
        overload("list_a_index_of_int", "list(A).(A) -> int", _index_of, work=walked(4)),
        estimate=elements,
        charge=BY_TRAVERSAL,
    ),
    function(
        "lastIndexOf",
        overload("list_a_last_index_of_int", "list(A).(A) -> int", _last_index_of, work=walked(4)),
        estimate=elements,
        charge=BY_TRAVERSAL,
    ),
    function(
        "cel.@mapInsert",
        overload("@mapInsert_map_key_value", "(map(K, V), K, V) -> map(K, V)", _with_entry),
        overload("@mapInsert_map_map", "(map(K, V), map(K, V)) -> map(K, V)", _with_entries),
    ),
)
