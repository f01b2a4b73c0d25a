"""Messages that an expression can make: protobuf's well-known types.

Most turn into plain values as soon as they are made: a Duration into a duration, a wrapper into
what it wraps, a Struct into a map, an Any into what is packed in it.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.natives import CONVERSIONS, Spend, to_json
from extender.match.cel.library.quoting import text_format
from extender.match.cel.library.times import duration_of, timestamp_of
from extender.match.cel.library.wire_format import MalformedError, unpack
from extender.match.cel.types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    wrapper_of,
)
from extender.match.cel.values import NO_SUCH_OVERLOAD, Message, Uint, Value, type_name

_OBJECT: Final = map_of(STRING, DYN)
_LIST: Final = list_of(DYN)
_STEPS_PER_BYTE: Final = 4


class Field(Struct, frozen=True):
    """A field of a message; `kind` is protobuf's name for its type."""

    type: Type
    kind: str


class Kind(Struct, frozen=True):
    """A type of messages; `make` takes the fields that are set."""

    type: Type
    fields: Mapping[str, Field]
    make: Callable[[Mapping[str, Any]], Value]


EMPTY: Final = "google.protobuf.Empty"
ENTRY: Final = "google.protobuf.Struct.FieldsEntry"


def _time(type_: Type, make: Callable[[int, int], Value]) -> Kind:
    fields = {"seconds": Field(INT, "int64"), "nanos": Field(INT, "int32")}
    return Kind(type_, fields, lambda given: make(given.get("seconds", 0), given.get("nanos", 0)))


def _wrapper(type_: Type, kind: str, zero: Value) -> Kind:
    fields = {"value": Field(type_, kind)}
    return Kind(wrapper_of(type_), fields, lambda given: given.get("value", zero))


def _choose(given: Mapping[str, Any]) -> Value:
    """The last field of a Value. Upstream takes any one of those that are set."""
    name = next(reversed([*given]), "null_value")
    return None if name == "null_value" else given[name]


def _unpack(given: Mapping[str, Any]) -> Value:
    url, packed = given.get("type_url", ""), given.get("value", b"")
    try:
        return unpack(url, packed)
    except MalformedError:
        shown = text_format({"type_url": url.encode(errors="surrogatepass"), "value": packed})
        raise EvaluationError(
            f"unsupported conversion to ref.Val: (*dynamicpb.Message){shown}"
        ) from None


def _enter(given: Mapping[str, Any]) -> Value:
    # An empty key is the same as none.
    return Message(
        ENTRY, {name: given[name] for name in given if (name, given[name]) != ("key", "")}
    )


KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "google.protobuf.Duration": _time(DURATION, duration_of),
        "google.protobuf.Timestamp": _time(TIMESTAMP, timestamp_of),
        "google.protobuf.BoolValue": _wrapper(BOOL, "bool", zero=False),
        "google.protobuf.BytesValue": _wrapper(BYTES, "bytes", b""),
        "google.protobuf.DoubleValue": _wrapper(DOUBLE, "double", 0.0),
        "google.protobuf.FloatValue": _wrapper(DOUBLE, "float", 0.0),
        "google.protobuf.Int32Value": _wrapper(INT, "int32", 0),
        "google.protobuf.Int64Value": _wrapper(INT, "int64", 0),
        "google.protobuf.StringValue": _wrapper(STRING, "string", ""),
        "google.protobuf.UInt32Value": _wrapper(UINT, "uint32", Uint(0)),
        "google.protobuf.UInt64Value": _wrapper(UINT, "uint64", Uint(0)),
        "google.protobuf.Struct": Kind(
            _OBJECT, {"fields": Field(_OBJECT, "map")}, lambda given: given.get("fields", {})
        ),
        "google.protobuf.ListValue": Kind(
            _LIST, {"values": Field(_LIST, "list")}, lambda given: given.get("values", [])
        ),
        "google.protobuf.Value": Kind(
            DYN,
            {
                "null_value": Field(INT, "enum"),
                "number_value": Field(DOUBLE, "double"),
                "string_value": Field(STRING, "string"),
                "bool_value": Field(BOOL, "bool"),
                "struct_value": Field(_OBJECT, "Struct"),
                "list_value": Field(_LIST, "ListValue"),
            },
            _choose,
        ),
        ANY.name: Kind(
            ANY, {"type_url": Field(STRING, "string"), "value": Field(BYTES, "bytes")}, _unpack
        ),
        EMPTY: Kind(Type("object", EMPTY), {}, lambda _: Message(EMPTY, {})),
        # An entry of a Struct, which upstream takes for a message like all others.
        ENTRY: Kind(
            Type("object", ENTRY),
            {"key": Field(STRING, "string"), "value": Field(DYN, "Value")},
            _enter,
        ),
    }
)
_ZEROS: Final[Mapping[str, Value]] = {"key": "", "value": None}


def make(name: str, given: Mapping[str, Value], spend: Spend) -> Value:
    """The value of a message with these fields."""
    kind = KINDS[name]
    fields = {
        field: _converted(f"{name}.{field}", kind.fields[field].kind, value, spend)
        for field, value in given.items()
    }
    if kind.type == ANY:
        spend(_STEPS_PER_BYTE * len(fields.get("value", b"")))
    return kind.make(fields)


def _converted(field: str, kind: str, value: Value, spend: Spend) -> Any:
    wanted = _CONTAINERS.get(kind)
    if wanted is not None and type(value) is not wanted:
        given = _CONTAINER_NAMES.get(type(value)) or type_name(value)
        raise EvaluationError(f"unsupported field type for {field}: {given}")
    try:
        return CONVERSIONS.get(kind, to_json)(value, spend)
    except EvaluationError as error:
        text = f"field type conversion error for {field} value type: {error}"
        raise EvaluationError(text) from None


_CONTAINERS: Final[Mapping[str, type]] = {"map": dict, "list": list}
_CONTAINER_NAMES: Final[Mapping[type, str]] = {dict: "map(dyn, dyn)", list: "list(dyn)"}


def read_field(message: Message, name: Value) -> Value:
    """The value of a field, or its zero if it is not set."""
    return message.fields[str(name)] if has_field(message, name) else _ZEROS[str(name)]


def has_field(message: Message, name: Value) -> bool:
    """Whether a field is set."""
    if type(name) is not str:
        raise EvaluationError(NO_SUCH_OVERLOAD)
    if name not in KINDS[message.type_name].fields:
        raise EvaluationError(f"no such field '{name}'")
    return name in message.fields
