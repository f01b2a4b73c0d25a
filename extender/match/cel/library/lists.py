"""Functions on lists, and the step by which a fold builds a map."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Final

from extender.match.cel.equality import same
from extender.match.cel.faults import EvaluationError
from extender.match.cel.library import ordering
from extender.match.cel.library.sets import distinct
from extender.match.cel.values import (
    MISSING,
    Value,
    bound_items,
    find,
    from_key,
    map_key,
    shown,
)

Entries = dict[Hashable, Value]


def insert(entries: Entries, key: Value, value: Value) -> None:
    """Add an entry in place: for a map that nobody else has seen yet."""
    if find(entries, key) is not MISSING:
        raise EvaluationError(f"insert failed: key {shown(key)} already exists")
    entries[map_key(key)] = value


def insert_all(entries: Entries, added: Entries) -> None:
    """Add entries in place: for a map that nobody else has seen yet."""
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
            steps += 1  # empty lists inside of lists are work too, though nothing is built
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


OVERLOADS: Final[Mapping[str, Callable[..., Value]]] = {
    **ordering.OVERLOADS,
    "lists_range": _range,
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "list_reverse": lambda items: items[::-1],
    "list_distinct": distinct,
    "list_a_index_of_int": _index_of,
    "list_a_last_index_of_int": _last_index_of,
    "@mapInsert_map_key_value": _with_entry,
    "@mapInsert_map_map": _with_entries,
}
