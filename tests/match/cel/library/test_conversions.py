"""Conversions take what Go's strconv takes, no less and no more."""

import math

import pytest

from extender.match.cel.values import INT_MAX, INT_MIN, UINT_MAX, TypeValue, Uint, Value
from tests.match.cel.library.calls import Refused, call, typed

OVERFLOW = Refused("integer overflow")
UINT_OVERFLOW = Refused("unsigned integer overflow")


def refused(target: str) -> Refused:
    return Refused(f"type conversion error from 'string' to '{target}'")


@pytest.mark.parametrize(
    ("text", "as_int", "as_uint"),
    [
        pytest.param("42", 42, Uint(42), id="a number"),
        pytest.param("+42", 42, None, id="a plus sign"),
        pytest.param("-42", -42, None, id="a minus sign"),
        pytest.param("007", 7, Uint(7), id="leading zeros"),
        pytest.param("0" * 5000 + "7", 7, Uint(7), id="5,000 leading zeros"),
        pytest.param("0", 0, Uint(0), id="zero"),
        pytest.param(str(INT_MAX), INT_MAX, Uint(INT_MAX), id="the highest int"),
        pytest.param(str(INT_MAX + 1), None, Uint(INT_MAX + 1), id="one above"),
        pytest.param(str(INT_MIN), INT_MIN, None, id="the lowest int"),
        pytest.param(str(UINT_MAX), None, Uint(UINT_MAX), id="the highest uint"),
        pytest.param(str(UINT_MAX + 1), None, None, id="one above it"),
        pytest.param("9" * 5000, None, None, id="5,000 digits"),
        pytest.param("", None, None, id="nothing"),
        pytest.param(" 1", None, None, id="white space"),
        pytest.param("4_2", None, None, id="an underscore"),
        pytest.param("0x1F", None, None, id="base 16"),
        pytest.param("1.0", None, None, id="a fraction"),
        pytest.param("\u0663", None, None, id="an Arabic-Indic digit"),
    ],
)
def test_integers_of_texts(text: str, as_int: int | None, as_uint: Uint | None) -> None:
    whole = refused("int") if as_int is None else as_int
    unsigned = refused("uint") if as_uint is None else as_uint

    assert call("string_to_int64", text) == typed(whole)
    assert call("string_to_uint64", text) == typed(unsigned)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1", 1.0, id="a whole number"),
        pytest.param("-1.5e3", -1500.0, id="sign, fraction, exponent"),
        pytest.param("+.5", 0.5, id="no digit before the point"),
        pytest.param("5.", 5.0, id="no digit behind the point"),
        pytest.param("1_000.000_5e1_0", 1000.0005e10, id="underscores between digits"),
        pytest.param("0x1p-2", 0.25, id="base 16"),
        pytest.param("-0X_1.8P+1", -3.0, id="base 16 with all there can be"),
        pytest.param("0x.8p0", 0.5, id="base 16 without a digit before the point"),
        pytest.param("1e-400", 0.0, id="too near to zero"),
        pytest.param("1.7976931348623157e308", 1.7976931348623157e308, id="the highest"),
        pytest.param("iNf", math.inf, id="infinity, short"),
        pytest.param("+Infinity", math.inf, id="infinity with a plus"),
        pytest.param("-infinity", -math.inf, id="infinity below zero"),
        pytest.param("1e400", None, id="too high"),
        pytest.param("-1e400", None, id="too low"),
        pytest.param("0x1p99999", None, id="base 16, too high"),
        pytest.param("0x1", None, id="base 16 without an exponent"),
        pytest.param("_1", None, id="an underscore before"),
        pytest.param("1__0", None, id="two underscores"),
        pytest.param("1_.5", None, id="an underscore before the point"),
        pytest.param("+nan", None, id="NaN with a sign"),
        pytest.param("infin", None, id="a part of infinity"),
        pytest.param(".", None, id="a point alone"),
        pytest.param("", None, id="nothing"),
        pytest.param("1 ", None, id="white space"),
        pytest.param("\uff11", None, id="a full-width digit"),
        pytest.param("\u0131nf", None, id="a letter that folds to one of inf"),
    ],
)
def test_doubles_of_texts(text: str, expected: float | None) -> None:
    assert call("string_to_double", text) == typed(
        refused("double") if expected is None else expected
    )


