"""Static types, and how they are printed."""

from typing import Final, Literal

from msgspec import Struct

TypeKind = Literal[
    "primitive",
    "well_known",
    "null",
    "dyn",
    "error",
    "type",
    "list",
    "map",
    "object",
    "opaque",
    "var",
]


class Type(Struct, frozen=True):
    """A type; equal by value. Parameters: of a list its element, of a map key and value."""

    kind: TypeKind
    name: str
    parameters: tuple["Type", ...] = ()

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(map(str, self.parameters))})"


BOOL: Final = Type("primitive", "bool")
INT: Final = Type("primitive", "int")
UINT: Final = Type("primitive", "uint")
DOUBLE: Final = Type("primitive", "double")
STRING: Final = Type("primitive", "string")
BYTES: Final = Type("primitive", "bytes")
TIMESTAMP: Final = Type("well_known", "google.protobuf.Timestamp")
DURATION: Final = Type("well_known", "google.protobuf.Duration")
NULL: Final = Type("null", "null_type")
DYN: Final = Type("dyn", "dyn")
ERROR: Final = Type("error", "!error!")
TYPE: Final = Type("type", "type")
TAINT: Final = Type("object", "kubernetes.Taint")
SEMVER: Final = Type("object", "kubernetes.Semver")
QUANTITY: Final = Type("object", "kubernetes.Quantity")
URL: Final = Type("object", "kubernetes.URL")
NAMED_FORMAT: Final = Type("object", "kubernetes.NamedFormat")
IP: Final = Type("opaque", "net.IP")
CIDR: Final = Type("opaque", "net.CIDR")


def list_of(element: Type) -> Type:
    """The type of a list."""
    return Type("list", "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """The type of a map."""
    return Type("map", "map", (key, value))


def optional_of(value: Type) -> Type:
    """The type of a value that may be absent."""
    return Type("opaque", "optional_type", (value,))


def type_of(value: Type) -> Type:
    """The type of a type."""
    return Type("type", "type", (value,))


def variable(name: str) -> Type:
    """A type that is yet to be found."""
    return Type("var", name)


def is_optional(type_: Type) -> bool:
    """Whether values of the type may be absent."""
    return type_.kind == "opaque" and type_.name == "optional_type"
