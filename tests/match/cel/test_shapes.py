"""Calls of common shapes: they answer and cost as those of any other shape."""

import pytest

from tests.match.cel.evaluating import answered


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
    ],
)
def test_a_shape(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)
