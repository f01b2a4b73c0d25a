"""Finds the overload of a call by the run-time types of its arguments."""

from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any, Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library import FUNCTIONS, OVERLOADS
from extender.match.cel.types import DYN, Type, list_of
from extender.match.cel.values import (
    NO_SUCH_OVERLOAD,
    Duration,
    OptionalValue,
    Timestamp,
    TypeValue,
    Uint,
    Value,
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
    by_types = {
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
        if function == "size":
            raise EvaluationError(f"{NO_SUCH_OVERLOAD}: size")
        if is_singleton:
            raise EvaluationError(NO_SUCH_OVERLOAD)
        raise EvaluationError(
            f"{NO_SUCH_OVERLOAD}: {function}({', '.join(map(type_name, values))})"
        )

    return dispatch


def as_bool(value: Value) -> bool:
    """The value, if it is a bool."""
    if value is True or value is False:
        return value
    raise EvaluationError(NO_SUCH_OVERLOAD)
