"""What macros go over."""

import pytest

from tests.match.cel.evaluating import answered


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("[1, 2].exists(x, x == 2)", True, 13, id="a list"),
        pytest.param("dyn([1, 2]).exists(x, x == 2)", True, 13, id="a list behind dyn"),
        pytest.param("{'a': 1}.all(k, k == 'a')", True, 6, id="the keys of a map"),
        pytest.param("dyn({1: 1}).all(k, k == 1)", True, 6, id="the keys of a map behind dyn"),
        pytest.param("['a', 'b'].all(i, x, i == 0 || x == 'b')", True, 13, id="pairs of a list"),
        pytest.param("{1u: 2}.all(k, v, k == 1u && v == 2)", True, 8, id="entries of a map"),
        pytest.param(
            "dyn(1).exists(x, true)", "got 'types.Int', expected iterable type", 0, id="a number"
        ),
        pytest.param(
            "dyn(1).exists(i, x, true)",
            "unsupported comprehension range type: types.Int",
            0,
            id="pairs of a number",
        ),
        pytest.param(
            "dyn(null).exists(x, true)", "got 'types.Null', expected iterable type", 0, id="nothing"
        ),
        pytest.param(
            "dyn('abc').exists(x, true)", "got 'types.String', expected iterable type", 0, id="text"
        ),
        pytest.param("[1 / 0].all(i, x, true)", "division by zero", 11, id="pairs that fail"),
        pytest.param(
            "{dyn(1u): 1, dyn(true): 2, dyn(1.5): 3}.all(k, k == 1u || k == true || k == 1.5)",
            True,
            22,
            id="the keys of a map of all kinds",
        ),
        pytest.param(
            "dyn({1.5: 'a'}).all(k, v, k == 1.5 && v == 'a')",
            True,
            8,
            id="pairs of entries behind dyn",
        ),
    ],
)
def test_a_range(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)
