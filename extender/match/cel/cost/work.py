"""Work that upstream's cost does not cover, in steps of about 0.1 us.

What a call does beside is counted before it runs where the arguments tell, else right after.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from extender.match.cel.check.declarations import OVERLOADS
from extender.match.cel.equality import are_plain_lists
from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.library.regex import compile_pattern
from extender.match.cel.plan.code import MAX_STEPS
from extender.match.cel.values import (
    COST_LIMIT_EXCEEDED,
    OptionalValue,
    Value,
    size,
)

_TEXTS: Final = frozenset({str, bytes})
FINDING_STEPS: Final = 10  # there may be a match at every character
_TOO_LARGE: Final = "expression too large"
_CONTAINER_STEPS: Final = 8
_CONTAINERS: Final = frozenset({list, dict, OptionalValue})
_WEIGHTY: Final = _TEXTS | _CONTAINERS


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
            total += _CONTAINER_STEPS + len(part)
            pending.extend(_weighty(part))
        elif type(part) is dict:
            total += _CONTAINER_STEPS + len(part)
            pending.extend(_weighty(part.values()))
        elif type(part) is OptionalValue:
            pending.append(part.value)
    return total


def _weighty(items: Any) -> Sequence[Value]:
    if _WEIGHTY.isdisjoint(map(type, items)):
        return ()
    return [item for item in items if type(item) in _WEIGHTY]


def built(value: Value) -> int:
    """What a new value takes, above all of memory."""
    if type(value) in _TEXTS:
        return len(value) >> 5  # type: ignore[arg-type]
    return len(value) >> 2 if type(value) is list else 0


def search_steps(length: int, pattern_size: int) -> int:
    """What it takes to search a text, if the regular expression does not make it easy."""
    return length * pattern_size >> 7


def _compared(a: Value, b: Value) -> int:
    if are_plain_lists(a, b):
        return min(heft(a), heft(b)) >> 1
    if type(a) in _CONTAINERS and type(b) in _CONTAINERS:
        return 3 * min(heft(a), heft(b))
    return 0


def _all_with_all(*lists: Value) -> int:
    """Elements that are lists or maps are compared one by one, others are looked up."""
    total = sum(map(heft, lists))
    if any(type(item) in _CONTAINERS for items in lists if type(items) is list for item in items):
        total *= max(map(size, lists))
    return total


def _matched(text: Value, pattern: Value, *_: Value) -> int:
    """A regular expression that is no constant is compiled each time, or so it counts."""
    pattern_size = _pattern_size(pattern) if type(pattern) is str else 0
    compiling = 2000 + 60 * size(pattern) + 10 * pattern_size
    return compiling + search_steps(size(text), pattern_size)


def _found(text: Value, pattern: Value, *_: Value) -> int:
    return FINDING_STEPS * size(text) + _matched(text, pattern)


def _pattern_size(pattern: str) -> int:
    try:
        return compile_pattern(pattern).size
    except EvaluationError as error:
        if _TOO_LARGE in str(error):  # to find that out, takes as long as an evaluation may
            raise CostLimitError(COST_LIMIT_EXCEEDED) from None
        return 0


def _walked(steps: int) -> Work:
    return Work(by_arguments=lambda items, *_: steps * heft(items))


def _read(steps: int) -> Work:
    """A text that is parsed at a price of 1, or nearly so."""
    return Work(steps, by_arguments=lambda text, *_: size(text) >> 4)


_BUILT: Final = Work(by_result=built)
_COMPARED: Final = Work(20, by_arguments=_compared)
_LOOKED_UP: Final = Work(by_arguments=_all_with_all)
_KINDS: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")

_GROUPS: Final[Mapping[Work, Sequence[str]]] = {
    _COMPARED: ("equals", "not_equals"),
    Work(by_arguments=lambda _, items: 2 * heft(items)): ("in_list",),
    _walked(4): ("list_a_index_of_int", "list_a_last_index_of_int"),
    _walked(3): (
        *(f"list_{kind}_is_sorted_bool" for kind in _KINDS),
        *(f"list_{kind}_{name}_{kind}" for kind in _KINDS for name in ("min", "max", "sum")),
    ),
    _walked(6): ("list_flatten", "list_flatten_int"),
    _walked(1): ("optional_unwrap", "optional_unwrapOpt"),
    _LOOKED_UP: (
        *("list_distinct", "list_sets_contains_list", "list_sets_intersects_list"),
        "list_sets_equivalent_list",
    ),
    _BUILT: (
        *("add_string", "add_bytes", "add_list"),
        *("string_replace_string_string", "string_replace_string_string_int"),
    ),
    Work(by_arguments=lambda items, *_: size(items), by_result=built): (
        *("list_join", "list_join_string"),
    ),
    Work(by_result=lambda items: size(items) >> 1): (
        *("string_split_string", "string_split_string_int"),
    ),
    Work(100, lambda _, items: 100 * size(items) + 4 * heft(items), built): ("string_format",),
    Work(30, _matched): ("matches", "matches_string", "string_find_string"),
    Work(30, _found, lambda items: 14 * size(items)): (
        *("string_find_all_string", "string_find_all_string_int"),
    ),
    _read(12): ("string_to_bool", "string_to_int64", "string_to_uint64", "string_to_double"),
    _read(60): ("string_to_duration",),
    _read(100): ("string_to_timestamp",),
    Work(60): (
        *("string_to_semver", "string_bool_to_semver", "is_semver_string"),
        *("is_semver_string_bool", "string_to_quantity", "is_quantity_string"),
        *("string_to_ip", "is_ip", "ip_is_canonical", "string_to_cidr", "is_cidr"),
        *("cidr_contains_ip_string", "cidr_contains_cidr_string", "strings_quote"),
        *(overload for overload in OVERLOADS if overload.endswith(("_with_tz", "_seconds_tz"))),
    ),
    Work(220): ("string_to_url", "is_url_string", "url_get_query"),
}
_WORK: Final[Mapping[str, Work]] = {
    overload: work for work, overloads in _GROUPS.items() for overload in overloads
}


def work_of(overloads: Sequence[str]) -> Work:
    """Where several overloads are possible, that of the first that has any."""
    for overload in overloads:
        if overload in _WORK:
            return _WORK[overload]
    return NOTHING
