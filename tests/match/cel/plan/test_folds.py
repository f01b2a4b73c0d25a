"""Macros: the parts of a loop, and what each costs."""

import pytest

from tests.match.cel.evaluating import answered


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("taint.key.split('/').all(p, p != '')", True, 16, id="all"),
        pytest.param("[1, 2].exists(x, [2, 3].exists(y, x == y))", True, 35, id="exists in exists"),
        pytest.param(
            "[1, 2].all(x, [x].all(x, x > 0))", True, 41, id="a variable of the same name"
        ),
        pytest.param("[taint.key].map(x, 1) == [1]", True, 16, id="a constant element"),
        pytest.param("[taint.key].map(x, x + x) != []", True, 32, id="an element that costs"),
        pytest.param(
            "[1].filter(x, dyn(x)) == []", "no such overload", 3, id="a predicate that is no bool"
        ),
        pytest.param(
            "dyn(1).all(x, true)",
            "got 'types.Int', expected iterable type",
            0,
            id="over what is no list",
        ),
        pytest.param("[1 / 0].all(x, true)", "division by zero", 11, id="over a range that fails"),
        pytest.param(
            "[''].map(k, optional.ofNonZeroValue(k).optMap(x, x).orValue('none'))[0] == 'none'",
            True,
            20,
            id="a bound variable in a loop",
        ),
        pytest.param(
            "[1].exists(x, x == 1) && [2].exists(x, x == 2)", True, 14, id="one loop behind another"
        ),
        pytest.param(
            "[1].exists(x, [2].exists(x, x == 2) && x == 1)",
            True,
            14,
            id="a variable behind a hidden one",
        ),
        pytest.param(
            "[1].map(x, [2].map(x, x + 1)[0] + x) == [4]",
            True,
            33,
            id="a variable behind a hidden one, in lists",
        ),
        pytest.param(
            "optional.of(1).optMap(x, optional.of(2).optMap(x, x + 1).value() + x).value() == 4",
            True,
            17,
            id="a bound variable behind a hidden one",
        ),
        pytest.param("[1, 2].map(x, [x]) == [[1], [2]]", True, 48, id="lists of lists"),
        pytest.param("[1, 2].map(x, x > 1, [x]) == [[2]]", True, 29, id="some lists of lists"),
        pytest.param("[1].transformMap(i, v, [v]) == {0: [1]}", True, 16, id="maps out of lists"),
        pytest.param(
            "{'a': 1}.transformMap(k, v, {v: k}) == {'a': {1: 'a'}}", True, 37, id="maps of maps"
        ),
        pytest.param(
            "{'a': 1}.transformMapEntry(k, v, {v: k}) == {1: 'a'}", True, 36, id="maps out of maps"
        ),
    ],
)
def test_a_macro(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "optional.of(int).optMap(t, t == int).value()",
            "program instantiation failed: reference to undefined type: t",
            0,
            id="that is read",
        ),
        pytest.param(
            "optional.of(int).optMap(t, true).value()",
            "program instantiation failed: reference to undefined type: t",
            0,
            id="that is not read",
        ),
        pytest.param("[int].all(t, true)", True, 4, id="an element that is not read may be one"),
    ],
)
def test_no_type_can_be_bound_to_a_variable(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)
