"""Expressions, compiled: what is refused, what is said, and that threads may share it."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from extender.match.cel.faults import CompileError
from extender.match.cel.program import MAX_BYTES, Evaluation, compile_expression
from extender.match.cel.values import COST_LIMIT, COST_LIMIT_EXCEEDED
from extender.model.core_v1 import Taint
from tests.match.cel.evaluating import answered


def test_a_program_knows_its_type_and_its_worst_cost() -> None:
    program = compile_expression("taint.key.startsWith('env.example.com/')")

    assert (program.type, program.max_cost, program.too_costly) == ("bool", 4, False)
    assert compile_expression("taint.key.split('').join() == ''").too_costly


@pytest.mark.parametrize(
    ("expression", "refusal"),
    [
        pytest.param(
            "'" + "é" * MAX_BYTES, "Too long: may not be more than 10240 bytes", id="long"
        ),
        pytest.param(
            "taint.key.matches('(')",
            "compilation failed: ERROR: <input>:1:19: invalid matches argument\n"
            " | taint.key.matches('(')\n | ..................^",
            id="a pattern that cannot be read",
        ),
        pytest.param("taint.key", "must evaluate to bool, not string", id="no bool"),
        pytest.param("dyn(true)", "must evaluate to bool, not dyn", id="perhaps a bool"),
        pytest.param(
            "int('x') == 1",
            "program instantiation failed: type conversion error from 'string' to 'int'",
            id="a constant that makes no sense",
        ),
        pytest.param(
            "taint.kye == ''",
            "compilation failed: ERROR: <input>:1:6: undefined field 'kye'\n"
            " | taint.kye == ''\n | .....^",
            id="a wrong name",
        ),
        pytest.param(
            "true &&",
            "compilation failed: ERROR: <input>:1:8: Syntax error: mismatched input '<EOF>'"
            " expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT,"
            " NUM_UINT, STRING, BYTES, IDENTIFIER}\n | true &&\n | .......^",
            id="half an expression",
        ),
    ],
)
def test_what_is_refused(expression: str, refusal: str) -> None:
    with pytest.raises(CompileError) as caught:
        compile_expression(expression)

    assert str(caught.value) == refusal


def test_an_expression_may_be_as_long_as_the_limit() -> None:
    assert answered("true".ljust(MAX_BYTES)) == (True, 0)
    assert answered("true".ljust(MAX_BYTES + 1)) == (
        "Too long: may not be more than 10240 bytes",
        0,
    )


@pytest.mark.parametrize(
    ("expression", "too_costly", "evaluation"),
    [
        pytest.param(
            "lists.range(999987).size() > 0", False, (True, COST_LIMIT), id="at the limit"
        ),
        pytest.param(
            "lists.range(999988).size() > 0",
            True,
            (COST_LIMIT_EXCEEDED, COST_LIMIT + 1),
            id="one above",
        ),
    ],
)
def test_the_limit_itself_may_be_reached(
    expression: str, too_costly: bool, evaluation: tuple[bool | str, int]
) -> None:
    assert compile_expression(expression).too_costly is too_costly
    assert answered(expression) == evaluation


def test_an_evaluation_says_a_bool_or_why_not_and_its_cost() -> None:
    program = compile_expression("int(taint.value) > 900")

    assert program.evaluate("sla", "950", "NoSchedule") == Evaluation(True, None, 4)
    assert program.evaluate("sla", "90", "NoSchedule") == Evaluation(False, None, 4)
    assert program.evaluate("sla", "high", "NoSchedule") == Evaluation(
        None, "type conversion error from 'string' to 'int'", 4
    )


def test_a_result_that_turns_out_to_be_no_bool_is_an_error() -> None:
    """The checker believes orValue(), which passes on what is no optional."""
    assert answered("dyn('a').orValue(true)") == ("must evaluate to bool, not string", 0)


LARGE = "lists.range(999950).size() > 0 && "


def test_the_cost_of_a_cancelled_evaluation_is_where_the_limit_was_crossed() -> None:
    """Also where a plan charges in advance: it is run again, node by node."""
    answer = answered(LARGE + " && ".join(["(taint.key == 'a' || taint.value != '')"] * 20))

    assert answer == (COST_LIMIT_EXCEEDED, COST_LIMIT + 1)


def test_what_is_nested_too_deeply_for_that_has_the_cost_that_was_counted() -> None:
    deep = "optional.of(1).optMap(x, " * 120 + "1" + ").value()" * 120 + " == 1"
    answer, cost = answered(LARGE + deep)

    assert answer == COST_LIMIT_EXCEEDED
    assert cost > COST_LIMIT


def test_a_program_can_be_shared_by_threads() -> None:
    """Its state is that of one evaluation."""
    program = compile_expression("taint.value.split('').map(c, int(c) + 1).exists(n, n == 10)")
    values = [str(n) for n in range(1_000, 3_000)]

    with ThreadPoolExecutor(4) as threads:
        said = list(threads.map(lambda value: program.evaluate("k", value, "").result, values))

    assert said == ["9" in value for value in values]


@pytest.mark.parametrize(
    ("expression", "seen"),
    [
        pytest.param("true", Taint(), id="nothing"),
        pytest.param("taint.key == 'a'", Taint("k"), id="the key"),
        pytest.param("taint.?value.hasValue()", Taint("", "v"), id="the value, perhaps"),
        pytest.param("has(taint.effect)", Taint("", "", "e"), id="whether there is an effect"),
        pytest.param("taint.key == taint.effect", Taint("k", "", "e"), id="two fields"),
        pytest.param("dyn(taint).key == 'a'", Taint("k", "v", "e"), id="the whole"),
        pytest.param("[taint].size() == 1", Taint("k", "v", "e"), id="the whole in a list"),
        pytest.param("['a'].exists(taint, taint == 'a')", Taint(), id="another variable"),
    ],
)
def test_a_program_sees_what_it_reads(expression: str, seen: Taint) -> None:
    assert compile_expression(expression).seen(Taint("k", "v", "e")) == seen


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        (LARGE + " && ".join(["(taint.key == 'a' || taint.value != '')"] * 20), "cost limit"),
        ("{semver('1.2.3'): taint.value}.size() == 1", "unhashable"),
    ],
    ids=["cancelled", "ended by a panic"],
)
def test_an_evaluation_that_need_not_be_exact_says_the_same(expression: str, problem: str) -> None:
    program = compile_expression(expression)
    about, exactly = program.judge(Taint("k", "v", "e")), program.evaluate("k", "v", "e")

    assert problem in str(about.error)
    assert about.error == exactly.error
    assert about.cost > exactly.cost
