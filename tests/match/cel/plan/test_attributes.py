"""Variables, fields and `?:`, and what they cost."""

import pytest

from tests.match.cel.evaluating import answered


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("taint.key.size() == 21", True, 4, id="a field"),
        pytest.param("has(taint.key)", True, 1, id="a field that is asked for"),
        pytest.param("taint.?key.hasValue()", True, 3, id="a field that may be there"),
        pytest.param("dyn(taint)['key'] == taint.key", True, 9, id="an object as a whole"),
        pytest.param("[taint][0].key == taint.key", True, 19, id="an object in a list"),
        pytest.param("taint == taint", True, 3, id="an object that is compared"),
        pytest.param("[1].map(x, x)[0] == 1", True, 17, id="a variable"),
        pytest.param(
            "['a'].exists(taint, taint == 'a')", True, 7, id="a variable that hides the taint"
        ),
        pytest.param("has({'a': 1}.a)", True, 1, id="has of a constant map"),
        pytest.param("has({'a': 1}.b)", False, 1, id="has of what is not there"),
        pytest.param(
            "has((taint.key == '' ? {'a': 1} : {'b': 2}).b)", True, 2, id="has of a choice"
        ),
        pytest.param("has(taint.key) == has({'a': {'b': 1}}.a.b)", True, 4, id="has of has"),
        pytest.param("type(taint.key) == string", True, 4, id="a type"),
        pytest.param(
            "type(taint.key) == google.protobuf.Duration", False, 4, id="a type of a package"
        ),
        pytest.param(
            "type(taint) == kubernetes.Taint",
            "program instantiation failed: reference to undefined type: kubernetes.Taint",
            0,
            id="a type that does not exist at run time",
        ),
    ],
)
def test_a_chain(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "(taint.key == '' ? taint.value : taint.effect) == 'NoSchedule'", True, 4, id="a field"
        ),
        pytest.param(
            "(taint.key != '' ? taint.value.trim() : taint.effect) == 'gpu'", True, 6, id="a call"
        ),
        pytest.param(
            "(taint.key == '' ? {'a': 1} : {'a': 2}).a == 2", True, 4, id="a link that follows"
        ),
        pytest.param(
            "(true ? (false ? taint.key : taint.value) : '') == 'gpu'",
            True,
            2,
            id="a choice in a choice",
        ),
        pytest.param(
            "1 / 0 == 1 ? true : false", "division by zero", 2, id="a condition that fails"
        ),
        pytest.param(
            "dyn('a') ? true : false", "no such overload", 0, id="a condition that is no bool"
        ),
        pytest.param("true ? 1 / 0 == 1 : false", "division by zero", 2, id="a branch that fails"),
    ],
)
def test_a_choice(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "optional.of(taint.key).optMap(k, k + k).value().size() == 42",
            True,
            19,
            id="is evaluated once",
        ),
        pytest.param(
            "optional.of(taint.key + 'a').optMap(k, 1).value() == 1",
            True,
            10,
            id="is not evaluated if it is not read",
        ),
        pytest.param(
            "optional.of(1 / 0).optMap(k, k == 1 || k == 2).value()",
            "division by zero",
            4,
            id="fails whenever it is read",
        ),
    ],
)
def test_a_bound_variable(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


def test_a_bound_variable_that_fails_is_evaluated_once() -> None:
    """Upstream panics here; the sum is what its rules say."""
    answer = answered("[int(taint.value)].sortBy(x, x).size() == 1")

    assert answer == ("type conversion error from 'string' to 'int'", 30)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "[type(1)].map(t, t == int)[0]",
            "program instantiation failed: reference to undefined type: t",
            0,
            id="in a list",
        ),
        pytest.param(
            "[].all(t, t == int)",
            "program instantiation failed: reference to undefined type: t",
            0,
            id="in an empty list",
        ),
        pytest.param(
            "{'a': int}.all(k, v, v == int)",
            "program instantiation failed: reference to undefined type: v",
            0,
            id="in a map",
        ),
        pytest.param(
            "optional.of(int).optMap(t, t == int).value()",
            "program instantiation failed: reference to undefined type: t",
            0,
            id="in an optional",
        ),
        pytest.param("[[int]].all(l, l[0] == int)", True, 7, id="one may hold a list of them"),
        pytest.param("dyn([int]).all(t, t == int)", True, 6, id="or anything"),
    ],
)
def test_no_variable_may_hold_a_type(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)
