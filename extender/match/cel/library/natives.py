"""What upstream makes of a value that a message takes in: a field of Go's types, or JSON.

The texts of the errors are those of cel-go's `ConvertToNative`.
"""

import math
import struct
from base64 import b64encode
from collections.abc import Callable, Hashable, Mapping
from types import NoneType
from typing import Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.times import duration_text, timestamp_text
from extender.match.cel.values import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    Duration,
    Message,
    OptionalValue,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    bound_text,
    from_key,
    shown,
    type_name,
)

# Counts work that upstream does not charge for.
Spend = Callable[[int], None]
Convert = Callable[[Value, Spend], Value]

_JSON: Final = "*structpb.Value"
_EXACT: Final = (1 << 53) - 1  # integers beyond it become texts in JSON
_UINT8_MAX: Final = (1 << 8) - 1
_UINT32_MAX: Final = (1 << 32) - 1
_INT32_MAX: Final = (1 << 31) - 1
_STEPS_PER_ITEM: Final = 10
_BYTES_PER_STEP: Final = 32

_REFUSALS: Final[Mapping[type, str]] = {
    NoneType: "type conversion error from 'null_type' to '{}'",
    bool: "type conversion error from bool to '{}'",
    int: "unsupported type conversion from 'int' to {}",
    Uint: "unsupported type conversion from 'uint' to {}",
    float: "type conversion error from Double to '{}'",
    str: "unsupported native conversion from string to '{}'",
    bytes: "type conversion error from Bytes to '{}'",
    list: "type conversion error from list to '{}'",
    dict: "type conversion error from map to '{}'",
    Duration: "type conversion error from 'Duration' to '{}'",
    Timestamp: "type conversion error from 'Timestamp' to '{}'",
    TypeValue: "type conversion not supported for 'type'",
    Message: "type conversion error from '*dynamicpb.Message' to '{}'",
}


def _refused(value: Value, target: str) -> EvaluationError:
    text = _REFUSALS.get(type(value))
    if text is None:
        name = type_name(value).rpartition(".")[2].removeprefix("Named")
        text = f"type conversion error from '{name}' to '{{}}'"
    return EvaluationError(text.format(target))


def _present(value: Value) -> Value:
    while type(value) is OptionalValue:
        if not value.present:
            raise EvaluationError("optional.none() dereference")
        value = value.value
    return value


def _scalar(kind: type, target: str) -> Convert:
    def convert(value: Value, _: Spend) -> Value:
        value = _present(value)
        if type(value) is kind:
            return value
        raise _refused(value, target)

    return convert


def _integer(kind: type[int], target: str, least: int, most: int) -> Convert:
    overflow = "unsigned integer overflow" if kind is Uint else "integer overflow"

    def convert(value: Value, _: Spend) -> Value:
        value = _present(value)
        if type(value) is not kind:
            raise _refused(value, target)
        if least <= value <= most:
            return value
        raise EvaluationError(overflow)

    return convert


def _float(value: Value, spend: Spend) -> Value:
    """A double, rounded to 32 bits."""
    number = _FLOAT32(value, spend)
    try:
        (rounded,) = struct.unpack("<f", struct.pack("<f", number))
    except OverflowError:
        return math.copysign(math.inf, number)  # type: ignore[arg-type]
    return float(rounded)


def _string(value: Value, _: Spend) -> Value:
    """A text. Upstream also prints addresses and networks."""
    value = _present(value)
    if type(value) is str:
        return value
    if type_name(value) in ("net.IP", "net.CIDR"):
        return str(value)
    raise _refused(value, "string")


def _bytes(value: Value, spend: Spend) -> Value:
    """Bytes, or a list of them."""
    value = _present(value)
    if type(value) is bytes:
        return value
    if type(value) is not list:
        raise _refused(value, "[]uint8")
    spend(_STEPS_PER_ITEM * len(value))
    return bytes([_UINT8(item, spend) for item in value])  # type: ignore[misc]


def to_json(value: Value, spend: Spend) -> Value:
    """The value as JSON has it. Not recursive, as values can be nested deeper than calls."""
    root: list[Value] = [value]
    pending: list[tuple[list[Value] | dict[Hashable, Value], Hashable]] = [(root, 0)]
    written = 0
    while pending:
        holder, place = pending.pop()
        part = _present(holder[place])  # type: ignore[call-overload]
        if type(part) is list:
            spend(_STEPS_PER_ITEM * len(part))
            part = list(part)
            pending += [(part, index) for index in reversed(range(len(part)))]
        elif type(part) is dict:
            spend(_STEPS_PER_ITEM * len(part))
            part = {_string(from_key(key), spend): item for key, item in part.items()}
            pending += [(part, key) for key in reversed(part)]
        else:
            spend(len(part) // _BYTES_PER_STEP if type(part) is bytes else 0)
            part = _json_scalar(part)
            written += len(part) if type(part) is str else 0
            bound_text(written)
        holder[place] = part  # type: ignore[call-overload]
    return root[0]


def _json_scalar(value: Value) -> Value:
    if type(value) is int or type(value) is Uint:
        return float(value) if -_EXACT <= value <= _EXACT else str(int(value))
    if type(value) is Message:
        return dict(value.fields)
    convert = _JSON_SCALARS.get(type(value))
    if convert is None:
        raise _refused(value, _JSON)
    return convert(value)


_JSON_SCALARS: Final[Mapping[type, Callable[..., Value]]] = {
    **dict.fromkeys((NoneType, bool, float, str), lambda value: value),
    bytes: lambda value: b64encode(value).decode(),
    Duration: duration_text,
    Timestamp: timestamp_text,
}


def to_json_map(value: Value, spend: Spend) -> Value:
    """A map as JSON has it."""
    value = _present(value)
    if type(value) is not dict:
        raise _refused(value, "*structpb.Struct")
    return to_json(value, spend)


def to_json_list(value: Value, spend: Spend) -> Value:
    """A list as JSON has it. Upstream also fills Go's struct for one from a map by field names."""
    value = _present(value)
    if type(value) is dict:
        for key in value:
            name = shown(from_key(key))
            if name not in ("values", "Values"):
                name = f"'{name[:1].upper()}{name[1:]}'"
                raise EvaluationError(
                    f"type conversion error, no such field {name} in type 'structpb.ListValue'"
                )
        value = [item for items in value.values() for item in _items(items)]
    if type(value) is not list:
        raise _refused(value, "*structpb.ListValue")
    return to_json(value, spend)


def _items(value: Value) -> list[Value]:
    value = _present(value)
    if type(value) is not list:
        raise _refused(value, f"[]{_JSON}")
    return value


_FLOAT32: Final = _scalar(float, "float32")
_UINT8: Final = _integer(Uint, "uint8", 0, _UINT8_MAX)

# By the names that protobuf has for the types of fields.
CONVERSIONS: Final[Mapping[str, Convert]] = {
    "bool": _scalar(bool, "bool"),
    "bytes": _bytes,
    "string": _string,
    "double": _scalar(float, "float64"),
    "float": _float,
    "int32": _integer(int, "int32", -_INT32_MAX - 1, _INT32_MAX),
    "int64": _integer(int, "int64", INT_MIN, INT_MAX),
    "uint32": _integer(Uint, "uint32", 0, _UINT32_MAX),
    "uint64": _integer(Uint, "uint64", 0, UINT_MAX),
    "enum": _integer(int, "protoreflect.EnumNumber", -_INT32_MAX - 1, _INT32_MAX),
    "Value": to_json,
    "Struct": to_json_map,
    "ListValue": to_json_list,
}
