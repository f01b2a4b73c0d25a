"""A checked expression into closures: every kind of node, however deep."""

import pytest

from extender.match.cel.plan import compile as planner
from extender.match.cel.plan.code import State
from extender.match.cel.plan.compile import MAX_NESTING, Plan
from extender.match.cel.plan.scope import ProgramError
from extender.match.cel.values import Uint
from tests.match.cel.expressions import checked


def run(plan: Plan) -> object:
    s: State = [plan.cost, "key", "value", "effect", 0, *plan.locals]
    return plan.run(s)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("'a'", "a", id="a constant"),
        pytest.param("1u", Uint(1), id="an unsigned constant"),
        pytest.param("taint.key", "key", id="a select"),
        pytest.param("taint", {"key": "key", "value": "value", "effect": "effect"}, id="an ident"),
        pytest.param("size(taint.key)", 3, id="a call"),
        pytest.param("[taint.key]", ["key"], id="a list"),
        pytest.param("{'a': taint.key}", {"a": "key"}, id="a map"),
        pytest.param("[1, 2].map(x, x + 1)", [2, 3], id="a fold"),
        pytest.param("true ? taint.key : ''", "key", id="a branch"),
    ],
)
def test_every_kind_of_node_is_planned(text: str, value: object) -> None:
    for exact in (False, True):
        answer = run(planner.plan(checked(text), exact=exact))
        assert (type(answer), answer) == (type(value), value)


def test_each_variable_has_a_place_of_its_own() -> None:
    assert planner.plan(checked("taint.key")).locals == ()
    assert len(planner.plan(checked("[1].all(x, [2].all(y, x < y))")).locals) == 2


def test_a_plan_knows_in_advance_what_always_costs_the_same() -> None:
    assert planner.plan(checked("size(taint.key) == 3")).cost == 4
    assert planner.plan(checked("size(taint.key) == 3"), exact=True).cost == 0


def test_what_is_nested_deeper_than_python_can_call_is_refused() -> None:
    """The parser lets 250 loops pass, each of which takes three calls."""
    text = "dyn([1]).all(x, " * 245 + "true" + ")" * 245

    with pytest.raises(ProgramError, match="nested too deeply"):
        planner.plan(checked(text))


def test_what_is_allowed_can_be_called() -> None:
    depth = MAX_NESTING // 3

    assert run(planner.plan(checked("!(" * depth + "true" + ")" * depth))) is True
