"""Static types, and how they are printed."""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

TypeKind = Literal[
    "primitive",
    "well_known",
    "null",
    "dyn",
    "any",
    "error",
    "type",
    "list",
    "map",
    "object",
    "opaque",
    "var",
]


class Nullable(str):
    """The name of a primitive type whose values may be null: a wrapper.

    It equals the name of the type itself, because upstream takes the two types for the same one
    except where it prints them and where it looks for what null fits.
    """

    __slots__ = ()


class Type(Struct, frozen=True):
    """A type; equal by value. Parameters: of a list its element, of a map key and value."""

    kind: TypeKind
    name: str
    parameters: tuple["Type", ...] = ()
    # Computed by `parametric`: the number of types in this one, their depth, and whether one is a
    # variable.
    weight: int = 1
    depth: int = 1
    is_open: bool = False

    def __str__(self) -> str:
        return _printed(self, {})


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
ANY: Final = Type("any", "google.protobuf.Any")
ERROR: Final = Type("error", "!error!")
TYPE: Final = Type("type", "type")
TAINT: Final = Type("object", "kubernetes.Taint")
SEMVER: Final = Type("object", "kubernetes.Semver")
QUANTITY: Final = Type("object", "kubernetes.Quantity")
URL: Final = Type("object", "kubernetes.URL")
NAMED_FORMAT: Final = Type("object", "kubernetes.NamedFormat")
IP: Final = Type("opaque", "net.IP")
CIDR: Final = Type("opaque", "net.CIDR")
# Only the API server has values of these, but a dyn may be taken for one.
AUTHORIZATION: Final = tuple(
    Type("object", f"kubernetes.authorization.{name}")
    for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
)


# How error texts of the checker name a type, if not by its name.
_DESCRIPTIONS: Final = {NULL: "null", DURATION: "duration", TIMESTAMP: "timestamp", ANY: "any"}


def parametric(kind: TypeKind, name: str, parameters: tuple[Type, ...]) -> Type:
    """A type over others."""
    return Type(
        kind,
        name,
        parameters,
        1 + sum([parameter.weight for parameter in parameters]),
        1 + max([parameter.depth for parameter in parameters]),
        any(parameter.is_open for parameter in parameters),
    )


def list_of(element: Type) -> Type:
    """The type of a list."""
    return parametric("list", "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """The type of a map."""
    return parametric("map", "map", (key, value))


def optional_of(value: Type) -> Type:
    """The type of a value that may be absent."""
    return parametric("opaque", "optional_type", (value,))


def type_of(value: Type) -> Type:
    """The type of a type."""
    return parametric("type", "type", (value,))


def wrapper_of(primitive: Type) -> Type:
    """The type of a primitive value that may be null."""
    return Type(primitive.kind, Nullable(primitive.name))


def is_wrapper(type_: Type) -> bool:
    """Whether the type is that of a primitive value that may be null."""
    return type(type_.name) is Nullable


def variable(name: str) -> Type:
    """A type variable."""
    return Type("var", name, is_open=True)


def is_optional(type_: Type) -> bool:
    """Whether values of the type may be absent."""
    return type_.kind == "opaque" and type_.name == "optional_type"


def describe(type_: Type) -> str:
    """The type as the messages of the checker print it."""
    return _printed(type_, _DESCRIPTIONS)


def _printed(type_: Type, names: Mapping[Type, str]) -> str:
    """Not recursive: types can nest deeper than Python's stack."""
    pieces: list[str] = []
    work: list[Type | str] = [type_]
    while work:
        part = work.pop()
        if isinstance(part, str):
            pieces.append(part)
        elif part.parameters:
            first, *others = part.parameters
            pieces.append(f"{part.name}(")
            work.append(")")
            for other in reversed(others):
                work += (other, ", ")
            work.append(first)
        elif is_wrapper(part):
            pieces.append(f"wrapper({part.name})")
        else:
            pieces.append(names.get(part, part.name))
    return "".join(pieces)
