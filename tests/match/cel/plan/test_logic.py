"""`&&`, `||` and alternatives: what decides, what is absorbed, what it costs."""

import pytest

from tests.match.cel.evaluating import answered, steps_of


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "taint.value == 'gpu' && taint.effect == 'NoSchedule'", True, 6, id="both true"
        ),
        pytest.param(
            "taint.value == 'cpu' && taint.effect == 'NoSchedule'", False, 3, id="the first decides"
        ),
        pytest.param(
            "1 / 0 == 1 && taint.value == 'cpu'", False, 5, id="the second decides against an error"
        ),
        pytest.param(
            "1 / 0 == 1 && taint.value == 'gpu'",
            "division by zero",
            5,
            id="the second does not decide",
        ),
        pytest.param("1 / 0 == 1 && int('a' + 'b') == 1", "division by zero", 5, id="both fail"),
        pytest.param("taint.value == 'cpu' || taint.value == 'gpu'", True, 6, id="one of both"),
        pytest.param("taint.value == 'gpu' || 1 / 0 == 1", True, 3, id="the first is enough"),
        pytest.param(
            "1 / 0 == 1 || taint.value == 'gpu'", True, 5, id="the second absorbs an error"
        ),
        pytest.param(
            "1 / 0 == 1 || taint.value == 'cpu'",
            "division by zero",
            5,
            id="the second does not absorb it",
        ),
        pytest.param(
            "1 / 0 == 1 || int('a' + 'b') == 1", "division by zero", 5, id="both fail of either"
        ),
    ],
)
def test_two_terms(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "taint.value == 'gpu' && taint.value != '' && taint.key != ''", True, 7, id="all true"
        ),
        pytest.param(
            "taint.value == 'gpu' && taint.value != '' && taint.key == ''",
            False,
            7,
            id="the last decides",
        ),
        pytest.param(
            "1 / 0 == 1 || int('a' + 'b') == 1 || taint.value == 'gpu'",
            True,
            8,
            id="errors, absorbed by the last",
        ),
        pytest.param(
            "taint.key == '' || int('a' + 'b') == 1 || 1 / 0 == 1",
            "type conversion error from 'string' to 'int'",
            7,
            id="errors, of which the first is told",
        ),
        pytest.param("dyn(1) && true && true", "no such overload", 0, id="the first is no bool"),
    ],
)
def test_many_terms(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "taint.?value.orValue(string(1 / 0)) == 'gpu'", True, 3, id="is not evaluated in vain"
        ),
        pytest.param(
            "optional.none().orValue(taint.value + 'a') == 'gpua'",
            True,
            5,
            id="is evaluated if need be",
        ),
        pytest.param(
            "optional.none().or(taint.?key).value() == taint.key", True, 9, id="may be an optional"
        ),
        pytest.param(
            "taint.?key.or(optional.of(string(1 / 0))).value() == taint.key",
            True,
            8,
            id="is not needed",
        ),
        pytest.param(
            "dyn(taint.key).orValue('a') == taint.key", True, 8, id="of what is no optional"
        ),
    ],
)
def test_an_alternative(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "failures"),
    [
        pytest.param("taint.value == 'gpu' && taint.key == ''", 0, id="none"),
        pytest.param("1 / 0 == 1 && taint.value == 'cpu'", 1, id="one that is absorbed"),
        pytest.param("1 / 0 == 1 || taint.value == 'gpu'", 1, id="one that is absorbed by true"),
        pytest.param("1 / 0 == 1 && 1 / 0 == 2", 2, id="both terms"),
        pytest.param("1 / 0 == 1 || 1 / 0 == 2", 2, id="both alternatives"),
        pytest.param("1 / 0 == 1 || 1 / 0 == 2 || 1 / 0 == 3", 3, id="all of three"),
        pytest.param("taint.value == 'gpu' || 1 / 0 == 1", 0, id="one that is not met"),
    ],
)
def test_a_failure_takes_work(expression: str, failures: int) -> None:
    assert steps_of(expression) == 30 * failures
