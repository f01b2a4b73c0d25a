"""What a node is made of: its price, its work, and where both are counted."""

import pytest

from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.plan import code as plan
from extender.match.cel.plan.code import Code, State
from extender.match.cel.values import COST_LIMIT, COST_LIMIT_EXCEEDED, MAX_STEPS


def state(cost: int = 0, steps: int = 0) -> State:
    return [cost, "key", "value", "effect", steps]


def fail(_: State) -> None:
    raise EvaluationError("wrong")


def test_a_constant_is_free_and_known() -> None:
    code = plan.constant(42)

    assert (code.run(state()), code.known, code.constant, code.is_free) == (42, 42, True, True)


def test_a_node_pays_for_the_parts_that_always_run() -> None:
    always, maybe = Code(lambda _: 1, 3, work=1, depth=2), Code(lambda _: 2, 5, work=2, depth=4)
    code = plan.compose(lambda _: 3, (always,), cost=10, work=4, later=(maybe,))

    assert (code.cost, code.work, code.depth) == (13, 7, 5)


def test_a_node_without_parts_is_one_deep_and_costs_nothing() -> None:
    code = plan.compose(lambda _: 3)

    assert (code.cost, code.work, code.depth, code.is_free) == (0, 0, 1, True)


def test_what_is_charged_beside_changes_nothing_else() -> None:
    code = plan.charged(Code(lambda _: 1, 3, 5, 7, slot=2, known=1), 20)

    assert (code.cost, code.work, code.depth, code.slot, code.known) == (23, 5, 7, 2, 1)


def test_steps_are_bounded() -> None:
    s = state()
    plan.spend(s, MAX_STEPS)

    with pytest.raises(CostLimitError, match=COST_LIMIT_EXCEEDED):
        plan.spend(s, 1)


def test_a_failure_that_is_absorbed_took_some_work() -> None:
    s = state()

    assert plan.caught(s, EvaluationError("wrong")) == "wrong"
    assert s[4] > 0


@pytest.mark.parametrize(
    ("code", "steps"),
    [
        pytest.param(Code(lambda _: 1, 5), 0, id="what is charged for"),
        pytest.param(Code(lambda _: 1), 2, id="what is free"),
        pytest.param(Code(lambda _: 1, 5, work=7), 7, id="what takes more than it costs"),
        pytest.param(Code(lambda _: 1, 0, work=7), 9, id="what is free and takes much"),
    ],
)
def test_in_a_loop_every_run_is_counted(code: Code, steps: int) -> None:
    s = state()

    assert plan.padded(code).run(s) == 1
    assert s[4] == steps


def test_a_loop_ends_when_its_steps_are_used_up() -> None:
    code = plan.padded(Code(lambda _: 1))

    assert code.run(state(steps=MAX_STEPS - 2)) == 1
    with pytest.raises(CostLimitError):
        code.run(state(steps=MAX_STEPS - 1))


def test_what_counts_its_work_is_one_deeper() -> None:
    code = plan.padded(Code(lambda _: 1, 5, work=7, depth=3))

    assert (code.cost, code.work, code.depth) == (5, 0, 4)


@pytest.mark.parametrize("units", [True, False])
def test_a_metered_node_charges_when_it_has_run(units: bool) -> None:
    s = state()

    code = plan.metered(Code(lambda s: s[0], 5, work=7, depth=3), units=units)

    assert (code.cost, code.work, code.depth, code.is_free) == (0, 7, 4, False)
    assert code.run(s) == 0
    assert s[0] == 5


def test_a_metered_node_charges_for_a_failure() -> None:
    s = state()

    with pytest.raises(EvaluationError, match="wrong"):
        plan.metered(Code(fail, 5), units=False).run(s)
    assert s[0] == 5


def test_a_metered_node_may_reach_the_limit() -> None:
    s = state(cost=COST_LIMIT - 5)

    assert plan.metered(Code(lambda _: 1, 5), units=False).run(s) == 1
    assert s[0] == COST_LIMIT


@pytest.mark.parametrize(("units", "cost"), [(True, COST_LIMIT + 1), (False, COST_LIMIT + 4)])
def test_a_metered_node_ends_at_the_limit(units: bool, cost: int) -> None:
    """Whatever it found: the limit comes before a failure."""
    s = state(cost=COST_LIMIT - 1)

    with pytest.raises(CostLimitError):
        plan.metered(Code(fail, 5), units=units).run(s)
    assert s[0] == cost
