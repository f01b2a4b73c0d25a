"""Lists, maps and objects that an expression spells out."""

import pytest

from tests.match.cel.evaluating import answered


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("[1, 2] == [1, 2]", True, 1, id="of constants is free"),
        pytest.param("[taint.key] == []", False, 12, id="of anything else costs ten"),
        pytest.param(
            "[1 / 0, size(taint.key)] == []",
            "division by zero",
            11,
            id="fails with its first element",
        ),
        pytest.param(
            "[size(taint.key), 1 / 0] == []",
            "division by zero",
            14,
            id="fails with its last element",
        ),
        pytest.param(
            "[?taint.?value, ?optional.none()].size() == 1", True, 15, id="has what is there"
        ),
        pytest.param(
            "[?taint.?value, 'a', ?optional.none()] == ['gpu', 'a']",
            True,
            14,
            id="has what is there beside what always is",
        ),
        pytest.param(
            "['a', ?optional.none().or(dyn(taint.value))] == []",
            "cannot initialize optional list element from non-optional value gpu",
            14,
            id="does not take what is no optional",
        ),
    ],
)
def test_a_list(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("{'a': 1} == {'a': 1}", True, 1, id="of constants is free"),
        pytest.param(
            "{taint.key: taint.value} == {}", False, 34, id="of anything else costs thirty"
        ),
        pytest.param(
            "{1 / 0: taint.key} == {}", "division by zero", 31, id="fails with its first key"
        ),
        pytest.param("{taint.key: 1 / 0} == {}", "division by zero", 33, id="fails with its value"),
        pytest.param(
            "{?1: taint.?value, ?2: optional.none()}.size() == 1", True, 35, id="has what is there"
        ),
        pytest.param(
            "{1: taint.key, ?1: optional.none()}.size() == 0",
            True,
            35,
            id="loses what is not there",
        ),
        pytest.param("{dyn(1.0): 'a'}.size() == 1", True, 2, id="has no key that is a double"),
        pytest.param("{dyn([1]): 'a'}.size() == 1", True, 2, id="has no key that is a list"),
        pytest.param(
            "{dyn([taint.key]): 'a'}.size() == 1",
            True,
            45,
            id="has no key that is a list, not even late",
        ),
        pytest.param("{1: 1, 1: 2}.size() == 1", True, 2, id="has each key once"),
        pytest.param(
            "{1: 'a', ?taint.key: optional.none().or(dyn(2))} == {}",
            (
                "compilation failed: ERROR: <input>:1:16: expected type 'int' but found "
                "'string'\n | {1: 'a', ?taint.key: optional.none().or(dyn(2))} == {}\n | "
                "...............^"
            ),
            0,
            id="does not take what is no optional",
        ),
    ],
)
def test_a_map(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "kubernetes.Taint{key: taint.key}.key == ''",
            "unknown type 'kubernetes.Taint'",
            43,
            id="of a taint",
        ),
        pytest.param(
            "kubernetes.Taint{key: string(1 / 0), value: taint.value}.key == ''",
            "division by zero",
            43,
            id="whose field fails first",
        ),
    ],
)
def test_an_object_cannot_be_made(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        pytest.param(
            "[?dyn(taint.value)].size() == 1",
            ("cannot initialize optional list element from non-optional value gpu", 15),
            id="a list",
        ),
        pytest.param(
            "{?1: dyn(taint.value)}.size() == 1",
            ("cannot initialize optional entry '1' from non-optional value gpu", 35),
            id="a map",
        ),
        pytest.param(
            "{dyn(b'a'): 1}.size() == 1",
            (
                "program instantiation failed: internal error: runtime error:"
                " hash of unhashable type types.Bytes",
                0,
            ),
            id="a key of bytes",
        ),
    ],
)
def test_where_upstream_crashes_there_is_an_error(
    expression: str, answer: tuple[bool | str, int]
) -> None:
    assert answered(expression) == answer


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "{semver('1.2.3'): 1}.size() == 1",
            "internal error: runtime error: hash of unhashable type cel.Semver",
            1,
            id="a version",
        ),
        pytest.param(
            "{semver('1.2.3'): 1}.size() == 1 || true",
            "internal error: runtime error: hash of unhashable type cel.Semver",
            1,
            id="a version, which nothing absorbs",
        ),
        pytest.param(
            "{format.uri(): taint.value, format.uuid(): taint.key}.size() == 1",
            "internal error: runtime error: hash of unhashable type cel.Format",
            3,
            id="a format",
        ),
        pytest.param(
            "dyn(b'a') in {'a': 1}",
            "internal error: runtime error: hash of unhashable type types.Bytes",
            0,
            id="bytes that are looked for",
        ),
        pytest.param(
            "[b'a'].transformMapEntry(i, v, {v: i}).size() == 1",
            "internal error: runtime error: hash of unhashable type types.Bytes",
            3,
            id="bytes in a loop",
        ),
        pytest.param(
            "[1, 2].exists(x, {dyn(1): 1, dyn(bytes(taint.key)): x}.size() == 1)",
            "internal error: runtime error: hash of unhashable type types.Bytes",
            11,
            id="after others",
        ),
    ],
)
def test_keys_that_upstream_cannot_hash(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "{ip('1.1.1.1'): 1, ip('1.1.1.1'): 2}.size() == 1", True, 34, id="addresses are equal"
        ),
        pytest.param(
            "cidr('1.1.1.1/32') in {cidr('1.1.1.1/32'): 1}", True, 33, id="networks are found"
        ),
        pytest.param(
            "{url('https://a/'): 1, url('https://a/'): 2}.size() == 2",
            True,
            34,
            id="a URL equals nothing",
        ),
        pytest.param(
            "[1, 2].transformMapEntry(i, x, {[1]: x}).size() == 1",
            "insert failed: key list already exists",
            69,
            id="one list is one key",
        ),
        pytest.param(
            "[1, 2].transformMapEntry(i, x, {dyn(optional.none()): x}).size() == 1",
            "insert failed: key optional_type already exists",
            73,
            id="that there is nothing is one key",
        ),
    ],
)
def test_keys_that_are_objects(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)
