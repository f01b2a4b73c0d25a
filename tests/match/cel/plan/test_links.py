"""What fields and indices find."""

import pytest

from tests.match.cel.evaluating import answered


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("[1, 2][1] == 2", True, 3, id="an index"),
        pytest.param("[1, 2][2] == 2", "index out of bounds: 2", 3, id="an index out of bounds"),
        pytest.param("[1, 2][-1] == 2", "index out of bounds: -1", 3, id="a negative index"),
        pytest.param("[1, 2][size(taint.value) - 2] == 2", True, 7, id="an index that is computed"),
        pytest.param("[1, 2][dyn(1.0)] == 2", True, 3, id="an index that is a double"),
        pytest.param(
            "[1, 2][dyn(1.5)] == 2",
            "unsupported index value 1.5 in list",
            3,
            id="an index between two",
        ),
        pytest.param(
            "[1, 2][dyn('a')] == 2",
            "unsupported index type 'string' in list",
            3,
            id="an index that is text",
        ),
        pytest.param(
            "[1, 2][dyn([1])] == 2",
            "program instantiation failed: invalid qualifier type: *types.baseList",
            0,
            id="an index that is a list",
        ),
        pytest.param("{'gpu': 1}[taint.value] == 1", True, 4, id="a key"),
        pytest.param(
            "{'a': 1}[taint.value] == 1", "no such key: gpu", 4, id="a key that is not there"
        ),
        pytest.param(
            "{'a': 1}[dyn([taint.key])] == 1",
            "invalid qualifier type: *types.baseList",
            16,
            id="a key that is a list",
        ),
        pytest.param("[1 / 0][0] == 1", "division by zero", 13, id="a key of a list that fails"),
        pytest.param(
            "[1 / 0][size(taint.value)] == 1",
            "division by zero",
            13,
            id="a computed index into what fails",
        ),
        pytest.param("dyn(1).a == 1", "no such key: a", 3, id="a field of a number"),
        pytest.param("dyn({'a': {'b': 1}}).a.b == 1", True, 4, id="a field of a map"),
        pytest.param(
            "{1: 1}[dyn(null)] == 1",
            "program instantiation failed: invalid qualifier type: types.Null",
            0,
            id="a constant that is no key",
        ),
        pytest.param(
            "has({'a': taint.key}.b)", False, 33, id="has of what is not there costs the same"
        ),
        pytest.param("has([{'a': 1}][0].a)", True, 2, id="has of an element"),
    ],
)
def test_a_link(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("[1, 2][?1].value() == 2", True, 4, id="an index"),
        pytest.param("[1, 2][?2].hasValue()", False, 2, id="an index out of bounds"),
        pytest.param(
            "[1, 2][?dyn('a')].hasValue()",
            "unsupported index type 'string' in list",
            2,
            id="an index that is text",
        ),
        pytest.param(
            "[1, 2][?dyn([taint.key])].hasValue()",
            "invalid qualifier type: *types.baseList",
            15,
            id="an index that is a list",
        ),
        pytest.param("{'a': {'b': 1}}.?a.b.value() == 1", True, 5, id="a field"),
        pytest.param("{'a': {'b': 1}}.?c.b.hasValue()", False, 2, id="a field that is not there"),
        pytest.param("dyn(1).?a.hasValue()", False, 2, id="a field of a number"),
        pytest.param("optional.of({'a': 1}).a.value() == 1", True, 5, id="a field of an optional"),
        pytest.param("optional.none().a.hasValue()", False, 3, id="a field of nothing"),
        pytest.param("has({'a': {'b': 1}}.?a.b)", True, 2, id="has behind an optional field"),
        pytest.param("has({'a': {'b': 1}}.?c.b)", False, 0, id="has behind what is not there"),
        pytest.param("has(optional.none().a)", False, 1, id="has of nothing"),
        pytest.param("dyn([1])[?0.0].hasValue()", True, 3, id="an index that is a whole double"),
        pytest.param("dyn([1])[?1.0].hasValue()", False, 2, id="a double out of bounds"),
        pytest.param("dyn([1])[?-1.0].hasValue()", False, 2, id="a double before the beginning"),
        pytest.param("[1, 2][?-1].hasValue()", False, 2, id="an index before the beginning"),
        pytest.param(
            "dyn([1])[?0.5].hasValue()",
            "unsupported index value 0.5 in list",
            2,
            id="an index between two",
        ),
        pytest.param(
            "dyn([1])[?1.5].hasValue()",
            "unsupported index value 1.5 in list",
            2,
            id="an index between two, out of bounds",
        ),
        pytest.param(
            "dyn([1])[?double('NaN')].hasValue()",
            "unsupported index value NaN in list",
            2,
            id="an index that is no number",
        ),
        pytest.param(
            "dyn([1])[?1e300].hasValue()",
            "unsupported index value 1e+300 in list",
            2,
            id="a double beyond all integers",
        ),
        pytest.param(
            "dyn([1])[?18446744073709551615u].hasValue()",
            "unsupported index value 18446744073709551615 in list",
            2,
            id="an unsigned integer beyond all integers",
        ),
        pytest.param(
            "has(dyn([1]).a)",
            "unsupported index type 'string' in list",
            1,
            id="has of a field of a list",
        ),
        pytest.param(
            "has({'b': dyn([1])}.b.a)",
            "unsupported index type 'string' in list",
            2,
            id="has of a field of a list in a map",
        ),
        pytest.param(
            "has({'b': dyn([1])}.?b.a)",
            "unsupported index type 'string' in list",
            1,
            id="has of a field of a list behind an optional field",
        ),
        pytest.param("has(dyn(1).a)", False, 1, id="has of a field of a number"),
        pytest.param("has({'a': {'b': 1}}.a.c)", False, 2, id="has of a field that is not there"),
        pytest.param(
            "has({'a': {'b': 1}}.c.b)",
            "no such key: c",
            1,
            id="has of a field of what is not there",
        ),
        pytest.param(
            "has({'a': {'b': 1}}.?a.c)", False, 1, id="has behind an optional field, not there"
        ),
        pytest.param("has(optional.of({'a': 1}).a)", True, 2, id="has of a field of an optional"),
        pytest.param(
            "{'a': {'gpu': 1}}.?a[taint.value].hasValue()",
            True,
            5,
            id="a computed key behind an optional one",
        ),
        pytest.param(
            "{'a': {'gpu': 1}}.?b[taint.value].hasValue()",
            False,
            2,
            id="a computed key behind what is not there",
        ),
    ],
)
def test_an_optional_link(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)
