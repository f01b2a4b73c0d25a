import pytest

from extender.match.cel.check.checker import check
from extender.match.cel.check.validators import validate
from extender.match.cel.syntax.parser import parse
from extender.match.cel.syntax.source import Source
from tests.match.cel.expressions import refusals


def validated(text: str) -> None:
    source = Source(text)
    validate(source, check(source, parse(source)))


@pytest.mark.parametrize(
    "text",
    [
        "[1, 2] == [] && {'a': 1, 'b': 2} == {}",
        "[[], ['a']] == [[1].map(x, 'b')]",
        "[?optional.of(1), 2] == [?dyn(1)]",
        "{'a': 1, ?'b': optional.of(2)} == {}",
        "'%s'.format([[1, 'a', {'b': null, 1: 2.0}]]) == ''",
        "'%s'.format([1].map(x, x)) == ''",
        "dyn('%s %s').format([1, 'a'].map(x, [x, 'a'])) == ''",
        "duration('1h') > duration(string(1)) || taint.key.matches(taint.value)",
        "timestamp(0) < timestamp('2024-01-01T00:00:00Z') || 'a'.matches('a+')",
        "timestamp(-62135596800) < timestamp(253402300799)",
        "matches('a', '(')",
        "kubernetes.Taint{key: 'a'} == taint && has(taint.key)",
    ],
)
def test_what_makes_sense_passes(text: str) -> None:
    assert refusals(text, validated) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "[1, 'a', 2.0]", ["5: expected type 'int' but found 'string'"], id="once in a list"
        ),
        pytest.param(
            "[1, null]", ["5: expected type 'int' but found 'null'"], id="null is a type too"
        ),
        pytest.param("[1, dyn(1)]", ["8: expected type 'int' but found 'dyn'"], id="so is dyn"),
        pytest.param(
            "[1, ?optional.of('a')]",
            ["17: expected type 'int' but found 'string'"],
            id="what an optional holds",
        ),
        pytest.param(
            "{1: 'a', 'b': 2, 2.0: 'x'}",
            [
                "10: expected type 'int' but found 'string'",
                "15: expected type 'string' but found 'int'",
                "18: expected type 'int' but found 'double'",
            ],
            id="all of a map",
        ),
        pytest.param(
            "{'a': [1], ?'b': optional.of([2, 'c'])}",
            [
                "34: expected type 'int' but found 'string'",
                "29: expected type 'list(int)' but found 'list(dyn)'",
            ],
            id="inner lists come first, then maps",
        ),
        pytest.param(
            "kubernetes.Taint{key: [1, 'a'][0]}",
            ["27: expected type 'int' but found 'string'"],
            id="inside of an object",
        ),
        pytest.param(
            "[1].map(x, [x, 'a'])",
            ["16: expected type 'int' but found 'string'"],
            id="inside of a loop",
        ),
        pytest.param(
            "['a'.format([1, 'b']), 1]",
            [
                "24: expected type 'string' but found 'int'",
                "12: too many arguments supplied to string.format (expected 0, got 2)",
            ],
            id="around a format",
        ),
    ],
)
def test_a_literal_holds_one_type(text: str, expected: list[str]) -> None:
    assert refusals(text, validated) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("duration('1x')", ["10: invalid duration argument"], id="no duration"),
        pytest.param(".duration('1x')", ["11: invalid duration argument"], id="after a dot"),
        pytest.param("duration(5)", ["10: invalid duration argument"], id="a duration of a number"),
        pytest.param("duration(null)", ["10: invalid duration argument"], id="of null"),
        pytest.param("timestamp('x')", ["11: invalid timestamp argument"], id="no timestamp"),
        pytest.param(
            "timestamp(-62135596801)", ["11: invalid timestamp argument"], id="before year 1"
        ),
        pytest.param(
            "timestamp(253402300800)", ["11: invalid timestamp argument"], id="after year 9999"
        ),
        pytest.param("timestamp(null)", ["11: invalid timestamp argument"], id="of nothing"),
        pytest.param("'a'.matches('(')", ["13: invalid matches argument"], id="no pattern"),
        pytest.param(
            "matches('(', 'a')", ["9: invalid matches argument"], id="upstream's own mistake"
        ),
        pytest.param(
            "'a'.matches('(') && duration('x') == duration('y') && [1, 'a'] == []",
            [
                "59: expected type 'int' but found 'string'",
                "30: invalid duration argument",
                "47: invalid duration argument",
                "13: invalid matches argument",
            ],
            id="one kind of mistake after the other",
        ),
    ],
)
def test_a_constant_must_make_sense(text: str, expected: list[str]) -> None:
    assert refusals(text, validated) == expected
