"""Arithmetic fails where 64 bits end; an order of numbers knows no types, and no NaN."""

import math

import pytest

from extender.match.cel.values import INT_MAX, INT_MIN, UINT_MAX, Duration, Timestamp, Uint, Value
from tests.match.cel.library.calls import Refused, call, typed

OVERFLOW = Refused("integer overflow")
UINT_OVERFLOW = Refused("unsigned integer overflow")
BY_ZERO = Refused("division by zero")
MODULUS = Refused("modulus by zero")
NO_ORDER = Refused("NaN values cannot be ordered")


@pytest.mark.parametrize(
    ("overload", "arguments", "expected"),
    [
        pytest.param("add_int64", (2, 3), 5, id="sum"),
        pytest.param("add_int64", (INT_MAX, 1), OVERFLOW, id="sum above the most"),
        pytest.param("add_int64", (INT_MIN, -1), OVERFLOW, id="sum below the least"),
        pytest.param("add_uint64", (Uint(2), Uint(3)), Uint(5), id="unsigned sum"),
        pytest.param(
            "add_uint64", (Uint(UINT_MAX), Uint(1)), UINT_OVERFLOW, id="unsigned too much"
        ),
        pytest.param("add_double", (1e308, 1e308), math.inf, id="a double does not overflow"),
        pytest.param("subtract_int64", (2, 3), -1, id="difference"),
        pytest.param("subtract_int64", (INT_MIN, 1), OVERFLOW, id="difference below the least"),
        pytest.param("subtract_uint64", (Uint(3), Uint(2)), Uint(1), id="unsigned difference"),
        pytest.param("subtract_uint64", (Uint(2), Uint(3)), UINT_OVERFLOW, id="below zero"),
        pytest.param("subtract_double", (0.5, 0.25), 0.25, id="difference of doubles"),
        pytest.param("multiply_int64", (-3, 4), -12, id="product"),
        pytest.param("multiply_int64", (INT_MIN, -1), OVERFLOW, id="product above the most"),
        pytest.param("multiply_uint64", (Uint(3), Uint(4)), Uint(12), id="unsigned product"),
        pytest.param("multiply_uint64", (Uint(1 << 32), Uint(1 << 32)), UINT_OVERFLOW, id="2^64"),
        pytest.param("multiply_double", (-1e200, 1e200), -math.inf, id="product of doubles"),
        pytest.param("negate_int64", (5,), -5, id="negation"),
        pytest.param("negate_int64", (INT_MIN,), OVERFLOW, id="negation of the least"),
        pytest.param("negate_double", (math.inf,), -math.inf, id="negation of a double"),
    ],
)
def test_arithmetic(overload: str, arguments: tuple[Value, ...], expected: Value) -> None:
    assert call(overload, *arguments) == typed(expected)


@pytest.mark.parametrize(
    ("overload", "arguments", "expected"),
    [
        pytest.param("divide_int64", (7, 2), 3, id="towards zero"),
        pytest.param("divide_int64", (-7, 2), -3, id="towards zero from below"),
        pytest.param("divide_int64", (7, -2), -3, id="towards zero, divisor below zero"),
        pytest.param("divide_int64", (-7, -2), 3, id="both below zero"),
        pytest.param("divide_int64", (1, 0), BY_ZERO, id="by zero"),
        pytest.param("divide_int64", (INT_MIN, -1), OVERFLOW, id="the least by -1"),
        pytest.param("divide_uint64", (Uint(7), Uint(2)), Uint(3), id="unsigned"),
        pytest.param("divide_uint64", (Uint(7), Uint(0)), BY_ZERO, id="unsigned by zero"),
        pytest.param("divide_double", (1.0, 4.0), 0.25, id="doubles"),
        pytest.param("divide_double", (1.0, 0.0), math.inf, id="a double by zero"),
        pytest.param("divide_double", (1.0, -0.0), -math.inf, id="a double by minus zero"),
        pytest.param("divide_double", (-1.0, 0.0), -math.inf, id="below zero by zero"),
        pytest.param("modulo_int64", (7, 3), 1, id="rest"),
        pytest.param("modulo_int64", (-7, 3), -1, id="rest has the sign of the dividend"),
        pytest.param("modulo_int64", (7, -3), 1, id="rest, divisor below zero"),
        pytest.param("modulo_int64", (7, 0), MODULUS, id="rest by zero"),
        pytest.param("modulo_int64", (INT_MIN, -1), OVERFLOW, id="rest of the least by -1"),
        pytest.param("modulo_uint64", (Uint(7), Uint(3)), Uint(1), id="unsigned rest"),
        pytest.param("modulo_uint64", (Uint(7), Uint(0)), MODULUS, id="unsigned rest by zero"),
    ],
)
def test_division(overload: str, arguments: tuple[Value, ...], expected: Value) -> None:
    assert call(overload, *arguments) == typed(expected)


@pytest.mark.parametrize("dividend", [0.0, -0.0, math.nan], ids=["zero", "minus zero", "NaN"])
def test_nothing_by_zero_is_not_a_number(dividend: float) -> None:
    _, quotient = call("divide_double", dividend, 0.0)

    assert isinstance(quotient, float)
    assert math.isnan(quotient)


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        pytest.param("bool", False, True, id="bools"),
        pytest.param("int64", -1, 1, id="ints"),
        pytest.param("uint64", Uint(0), Uint(UINT_MAX), id="uints"),
        pytest.param("int64_uint64", -1, Uint(0), id="an int and a uint"),
        pytest.param("uint64_int64", Uint(1), 2, id="a uint and an int"),
        pytest.param("double", -0.5, math.inf, id="doubles"),
        pytest.param("int64_double", 1, 1.5, id="an int and a double"),
        pytest.param("double_int64", -math.inf, INT_MIN, id="a double and an int"),
        pytest.param("uint64_double", Uint(UINT_MAX), 1e20, id="a uint and a double"),
        pytest.param("double_uint64", -1e-300, Uint(0), id="a double and a uint"),
        pytest.param("string", "a", "\U0001f600", id="strings, by code points"),
        pytest.param("bytes", b"a", b"a\x00", id="bytes"),
        pytest.param("duration", Duration(-1), Duration(0), id="durations"),
        pytest.param("timestamp", Timestamp(0), Timestamp(1), id="timestamps"),
    ],
)
def test_order(kind: str, low: Value, high: Value) -> None:
    found = [call(f"{name}_{kind}", low, high)[1] for name in ("less", "less_equals")]
    found += [call(f"{name}_{kind}", low, high)[1] for name in ("greater", "greater_equals")]

    assert found == [True, True, False, False]


@pytest.mark.parametrize(
    ("overload", "arguments", "expected"),
    [
        pytest.param("less_double", (math.nan, 1.0), NO_ORDER, id="NaN on the left"),
        pytest.param("greater_equals_int64_double", (1, math.nan), NO_ORDER, id="NaN on the right"),
        # 2^53 + 1 is no double.
        pytest.param("less_double_int64", (2.0**53, 2**53 + 1), False, id="an int is rounded"),
        pytest.param("greater_int64", (2**53 + 1, 2**53), True, id="two ints are not"),
        pytest.param("less_int64_double", (INT_MAX, 2.0**63), False, id="the highest int"),
    ],
)
def test_the_edges_of_an_order(
    overload: str, arguments: tuple[Value, ...], expected: Value
) -> None:
    assert call(overload, *arguments) == typed(expected)
