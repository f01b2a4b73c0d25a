import gc
import math
import tracemalloc
from collections.abc import Callable
from unittest.mock import ANY

import pytest

from extender.errors import AllowanceError
from extender.match.cel.cache import ProgramCache
from extender.match.cel.faults import CompileError, TooComplexError
from extender.match.cel.plan.patterns import Afford
from extender.match.cel.program import Evaluation, Program, compile_expression
from extender.match.cel.work import COMPILE_COST, MAX_PROBLEM, Compile, Finished
from extender.match.lru import LRU, CacheBudget
from extender.model.core_v1 import Taint

SLA = Taint("sla", "950", "NoSchedule")
GPU = Taint("gpu", "a100", "NoSchedule")
IS_SLA = "taint.key == 'sla'"
IS_OTHER = "taint.key != 'sla'"
BROKEN = "taint.kye == 'sla'"
TOO_COSTLY = "lists.range(1000000).all(i, i >= 0)"


@pytest.fixture
def compiled() -> list[str]:
    """Every expression that was compiled, in order."""
    return []


@pytest.fixture
def compile_with(compiled: list[str]) -> Compile:
    def compile_with(expression: str, afford: Afford) -> Program:
        compiled.append(expression)
        return compile_expression(expression, afford)

    return compile_with


def test_an_expression_is_compiled_once(compiled: list[str], compile_with: Compile) -> None:
    programs = ProgramCache(compile_with=compile_with)

    assert programs.problem(IS_SLA) is None
    assert programs.evaluate(IS_SLA, SLA).result is True
    assert programs.evaluate(IS_SLA, GPU).result is False
    assert compiled == [IS_SLA]
    assert (programs.hits, programs.misses, programs.evictions) == (2, 1, 0)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        pytest.param(BROKEN, "undefined field 'kye'", id="a field that is not there"),
        pytest.param("1 +", "Syntax error: mismatched input '<EOF>'", id="half an expression"),
        pytest.param("'a'", "must evaluate to bool, not string", id="no bool"),
        pytest.param("x" * 10_241, "Too long: may not be more than 10240 bytes", id="too long"),
        pytest.param(
            TOO_COSTLY,
            "too complex, estimated cost 6000012 exceeds limit 1000000",
            id="too costly",
        ),
    ],
)
def test_a_failure_is_kept_as_well(
    compiled: list[str],
    compile_with: Compile,
    expression: str,
    problem: str,
) -> None:
    programs = ProgramCache(compile_with=compile_with)

    assert problem in (programs.problem(expression) or "")
    evaluation = programs.evaluate(expression, SLA)
    assert evaluation.result is None
    assert problem in (evaluation.error or "")
    assert evaluation.cost == 0
    assert compiled == [expression]
    assert isinstance(programs.failure(expression), TooComplexError) is (expression == TOO_COSTLY)
    assert expression in programs
    assert IS_SLA not in programs


def test_of_a_long_refusal_only_the_beginning_is_kept() -> None:
    """A hundred issues, each with a line of 10 KiB: a cache of them would take gigabytes."""
    programs = ProgramCache()
    problem = programs.problem("x||" * 3_000 + "x")

    assert problem is not None
    assert problem.startswith("compilation failed: ERROR: <input>:1:1: undeclared reference to 'x'")
    assert len(problem) == MAX_PROBLEM + len("...")


def test_a_taint_is_asked_about_once() -> None:
    programs = ProgramCache()
    first = programs.evaluate("semver(taint.value).major() == 6", GPU)
    programs.allowance = 0

    assert programs.evaluate("semver(taint.value).major() == 6", Taint(*GPU_FIELDS)) is first
    assert first.error is not None


GPU_FIELDS = ("gpu", "a100", "NoSchedule")


def test_taints_that_differ_only_in_what_is_not_read_are_one() -> None:
    programs = ProgramCache()
    said = programs.evaluate(IS_SLA, SLA)
    programs.allowance = 0

    assert programs.evaluate(IS_SLA, Taint("sla", "10", "NoExecute")) is said


def one_more_than_fit(programs: ProgramCache) -> None:
    while not programs.evictions:
        programs.problem(f"{programs.misses} == 0")


def test_the_longest_unused_is_dropped_first() -> None:
    programs = ProgramCache(CacheBudget(16_000))
    for expression in ("true", "false", "true"):
        programs.problem(expression)
    one_more_than_fit(programs)

    assert "true" in programs
    assert "false" not in programs
    assert programs.evictions == 1


