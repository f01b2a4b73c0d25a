"""Bounds saturate, factors round up, and rules ask operands for what is written."""

import pytest

from extender.match.cel.library.estimates import (
    LIMIT,
    NOTHING,
    ONE,
    UNKNOWN,
    ZERO,
    Bounds,
    Entries,
    Estimate,
    Operand,
    comparison,
    exactly,
    joined,
    nominal,
    same_size,
    traversal,
    wrapped,
)
from extender.match.cel.syntax.ast import Constant, Expr, Ident
from extender.match.cel.types import DYN


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(Bounds(1, 2) + Bounds(3, 4), Bounds(4, 6), id="sum"),
        pytest.param(Bounds(1, LIMIT) + Bounds(LIMIT, 1), exactly(LIMIT), id="sum at the limit"),
        pytest.param(Bounds(2, 3) * Bounds(4, 5), Bounds(8, 15), id="product"),
        pytest.param(Bounds(0, 2**40) * UNKNOWN, UNKNOWN, id="product at the limit"),
        pytest.param(UNKNOWN * ZERO, ZERO, id="no times unknown is none"),
        pytest.param(Bounds(2, 3) | Bounds(1, 2), Bounds(1, 3), id="union"),
        pytest.param(NOTHING | Bounds(2, 3), Bounds(2, 3), id="union with nothing"),
    ],
)
def test_bounds_saturate(found: Bounds, expected: Bounds) -> None:
    assert found == expected


@pytest.mark.parametrize(
    ("number", "factor", "expected"),
    [
        pytest.param(0, 0.1, 0, id="nothing stays nothing"),
        pytest.param(1, 0.1, 1, id="rounded up"),
        pytest.param(30, 0.1, 3, id="a product that is exact as a float"),
        pytest.param(63, 0.2, 13, id="rounded up to the next"),
        pytest.param(7, 0.0, 0, id="a factor of nothing"),
        pytest.param(LIMIT, 0.1, 1844674407370955264, id="the limit is a float"),
        pytest.param(LIMIT, 1.0, LIMIT, id="2**64 is above the limit"),
        pytest.param(2**63 - 1, 2.0, LIMIT, id="the float of it is 2**63"),
        pytest.param(2**62, 2.0, 2**63, id="below the limit"),
        pytest.param(1, float(LIMIT), LIMIT, id="a factor at the limit"),
        pytest.param(2**63, 2.1, LIMIT, id="above the limit"),
        pytest.param(8784163844623596544, 2.1, LIMIT, id="above the limit, the product is not"),
    ],
)
def test_a_factor_is_a_float(number: int, factor: float, expected: int) -> None:
    assert exactly(number).scaled(factor) == exactly(expected)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        pytest.param(5, 5, id="small"),
        pytest.param(-1, LIMIT, id="negative"),
        pytest.param(2**64 + 1, 1, id="large"),
    ],
)
def test_unchecked_numbers_wrap(number: int, expected: int) -> None:
    assert wrapped(number) == expected


def test_entries_are_joined_only_if_both_are_known() -> None:
    first = Entries("list", ONE, Bounds(2, 3))
    second = Entries("map", Bounds(0, 9), Bounds(1, 2))

    assert joined(first, second) == Entries("list", Bounds(0, 9), Bounds(1, 3))
    assert joined(first, None) is None
    assert joined(None, second) is None


def operand(expr: Expr, size: Bounds | None = None) -> Operand:
    return Operand(expr, DYN, ZERO, size, None)


NAME = Ident(1, 0, "x")


def test_a_size_that_is_not_known_is_unknown() -> None:
    assert operand(NAME).size == UNKNOWN
    assert operand(NAME, exactly(3)).size == exactly(3)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        pytest.param(Constant(1, 0, -3, "int"), -3, id="an int"),
        pytest.param(Constant(1, 0, 3, "uint"), None, id="a uint"),
        pytest.param(Constant(1, 0, True, "bool"), None, id="a bool"),
        pytest.param(Constant(1, 0, "3", "string"), None, id="a string"),
        pytest.param(NAME, None, id="a name"),
    ],
)
def test_an_int_is_one_that_is_written(expr: Expr, expected: int | None) -> None:
    assert operand(expr).written_int() == expected


def test_rules_that_many_functions_share() -> None:
    operands = operand(NAME, exactly(3)), operand(NAME, exactly(25))

    assert nominal(*operands) == Estimate(ONE)
    assert traversal(1, 0.1)(*operands) == Estimate(exactly(3))
    assert traversal()(*operands) == Estimate(ONE)
    assert same_size(*operands) == Estimate(ONE, exactly(3))
    assert comparison(*operands) == Estimate(ONE)


def test_a_count_that_is_not_written_is_the_default() -> None:
    assert operand(NAME).written_count(9) == 9
    assert operand(Constant(1, 0, 3, "int")).written_count(9) == 3
    assert operand(Constant(1, 0, -3, "int")).written_count(9) == 0
