"""Hostile expressions: each has its verdict, within what may be counted, and no other fault."""

import contextlib
import itertools
import tracemalloc

import pytest

from extender.match.cel.cache import ProgramCache
from extender.match.cel.faults import CompileError, CostLimitError, EvaluationError
from extender.match.cel.plan.code import State
from extender.match.cel.program import Evaluation, Program, compile_expression
from extender.match.cel.values import COST_LIMIT, COST_LIMIT_EXCEEDED, MAX_STEPS
from extender.match.cel.work import MAX_PROBLEM
from extender.match.lru import CacheBudget
from tests.match.cel import hostile
from tests.match.cel.hostile import TAINT, Case, Fate

CASES = list(hostile.cases())
# One charge may cross the limit: that of a call on the largest list or text that there can be.
MAX_COST_SEEN = 3 * COST_LIMIT


def evaluated(program: Program) -> Evaluation:
    return program.evaluate(TAINT.key, TAINT.value, TAINT.effect)


def fate(expression: str) -> tuple[Fate, int]:
    try:
        program = compile_expression(expression)
    except CompileError:
        return "refused", 0
    if program.too_costly:
        return "too costly", 0
    evaluation = evaluated(program)
    if evaluation.error is not None:
        cancelled = evaluation.error == COST_LIMIT_EXCEEDED
        return ("cancelled" if cancelled else "error"), evaluation.cost
    return ("true" if evaluation.result else "false"), evaluation.cost


def test_there_are_many_of_them_and_no_two_are_alike() -> None:
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len({case.expression for case in CASES})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_hostile_expression_has_its_verdict(case: Case) -> None:
    verdict, cost = fate(case.expression)

    assert verdict == case.fate
    assert cost <= (COST_LIMIT if verdict != "cancelled" else MAX_COST_SEEN)


ADMITTED = [case for case in CASES if case.fate not in ("refused", "too costly")]
GROWING = [case for case in hostile.growth() if case in ADMITTED]


@pytest.mark.parametrize("case", ADMITTED, ids=lambda case: case.name)
def test_a_hostile_expression_takes_no_more_steps_than_it_may(case: Case) -> None:
    """One call may cross the bound: that which is counted when it has run."""
    plan = compile_expression(case.expression).plan
    state: State = [plan.cost, TAINT.key, TAINT.value, TAINT.effect, 0, *plan.locals]
    with contextlib.suppress(EvaluationError, CostLimitError):
        plan.run(state)

    assert state[4] <= MAX_STEPS + 300


@pytest.mark.parametrize("case", GROWING, ids=lambda case: case.name)
def test_what_would_grow_stays_small(case: Case) -> None:
    program = compile_expression(case.expression)
    tracemalloc.start()
    program.judge(TAINT)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 64 * 2**20


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_refusal_is_short_enough_to_show(case: Case) -> None:
    problem = ProgramCache().problem(case.expression) or ""

    assert len(problem) <= MAX_PROBLEM + len("...")


def test_the_same_verdict_again() -> None:
    """Whatever was remembered on the way, in any order."""
    some = [case for case in CASES if case.fate in ("error", "cancelled", "false")][:20]

    for case in itertools.chain(some, reversed(some)):
        assert fate(case.expression)[0] == case.fate


def test_hundred_thousand_expressions_take_the_room_of_the_cache() -> None:
    """Memory is flat: programs, failures and verdicts are weighed in bytes."""
    budget = CacheBudget(200_000)
    programs = ProgramCache(budget)
    for number in range(2_000):
        programs.evaluate(f"taint.key == 'k{number}'", TAINT)
        programs.problem(f"taint.kye == 'k{number}'")

        assert budget.bytes <= budget.max_bytes

    assert len(programs) + programs.evictions == 4_000
    assert 50 < len(programs) < 200
