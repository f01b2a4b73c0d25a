"""Values that may be absent. The planner skips the argument of `or` and `orValue` by itself."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.values import (
    NONE,
    Duration,
    OptionalValue,
    Timestamp,
    Uint,
    Value,
    shown,
)

_ZEROS: Final = frozenset({bool, int, Uint, float, str, bytes, list, dict, Duration, type(None)})
_FIRST_INSTANT: Final = -62_135_596_800_000_000_000  # of year 1; the epoch is no zero


def _of_non_zero(value: Value) -> OptionalValue:
    if type(value) is Timestamp:
        is_zero = value == _FIRST_INSTANT
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


OVERLOADS: Final[Mapping[str, Callable[..., Value]]] = {
    "optional_of": OptionalValue,
    "optional_ofNonZeroValue": _of_non_zero,
    "optional_none": lambda: NONE,
    "optional_value": _value,
    "optional_hasValue": lambda optional: optional.present,
    "optional_or_optional": lambda optional, other: optional if optional.present else other,
    "optional_orValue_value": lambda optional, other: optional.value if optional.present else other,
    "list_first": _first,
    "list_last": _last,
    "optional_unwrap": _unwrap,
    "optional_unwrapOpt": _unwrap,
}
