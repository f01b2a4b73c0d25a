"""Values: keys of maps that Python would mix up, indices, sizes, texts."""

import math
from typing import ClassVar

import pytest

from extender.match.cel import values
from extender.match.cel.faults import CostLimitError, EvaluationError, PanicError
from extender.match.cel.values import (
    INT_MIN,
    MISSING,
    UINT_MAX,
    Duration,
    OptionalValue,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    double_text,
    find,
    from_key,
    index_list,
    index_map,
    map_key,
    shown,
    size,
    type_name,
)


class Address:
    """A value of a type that this module does not know."""

    type_name: ClassVar[str] = "net.IP"
    size = 16


def a_map(*entries: tuple[Value, Value]) -> dict[object, Value]:
    return {map_key(key): value for key, value in entries}


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        pytest.param(1, "b", id="an int"),
        pytest.param(Uint(1), "b", id="a uint"),
        pytest.param(1.0, "b", id="a whole double"),
    ],
)
def test_index_list(index: Value, expected: Value) -> None:
    assert index_list(["a", "b"], index) == expected


@pytest.mark.parametrize(
    ("index", "fault"),
    [
        pytest.param(2, "index out of bounds: 2", id="behind the end"),
        pytest.param(-1, "index out of bounds: -1", id="before the beginning"),
        pytest.param(-1.0, "index out of bounds: -1", id="a double before the beginning"),
        pytest.param(0.5, "unsupported index value 0.5 in list", id="a fraction"),
        pytest.param(math.nan, "unsupported index value NaN in list", id="NaN"),
        pytest.param(
            -(2.0**63), "unsupported index value -9.223372036854776e+18 in list", id="a low double"
        ),
        pytest.param(
            Uint(UINT_MAX), f"unsupported index value {UINT_MAX} in list", id="a high uint"
        ),
        pytest.param("a", "unsupported index type 'string' in list", id="a text"),
        pytest.param(True, "unsupported index type 'bool' in list", id="a bool"),
    ],
)
def test_no_such_index(index: Value, fault: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        index_list(["a", "b"], index)

    assert str(raised.value) == fault


KEYS = [
    "a",
    1,
    Uint(1),
    1.5,
    True,
    None,
    Duration(1),
    Timestamp(1),
    TypeValue("int"),
    [1],
    math.nan,
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_key_can_be_read_back(key: Value) -> None:
    found = from_key(map_key(key))

    assert found is key


def test_keys_are_not_mixed_up() -> None:
    assert len({map_key(key) for key in (1, Uint(1), 1.0, True, Duration(1), Timestamp(1))}) == 6
    assert map_key(math.nan) != map_key(math.nan)
    assert map_key([1]) != map_key([1])


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        pytest.param("a", "text", id="a text"),
        pytest.param(1, "int", id="an int"),
        pytest.param(Uint(1), "int", id="a uint finds an int"),
        pytest.param(1.0, "int", id="a double finds an int"),
        pytest.param(2, "uint", id="an int finds a uint"),
        pytest.param(2.0, "uint", id="a double finds a uint"),
        pytest.param(Uint(2), "uint", id="a uint"),
        pytest.param(1.5, "double", id="a double"),
        pytest.param(True, "bool", id="a bool"),
        pytest.param(3, MISSING, id="an int does not find a double"),
        pytest.param(Uint(3), MISSING, id="nor does a uint"),
        pytest.param(-2, MISSING, id="an int below zero"),
        pytest.param(-2.0, MISSING, id="a double below zero"),
        pytest.param(Uint(UINT_MAX), MISSING, id="a uint above the ints"),
        pytest.param(2.5, MISSING, id="a fraction"),
        pytest.param(math.nan, MISSING, id="NaN"),
        pytest.param(1e300, MISSING, id="a double above all integers"),
        pytest.param(False, MISSING, id="another bool"),
        pytest.param([1], MISSING, id="a list"),
    ],
)
def test_find(key: Value, expected: Value) -> None:
    entries = a_map(
        ("a", "text"),
        (1, "int"),
        (Uint(2), "uint"),
        (3.0, "double"),
        (1.5, "double"),
        (True, "bool"),
    )

    assert find(entries, key) is expected


def test_index_map() -> None:
    assert index_map(a_map(("a", 1)), "a") == 1
    with pytest.raises(EvaluationError, match=r"^no such key: 1\.5$"):
        index_map(a_map(("a", 1)), 1.5)


def test_bytes_are_no_key_unless_the_map_is_empty() -> None:
    assert find({}, b"a") is MISSING
    with pytest.raises(PanicError, match=r"hash of unhashable type types\.Bytes$"):
        find(a_map(("a", 1)), b"a")


@pytest.mark.parametrize(
    ("value", "name", "length"),
    [
        pytest.param(None, "null_type", 1, id="null"),
        pytest.param(True, "bool", 1, id="a bool"),
        pytest.param(INT_MIN, "int", 1, id="an int"),
        pytest.param(Uint(7), "uint", 1, id="a uint"),
        pytest.param(1.5, "double", 1, id="a double"),
        pytest.param("\u00e9b", "string", 2, id="a text"),
        pytest.param(b"abc", "bytes", 3, id="bytes"),
        pytest.param([1, 2], "list", 2, id="a list"),
        pytest.param({}, "map", 0, id="a map"),
        pytest.param(Duration(5), "google.protobuf.Duration", 1, id="a duration"),
        pytest.param(Timestamp(5), "google.protobuf.Timestamp", 1, id="a timestamp"),
        pytest.param(OptionalValue("abc"), "optional_type", 1, id="an optional"),
        pytest.param(TypeValue("int"), "type", 1, id="a type"),
        pytest.param(Address(), "net.IP", 16, id="a type from elsewhere"),
    ],
)
def test_types_and_sizes(value: Value, name: str, length: int) -> None:
    assert type_name(value) == name
    assert size(value) == length


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("a", "a", id="a text"),
        pytest.param(True, "true", id="true"),
        pytest.param(False, "false", id="false"),
        pytest.param(-1, "-1", id="an int"),
        pytest.param(Uint(1), "1", id="a uint"),
        pytest.param(1.0, "1", id="a double"),
        pytest.param([1], "list", id="a list"),
    ],
)
def test_shown(value: Value, expected: str) -> None:
    assert shown(value) == expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        pytest.param(0.0, "0", id="zero"),
        pytest.param(-0.0, "-0", id="minus zero"),
        pytest.param(1.0, "1", id="a whole number"),
        pytest.param(-1.5, "-1.5", id="a fraction"),
        pytest.param(0.0001, "0.0001", id="the smallest without an exponent"),
        pytest.param(0.00001, "1e-05", id="the next"),
        pytest.param(999999.5, "999999.5", id="below a million"),
        pytest.param(1000000.0, "1e+06", id="a million"),
        pytest.param(-123456789.0, "-1.23456789e+08", id="all digits"),
        pytest.param(5e-324, "5e-324", id="the smallest"),
        pytest.param(math.inf, "+Inf", id="infinity"),
        pytest.param(-math.inf, "-Inf", id="infinity below zero"),
        pytest.param(math.nan, "NaN", id="NaN"),
    ],
)
def test_texts_of_doubles(number: float, expected: str) -> None:
    assert double_text(number) == expected


def test_too_much_is_refused() -> None:
    values.bound_text(values.MAX_TEXT)
    values.bound_items(values.MAX_ITEMS)
    with pytest.raises(CostLimitError):
        values.bound_text(values.MAX_TEXT + 1)
    with pytest.raises(CostLimitError):
        values.bound_items(values.MAX_ITEMS + 1)
