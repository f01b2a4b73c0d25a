import math
from decimal import Decimal

import pytest

from extender.match.cel.equality import equals
from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.library.quantity import Quantity, parse
from extender.match.cel.values import INT_MAX, INT_MIN, Value, size, type_name
from tests.match.cel.library.calls import RUN

FORMAT_WRONG = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
SUFFIX_WRONG = "unable to parse quantity's suffix"
NUMBER_WRONG = "unable to parse numeric part of quantity"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("0", "0", id="zero"),
        pytest.param("+1.5", "1.5", id="a fraction"),
        pytest.param("-.5", "-0.5", id="no digit before the point"),
        pytest.param("5.", "5", id="no digit behind the point"),
        pytest.param("007", "7", id="leading zeros"),
        pytest.param("+", "0", id="a sign is a zero"),
        pytest.param(".", "0", id="a point is a zero"),
        pytest.param("m", "0", id="a suffix is a zero"),
        pytest.param("Ki", "0", id="a binary suffix is a zero"),
        *[
            pytest.param(f"3{suffix}", f"3e{power}", id=f"suffix {suffix}")
            for suffix, power in zip("numkMGTPE", (-9, -6, -3, 3, 6, 9, 12, 15, 18), strict=True)
        ],
        *[
            pytest.param(f"3{suffix}i", str(3 << power), id=f"suffix {suffix}i")
            for suffix, power in zip("KMGTP", range(10, 51, 10), strict=True)
        ],
        pytest.param("1e3", "1000", id="an exponent"),
        pytest.param("1E-3", "0.001", id="a negative exponent"),
        pytest.param("1e+0003", "1000", id="an exponent with a sign and zeros"),
        pytest.param("1e0", "1", id="an exponent of zero"),
        pytest.param("1e4294967297", "10", id="an exponent is cut to 32 bits"),
        pytest.param("0.1n", "1e-9", id="less than a billionth is a billionth"),
        pytest.param("-0.1n", "-1e-9", id="also below zero"),
        pytest.param("1e-2147483648", "1e-9", id="however little it is"),
        pytest.param("1.0000000001", "1.000000001", id="rounded away from zero"),
        pytest.param("12345678901234567890", "12345678901234567890", id="more than 64 bits"),
        pytest.param("1.5Gi", "1610612736", id="a binary fraction"),
        pytest.param("0.0Ki", "0", id="a binary fraction of nothing"),
        pytest.param("0." + "0" * 20, "0", id="a long zero"),
        pytest.param("8Ei", str(INT_MAX), id="as much as a binary quantity can be"),
        pytest.param("-9Ei", str(-INT_MAX), id="as little as a binary quantity can be"),
        pytest.param("1e999999999", "1e999999999", id="an enormous one"),
    ],
)
def test_parsed(text: str, expected: str) -> None:
    quantity = RUN["string_to_quantity"](text)
    assert isinstance(quantity, Quantity)
    assert quantity.amount == Decimal(expected)
    assert RUN["is_quantity_string"](text) is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", FORMAT_WRONG, id="nothing"),
        pytest.param("1 k", FORMAT_WRONG, id="a space"),
        pytest.param("1\n", FORMAT_WRONG, id="the end of a line"),
        pytest.param("1.2.3", FORMAT_WRONG, id="two points"),
        pytest.param("1e5M", FORMAT_WRONG, id="something behind an exponent"),
        pytest.param("1" * 50_000 + "x", FORMAT_WRONG, id="many digits and a letter"),
        pytest.param("\u0663", FORMAT_WRONG, id="digits of another script"),
        pytest.param("--1", SUFFIX_WRONG, id="two signs"),
        pytest.param("1K", SUFFIX_WRONG, id="a large K"),
        pytest.param("1mi", SUFFIX_WRONG, id="binary thousandths"),
        pytest.param("12e", SUFFIX_WRONG, id="no exponent"),
        pytest.param("1e-", SUFFIX_WRONG, id="no exponent behind a sign"),
        pytest.param("1ee5", SUFFIX_WRONG, id="e twice"),
        pytest.param("1e9223372036854775808", SUFFIX_WRONG, id="an exponent above 64 bits"),
        pytest.param("1e" + "9" * 5000, SUFFIX_WRONG, id="an exponent far above 64 bits"),
        pytest.param("e-10", NUMBER_WRONG, id="no digits, and too little for 64 bits"),
        pytest.param("Pi", NUMBER_WRONG, id="no digits, and maybe too much for 64 bits"),
    ],
)
def test_refused(text: str, expected: str) -> None:
    with pytest.raises(EvaluationError) as error:
        parse(text)
    assert str(error.value) == expected
    assert RUN["is_quantity_string"](text) is False


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1k", 1000, id="a thousand"),
        pytest.param("-1Ti", -(1 << 40), id="a binary suffix"),
        pytest.param("9e18", 9 * 10**18, id="nearly 64 bits"),
        pytest.param("0e999999999", 0, id="zero, however often"),
        pytest.param("1e19", None, id="more than 64 bits"),
        pytest.param("1e999999999", None, id="far more than 64 bits"),
        pytest.param("1500m", None, id="a fraction"),
        pytest.param("0.0", None, id="digits behind the point, even if zero"),
        pytest.param("1Pi", None, id="upstream keeps large binary ones as decimals"),
        pytest.param("1.5Gi", None, id="and binary fractions"),
        pytest.param("1234567890123456789", None, id="and what has 19 digits"),
    ],
)
def test_integer(text: str, expected: int | None) -> None:
    quantity = parse(text)
    assert RUN["quantity_is_integer"](quantity) is (expected is not None)
    if expected is not None:
        assert RUN["quantity_get_int"](quantity) == expected
        return
    with pytest.raises(EvaluationError) as error:
        RUN["quantity_get_int"](quantity)
    assert str(error.value) == "cannot convert value to integer"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1.5", 15 * 0.1, id="a fraction"),
        pytest.param("16Gi", 17179869184.0, id="an integer"),
        pytest.param("0.0000000001", 1e-9, id="a decimal"),
        pytest.param("9223372036854775808", 9223372036854775808e9 * 1e-9, id="a large decimal"),
        pytest.param("8Ei", float(INT_MAX), id="the largest binary one"),
        pytest.param("1e40", 1e32 * 1e8, id="a power that Go gets from two"),
        pytest.param("1e309", math.inf, id="infinite"),
        pytest.param("0." + "0" * 330, 0.0, id="nothing, at a very small scale"),
        pytest.param("0." + "0" * 40, 0.0, id="nothing, at a small scale"),
    ],
)
def test_approximate_float(text: str, expected: float) -> None:
    assert RUN["quantity_get_float"](parse(text)) == expected


