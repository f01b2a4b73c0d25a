"""Values that may be absent. The planner skips the argument of `or` and `orValue` by itself."""

from collections.abc import Sequence
from typing import Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.charges import walked
from extender.match.cel.library.functions import Function, function, overload
from extender.match.cel.values import (
    NONE,
    Duration,
    Message,
    OptionalValue,
    Timestamp,
    Uint,
    Value,
    shown,
)

_ZEROS: Final = frozenset({bool, int, Uint, float, str, bytes, list, dict, Duration, type(None)})
_FIRST_INSTANT: Final = (
    -62_135_596_800_000_000_000
)  # of year 1, Go's zero time; the epoch is not zero


def _of_non_zero(value: Value) -> OptionalValue:
    if type(value) is Timestamp:
        is_zero = value == _FIRST_INSTANT
    elif type(value) is Message:
        is_zero = not value.fields
    else:
        is_zero = type(value) in _ZEROS and not value
    return NONE if is_zero else OptionalValue(value)


def _value(optional: OptionalValue) -> Value:
    if not optional.present:
        raise EvaluationError("optional.none() dereference")
    return optional.value


def _first(items: Sequence[Value]) -> OptionalValue:
    return OptionalValue(items[0]) if items else NONE


def _last(items: Sequence[Value]) -> OptionalValue:
    return OptionalValue(items[-1]) if items else NONE


def _unwrap(items: Sequence[Value]) -> list[Value]:
    values = []
    for item in items:
        if type(item) is not OptionalValue:
            raise EvaluationError(f"value {shown(item)} is not optional")
        if item.present:
            values.append(item.value)
    return values


FUNCTIONS: Final[tuple[Function, ...]] = (
    function("optional.of", overload("optional_of", "(V) -> optional(V)", OptionalValue)),
    function(
        "optional.ofNonZeroValue",
        overload("optional_ofNonZeroValue", "(V) -> optional(V)", _of_non_zero),
    ),
    function("optional.none", overload("optional_none", "() -> optional(V)", lambda: NONE)),
    function("value", overload("optional_value", "optional(V).() -> V", _value)),
    function(
        "hasValue",
        overload("optional_hasValue", "optional(V).() -> bool", lambda it: it.present),
    ),
    function(
        "or",
        overload(
            "optional_or_optional",
            "optional(V).(optional(V)) -> optional(V)",
            lambda optional, other: optional if optional.present else other,
        ),
    ),
    function(
        "orValue",
        overload(
            "optional_orValue_value",
            "optional(V).(V) -> V",
            lambda optional, other: optional.value if optional.present else other,
        ),
    ),
    function("first", overload("list_first", "list(V).() -> optional(V)", _first)),
    function("last", overload("list_last", "list(V).() -> optional(V)", _last)),
    function(
        "optional.unwrap",
        overload("optional_unwrap", "(list(optional(V))) -> list(V)", _unwrap),
        work=walked(1),
    ),
    function(
        "unwrapOpt",
        overload("optional_unwrapOpt", "list(optional(V)).() -> list(V)", _unwrap),
        work=walked(1),
    ),
)
