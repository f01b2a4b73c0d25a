"""What an expression may name beside functions: the taint, its fields, and types."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from extender.match.cel.library.messages import EMPTY, ENTRY, KINDS
from extender.match.cel.types import (
    ANY,
    BOOL,
    BYTES,
    CIDR,
    DOUBLE,
    DURATION,
    INT,
    IP,
    NULL,
    STRING,
    TAINT,
    TIMESTAMP,
    TYPE,
    UINT,
    Type,
    list_of,
    map_of,
    variable,
)

VARIABLES: Final[Mapping[str, Type]] = MappingProxyType({"taint": TAINT})

FIELDS: Final[Mapping[str, Type]] = MappingProxyType(
    {"key": STRING, "value": STRING, "effect": STRING}
)

# Values of enums.
CONSTANTS: Final[Mapping[str, int]] = MappingProxyType({"google.protobuf.NullValue.NULL_VALUE": 0})

# The checker knows these names as types, but there is no value for them: the planner refuses an
# expression that reads one.
UNDEFINED_TYPES: Final[Mapping[str, Type]] = MappingProxyType(
    {
        TAINT.name: TAINT,
        "timestamp": TIMESTAMP,
        "duration": DURATION,
        **{name: kind.type for name, kind in KINDS.items() if name != kind.type.name},
        ANY.name: ANY,
    }
)

# Every name of a type that an expression may use.
TYPE_NAMES: Final[Mapping[str, Type]] = MappingProxyType(
    {
        **UNDEFINED_TYPES,
        **{
            type_.name: type_
            for type_ in (
                *(BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL, TYPE),
                *(TIMESTAMP, DURATION, IP, CIDR),
                *(list_of(variable("A")), map_of(variable("A"), variable("B"))),
                *(Type("opaque", "optional_type"), KINDS[EMPTY].type, KINDS[ENTRY].type),
            )
        },
    }
)
