"""Messages of the well-known types. The answers of Go are in cel_values.jsonl."""

from typing import Any

import pytest

from extender.match.cel.equality import equals
from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.messages import EMPTY, ENTRY, KINDS, has_field, make, read_field
from extender.match.cel.types import is_wrapper
from extender.match.cel.values import Message, Uint, Value, type_name


def made(name: str, **fields: Value) -> Any:
    return make(name, fields, lambda _: None)


@pytest.mark.parametrize(
    ("name", "zero"),
    [
        ("BoolValue", False),
        ("BytesValue", b""),
        ("DoubleValue", 0.0),
        ("FloatValue", 0.0),
        ("Int32Value", 0),
        ("Int64Value", 0),
        ("StringValue", ""),
        ("UInt32Value", Uint(0)),
        ("UInt64Value", Uint(0)),
    ],
)
def test_a_wrapper_is_what_it_wraps(name: str, zero: Value) -> None:
    value = made(f"google.protobuf.{name}")

    assert (value, type_name(value)) == (zero, type_name(zero))
    assert is_wrapper(KINDS[f"google.protobuf.{name}"].type)


def test_the_last_of_several_fields_of_a_value_counts() -> None:
    assert made("google.protobuf.Value", number_value=1.0, string_value="a") == "a"
    assert made("google.protobuf.Value", string_value="a", null_value=0) is None


def test_unpacking_counts_the_bytes() -> None:
    spent: list[int] = []
    packed = {"type_url": "google.protobuf.Empty", "value": b"\x0a\x64" + b"a" * 100}

    make("google.protobuf.Any", packed, spent.append)

    assert sum(spent) >= 100


def test_a_message_without_a_plain_value_keeps_its_fields() -> None:
    entry = made(ENTRY, key="a", value=1)

    assert read_field(entry, "key") == "a"
    assert (read_field(entry, "value"), has_field(entry, "value")) == (1.0, True)
    assert not has_field(made(ENTRY, key=""), "key")
    assert read_field(made(ENTRY), "value") is None


@pytest.mark.parametrize(
    ("field", "error"),
    [("other", r"^no such field 'other'$"), (1, r"^no such overload$")],
)
def test_a_field_that_it_has_not_is_an_error(field: Value, error: str) -> None:
    with pytest.raises(EvaluationError, match=error):
        read_field(made(EMPTY), field)


def test_messages_are_equal_by_type_and_fields() -> None:
    assert equals(made(ENTRY, key="a", value=[1]), made(ENTRY, key="a", value=[1.0]))
    assert not equals(made(ENTRY, key="a"), made(ENTRY, key="b"))
    assert not equals(made(ENTRY, key="a"), made(ENTRY))
    assert not equals(made(ENTRY), made(EMPTY))
    assert not equals(Message(EMPTY, {"": b"\x08\x01"}), made(EMPTY))
    assert not equals(made(EMPTY), {})
