"""Expressions are compiled and evaluated as far as an allowance, and patterns are paid for."""

import math

import pytest

from extender.errors import AllowanceError
from extender.match.cel.cache import ProgramCache
from extender.match.cel.faults import CompileError, TooComplexError
from extender.match.cel.plan.patterns import Afford
from extender.match.cel.program import Program, compile_expression
from extender.match.cel.work import COMPILE_COST, INSTRUCTION_COST, MAX_INSTRUCTIONS, Compilation
from extender.match.lru import CacheBudget
from extender.model.core_v1 import Taint

SLA = Taint("sla", "950", "NoSchedule")
# As much as one regular expression may take.
LARGEST = [rf"taint.value.matches('\\pL{{16}}{number}')" for number in range(100)]
SIZE = compile_expression(LARGEST[0]).plan.pattern_size
COST = COMPILE_COST * len(LARGEST[0]) + INSTRUCTION_COST * SIZE


def test_a_pattern_is_paid_from_the_allowance_by_what_it_compiles_to() -> None:
    programs = ProgramCache()
    programs.allowance = COST

    assert programs.problem(LARGEST[0]) is None
    assert programs.allowance == 0


def test_a_pattern_that_cannot_be_paid_is_not_compiled() -> None:
    programs = ProgramCache()
    programs.allowance = COST - 1

    with pytest.raises(AllowanceError):
        programs.problem(LARGEST[0])
    assert LARGEST[0] not in programs
    # What was parsed has been paid.
    assert programs.allowance == INSTRUCTION_COST * SIZE - 1


def test_what_is_refused_for_its_size_costs_only_its_text() -> None:
    programs = ProgramCache()
    expression = r"taint.value.matches('\\pL{200}0')"
    programs.allowance = COMPILE_COST * len(expression)

    assert "more than 20000 instructions" in (programs.problem(expression) or "")


@pytest.mark.parametrize("count", [0, 1, 3])
def test_work_stops_before_a_pattern_that_the_allowance_does_not_cover(count: int) -> None:
    work = ProgramCache().work(LARGEST, ())

    assert len(work.do(COST * count + COST - 1)) == count


def test_work_that_nobody_waits_for_is_not_begun() -> None:
    work = ProgramCache().work(["true", "false"], [SLA])

    assert work.do(math.inf, lambda: True) == []
    assert len(work.do(math.inf)) == 2


def test_work_on_a_hundred_large_patterns_ends_after_some_calls() -> None:
    """Each call goes on where the last one stopped, as long as all of them can be kept."""
    programs, calls = ProgramCache(CacheBudget(1 << 30)), 0
    while work := programs.work(LARGEST[:20], [SLA]).jobs:
        if all(known is not None and not taints for _, known, taints in work):
            break
        programs.learn(programs.work(LARGEST[:20], [SLA]).do(10 * COST))
        calls += 1

    assert calls == 3
    assert all(programs.problem(text) is None for text in LARGEST[:20])


def test_work_in_progress_takes_no_more_memory_than_half_of_what_is_kept() -> None:
    weight = compile_expression(LARGEST[0]).plan.bytes
    programs = ProgramCache(CacheBudget(10 * weight))

    finished = programs.work(LARGEST, ()).do(math.inf)

    # One more may cross the bound.
    assert len(finished) in (5, 6)


def test_what_is_kept_of_patterns_is_within_the_budget() -> None:
    budget = CacheBudget(20 << 20)
    programs = ProgramCache(budget)
    for text in LARGEST[:12]:
        programs.evaluate(text, SLA)

        assert budget.bytes <= budget.max_bytes
    assert len(programs) < 12


@pytest.mark.parametrize(
    "expression",
    [LARGEST[0], "taint.value.matches(taint.key)"],
    ids=["a large pattern", "a pattern that is no constant"],
)
def test_a_search_that_its_cost_does_not_cover_is_not_begun_with_little_allowance(
    expression: str,
) -> None:
    programs = ProgramCache()
    programs.problem(expression)
    programs.allowance = 999_999

    with pytest.raises(AllowanceError):
        programs.evaluate(expression, SLA)
    programs.allowance = 1_000_000
    verdict = programs.evaluate(expression, SLA)

    assert verdict.steps > 0
    assert programs.allowance == 1_000_000 - verdict.cost - verdict.steps


def test_work_pays_for_steps_as_well() -> None:
    taints = [Taint("k", f"{number:063}", "") for number in range(100)]
    work = ProgramCache().work([LARGEST[0]], taints)

    (finished,) = work.do(COST + 100_000)

    assert sum(each.cost + each.steps for each in finished.verdicts.values()) > 100_000
    assert 5 < len(finished.verdicts) < 20


def compiled(*expressions: str, known: tuple[str, ...] = ()) -> tuple[Compilation, list[str]]:
    """All of them, and those for which regular expressions were compiled."""
    made: list[str] = []

    def compile_with(text: str, afford: Afford) -> Program:
        program = compile_expression(text, afford)
        made.append(text)
        return program

    outcomes = {text: compile_expression(text) for text in known}
    compilation = Compilation(compile_with, expressions, outcomes)
    assert compilation.go_on(math.inf)
    return compilation, made


FIT = MAX_INSTRUCTIONS // SIZE


def test_the_patterns_of_one_object_are_bounded_together() -> None:
    compilation, made = compiled(*LARGEST[: FIT + 3], "taint.key == ''")

    refused = compilation.failure(LARGEST[FIT])
    assert isinstance(refused, TooComplexError)
    assert str(refused) == (
        "too complex, the regular expressions of one object may take 400000 instructions in all"
    )
    assert compilation.failure(LARGEST[FIT - 1]) is None
    assert compilation.failure("taint.key == ''") is None
    assert made == [*LARGEST[:FIT], "taint.key == ''"]


def test_the_same_is_refused_whatever_is_known_already() -> None:
    asked = LARGEST[: FIT + 1]
    compilation, made = compiled(*asked, known=(asked[0], asked[-1]))

    failures = [compilation.failure(text) is not None for text in asked]
    assert failures == [False] * FIT + [True]
    assert made == asked[1:FIT]


def test_what_is_refused_for_its_neighbours_is_not_kept_as_refused() -> None:
    compilation, _ = compiled(*LARGEST[: FIT + 1])

    assert [each.expression for each in compilation.finished] == LARGEST[:FIT]


def test_a_compilation_goes_on_in_portions() -> None:
    programs = ProgramCache()
    compilation = programs.compilation([*LARGEST[:5], "taint.kye", LARGEST[0]])
    portions = 1
    while not compilation.go_on(2 * COST):
        portions += 1
    programs.learn(compilation.finished)

    assert portions == 3
    assert isinstance(compilation.failure("taint.kye"), CompileError)
    assert [compilation.failure(text) for text in LARGEST[:5]] == [None] * 5
    assert programs.misses == 6
    again = programs.compilation([*LARGEST[:5], "taint.kye"])
    assert again.cost == 0
    assert again.go_on(0)
    assert again.failure("taint.kye") is not None


def test_a_portion_that_does_not_suffice_counts_no_instructions() -> None:
    """Or what is asked for twice would count twice."""
    compilation = ProgramCache().compilation(LARGEST[:FIT])
    for _ in range(30):
        assert not compilation.go_on(COST - 1)

    assert compilation.go_on(math.inf)
    assert [compilation.failure(text) for text in LARGEST[:FIT]] == [None] * FIT
