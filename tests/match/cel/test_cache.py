from collections.abc import Callable

import pytest

from extender.errors import AllowanceError
from extender.match.cel.cache import COMPILE_COST, MAX_PROBLEM, USUAL_LENGTH, Finished, Programs
from extender.match.cel.faults import CompileError, TooComplexError
from extender.match.cel.program import Evaluation, Program, compile_expression
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
def compile_with(compiled: list[str]) -> Callable[[str], Program]:
    def compile_with(expression: str) -> Program:
        compiled.append(expression)
        return compile_expression(expression)

    return compile_with


def test_an_expression_is_compiled_once(
    compiled: list[str], compile_with: Callable[[str], Program]
) -> None:
    programs = Programs(compile_with=compile_with)

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
    compile_with: Callable[[str], Program],
    expression: str,
    problem: str,
) -> None:
    programs = Programs(compile_with=compile_with)

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
    programs = Programs()
    problem = programs.problem("x||" * 3_000 + "x")

    assert problem is not None
    assert problem.startswith("compilation failed: ERROR: <input>:1:1: undeclared reference to 'x'")
    assert len(problem) == MAX_PROBLEM + len("...")


def test_a_taint_is_asked_about_once() -> None:
    programs = Programs()
    first = programs.evaluate("semver(taint.value).major() == 6", GPU)
    programs.allowance = 0

    assert programs.evaluate("semver(taint.value).major() == 6", Taint(*GPU_FIELDS)) is first
    assert first.error is not None


GPU_FIELDS = ("gpu", "a100", "NoSchedule")


def test_taints_that_differ_only_in_what_is_not_read_are_one() -> None:
    programs = Programs()
    said = programs.evaluate(IS_SLA, SLA)
    programs.allowance = 0

    assert programs.evaluate(IS_SLA, Taint("sla", "10", "NoExecute")) is said


def test_the_longest_unused_is_dropped_first() -> None:
    programs = Programs(max_entries=2)
    for expression in ("true", "false", "true", IS_SLA):
        programs.problem(expression)
    before = programs.misses

    programs.problem("true")
    assert programs.misses == before
    programs.problem("false")
    assert programs.misses == before + 1
    assert len(programs) == 2
    assert programs.evictions == 2


def test_long_expressions_take_the_room_of_several() -> None:
    programs = Programs(max_entries=10)
    long = f"taint.key == '{'a' * USUAL_LENGTH * 6}'"
    for expression in ("true", "false", long, long.replace("a", "b")):
        programs.problem(expression)

    assert len(programs) == 1


def test_one_expression_may_be_larger_than_all_the_room() -> None:
    programs = Programs(max_entries=1)
    long = f"taint.key == '{'a' * USUAL_LENGTH}'"

    assert programs.evaluate(long, SLA).result is False
    assert programs.evaluate(long, SLA).result is False
    assert (programs.misses, len(programs)) == (1, 1)


def test_verdicts_are_bounded_over_all_expressions() -> None:
    programs = Programs(max_verdicts=10)
    for number in range(6):
        programs.evaluate(IS_SLA, Taint(f"a{number}"))
    for number in range(6):
        programs.evaluate(IS_OTHER, Taint(f"a{number}"))

    assert len(programs) == 1
    for number in range(30):
        programs.evaluate(IS_OTHER, Taint(f"b{number}"))
    assert len(programs) == 1
    assert programs.evaluate(IS_OTHER, Taint("b0")).result is True


def test_compiling_and_evaluating_are_paid_from_the_allowance() -> None:
    programs = Programs()
    programs.allowance = COMPILE_COST * len(IS_SLA) + 100
    programs.evaluate(IS_SLA, SLA)

    assert programs.allowance == 97
    with pytest.raises(AllowanceError):
        programs.problem("true")
    assert programs.allowance == 97


def test_what_may_cost_more_than_is_left_is_not_begun() -> None:
    """Upstream's estimate is low where a long text is searched, so a margin is kept."""
    programs = Programs()
    starts = "taint.key.startsWith('a')"
    programs.problem(starts)
    programs.allowance = 59

    with pytest.raises(AllowanceError):
        programs.evaluate(starts, SLA)
    programs.allowance = 60
    assert programs.evaluate(starts, SLA).result is False


def test_what_is_too_long_costs_nothing() -> None:
    programs = Programs()
    programs.allowance = 0

    assert programs.problem("x" * 20_000) is not None


def test_work_holds_what_is_not_known_yet() -> None:
    programs = Programs()
    programs.evaluate(IS_SLA, SLA)
    programs.problem(BROKEN)

    work = programs.work([IS_SLA, "true", BROKEN, "true"], [SLA, GPU])
    (known, outcome, taints), (new, nothing, all_taints) = work.jobs

    assert (known, taints) == (IS_SLA, (Taint("gpu"),))
    assert isinstance(outcome, Program)
    assert (new, nothing, all_taints) == ("true", None, (SLA, GPU))


def test_work_that_was_done_elsewhere_is_taken_over() -> None:
    programs = Programs()
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
    done = Programs().work(["true", IS_SLA], [SLA, GPU]).do(allowance)

    assert [
        (each.expression, {taint: v.result for taint, v in each.verdicts.items()}) for each in done
    ] == finished


def test_the_next_call_goes_on_where_the_last_one_stopped() -> None:
    programs = Programs()
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
    (finished,) = Programs().work([BROKEN], [SLA]).do(10_000_000)

    assert isinstance(finished.outcome, CompileError)
    assert finished.outcome.__traceback__ is None


def test_learning_twice_changes_nothing() -> None:
    programs = Programs()
    finished = [Finished("true", compile_expression("true"), {SLA: Evaluation(True, None, 0)})]
    programs.learn(finished)
    programs.learn(finished)

    assert (programs.misses, len(programs)) == (1, 1)
