"""What an expression may name: functions with their overloads, types, fields of the taint."""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from extender.match.cel.check.signatures import SIGNATURES
from extender.match.cel.types import (
    BOOL,
    BYTES,
    CIDR,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    IP,
    NAMED_FORMAT,
    NULL,
    QUANTITY,
    SEMVER,
    STRING,
    TAINT,
    TIMESTAMP,
    TYPE,
    UINT,
    URL,
    Type,
    list_of,
    map_of,
    optional_of,
    type_of,
    variable,
)


class Overload(Struct, frozen=True):
    """One way to call a function; the receiver of a member is its first parameter."""

    id: str
    function: str
    parameters: tuple[Type, ...]
    result: Type
    member: bool
    variables: tuple[str, ...]


_AUTHORIZATION: Final = ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
_NAMED_TYPES: Final[Mapping[str, Type]] = {
    **{type_.name: type_ for type_ in (BOOL, INT, UINT, DOUBLE, STRING, BYTES, DYN)},
    **{name: Type("object", f"kubernetes.authorization.{name}") for name in _AUTHORIZATION},
    "timestamp": TIMESTAMP,
    "duration": DURATION,
    "semver": SEMVER,
    "quantity": QUANTITY,
    "url": URL,
    "named_format": NAMED_FORMAT,
    "ip": IP,
    "cidr": CIDR,
}
_CONTAINERS: Final[Mapping[str, Callable[..., Type]]] = {
    "list": list_of,
    "map": map_of,
    "optional": optional_of,
    "type": type_of,
}
_TYPE_TOKEN: Final = re.compile(r"\w+|[()]")
_SIGNATURE: Final = re.compile(r"(?:(?P<receiver>.+)\.)?(?P<parameters>\(.*\)) -> (?P<result>.+)")


def _types(text: str) -> tuple[Type, ...]:
    """The types that are written in `text`, one beside the other."""
    open_types: list[tuple[str, list[Type]]] = [("", [])]
    name = ""
    for word in _TYPE_TOKEN.findall(text):
        siblings = open_types[-1][1]
        if word == "(":
            open_types.append((name, []))
        elif word == ")":
            container, inner = open_types.pop()
            open_types[-1][1].append(_CONTAINERS[container](*inner))
        elif word not in _CONTAINERS:
            siblings.append(_NAMED_TYPES.get(word) or variable(word))
        name = word
    return tuple(open_types[0][1])


def _variables(types: tuple[Type, ...]) -> Iterator[str]:
    for type_ in types:
        if type_.kind == "var":
            yield type_.name
        yield from _variables(type_.parameters)


def overload_of(function: str, overload_id: str, signature: str) -> Overload:
    """The overload that a line of the table declares."""
    parts = _SIGNATURE.fullmatch(signature)
    if parts is None:
        raise ValueError(f"no signature: {signature}")
    receiver = parts["receiver"]
    parameters = _types(receiver or "") + _types(parts["parameters"][1:-1])
    (result,) = _types(parts["result"])
    return Overload(
        overload_id,
        function,
        parameters,
        result,
        member=receiver is not None,
        variables=tuple(dict.fromkeys(_variables((result, *parameters)))),
    )


# Pairs that `<`, `<=`, `>` and `>=` compare, with the end of the overload's id.
_COMPARED: Final = (
    ("bool", "(bool, bool)"),
    ("int64", "(int, int)"),
    ("int64_double", "(int, double)"),
    ("int64_uint64", "(int, uint)"),
    ("uint64", "(uint, uint)"),
    ("uint64_double", "(uint, double)"),
    ("uint64_int64", "(uint, int)"),
    ("double", "(double, double)"),
    ("double_int64", "(double, int)"),
    ("double_uint64", "(double, uint)"),
    ("string", "(string, string)"),
    ("bytes", "(bytes, bytes)"),
    ("timestamp", "(timestamp, timestamp)"),
    ("duration", "(duration, duration)"),
)
_COMPARISONS: Final = {
    "_<_": "less",
    "_<=_": "less_equals",
    "_>_": "greater",
    "_>=_": "greater_equals",
}
_ORDERED: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_SUMMED: Final = ("int", "uint", "double", "duration")
_FORMATS: Final = (
    "byte",
    "date",
    "datetime",
    "dns1035Label",
    "dns1035LabelPrefix",
    "dns1123Label",
    "dns1123LabelPrefix",
    "dns1123Subdomain",
    "dns1123SubdomainPrefix",
    "labelValue",
    "qualifiedName",
    "uri",
    "uuid",
)
_ACCESSORS: Final = {
    "getDate": "day_of_month_1_based",
    "getDayOfMonth": "day_of_month",
    "getDayOfWeek": "day_of_week",
    "getDayOfYear": "day_of_year",
    "getFullYear": "year",
    "getHours": "hours",
    "getMilliseconds": "milliseconds",
    "getMinutes": "minutes",
    "getMonth": "month",
    "getSeconds": "seconds",
}
_OF_DURATIONS: Final = ("getHours", "getMilliseconds", "getMinutes", "getSeconds")


