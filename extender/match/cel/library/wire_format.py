"""Reads the bytes in a `google.protobuf.Any`, by protobuf's wire format.

Bytes that cannot be read, or are of a type that is not well known, raise MalformedError.
"""

import struct
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any, Final

from extender.errors import LeewayError
from extender.match.cel.library.times import duration_of, timestamp_of
from extender.match.cel.values import Message, Uint, Value

_VARINT, _FIXED64, _BYTES, _START_GROUP, _END_GROUP, _FIXED32 = range(6)
_MAX_NUMBER: Final = (1 << 29) - 1
_UINT64: Final = 1 << 64
_MAX_DEPTH: Final = 10_000  # Go's own

# A reader asks for messages inside its own and is sent their values: no recursion, so no depth is
# too much.
_Reader = Generator["_Reader", Any, Value]


class MalformedError(LeewayError):
    """Bytes that are no message of the type."""


def unpack(url: str, data: bytes) -> Value:
    """The value of a message, by the URL of its type and its bytes."""
    value: Any = None
    # A view, because the bytes of nested messages would be copied once for each level.
    readers = [_reader(url, memoryview(data))]
    while readers:
        if len(readers) > _MAX_DEPTH:
            raise MalformedError("exceeded maximum recursion depth")
        try:
            readers.append(readers[-1].send(value))
            value = None
        except StopIteration as stop:
            readers.pop()
            value = stop.value
    return value


def _reader(url: str, data: memoryview) -> _Reader:
    read = _READERS.get(url.rpartition("/")[2])
    if read is None:
        raise MalformedError(f"unknown type: {url}")
    return read(data)


def _fields(data: memoryview) -> Iterator[tuple[int, int, Any]]:
    """Number, wire type and content of each field. Groups are skipped: no known type has one."""
    position = 0
    open_groups: list[int] = []
    while position < len(data):
        tag, position = _varint(data, position)
        number, kind = tag >> 3, tag & 7
        if not 0 < number <= _MAX_NUMBER:
            raise MalformedError("invalid field number")
        if kind == _START_GROUP:
            open_groups.append(number)
        elif kind == _END_GROUP:
            if not open_groups or open_groups.pop() != number:
                raise MalformedError("mismatching end group marker")
        else:
            content, position = _content(data, position, kind)
            if not open_groups:
                yield number, kind, content
    if open_groups:
        raise MalformedError("unexpected end")


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            raise MalformedError("unexpected end")
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            if number >= _UINT64:
                break
            return number, position
    raise MalformedError("variable length integer overflow")


def _content(data: memoryview, position: int, kind: int) -> tuple[int | memoryview, int]:
    if kind == _VARINT:
        return _varint(data, position)
    if kind == _BYTES:
        length, position = _varint(data, position)
    elif kind in (_FIXED32, _FIXED64):
        length = 4 if kind == _FIXED32 else 8
    else:
        raise MalformedError("invalid wire type")
    if length > len(data) - position:
        raise MalformedError("unexpected end")
    return data[position : position + length], position + length


def _signed(bits: int) -> Callable[[int], int]:
    half = 1 << (bits - 1)
    return lambda number: ((number % (half * 2)) ^ half) - half


def _text(data: memoryview) -> str:
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        raise MalformedError("invalid UTF-8") from None


_INT32, _INT64 = _signed(32), _signed(64)
_UINT32_MODULUS: Final = 1 << 32


def _double(data: memoryview) -> float:
    (number,) = struct.unpack("<d", data)
    return float(number)


def _float(data: memoryview) -> float:
    (number,) = struct.unpack("<f", data)
    return float(number)


def _wrapper(
    kind: int, zero: Value, convert: Callable[[Any], Value]
) -> Callable[[memoryview], _Reader]:
    def read(data: memoryview) -> _Reader:
        value = zero
        for number, found, content in _fields(data):
            if (number, found) == (1, kind):
                value = convert(content)
        return value
        yield

    return read


def _time(make: Callable[[int, int], Value]) -> Callable[[memoryview], _Reader]:
    def read(data: memoryview) -> _Reader:
        seconds = nanos = 0
        for number, kind, content in _fields(data):
            if (number, kind) == (1, _VARINT):
                seconds = _INT64(content)
            elif (number, kind) == (2, _VARINT):
                nanos = _INT32(content)
        return make(seconds, nanos)
        yield

    return read


def _empty(data: memoryview) -> _Reader:
    for _ in _fields(data):
        pass
    # Upstream keeps unknown fields, and compares them.
    return Message("google.protobuf.Empty", {"": bytes(data)} if data else {})
    yield


def _any(data: memoryview) -> _Reader:
    url, packed = "", data[:0]
    for number, kind, content in _fields(data):
        if (number, kind) == (1, _BYTES):
            url = _text(content)
        elif (number, kind) == (2, _BYTES):
            packed = content
    return (yield _reader(url, packed))


def _value(data: memoryview) -> _Reader:
    """The last field that is set counts; lists and maps in a row are joined."""
    value: Any = None
    last = 0
    for number, kind, content in _fields(data):
        if (number, kind) == (1, _VARINT):
            value = None
        elif (number, kind) in _PLAIN_VALUES:
            value = _PLAIN_VALUES[number, kind](content)
        elif (number, kind) == (5, _BYTES):
            entries = yield _struct(content)
            value = {} if last != number else value
            value.update(entries)
        elif (number, kind) == (6, _BYTES):
            items = yield _list(content)
            value = [] if last != number else value
            value += items
        else:
            continue
        last = number
    return value


def _struct(data: memoryview) -> _Reader:
    entries = {}
    for number, kind, content in _fields(data):
        if (number, kind) == (1, _BYTES):
            key, value = yield _entry(content)
            entries[key] = value
    return entries


def _entry(data: memoryview) -> _Reader:
    key = ""
    packed = []
    for number, kind, content in _fields(data):
        if (number, kind) == (1, _BYTES):
            key = _text(content)
        elif (number, kind) == (2, _BYTES):
            packed.append(content)
    # To join messages is to join their bytes.
    value = yield _value(packed[0] if len(packed) == 1 else memoryview(b"".join(packed)))
    return key, value


def _list(data: memoryview) -> _Reader:
    items = []
    for number, kind, content in _fields(data):
        if (number, kind) == (1, _BYTES):
            items.append((yield _value(content)))
    return items


_PLAIN_VALUES: Final[Mapping[tuple[int, int], Callable[[Any], Value]]] = {
    (2, _FIXED64): _double,
    (3, _BYTES): _text,
    (4, _VARINT): bool,
}
_READERS: Final[Mapping[str, Callable[[memoryview], _Reader]]] = {
    f"google.protobuf.{name}": read
    for name, read in {
        "Any": _any,
        "Duration": _time(duration_of),
        "Empty": _empty,
        "ListValue": _list,
        "Struct": _struct,
        "Timestamp": _time(timestamp_of),
        "Value": _value,
        "BoolValue": _wrapper(_VARINT, False, bool),
        "BytesValue": _wrapper(_BYTES, b"", bytes),
        "DoubleValue": _wrapper(_FIXED64, 0.0, _double),
        "FloatValue": _wrapper(_FIXED32, 0.0, _float),
        "Int32Value": _wrapper(_VARINT, 0, _INT32),
        "Int64Value": _wrapper(_VARINT, 0, _INT64),
        "StringValue": _wrapper(_BYTES, "", _text),
        "UInt32Value": _wrapper(_VARINT, Uint(0), lambda number: Uint(number % _UINT32_MODULUS)),
        "UInt64Value": _wrapper(_VARINT, Uint(0), Uint),
    }.items()
}