def test_long_expressions_take_the_room_of_several() -> None:
    budget = CacheBudget(1 << 20)
    programs = ProgramCache(budget)
    programs.problem("taint.key == 'a'")
    short = budget.bytes
    programs.problem(f"taint.key == '{'a' * 5_000}'")

    assert budget.bytes - short > 5 * short


def test_a_program_that_is_too_heavy_is_kept_until_the_next_such() -> None:
    """Otherwise a call that compiled it in vain would never get further."""
    budget = CacheBudget(16_000)
    programs = ProgramCache(budget)
    long, longer = (f"taint.key == '{'a' * size}'" for size in (4_000, 5_000))
    assert programs.evaluate(long, SLA).result is False
    programs.allowance = 0

    assert programs.evaluate(long, SLA).result is False
    assert programs.work([long], [SLA]).jobs == [(long, ANY, ())]
    assert (programs.misses, programs.hits, len(programs), budget.bytes) == (1, 1, 1, 0)
    programs.allowance = math.inf
    programs.problem(longer)
    assert long not in programs
    assert longer in programs


def test_verdicts_are_bounded_over_all_expressions() -> None:
    budget = CacheBudget(20_000)
    programs = ProgramCache(budget)
    for expression in (IS_SLA, IS_OTHER):
        for number in range(200):
            programs.evaluate(expression, Taint(f"a{number}"))
            assert budget.bytes <= budget.max_bytes

    # One expression fills no more than its share, and starts over then.
    assert IS_SLA in programs
    assert programs.evaluate(IS_OTHER, Taint("a0")).result is True


def test_a_verdict_that_is_heavier_than_all_the_room_is_not_kept() -> None:
    programs = ProgramCache(CacheBudget(20_000))
    long = Taint("k" * 10_000)
    programs.evaluate(IS_SLA, long)

    assert programs.work([IS_SLA], [long]).jobs == [(IS_SLA, ANY, (long,))]


def test_all_caches_of_the_budget_share_it() -> None:
    budget = CacheBudget(16_000)
    other: LRU[str, int] = LRU("other", budget)
    programs = ProgramCache(budget)
    other.put("a", 1, 2_000)
    one_more_than_fit_other(programs, other)

    assert sorted(cache.name for cache in budget.caches) == ["other", "programs"]
    assert (other.evictions, programs.evictions) == (1, 0)


def one_more_than_fit_other(programs: ProgramCache, other: LRU[str, int]) -> None:
    while len(other):
        programs.problem(f"{programs.misses} == 0")


@pytest.mark.parametrize(
    "expression",
    [
        "true",
        IS_SLA,
        BROKEN,
        "x" * 9_000,
        "||".join(["x"] * 2_000),
        "||".join(f"taint.key=='k{number}'" for number in range(400)),
        "[1, 2].exists(i, [1, 2].exists(j, i + j == size(taint.key)))",
        f"taint.key in {[f'k{number}' for number in range(500)]}",
        f"size({ {f'k{number}': number for number in range(500)} }) == 1",
        "dyn(taint.key) == dyn(1) || dyn([1]).sum() == 2",
        "taint.key.matches('^a+$') || taint.key.find('a') == 'b'",
        "(" * 100 + "true" + ")" * 100,
        f"'{'世' * 3_000}' == taint.key",
        "||".join(["1/0==1"] * 1_000),
    ],
    ids=lambda text: text[:20],
)
def test_an_expression_weighs_at_least_half_of_what_it_takes(expression: str) -> None:
    """Upwards there is no such bound: a regular expression takes native memory beside."""
    budget = CacheBudget(1 << 30)
    programs = ProgramCache(budget)
    programs.problem(expression)  # whatever is made once, is made now
    weight = budget.bytes
    expressions = [f"{expression}{' ' * more}" for more in range(1, 2)]

    taken = memory_of(lambda: [programs.problem(text) for text in expressions])
    assert 2 * (budget.bytes - weight) >= taken


def test_a_verdict_weighs_at_least_half_of_what_it_takes() -> None:
    budget = CacheBudget(1 << 30)
    programs = ProgramCache(budget)
    programs.problem("int(taint.key + taint.value) == 1")
    weight = budget.bytes

    def evaluate() -> None:
        for number in range(1_000):
            taint = Taint(f"example.com/{number}", f"value-{number}", "NoSchedule")
            programs.evaluate("int(taint.key + taint.value) == 1", taint)

    taken = memory_of(evaluate)
    assert 2 * (budget.bytes - weight) >= taken