def test_zero_times_infinity() -> None:
    assert math.isnan(RUN["quantity_get_float"](parse("0e400")))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param("1", "1000m", 0, id="equal at two scales"),
        pytest.param("1.5Gi", "1610612736", 0, id="equal in two forms"),
        pytest.param("1", "999m", 1, id="greater"),
        pytest.param("-1", "0", -1, id="less"),
        pytest.param("1e999999999", "10e999999998", 0, id="equal and enormous"),
        pytest.param("1e999999999", "1n", 1, id="far apart"),
    ],
)
def test_compared(a: str, b: str, expected: int) -> None:
    left, right = parse(a), parse(b)
    assert RUN["quantity_compare_to"](left, right) == expected
    assert RUN["quantity_is_greater_than"](left, right) is (expected == 1)
    assert RUN["quantity_is_less_than"](left, right) is (expected == -1)
    assert equals(left, right) is (expected == 0)
    assert (hash(left) == hash(right)) is (expected == 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("-1n", -1), ("0", 0), ("-0", 0), ("1e-30", 1), ("-1e-30", -1)],
    ids=["below zero", "zero", "minus zero", "little", "little below zero"],
)
def test_sign(text: str, expected: int) -> None:
    assert RUN["quantity_sign"](parse(text)) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected", "is_integer"),
    [
        pytest.param("1", "2", "3", True, id="integers"),
        pytest.param("1k", "1", "1001", True, id="the finer scale is on the right"),
        pytest.param("1", "1k", "1001", True, id="the finer scale is on the left"),
        pytest.param("0", "5k", "5000", True, id="to zero"),
        pytest.param("5k", "0.0", "5000", True, id="zero"),
        pytest.param("1", "500m", "1.5", False, id="a fraction"),
        pytest.param("9e18", "9e18", "18e18", False, id="64 bits at a coarse scale"),
        pytest.param("9e18", "1", "9000000000000000001", True, id="64 bits"),
        pytest.param("9e18", "999999999999999999", "9999999999999999999", False, id="too many"),
        pytest.param("1e30", "1", "1000000000000000000000000000001", False, id="far too many"),
        pytest.param("1", "1e30", "1000000000000000000000000000001", False, id="on the right"),
        pytest.param("1.5Gi", "1", "1610612737", False, id="a decimal and an integer"),
        pytest.param("1.5Gi", "-1.5Gi", "0", False, id="decimals that make zero"),
    ],
)
def test_added(a: str, b: str, expected: str, is_integer: bool) -> None:
    total = RUN["quantity_add"](parse(a), parse(b))
    assert equals(total, parse(expected))
    assert RUN["quantity_is_integer"](total) is is_integer


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param("1", "3", "-2", id="integers"),
        pytest.param("1.5Gi", "1.5Gi", "0", id="decimals"),
        pytest.param("1", "12345678901234567890", "-12345678901234567889", id="a large decimal"),
    ],
)
def test_subtracted(a: str, b: str, expected: str) -> None:
    assert equals(RUN["quantity_sub"](parse(a), parse(b)), parse(expected))


