"""What is packed in an Any, as protobuf writes it. The answers of Go are in cel_values.jsonl."""

import pytest

from extender.match.cel.library import wire_format
from extender.match.cel.library.wire_format import MalformedError, unpack
from extender.match.cel.values import Duration, Message, Uint, Value, type_name


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        pytest.param("Duration", b"\x08\x01\x10\x02", Duration(1_000_000_002), id="a duration"),
        pytest.param("UInt32Value", b"\x08\x80\x80\x80\x80\x10", Uint(0), id="cut to 32 bits"),
        pytest.param("Int32Value", b"\x08\xff\xff\xff\xff\x0f", -1, id="with a sign"),
        pytest.param("Int32Value", b"\x08\x01\x08\x02", 2, id="the last of a field"),
        pytest.param("Int32Value", b"\x0a\x01a", 0, id="another wire type is unknown"),
        pytest.param("Int32Value", b"\x13\x08\x05\x14\x08\x01", 1, id="a group is skipped"),
        pytest.param("Value", b"\x0a\x00\x1a\x01a", "a", id="an unknown field before a known one"),
        pytest.param("Value", b"\x1a\x01a\x32\x00", [], id="the last kind of a value"),
        pytest.param("Duration", b"\x18\x01\x10\x02", Duration(2), id="a field of a later version"),
        pytest.param("ListValue", b"\x10\x01\x0a\x00", [None], id="a list"),
        pytest.param("Struct", b"\x10\x01\x0a\x00", {"": None}, id="an entry of nothing"),
        pytest.param("Struct", b"\x0a\x02\x18\x01", {"": None}, id="an entry of something else"),
        pytest.param(
            "Any", b"\x18\x01\x0a\x15google.protobuf.Value\x12\x02\x20\x01", True, id="an Any in it"
        ),
        pytest.param("Struct", b"\x0a\x03\x0a\x01a\x12\x00", {"a": None}, id="what follows a map"),
    ],
)
def test_a_message_is_read(name: str, data: bytes, expected: Value) -> None:
    value = unpack(f"type.googleapis.com/google.protobuf.{name}", data)

    assert (value, type_name(value)) == (expected, type_name(expected))


def test_the_parts_of_an_entry_are_joined() -> None:
    halves = b"\x0a\x01a\x12\x06\x32\x04\x0a\x02\x20\x01\x12\x04\x32\x02\x0a\x00"

    assert unpack("google.protobuf.Struct", b"\x0a" + bytes([len(halves)]) + halves) == {
        "a": [True, None]
    }


def test_what_is_unknown_is_kept_to_be_compared() -> None:
    value = unpack("google.protobuf.Empty", b"\x08\x01")

    assert type(value) is Message
    assert value.fields == {"": b"\x08\x01"}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x08", id="no content"),
        pytest.param(b"\x80", id="half a tag"),
        pytest.param(b"\x0a\x05a", id="less than it says"),
        pytest.param(b"\x0d\x00", id="less than four bytes"),
        pytest.param(b"\x00\x01", id="field 0"),
        pytest.param(b"\x80\x80\x80\x80\x10\x01", id="a field number that is too large"),
        pytest.param(b"\x0f\x01", id="wire type 7"),
        pytest.param(b"\x0b", id="a group that does not end"),
        pytest.param(b"\x0c", id="a group that does not begin"),
        pytest.param(b"\x0b\x14", id="a group that ends as another"),
        pytest.param(b"\x08" + b"\xff" * 10 + b"\x01", id="eleven bytes of a number"),
        pytest.param(b"\x08" + b"\xff" * 9 + b"\x02", id="more than 64 bits"),
        pytest.param(b"\x1a\x01\xff", id="no UTF-8"),
    ],
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(MalformedError):
        unpack("google.protobuf.Value", data)


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(MalformedError, match=r"^unknown type: a/b$"):
        unpack("a/b", b"")


def nested(levels: int) -> bytes:
    """Lists in lists, as a Value."""
    data = b""
    for _ in range(levels):
        for tag in (b"\x0a", b"\x32"):
            data = tag + varint(len(data)) + data
    return data


def varint(number: int) -> bytes:
    low, high = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(high) if high else bytes([low])


def test_depth_is_bounded_by_counting_and_not_by_the_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    value = unpack("google.protobuf.Value", nested(4_000))
    depth = 0
    while value:
        (value,) = value  # type: ignore[misc]
        depth += 1

    assert depth == 4_000
    monkeypatch.setattr(wire_format, "_MAX_DEPTH", 100)
    with pytest.raises(MalformedError, match="recursion depth"):
        unpack("google.protobuf.Value", nested(50))
