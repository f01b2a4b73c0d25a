"""Values print as CEL could read them back inside of lists and maps, and plainly elsewhere."""

import math

import pytest

from extender.match.cel import values
from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.library import printing
from extender.match.cel.library.times import parse_timestamp
from extender.match.cel.values import (
    NONE,
    Duration,
    TypeValue,
    Uint,
    Value,
    map_key,
)


def printed(value: Value) -> str:
    return printing.joined(printing.pieces(value))


@pytest.mark.parametrize(
    ("value", "alone", "in_a_list"),
    [
        pytest.param(None, "null", "[null]", id="null"),
        pytest.param(True, "true", "[true]", id="a bool"),
        pytest.param(-1, "-1", "[-1]", id="an int"),
        pytest.param(Uint(1), "1", "[1]", id="a uint"),
        pytest.param(1.5, "1.5", "[1.500000]", id="a double"),
        pytest.param(-0.0, "-0", "[-0.000000]", id="minus zero"),
        pytest.param(math.nan, "NaN", '["NaN"]', id="NaN"),
        pytest.param(-math.inf, "-Inf", '["-Inf"]', id="infinity"),
        pytest.param('a"', 'a"', '["a\\""]', id="a text"),
        pytest.param("\u00e9\u200b", "\u00e9\u200b", '["\u00e9\\u200b"]', id="a text beyond ASCII"),
        pytest.param(b"\xc3\xa9\x00", "\u00e9\x00", '[b"\u00e9\\x00"]', id="bytes"),
        pytest.param(Duration(-1_500_000_000), "-1.5s", '[duration("-1.5s")]', id="a duration"),
        pytest.param(
            parse_timestamp("2024-01-01T00:00:00+01:00"),
            "2024-01-01T00:00:00+01:00",
            '[timestamp("2024-01-01T00:00:00+01:00")]',
            id="a timestamp",
        ),
        pytest.param(TypeValue("int"), "int", "[int]", id="a type"),
        pytest.param([], "[]", "[[]]", id="an empty list"),
        pytest.param([1, [2, "a"]], '[1, [2, "a"]]', '[[1, [2, "a"]]]', id="lists in lists"),
        pytest.param({}, "{}", "[{}]", id="an empty map"),
    ],
)
def test_values(value: Value, alone: str, in_a_list: str) -> None:
    assert printed(value) == alone
    assert printed([value]) == in_a_list


def test_maps_are_sorted_by_how_their_keys_print() -> None:
    entries = {map_key(key): [key] for key in ("b", 10, 9, True, Uint(7))}

    assert printed(entries) == '{"b":["b"], 10:[10], 7:[7], 9:[9], true:[true]}'


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        pytest.param(
            NONE,
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
            "types, durations, and timestamps, was given optional_type",
            id="an optional",
        ),
        pytest.param([NONE], "no formatting function for optional_type", id="one in a list"),
        pytest.param(
            {map_key(1.5): 1}, "no formatting function for map key of type double", id="a key"
        ),
        pytest.param(
            b"\xff",
            'could not convert argument "invalid UTF-8 in bytes, cannot convert to string" '
            "to string",
            id="bytes that are no text",
        ),
    ],
)
def test_values_that_do_not_print(value: Value, fault: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        printed(value)

    assert str(raised.value) == fault


def test_depth_does_not_matter() -> None:
    nested: Value = 1
    for _ in range(5_000):
        nested = [nested]

    assert printed(nested) == "[" * 5_000 + "1" + "]" * 5_000


def test_one_list_many_times_over_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MAX_TEXT", 10_000)
    doubled: Value = []
    for _ in range(100):
        doubled = [doubled, doubled]

    with pytest.raises(CostLimitError):
        printed(doubled)


def test_a_text_that_grows_when_quoted_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MAX_TEXT", 10_000)

    with pytest.raises(CostLimitError):
        printed(["\x00" * 2_501])
