"""What rules can ask of an operand."""

import pytest

from extender.match.cel.cost.bounds import ONE, UNKNOWN, ZERO, Bounds, exactly
from extender.match.cel.cost.operands import Estimate, Operand, Site, nominal, traversal
from extender.match.cel.syntax.ast import Constant, Expr, Ident
from extender.match.cel.types import DYN


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
    site = Site("f", "f_overload", (operand(NAME, exactly(3)), operand(NAME, exactly(25))))

    assert nominal(site) == Estimate(ONE)
    assert traversal(1, 0.1)(site) == Estimate(exactly(3))
