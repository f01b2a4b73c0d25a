"""The loops that macros become: what each element costs, what decides, what comes of failures."""

import pytest

from tests.match.cel.evaluating import answered


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "[taint.key].filter(x, false).exists(x, x == 'a')", False, 14, id="no element"
        ),
        pytest.param("[1, 2, 3].exists(x, x == 1)", True, 10, id="the first of three"),
        pytest.param("[1, 2, 3].exists(x, x == 2)", True, 16, id="the second of three"),
        pytest.param("[1, 2, 3].exists(x, x == 3)", True, 19, id="the last of three"),
        pytest.param("[1, 2, 3].exists(x, x == 4)", False, 19, id="none of three"),
        pytest.param("[0, 1, 2].exists(x, 2 / x == 2)", True, 18, id="one that fails before it"),
        pytest.param(
            "[1, 0].exists(x, 2 / x == 2)", True, 11, id="one that fails behind it is not met"
        ),
        pytest.param(
            "[0, 1, 2].exists(x, 2 / x == 3)",
            "division by zero",
            22,
            id="failures, and nothing that decides",
        ),
        pytest.param(
            "['a', 'b'].exists(x, int(x + (x == 'a' ? '' : string(1 / 0))) == 1)",
            "type conversion error from 'string' to 'int'",
            23,
            id="different failures, the first is told",
        ),
        pytest.param(
            "lists.range(1 / 0).exists(x, x == 1)", "division by zero", 13, id="a range that fails"
        ),
    ],
)
def test_exists_stops_at_true(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("[taint.key].filter(x, false).all(x, x == 'a')", True, 14, id="no element"),
        pytest.param("[1, 2, 3].all(x, x != 1)", False, 8, id="the first of three"),
        pytest.param("[1, 2, 3].all(x, x != 2)", False, 13, id="the second of three"),
        pytest.param("[1, 2, 3].all(x, x != 3)", False, 16, id="the last of three"),
        pytest.param("[1, 2, 3].all(x, x != 4)", True, 16, id="none of three"),
        pytest.param("[0, 1, 2].all(x, 2 / x != 2)", False, 15, id="one that fails before it"),
        pytest.param(
            "[0, 1, 2].all(x, 2 / x != 3)",
            "division by zero",
            19,
            id="failures, and nothing that decides",
        ),
        pytest.param(
            "['a', 'b'].all(x, x == 'a' ? 1 / 0 == 1 : int(x) == 1)",
            "division by zero",
            16,
            id="different failures, the first is told",
        ),
    ],
)
def test_all_stops_at_false(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "[taint.key].filter(x, false).exists_one(x, x == 'a')", False, 15, id="no element"
        ),
        pytest.param("[1, 2, 3].exists_one(x, x == 1)", True, 10, id="one of three"),
        pytest.param("[1, 2, 3].exists_one(x, x <= 2)", False, 12, id="two of three"),
        pytest.param("[1, 2, 3].exists_one(x, x == 4)", False, 8, id="none of three"),
        pytest.param(
            "[0, 1, 2].exists_one(x, 2 / x == 2)", "division by zero", 13, id="one that fails"
        ),
        pytest.param(
            "['a', 'b'].exists_one(x, x == 'a' ? 1 / 0 == 1 : int(x) == 1)",
            "type conversion error from 'string' to 'int'",
            11,
            id="different failures, the last is told",
        ),
        pytest.param(
            "[1, 1, 0].exists_one(x, 2 / x == 2)",
            "division by zero",
            15,
            id="more than one, and a failure",
        ),
    ],
)
def test_exists_one_goes_to_the_end(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "[taint.key].filter(x, false).map(x, x + 'a') == []", True, 14, id="no element"
        ),
        pytest.param("[1, 2, 3].map(x, x * 2) == [2, 4, 6]", True, 44, id="all elements"),
        pytest.param("[1, 2, 3].map(x, 7) == [7, 7, 7]", True, 8, id="constants"),
        pytest.param(
            "[1, 0, 2].map(x, 2 / x) == []", "division by zero", 43, id="an element that fails"
        ),
        pytest.param(
            "['a', 'b'].map(x, x == 'a' ? 1 / 0 : int(x)) == []",
            "division by zero",
            32,
            id="different failures, the first is told",
        ),
        pytest.param("[1, 2, 3].filter(x, x > 1) == [2, 3]", True, 34, id="some elements"),
        pytest.param("[1, 2, 3].filter(x, x > 3) == []", True, 7, id="no element that passes"),
        pytest.param(
            "[1, 0, 2].filter(x, 2 / x == 1) == []",
            "division by zero",
            23,
            id="a predicate that fails",
        ),
        pytest.param(
            "['a', 'b'].filter(x, x == 'a' ? 1 / 0 == 1 : int(x) == 1) == []",
            "type conversion error from 'string' to 'int'",
            10,
            id="predicates that fail, the last is told",
        ),
        pytest.param(
            "[1, 2, 3].map(x, x > 1, x * 2) == [4, 6]", True, 36, id="some elements, changed"
        ),
        pytest.param(
            "[0, 1].map(x, 1 / x == 1, x / 0) == []",
            "division by zero",
            21,
            id="a predicate fails, and then an element",
        ),
        pytest.param(
            "[1, 0].map(x, 1 / x == 1, int(string(x) + 'a')) == []",
            "division by zero",
            23,
            id="an element fails, and then a predicate",
        ),
        pytest.param(
            "[1, 2].map(x, [3, 4].map(y, x * y)) == [[3, 4], [6, 8]]",
            True,
            88,
            id="a loop in a loop",
        ),
        pytest.param(
            "[1, 2].map(x, [3, 4].map(y, y / (x - 1))) == []",
            "division by zero",
            91,
            id="a loop in a loop that fails",
        ),
        pytest.param(
            "['a', 'b'].transformList(i, v, v + string(i)) == ['a0', 'b1']",
            True,
            34,
            id="a list of its indices and elements",
        ),
        pytest.param(
            "['a', 'b'].transformList(i, v, i > 0, v + string(i)) == ['b1']",
            True,
            22,
            id="some of its indices and elements",
        ),
    ],
)
def test_map_and_filter_collect(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("{taint.key: 1}.transformMap(k, v, false, v) == {}", True, 33, id="no entry"),
        pytest.param(
            "{'a': 1, 'b': 2}.transformMap(k, v, v + 1) == {'a': 2, 'b': 3}",
            True,
            12,
            id="all entries",
        ),
        pytest.param(
            "['a', 'b'].transformMap(i, v, v + v) == {0: 'aa', 1: 'bb'}",
            True,
            14,
            id="entries of a list",
        ),
        pytest.param(
            "{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v + 1) == {'b': 3}",
            True,
            11,
            id="some entries",
        ),
        pytest.param(
            "{'a': 0}.transformMap(k, v, 1 / v) == {}",
            "division by zero",
            6,
            id="an entry that fails",
        ),
        pytest.param(
            "[0, 1, 2].transformMap(i, v, 1 / v) == {}",
            "division by zero",
            8,
            id="a first that fails, and others",
        ),
        pytest.param(
            "[1, 2, 0].transformMap(i, v, 1 / v) == {}",
            "division by zero",
            16,
            id="a last that fails",
        ),
        pytest.param(
            "['a', 'b'].transformMap(i, v, v == 'a' ? 1 / 0 : int(v)) == {}",
            "division by zero",
            8,
            id="different failures, the first is told",
        ),
        pytest.param(
            "[1, 0, 2].transformMap(i, v, 1 / v == 1, v) == {}",
            "division by zero",
            14,
            id="a predicate that fails",
        ),
    ],
)
def test_transform_map_goes_by_the_key(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "{taint.key: 1}.transformMapEntry(k, v, false, {v: k}) == {}", True, 33, id="no entry"
        ),
        pytest.param(
            "{'a': 1, 'b': 2}.transformMapEntry(k, v, {v: k}) == {1: 'a', 2: 'b'}",
            True,
            70,
            id="all entries",
        ),
        pytest.param(
            "{'a': 1, 'b': 2}.transformMapEntry(k, v, v > 1, {v: k}) == {2: 'b'}",
            True,
            40,
            id="some entries",
        ),
        pytest.param(
            "['a'].transformMapEntry(i, v, {}) == {}", True, 3, id="no entries from an element"
        ),
        pytest.param(
            "['a'].transformMapEntry(i, v, {v: i, 'b': 2}) == {'a': 0, 'b': 2}",
            True,
            36,
            id="several entries from an element",
        ),
        pytest.param(
            "['a', 'a'].transformMapEntry(i, v, {v: i}) == {'a': 0}",
            "insert failed: key a already exists",
            70,
            id="a key for the second time",
        ),
        pytest.param(
            "[0, 1].transformMapEntry(i, v, {1 / v: i}) == {}",
            "division by zero",
            70,
            id="an entry that fails",
        ),
        pytest.param(
            "[0, 1, 2].transformMapEntry(i, v, {i: 1 / v}) == {}",
            "division by zero",
            106,
            id="a failure, and others",
        ),
        pytest.param(
            "['a', 'b'].transformMapEntry(i, v, {i: v == 'a' ? 1 / 0 : int(v)}) == {}",
            "division by zero",
            74,
            id="different failures, the first is told",
        ),
        pytest.param(
            "[1, 2].transformMapEntry(i, v, dyn(v)) == {}",
            "no such overload: cel.@mapInsert(map, int)",
            9,
            id="what is no map",
        ),
    ],
)
def test_transform_map_entry_makes_keys(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "lists.range(100).exists(x, lists.range(2000).exists(y, y < 0))",
            "operation cancelled: actual cost limit exceeded",
            1000001,
            id="exists, in which a list is searched",
        ),
        pytest.param(
            "lists.range(100).map(x, lists.range(5000).all(y, y >= 0)).size() == 0",
            "operation cancelled: actual cost limit exceeded",
            1000001,
            id="all, in which all is asked",
        ),
        pytest.param(
            "lists.range(1000).exists_one(x, lists.range(500).exists_one(y, y >= 0))",
            "operation cancelled: actual cost limit exceeded",
            1000001,
            id="exists_one in exists_one",
        ),
        pytest.param(
            "lists.range(100).map(x, lists.range(1000).map(y, y)).size() == 0",
            "operation cancelled: actual cost limit exceeded",
            1000001,
            id="map in map",
        ),
        pytest.param(
            "lists.range(100).map(x, lists.range(1000).filter(y, y >= 0)).size() == 0",
            "operation cancelled: actual cost limit exceeded",
            1000010,
            id="filter in map",
        ),
        pytest.param(
            "lists.range(400).map(x, lists.range(1000).filter(y, y < 0)).size() == 0",
            "operation cancelled: actual cost limit exceeded",
            1000001,
            id="predicates in map",
        ),
        pytest.param(
            "lists.range(300).map(x, lists.range(1000).transformMap(i, y, y)).size() == 0",
            "operation cancelled: actual cost limit exceeded",
            1000001,
            id="transformMap in map",
        ),
        pytest.param(
            (
                "lists.range(100).map(x, lists.range(1000).transformMapEntry(i, y, {i: "
                "y})).size() == 0"
            ),
            "operation cancelled: actual cost limit exceeded",
            1000018,
            id="transformMapEntry in map",
        ),
        pytest.param(
            (
                "lists.range(100).map(x, lists.range(200).all(y, taint.key.startsWith(string(y "
                "/ 0)))).size() == 0"
            ),
            "division by zero",
            242514,
            id="failures that cost",
        ),
    ],
)
def test_a_loop_ends_where_the_limit_is_crossed(
    expression: str, answer: bool | str, cost: int
) -> None:
    assert answered(expression) == (answer, cost)


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
