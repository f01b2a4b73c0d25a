"""Bounds saturate, factors round up, and some sizes need no call."""

import pytest

from extender.match.cel.cost import bounds as sizes
from extender.match.cel.cost.bounds import (
    COMPUTED,
    ELSEWHERE,
    LIMIT,
    NOTHING,
    ONE,
    UNKNOWN,
    ZERO,
    Bounds,
    Entries,
    Path,
    exactly,
)
from extender.match.cel.syntax.ast import (
    Constant,
    ConstantValue,
    Expr,
    Ident,
    Kind,
    ListExpr,
    MapEntry,
    MapExpr,
)
from extender.match.cel.types import (
    BOOL,
    BYTES,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TAINT,
    TIMESTAMP,
    Type,
    list_of,
    optional_of,
)


def constant(value: ConstantValue, kind: Kind) -> Constant:
    return Constant(1, 0, value, kind)


NAME = Ident(1, 0, "x")


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
    assert sizes.wrapped(number) == expected


def test_entries_are_joined_only_if_both_are_known() -> None:
    first = Entries("list", ONE, Bounds(2, 3))
    second = Entries("map", Bounds(0, 9), Bounds(1, 2))

    assert sizes.joined(first, second) == Entries("list", Bounds(0, 9), Bounds(1, 3))
    assert sizes.joined(first, None) is None
    assert sizes.joined(None, second) is None


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        pytest.param(COMPUTED, "taint", ("taint",), id="the taint"),
        pytest.param(("taint",), "key", ("taint", "key"), id="a field of the taint"),
        pytest.param(("taint",), "other", ELSEWHERE, id="no field of the taint"),
        pytest.param(("taint", "key"), "key", ELSEWHERE, id="below a field"),
        pytest.param(COMPUTED, "x", ELSEWHERE, id="another name"),
        pytest.param(ELSEWHERE, "taint", ELSEWHERE, id="a field of another name"),
    ],
)
def test_only_what_is_declared_has_a_path(path: Path, name: str, expected: Path) -> None:
    assert sizes.below(path, name) == expected


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        pytest.param(constant("é世", "string"), exactly(2), id="characters, not bytes"),
        pytest.param(constant(b"abc", "bytes"), exactly(3), id="bytes"),
        pytest.param(constant(7, "uint"), ONE, id="a number"),
        pytest.param(constant(None, "null"), ONE, id="null"),
        pytest.param(ListExpr(1, 0, (NAME, NAME)), exactly(2), id="a list"),
        pytest.param(MapExpr(1, 0, (MapEntry(2, 0, NAME, NAME, optional=False),)), ONE, id="a map"),
        pytest.param(NAME, None, id="a name"),
    ],
)
def test_what_is_written_has_a_size(expr: Expr, expected: Bounds | None) -> None:
    assert sizes.of_literal(expr) == expected


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        pytest.param(BOOL, ONE, id="bool"),
        pytest.param(TIMESTAMP, ONE, id="timestamp"),
        pytest.param(optional_of(optional_of(DURATION)), ONE, id="optional of optional duration"),
        pytest.param(NULL, None, id="null"),
        pytest.param(STRING, None, id="string"),
        pytest.param(optional_of(BYTES), None, id="optional of bytes"),
        pytest.param(list_of(INT), None, id="list of int"),
        pytest.param(TAINT, None, id="object"),
        pytest.param(DYN, None, id="dyn"),
    ],
)
def test_scalars_have_a_size(type_: Type, expected: Bounds | None) -> None:
    assert sizes.of_type(type_) == expected