@pytest.mark.parametrize(
    ("overload", "number", "expected"),
    [
        pytest.param("quantity_add_int", 5, "15", id="added"),
        pytest.param("quantity_sub_int", 5, "5", id="subtracted"),
        pytest.param("quantity_add_int", INT_MAX, "9223372036854775817", id="above 64 bits"),
    ],
)
def test_integers_added(overload: str, number: int, expected: str) -> None:
    assert equals(RUN[overload](parse("10"), number), parse(expected))


def test_the_lowest_integer_is_its_own_opposite() -> None:
    total = RUN["quantity_sub_int"](parse("0"), INT_MIN)
    assert RUN["quantity_get_int"](total) == INT_MIN


def test_zero_has_no_sign() -> None:
    zero = RUN["quantity_sub"](parse("0e-10"), parse("0e-10"))
    assert str(RUN["quantity_get_float"](zero)) == "0.0"


def test_a_sum_on_the_right_cannot_be_compared() -> None:
    total = RUN["quantity_add_int"](parse("1"), 1)
    assert equals(total, parse("2"))
    for left in (parse("2"), total):
        with pytest.raises(EvaluationError, match=r"^no such overload$"):
            equals(left, total)


def test_other_types_are_not_equal() -> None:
    assert parse("1") != Decimal(1)


@pytest.mark.parametrize(
    "text",
    ["9" * 20_001, "9" * 19_999, "0." + "9" * 20_001, "1234567890123456789e999999999"],
    ids=["digits", "digits down to a billionth", "behind the point", "an enormous exponent"],
)
def test_too_many_digits_to_keep(text: str) -> None:
    with pytest.raises(CostLimitError):
        parse(text)


@pytest.mark.parametrize(
    ("a", "b"), [("1e999999999", "1"), ("1", "1e999999999"), ("0e-999999999", "1.5Gi")]
)
def test_too_many_digits_to_add(a: str, b: str) -> None:
    for overload in ("quantity_add", "quantity_sub"):
        with pytest.raises(CostLimitError):
            RUN[overload](parse(a), parse(b))


def test_value() -> None:
    quantity: Value = parse("1")
    assert (type_name(quantity), size(quantity)) == ("kubernetes.Quantity", 1)
