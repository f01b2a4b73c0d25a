"""The charge of a call, and its work where upstream charges too little."""

import pytest

from extender.match.cel.cost.charges import charge_of, work_of
from extender.match.cel.library.charges import NOTHING, Charge
from extender.match.cel.library.regex import compile_pattern
from extender.match.cel.types import INT, STRING
from extender.match.cel.values import COST_LIMIT_EXCEEDED, NONE, Value, size
from tests.match.cel.evaluating import answered


@pytest.mark.parametrize(
    ("overload", "arguments", "steps"),
    [
        pytest.param("equals", (1, 2), 0, id="numbers"),
        pytest.param("equals", ([1] * 8, [1] * 100), 8, id="plain lists, by the smaller one"),
        pytest.param("equals", ([1.0] * 8, [1.0] * 100), 48, id="lists, by the smaller one"),
        pytest.param("list_distinct", ([1] * 8,), 16, id="elements that are looked up"),
        pytest.param("list_distinct", ([[1]] * 8,), 704, id="elements that are compared"),
        pytest.param("list_sets_intersects_list", (1.0, [1]), 9, id="what is no list"),
        pytest.param("equals", ([[1]], 1), 0, id="a list and a number"),
        pytest.param("in_list", (1, [1] * 8), 32, id="a list that is searched"),
        pytest.param("list_a_index_of_int", ([1] * 8, 1), 64, id="an index in a list"),
        pytest.param("list_int_sum_int", ([1] * 8,), 48, id="a sum"),
        pytest.param("list_flatten", ([[1]],), 108, id="a list that is flattened"),
        pytest.param("optional_unwrapOpt", ([NONE] * 8,), 16, id="optionals that are taken out"),
        pytest.param("list_join", (["a"] * 8,), 8, id="a list that is joined"),
        pytest.param("string_format", ("%s", [1, 2]), 240, id="a text with arguments"),
        pytest.param("string_to_duration", ("1" * 40,), 2, id="a text that is read"),
        pytest.param("matches", ("a", "("), 2060, id="a pattern that cannot be read"),
        pytest.param("matches", ("a", 1), 2060, id="a pattern that is no text"),
        pytest.param("string_find_all_string", ("a" * 10, "("), 2160, id="a text that is searched"),
        pytest.param("string_to_url", ("a",), None, id="nothing beside what is always done"),
    ],
)
def test_work_by_the_arguments(
    overload: str, arguments: tuple[Value, ...], steps: int | None
) -> None:
    count = work_of([overload]).by_arguments

    assert (None if count is None else count(*arguments)) == steps


def test_work_by_the_result() -> None:
    count = work_of(["add_list"]).by_result

    assert count is not None
    assert [count(each) for each in (1, "a" * 64, [1] * 8, {1: 1})] == [0, 2, 2, 0]


def test_matches_of_a_pattern_take_work() -> None:
    found = work_of(["string_find_all_string"]).by_result
    assert found is not None
    assert found(["a", "b"]) == 28

    matched = work_of(["matches"]).by_arguments
    assert matched is not None
    size = compile_pattern("a+b").size
    assert matched("a" * 640, "a+b") == 2000 + 60 * 3 + 10 * size + 5 * size


@pytest.mark.parametrize(
    ("overload", "steps"),
    [
        pytest.param("equals", 20, id="a comparison"),
        pytest.param("string_format", 100, id="a format"),
        pytest.param("matches_string", 30, id="a pattern"),
        pytest.param("string_to_int64", 12, id="an integer that is read"),
        pytest.param("string_to_duration", 60, id="a duration that is read"),
        pytest.param("string_to_timestamp", 100, id="a time that is read"),
        pytest.param("string_to_semver", 60, id="a version that is read"),
        pytest.param("timestamp_to_hours_with_tz", 60, id="a time in a zone"),
        pytest.param("string_to_url", 220, id="a URL that is read"),
        pytest.param("add_int64", 0, id="what upstream charges enough for"),
    ],
)
def test_what_is_always_done(overload: str, steps: int) -> None:
    assert work_of([overload]).always == steps


def test_of_several_overloads_the_first_with_any_work_counts() -> None:
    assert work_of(["add_int64", "add_list"]) is work_of(["add_list"])
    assert work_of(["add_int64"]) is NOTHING


@pytest.mark.parametrize(
    ("pattern", "steps"),
    [
        pytest.param(r"[\pL]{900}" * 20, 10 * 20_000, id="too large, counted as the largest"),
        pytest.param("(", 0, id="no pattern"),
        pytest.param(1, 0, id="no text"),
    ],
)
def test_what_is_not_compiled_is_work_all_the_same(pattern: Value, steps: int) -> None:
    matching = work_of(["matches"]).by_arguments
    assert matching is not None

    assert matching("", pattern) == 2000 + 60 * size(pattern) + steps


def test_a_pattern_that_is_too_long_is_not_even_read() -> None:
    matching = work_of(["matches"]).by_arguments
    assert matching is not None

    assert matching("", "a" * 20_000) == 2000 + 60 * 20_000


@pytest.mark.parametrize(
    "expression",
    [
        "lists.range(90000).all(i, [[1, 2], [3]] == [[1, 2], [3]])",
        "lists.range(990).all(i, !'a'.matches('a{900}' + string(i)))",
    ],
    ids=["comparisons", "patterns"],
)
def test_work_that_costs_little_is_bounded_all_the_same(expression: str) -> None:
    answer, cost = answered(expression)

    assert answer == COST_LIMIT_EXCEEDED
    assert cost < 1_000_000


def test_what_is_not_described_otherwise_costs_one() -> None:
    assert charge_of("size", "string_size", [STRING]) == Charge(fixed=1)
    assert charge_of("_+_", "add_int64", [INT, INT]) == Charge(fixed=1)
    assert charge_of("_+_", "", [STRING, STRING]) == Charge(fixed=1)