def test_not_a_number_of_a_text() -> None:
    _, number = call("string_to_double", "NaN")

    assert isinstance(number, float)
    assert math.isnan(number)


@pytest.mark.parametrize("text", ["1", "t", "T", "true", "TRUE", "True"])
def test_texts_that_are_true(text: str) -> None:
    assert call("string_to_bool", text) == typed(True)


@pytest.mark.parametrize("text", ["0", "f", "F", "false", "FALSE", "False"])
def test_texts_that_are_false(text: str) -> None:
    assert call("string_to_bool", text) == typed(False)


@pytest.mark.parametrize("text", ["", "tRUE", "yes", " true"])
def test_texts_that_are_neither(text: str) -> None:
    assert call("string_to_bool", text) == typed(refused("bool"))


@pytest.mark.parametrize(
    ("overload", "value", "expected"),
    [
        pytest.param("double_to_int64", -1.9, -1, id="a double is cut off"),
        pytest.param("double_to_int64", 2.0**63 - 1024, 2**63 - 1024, id="the highest double"),
        pytest.param("double_to_int64", 2.0**63, OVERFLOW, id="one above"),
        pytest.param("double_to_int64", -(2.0**63), OVERFLOW, id="the lowest int is out, too"),
        pytest.param("double_to_int64", math.nan, OVERFLOW, id="NaN"),
        pytest.param("double_to_int64", math.inf, OVERFLOW, id="infinity"),
        pytest.param("double_to_uint64", 1.9, Uint(1), id="a double is cut off to a uint"),
        pytest.param("double_to_uint64", -0.5, UINT_OVERFLOW, id="below zero"),
        pytest.param("double_to_uint64", 2.0**64, UINT_OVERFLOW, id="above the most"),
        pytest.param("double_to_uint64", math.nan, UINT_OVERFLOW, id="NaN to a uint"),
        pytest.param("uint64_to_int64", Uint(5), 5, id="a uint"),
        pytest.param("uint64_to_int64", Uint(UINT_MAX), OVERFLOW, id="a uint above the ints"),
        pytest.param("int64_to_uint64", 5, Uint(5), id="an int"),
        pytest.param("int64_to_uint64", -1, UINT_OVERFLOW, id="an int below zero"),
        pytest.param("int64_to_double", 2**53 + 1, 2.0**53, id="an int is rounded"),
        pytest.param("uint64_to_double", Uint(UINT_MAX), 2.0**64, id="a uint is rounded"),
    ],
)
def test_numbers_of_numbers(overload: str, value: Value, expected: Value) -> None:
    assert call(overload, value) == typed(expected)


@pytest.mark.parametrize(
    ("overload", "value", "expected"),
    [
        pytest.param("bool_to_string", True, "true", id="true"),
        pytest.param("bool_to_string", False, "false", id="false"),
        pytest.param("int64_to_string", -5, "-5", id="an int"),
        pytest.param("uint64_to_string", Uint(5), "5", id="a uint"),
        pytest.param("double_to_string", 1000000.0, "1e+06", id="a double"),
        pytest.param("bytes_to_string", b"\xc3\xa9", "\u00e9", id="bytes"),
        pytest.param("string_to_bytes", "\u00e9", b"\xc3\xa9", id="a text as bytes"),
        pytest.param("string_to_bytes", "\ud800", b"\xed\xa0\x80", id="half a surrogate"),
        pytest.param("type", Uint(1), TypeValue("uint"), id="the type of a uint"),
        pytest.param("to_dyn", 1, 1, id="dyn changes nothing"),
        pytest.param("string_to_string", "a", "a", id="a text"),
        pytest.param(
            "bytes_to_string",
            b"\xff",
            Refused("invalid UTF-8 in bytes, cannot convert to string"),
            id="bytes that are no text",
        ),
    ],
)
def test_texts(overload: str, value: Value, expected: Value) -> None:
    assert call(overload, value) == typed(expected)