def memory_of(work: Callable[[], object]) -> int:
    """What is still taken when the work is done."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_a_failure_holds_nothing_of_the_compiler() -> None:
    failure = ProgramCache().failure(BROKEN)

    assert failure is not None
    assert (failure.__context__, failure.__traceback__) == (None, None)


def test_compiling_and_evaluating_are_paid_from_the_allowance() -> None:
    programs = ProgramCache()
    programs.allowance = COMPILE_COST * len(IS_SLA) + 100
    programs.evaluate(IS_SLA, SLA)

    assert programs.allowance == 97
    with pytest.raises(AllowanceError):
        programs.problem("true")
    assert programs.allowance == 97


def test_what_may_cost_more_than_is_left_is_not_begun() -> None:
    """Upstream's estimate is low where a long text is searched, so a margin is kept."""
    programs = ProgramCache()
    starts = "taint.key.startsWith('a')"
    programs.problem(starts)
    programs.allowance = 59

    with pytest.raises(AllowanceError):
        programs.evaluate(starts, SLA)
    programs.allowance = 60
    assert programs.evaluate(starts, SLA).result is False


def test_what_is_too_long_costs_nothing() -> None:
    programs = ProgramCache()
    programs.allowance = 0

    assert programs.problem("x" * 20_000) is not None


def test_work_holds_what_is_not_known_yet() -> None:
    programs = ProgramCache()
    programs.evaluate(IS_SLA, SLA)
    programs.problem(BROKEN)

    work = programs.work([IS_SLA, "true", BROKEN, "true"], [SLA, GPU])
    (known, outcome, taints), (new, nothing, all_taints) = work.jobs

    assert (known, taints) == (IS_SLA, (Taint("gpu"),))
    assert isinstance(outcome, Program)
    assert (new, nothing, all_taints) == ("true", None, (SLA, GPU))


def test_work_that_was_done_elsewhere_is_taken_over() -> None:
    programs = ProgramCache()
    programs.evaluate(IS_SLA, SLA)
    finished = programs.work([IS_SLA, "true", BROKEN], [SLA, GPU]).do(10_000_000)
    programs.learn(finished)
    programs.allowance = 0

    assert programs.evaluate(IS_SLA, GPU).result is False
    assert programs.evaluate("true", GPU).result is True
    assert programs.problem(BROKEN) is not None
    assert programs.misses == 3


@pytest.mark.parametrize(
    ("allowance", "finished"),
    [
        pytest.param(0, [], id="nothing"),
        pytest.param(
            COMPILE_COST * 4,
            [("true", {Taint(): True})],
            id="one expression, whose evaluation is free",
        ),
        pytest.param(
            COMPILE_COST * (4 + len(IS_SLA)) + 2,
            [("true", {Taint(): True}), (IS_SLA, {Taint("sla"): True})],
            id="the next one, and one of its taints",
        ),
    ],
)
def test_work_goes_as_far_as_the_allowance(
    allowance: int, finished: list[tuple[str, dict[Taint, bool]]]
) -> None:
    done = ProgramCache().work(["true", IS_SLA], [SLA, GPU]).do(allowance)

    assert [
        (each.expression, {taint: v.result for taint, v in each.verdicts.items()}) for each in done
    ] == finished


def test_the_next_call_goes_on_where_the_last_one_stopped() -> None:
    programs = ProgramCache()
    loop = "lists.range(1000).all(i, i >= 0 || taint.key == '')"
    taints = [Taint(f"t{i}") for i in range(5)]
    rounds = 0
    work = programs.work([loop], taints)
    while any(unknown for _, _, unknown in work.jobs):
        programs.learn(work.do(30_000))
        work = programs.work([loop], taints)
        rounds += 1

    assert rounds > 1
    programs.allowance = 0
    assert all(programs.evaluate(loop, taint).result for taint in taints)


def test_a_remembered_failure_does_not_gather_frames() -> None:
    (finished,) = ProgramCache().work([BROKEN], [SLA]).do(10_000_000)

    assert isinstance(finished.outcome, CompileError)
    assert finished.outcome.__traceback__ is None


def test_learning_twice_changes_nothing() -> None:
    programs = ProgramCache()
    finished = [Finished("true", compile_expression("true"), {SLA: Evaluation(True, None, 0)})]
    programs.learn(finished)
    programs.learn(finished)

    assert (programs.misses, len(programs)) == (1, 1)
