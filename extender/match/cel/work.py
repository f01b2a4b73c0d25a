"""Work that upstream's cost does not cover, in steps of about 0.1 us.

What a call does beside is counted before it runs where the arguments tell, else right after.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from extender.match.cel.plan import MAX_STEPS
from extender.match.cel.values import OptionalValue, Value, size

_TEXTS: Final = frozenset({str, bytes})
_CONTAINERS: Final = frozenset({list, dict, OptionalValue})


class Work(Struct, frozen=True):
    """Steps of every call, by the arguments, and by the result."""

    always: int = 0
    by_arguments: Callable[..., int] | None = None
    by_result: Callable[[Value], int] | None = None


NOTHING: Final = Work()


def heft(value: Value) -> int:
    """How much there is to a value, all that it is made of included.

    One list may be part of another many times over: this counts no further than matters.
    """
    total, pending = 0, [value]
    while pending and total <= MAX_STEPS:
        part = pending.pop()
        if type(part) in _TEXTS:
            total += len(part) >> 6  # type: ignore[arg-type]
        elif type(part) is list:
            total += len(part)
            pending.extend(_weighty(part))
        elif type(part) is dict:
            total += len(part)
            pending.extend(_weighty(part.values()))
        elif type(part) is OptionalValue:
            pending.append(part.value)
    return total


def _weighty(items: Any) -> Sequence[Value]:
    return [item for item in items if type(item) in _TEXTS or type(item) in _CONTAINERS]


def built(value: Value) -> int:
    """What a new value takes, above all of memory."""
    if type(value) in _TEXTS:
        return len(value) >> 5  # type: ignore[arg-type]
    return len(value) >> 3 if type(value) is list else 0


def _compared(a: Value, b: Value) -> int:
    if type(a) in _CONTAINERS and type(b) in _CONTAINERS:
        return 3 * min(heft(a), heft(b))
    return 0


def _searched(_: Value, items: Value) -> int:
    return 2 * heft(items)


def _all_with_all(*lists: Value) -> int:
    """Elements that are lists or maps are compared one by one, others are looked up."""
    total = sum(map(heft, lists))
    if any(type(item) in _CONTAINERS for items in lists for item in items):  # type: ignore[attr-defined]
        total *= max(map(size, lists))
    return total


def _read(text: Value, *_: Value) -> int:
    return size(text) >> 4


def search_steps(length: int, pattern_size: int) -> int:
    """What it takes to search a text, if the regular expression does not make it easy."""
    return length * pattern_size >> 7


def _matched(text: Value, pattern: Value, *_: Value) -> int:
    """A regular expression that is no constant is compiled each time, or so it counts."""
    length = size(pattern)
    return 2000 + 60 * length + search_steps(size(text), 4 * length)


_COMPARED: Final = Work(by_arguments=_compared)
_WALKED: Final = Work(by_arguments=lambda items, *_: heft(items))
_LOOKED_UP: Final = Work(by_arguments=_all_with_all)
_BUILT: Final = Work(by_result=built)
_READ: Final = Work(4, by_arguments=_read)

_KINDS: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")

_WORK: Final[Mapping[str, Work]] = {
    **dict.fromkeys(("equals", "not_equals"), _COMPARED),
    "in_list": Work(by_arguments=_searched),
    **dict.fromkeys(("add_string", "add_bytes", "add_list"), _BUILT),
    **{f"list_{kind}_{name}_{kind}": _WALKED for kind in _KINDS for name in ("min", "max", "sum")},
    **{f"list_{kind}_is_sorted_bool": _WALKED for kind in _KINDS},
    **dict.fromkeys(
        ("list_a_index_of_int", "list_a_last_index_of_int"),
        Work(by_arguments=lambda items, _: 2 * heft(items)),
    ),
    **dict.fromkeys(
        (
            *("list_distinct", "list_sets_contains_list", "list_sets_intersects_list"),
            "list_sets_equivalent_list",
        ),
        _LOOKED_UP,
    ),
    **dict.fromkeys(("list_flatten", "list_flatten_int"), _WALKED),
    **dict.fromkeys(("optional_unwrap", "optional_unwrapOpt"), _WALKED),
    **dict.fromkeys(
        ("list_join", "list_join_string"),
        Work(by_arguments=lambda items, *_: size(items), by_result=built),
    ),
    **dict.fromkeys(("string_replace_string_string", "string_replace_string_string_int"), _BUILT),
    **dict.fromkeys(
        ("string_split_string", "string_split_string_int"),
        Work(by_result=lambda items: size(items) >> 1),
    ),
    "string_format": Work(30, lambda _, items: 4 * heft(items), built),
    **dict.fromkeys(("matches", "matches_string", "string_find_string"), Work(10, _matched)),
    **dict.fromkeys(
        ("string_find_all_string", "string_find_all_string_int"),
        Work(20, _matched, lambda items: 8 * size(items)),
    ),
    **dict.fromkeys(
        (
            *("string_to_bool", "string_to_int64", "string_to_uint64", "string_to_double"),
            *("string_to_duration", "string_to_timestamp"),
        ),
        _READ,
    ),
}


def work_of(overloads: Sequence[str]) -> Work:
    """Where several overloads are possible, that of the first that has any."""
    for overload in overloads:
        if overload in _WORK:
            return _WORK[overload]
    return NOTHING