def _families() -> Iterator[tuple[str, str, str]]:
    """Overloads that differ in a type only, as lines of the table of signatures."""
    for function, name in _COMPARISONS.items():
        for suffix, operands in _COMPARED:
            yield function, f"{name}_{suffix}", f"{operands} -> bool"
    for element in _ORDERED:
        runtime_name = _NAMED_TYPES[element].name
        receiver = f"list({element})"
        yield "isSorted", f"list_{element}_is_sorted_bool", f"{receiver}.() -> bool"
        for extreme in ("min", "max"):
            yield extreme, f"list_{element}_{extreme}_{element}", f"{receiver}.() -> {element}"
        yield "sort", f"list_{runtime_name}_sort", f"{receiver}.() -> {receiver}"
        by_keys = "@sortByAssociatedKeys"
        overload_id = f"list_{runtime_name}_{by_keys[1:]}"
        yield by_keys, overload_id, f"list(T).({receiver}) -> list(T)"
    for element in _SUMMED:
        yield "sum", f"list_{element}_sum_{element}", f"list({element}).() -> {element}"
    for name in _FORMATS:
        yield f"format.{name}", f"format.{name}", "() -> named_format"
    for function, what in _ACCESSORS.items():
        # Upstream's own spelling.
        zoned = f"{what}_tz" if what == "seconds" else f"{what}_with_tz"
        yield function, f"timestamp_to_{what}", "timestamp.() -> int"
        yield function, f"timestamp_to_{zoned}", "timestamp.(string) -> int"
        if function in _OF_DURATIONS:
            yield function, f"duration_to_{what}", "duration.() -> int"


def _lines() -> Iterator[tuple[str, str, str]]:
    for line in SIGNATURES.strip().splitlines():
        function, overload_id, signature = line.split(" ", 2)
        yield function, overload_id, signature
    yield from _families()


def _functions() -> Mapping[str, tuple[Overload, ...]]:
    functions: dict[str, tuple[Overload, ...]] = {}
    for function, overload_id, signature in _lines():
        overload = overload_of(function, overload_id, signature)
        functions[function] = (*functions.get(function, ()), overload)
    return MappingProxyType(functions)


FUNCTIONS: Final[Mapping[str, tuple[Overload, ...]]] = _functions()

OVERLOADS: Final[Mapping[str, Overload]] = MappingProxyType(
    {overload.id: overload for overloads in FUNCTIONS.values() for overload in overloads}
)

VARIABLES: Final[Mapping[str, Type]] = MappingProxyType({"taint": TAINT})

FIELDS: Final[Mapping[str, Type]] = MappingProxyType(
    {"key": STRING, "value": STRING, "effect": STRING}
)

# Names that the checker takes for types, but for which there is no value at run time: with them
# an expression is refused when it is planned.
UNDEFINED_TYPES: Final[Mapping[str, Type]] = MappingProxyType(
    {TAINT.name: TAINT, "timestamp": TIMESTAMP, "duration": DURATION}
)

# What a type may be called in an expression, and the type that this names.
TYPE_NAMES: Final[Mapping[str, Type]] = MappingProxyType(
    {
        **UNDEFINED_TYPES,
        **{
            type_.name: type_
            for type_ in (
                *(BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL, TYPE),
                *(TIMESTAMP, DURATION, IP, CIDR),
                *(list_of(variable("A")), map_of(variable("A"), variable("B"))),
                Type("opaque", "optional_type"),
            )
        },
    }
)
