"""Calls of common shapes: they answer and cost as those of any other shape."""

import pytest

from extender.model.core_v1 import Taint
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
