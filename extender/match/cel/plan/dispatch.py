"""Finds the overload of a call by the run-time types of its arguments."""

from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any, Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library import FUNCTIONS, OVERLOADS
from extender.match.cel.types import DYN, Type, list_of
from extender.match.cel.values import (
    NO_SUCH_OVERLOAD,
    NOT_ORDERED,
    NUMBERS,
    Duration,
    Message,
    OptionalValue,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    as_int,
    from_key,
    type_name,
)

_GO_TYPES: Final[Mapping[type, str]] = {
    NoneType: "types.Null",
    bool: "types.Bool",
    int: "types.Int",
    Uint: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    list: "*types.baseList",
    dict: "*types.baseMap",
    Duration: "types.Duration",
    Timestamp: "types.Timestamp",
    OptionalValue: "*types.Optional",
    TypeValue: "*types.Type",
    Message: "*types.protoObj",
}

# Types that are decided by the class of a value alone.
_SIMPLE: Final[Mapping[str, type]] = {
    "bool": bool,
    "int": int,
    "uint": Uint,
    "double": float,
    "string": str,
    "bytes": bytes,
    "google.protobuf.Duration": Duration,
    "google.protobuf.Timestamp": Timestamp,
}
_ORDERED: Final = NUMBERS | {bool, str, bytes, Duration, Timestamp}
# What can be on the left of an operator. The error for anything else names the operator.
_LEFT_OF: Final[Mapping[str, frozenset[type]]] = {
    "_+_": NUMBERS | {str, bytes, list, Duration, Timestamp},
    "_-_": NUMBERS | {Duration, Timestamp},
    "_*_": NUMBERS,
    "_/_": NUMBERS,
    "_%_": frozenset({int, Uint}),
    "-_": frozenset({int, float, bool, Duration}),
    "size": frozenset({str, bytes, list, dict}),
    "matches": frozenset({str}),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _ORDERED),
}
# These have functions of their own, which upstream asks for the operator in vain.
_RECEIVERS: Final = frozenset({str, Duration, Timestamp})
# Upstream's values can do this, though no overload says so.
_UNDECLARED: Final[Mapping[str, Mapping[tuple[type, ...], Callable[..., Value]]]] = {
    "-_": {(Duration,): lambda value: Duration(as_int(-value))}
}
# Upstream does not check the elements before it calls these.
_UNGUARDED: Final[Mapping[str, tuple[Type, ...]]] = {"list_flatten": (list_of(DYN),)}


def go_type(value: Value) -> str:
    """What Go calls the type of a value."""
    return _GO_TYPES.get(type(value)) or f"cel.{type_name(value).split('.')[-1]}".replace(
        "Named", ""
    )


def accepts(parameter: Type, value: Value) -> bool:
    """Whether a value fits a parameter. For lists and maps the first entry decides."""
    while parameter.kind not in ("dyn", "var"):
        if parameter.name != type_name(value):
            return False
        if type(value) is list and value:
            parameter, value = parameter.parameters[0], value[0]
        elif type(value) is dict and value:
            key, entry = next(iter(value.items()))
            if not accepts(parameter.parameters[0], from_key(key)):
                return False
            parameter, value = parameter.parameters[1], entry
        else:
            return True
    return True


def dispatcher(function: str, overloads: Sequence[str]) -> Callable[..., Any]:
    """A function that calls the first overload that accepts the arguments.

    With one implementation for all overloads, it does not matter which of them the checker chose.
    An overload that nothing can run accepts no argument.
    """
    is_singleton = FUNCTIONS[function].is_singleton
    described = (
        FUNCTIONS[function].overloads
        if is_singleton
        else [OVERLOADS[overload] for overload in overloads]
    )
    candidates = [
        (_UNGUARDED.get(overload.id, overload.parameters), overload.run)
        for overload in described
        if overload.run is not None
    ]
    by_types = dict(_UNDECLARED.get(function, {})) | {
        tuple(_SIMPLE[parameter.name] for parameter in parameters): implementation
        for parameters, implementation in candidates
        if all(parameter.name in _SIMPLE for parameter in parameters)
    }

    def dispatch(*values: Value) -> Any:
        simple = by_types.get(tuple(map(type, values)))
        if simple is not None:
            return simple(*values)
        for parameters, implementation in candidates:
            if all(map(accepts, parameters, values)):
                return implementation(*values)
        raise _no_overload(function, values, is_singleton=is_singleton)

    return dispatch


def _no_overload(function: str, values: Sequence[Value], *, is_singleton: bool) -> EvaluationError:
    if not is_singleton:
        given = ", ".join(map(type_name, values))
        return EvaluationError(f"{NO_SUCH_OVERLOAD}: {function}({given})")
    left = _LEFT_OF.get(function)
    if left is not None and type(values[0]) not in left | _RECEIVERS:
        return EvaluationError(f"{NO_SUCH_OVERLOAD}: {function}")
    if left is _ORDERED and values[0] != values[0]:
        return EvaluationError(NOT_ORDERED)
    return EvaluationError(NO_SUCH_OVERLOAD)


def as_bool(value: Value) -> bool:
    """The value, if it is a bool."""
    if value is True or value is False:
        return value
    raise EvaluationError(NO_SUCH_OVERLOAD)
