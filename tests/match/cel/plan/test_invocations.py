"""How a function is called: which arguments are evaluated, what is charged when one fails."""

import pytest
from msgspec.structs import replace

from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.library.charges import Charge, Work
from extender.match.cel.plan.code import Code, State
from extender.match.cel.plan.invocations import Invocation, general, price_of_failure
from extender.match.cel.values import MAX_STEPS, size
from extender.model.core_v1 import Taint
from tests.match.cel.evaluating import answered


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "int(taint.value) + size(taint.key) == 1",
            "type conversion error from 'string' to 'int'",
            8,
            id="the first of two fails",
        ),
        pytest.param(
            "size(taint.key) + int(taint.value) == 1",
            "type conversion error from 'string' to 'int'",
            8,
            id="the second of two fails",
        ),
        pytest.param(
            "int(taint.key) + 1 / 0 == 1",
            "type conversion error from 'string' to 'int'",
            6,
            id="both fail, the first is told",
        ),
        pytest.param(
            "1 / 0 + int(taint.key) == 1", "division by zero", 6, id="both fail the other way round"
        ),
        pytest.param(
            "taint.key.contains(string(1 / 0))",
            "division by zero",
            7,
            id="the call is charged by its arguments",
        ),
        pytest.param(
            "string(1 / 0).contains(taint.key)",
            "division by zero",
            7,
            id="the call is charged by a text behind the one that fails",
        ),
        pytest.param(
            "[taint.key, string(1 / 0)].join('-') == ''",
            "division by zero",
            15,
            id="the call is charged by its result",
        ),
        pytest.param(
            "lists.range(int(taint.value)).size() == 0",
            "type conversion error from 'string' to 'int'",
            17,
            id="the only one fails",
        ),
        pytest.param("[1 / 0].isSorted()", "division by zero", 12, id="a list that is walked"),
        pytest.param(
            "string(1 / 0).matches(taint.key)",
            "division by zero",
            10,
            id="a regular expression that is no constant",
        ),
        pytest.param(
            "sets.equivalent(lists.range(1 / 0), lists.range(size(taint.key)))",
            "division by zero",
            91,
            id="sets",
        ),
        pytest.param(
            "lists.range(1 / 0) + lists.range(size(taint.key)) == []",
            "division by zero",
            49,
            id="lists that are added",
        ),
    ],
)
def test_all_of_one_or_two_arguments_are_evaluated(
    expression: str, answer: bool | str, cost: int
) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "string(1 / 0).replace(taint.key, taint.value) == ''",
            "division by zero",
            2,
            id="the first of three",
        ),
        pytest.param(
            "taint.key.replace(string(1 / 0), taint.value) == ''",
            "division by zero",
            4,
            id="the second of three",
        ),
        pytest.param(
            "taint.key.replace(taint.value, string(1 / 0)) == ''",
            "division by zero",
            11,
            id="the last of three is charged for",
        ),
        pytest.param(
            "string(1 / 0).replace(taint.key, taint.value, 1) == ''",
            "division by zero",
            2,
            id="the first of four",
        ),
        pytest.param(
            "taint.key.replace(taint.value, string(1 / 0), size(taint.key)) == ''",
            "division by zero",
            6,
            id="the third of four",
        ),
        pytest.param(
            "taint.key.replace(taint.value, '', int(taint.value)) == ''",
            "type conversion error from 'string' to 'int'",
            12,
            id="the last of four is charged for",
        ),
        pytest.param(
            "[1, 2].slice(0, int(taint.value)) == []",
            "type conversion error from 'string' to 'int'",
            15,
            id="the last of three, charged by the result",
        ),
        pytest.param(
            "[1, 2].slice(int(taint.value), size(taint.key)) == []",
            "type conversion error from 'string' to 'int'",
            3,
            id="the second of three, charged by the result",
        ),
        pytest.param(
            "taint.key.substring(1, int(taint.value)) == ''",
            "type conversion error from 'string' to 'int'",
            8,
            id="the last of three, charged at a fixed price",
        ),
        pytest.param(
            "taint.key.findAll(taint.value, int(taint.value)) == []",
            "type conversion error from 'string' to 'int'",
            10,
            id="a search of three",
        ),
    ],
)
def test_more_than_two_are_evaluated_until_one_fails(
    expression: str, answer: bool | str, cost: int
) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "string(1 / 0).format([taint.key]) == ''",
            "division by zero",
            2,
            id="format, at its text",
        ),
        pytest.param(
            "'%s %s'.format([taint.key, 1 / 0]) == ''",
            "division by zero",
            14,
            id="format, at its arguments",
        ),
        pytest.param(
            "dyn(1 / 0).indexOf(taint.key) == 0",
            "division by zero",
            3,
            id="a function with overloads that dyn leaves open",
        ),
        pytest.param(
            "dyn(taint.key).indexOf(string(1 / 0)) == 0",
            "division by zero",
            8,
            id="the last argument of such a function",
        ),
        pytest.param(
            "dyn(1 / 0) + dyn(int(taint.key)) == 0",
            "division by zero",
            8,
            id="an operator does not stop",
        ),
    ],
)
def test_some_calls_of_two_stop_as_well(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "taint.key.substring(22) == ''", "index out of range: 22", 5, id="by its arguments"
        ),
        pytest.param(
            "[1, 2].slice(2, 1) == []",
            "cannot slice(2, 1), start index must be less than or equal to end index",
            12,
            id="by its result, which has the size one",
        ),
        pytest.param(
            "taint.key.charAt(22) == ''", "index out of range: 22", 3, id="at a fixed price"
        ),
        pytest.param(
            "taint.key.substring(5, 4) == ''",
            "invalid substring range. start: 5, end: 4",
            5,
            id="by its arguments, three of them",
        ),
        pytest.param(
            "dyn([1, 'a']).sort() == []",
            (
                "compilation failed: ERROR: <input>:1:9: expected type 'int' but found "
                "'string'\n | dyn([1, 'a']).sort() == []\n | ........^"
            ),
            0,
            id="a list by what it would have held",
        ),
    ],
)
def test_a_call_that_fails_is_charged_for(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "[taint.key, taint.value].join() == 'example.com/dedicatedgpu'",
            True,
            22,
            id="one that is charged by its result",
        ),
        pytest.param(
            "taint.key.replace(taint.value, taint.effect) == taint.key",
            True,
            16,
            id="one of three arguments",
        ),
        pytest.param(
            "taint.key.replace('e', 'E', 2) == 'ExamplE.com/dedicated'",
            True,
            10,
            id="one of four arguments",
        ),
        pytest.param(
            "lists.range(size(taint.value)).reverse() == [2, 1, 0]",
            True,
            32,
            id="one that works on a list",
        ),
    ],
)
def test_what_comes_of_a_call(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


def joined(charge: Charge, work: Work) -> Invocation:
    return Invocation(
        function="f",
        overload="f_int",
        call=lambda a, b: f"{a}{b}",
        parts=(Code(lambda s: s[1]), Code(lambda s: s[2])),
        charge=charge,
        work=work,
        in_order=False,
        texts=(False, False),
    )


def test_a_call_counts_what_it_is_charged_and_what_work_it_does() -> None:
    charge = Charge(7, lambda a, b: a + b, lambda text: 100 * size(text))
    work = Work(9, lambda a, b: a * b, lambda text: 1000 * size(text))
    state: State = [0, 3, 5, "", 0]

    assert general(joined(charge, work))(state) == "35"
    # What is fixed is counted in advance, by whoever runs the call.
    assert (state[0], state[4]) == (8 + 200, 15 + 2_000)


def test_too_much_work_is_not_begun() -> None:
    careful = joined(Charge(), Work(by_arguments=lambda a, _: a))
    invocation = replace(careful, call=lambda *_: pytest.fail("begun"))

    with pytest.raises(CostLimitError):
        general(invocation)([0, MAX_STEPS + 1, 0, "", 0])


@pytest.mark.parametrize(
    ("charge", "expected"),
    [
        pytest.param(Charge(7), 0, id="what is fixed was charged before"),
        pytest.param(Charge(by_arguments=lambda a, b: 10 * a + b), 12, id="by the arguments"),
        pytest.param(Charge(by_result=lambda _: 5), 5, id="by the result"),
    ],
)
def test_the_price_of_a_failure(charge: Charge, expected: int) -> None:
    assert price_of_failure(charge, [1, 2], EvaluationError("no")) == expected


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("taint.value == 'gpu'", True, 3, id="a field and a constant"),
        pytest.param("taint.value != 'cpu'", True, 3, id="a field that differs"),
        pytest.param("taint.value.trim() == 'gpu'", True, 4, id="a call and a constant"),
        pytest.param(
            "taint.key.substring(99) == 'gpu'",
            "index out of range: 99",
            6,
            id="a call that fails and a constant",
        ),
        pytest.param(
            "taint.key.substring(99) == ''",
            "index out of range: 99",
            5,
            id="a call that fails and nothing",
        ),
        pytest.param("size(taint.value) == 3", True, 4, id="one argument"),
        pytest.param("isSemver(taint.value)", False, 3, id="one argument, by its length"),
        pytest.param(
            "isSemver(string(1 / 0))", "division by zero", 3, id="one argument that fails"
        ),
        pytest.param("taint.key.startsWith('example')", True, 5, id="two arguments, by the first"),
        pytest.param(
            "string(1 / 0).startsWith('example')",
            "division by zero",
            3,
            id="two arguments of which the first fails",
        ),
        pytest.param(
            "string(1 / 0).substring(1, 2) == 'a'",
            "division by zero",
            3,
            id="three, of which the first fails",
        ),
        pytest.param(
            "quantity('1').add(dyn(1)).isInteger()",
            True,
            3,
            id="a function that only the values choose",
        ),
        pytest.param(
            "quantity(string(1 / 0)).add(dyn(1)).isInteger()",
            "division by zero",
            4,
            id="a function that only the values choose, and a first that fails",
        ),
        pytest.param(
            "timestamp(1 / 0).getHours('UTC') == 0",
            "division by zero",
            4,
            id="a fixed price and a first that fails",
        ),
        pytest.param("taint.key == taint.value", False, 5, id="two fields"),
        pytest.param("taint.key.trim() == taint.value.trim()", False, 9, id="two calls"),
        pytest.param(
            "1 / 0 + size(taint.key) == 1",
            "division by zero",
            6,
            id="two numbers of which the first fails",
        ),
        pytest.param(
            "taint.key.startsWith(string(1 / 0))",
            "division by zero",
            7,
            id="two texts of which the second fails",
        ),
        pytest.param(
            "lists.range(300).map(i, 'abcd').join().startsWith('b')", False, 1272, id="a long text"
        ),
        pytest.param("taint.key == 'a'", False, 3, id="a field and a shorter text"),
        pytest.param(
            "taint.value == 'example.com/dedicated'", False, 3, id="a field and a longer text"
        ),
        pytest.param(
            "dyn(taint.key).startsWith('e')", True, 6, id="a prefix of what is a text when it runs"
        ),
        pytest.param(
            "dyn(1 / 0).isGreaterThan(semver('1.2.3'))",
            "division by zero",
            4,
            id="a function that only the values choose, and something known that costs",
        ),
        pytest.param(
            "dyn(1 / 0).containsIP(ip('10.0.0.1'))",
            "division by zero",
            4,
            id="a price by the first, which fails, and something known that costs",
        ),
        pytest.param(
            "string(1 / 0) == taint.key",
            "division by zero",
            5,
            id="two texts of which the first fails",
        ),
        pytest.param(
            "string(1 / 0) == string(int(taint.key))",
            "division by zero",
            7,
            id="two texts that fail",
        ),
        pytest.param(
            "1 / 0 + (taint.key == '' ? 1 : size(taint.key.trim())) == 1",
            "division by zero",
            11,
            id="a second that costs by the data behind a first that fails",
        ),
        pytest.param(
            "1 / 0 + int(taint.key.trim()) == 1",
            "division by zero",
            9,
            id="a second that fails as well",
        ),
    ],
)
def test_a_shape(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        pytest.param(f"taint.key == '{'k' * 1023}'", 2 + 103, id="a length that is tabled"),
        pytest.param(f"taint.key == '{'k' * 1024}'", 2 + 103, id="one that is not"),
        pytest.param(f"taint.key == '{'k' * 1991}'", 2 + 200, id="a long text"),
        pytest.param("taint.key.startsWith('a')", 2 + 200, id="a call on it"),
    ],
)
def test_texts_may_be_longer_than_those_that_are_tabled(expression: str, cost: int) -> None:
    assert answered(expression, Taint("k" * 1995, "", "")) == (False, cost)
