import math

import pytest

from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.library.lists import insert, insert_all
from extender.match.cel.values import MAX_ITEMS, Uint, Value
from tests.match.cel.library.calls import RUN

NESTED = [1, [2, [3, [4]], []], "a"]


@pytest.mark.parametrize(
    ("overload", "arguments", "expected"),
    [
        pytest.param("lists_range", (3,), [0, 1, 2], id="a range counts from zero"),
        pytest.param("lists_range", (-3,), [], id="a negative range is empty"),
        pytest.param("list_slice", ([1, 2, 3], 1, 2), [2], id="a slice leaves out its end"),
        pytest.param("list_slice", ([1, 2], 2, 2), [], id="a slice may start at the end"),
        pytest.param("list_flatten", ([[1], [2, [3]]],), [1, 2, [3]], id="flatten goes one deep"),
        pytest.param("list_flatten_int", (NESTED, 0), NESTED, id="flatten(0) changes nothing"),
        pytest.param(
            "list_flatten_int", (NESTED, 2), [1, 2, 3, [4], "a"], id="flatten(2) goes two deep"
        ),
        pytest.param("list_flatten_int", (NESTED, 9), [1, 2, 3, 4, "a"], id="and then no deeper"),
        pytest.param("list_reverse", ([1, 2],), [2, 1], id="reverse"),
        pytest.param("list_distinct", ([1, 2, 1],), [1, 2], id="distinct keeps the first"),
        pytest.param("list_a_index_of_int", ([1, 2, 1], 1), 0, id="the first index"),
        pytest.param("list_a_index_of_int", ([1, 2], 1.0), 0, id="an index of an equal number"),
        pytest.param("list_a_index_of_int", ([1], 2), -1, id="no index"),
        pytest.param("list_a_index_of_int", ([math.nan], math.nan), -1, id="no index of NaN"),
        pytest.param("list_a_last_index_of_int", ([1, 2, 1], 1), 2, id="the last index"),
        pytest.param("list_a_last_index_of_int", ([], 1), -1, id="no last index"),
        pytest.param(
            "list_int_sort", ([2, 1],), [1, 2], id="what is ordered is among the functions of lists"
        ),
        pytest.param("@mapInsert_map_key_value", ({}, 1, "a"), {1: "a"}, id="a first entry"),
        pytest.param(
            "@mapInsert_map_map", ({1: "a"}, {2: "b"}), {1: "a", 2: "b"}, id="all entries of a map"
        ),
    ],
)
def test_function(overload: str, arguments: tuple[Value, ...], expected: Value) -> None:
    assert RUN[overload](*arguments) == expected


@pytest.mark.parametrize(
    ("overload", "arguments", "expected"),
    [
        pytest.param(
            "list_slice",
            ([1], -1, 1),
            "cannot slice(-1, 1), negative indexes not supported",
            id="a slice from before the start",
        ),
        pytest.param(
            "list_slice",
            ([1], 0, -1),
            "cannot slice(0, -1), negative indexes not supported",
            id="a slice to before the start",
        ),
        pytest.param(
            "list_slice",
            ([1, 2], 2, 1),
            "cannot slice(2, 1), start index must be less than or equal to end index",
            id="a slice that ends before it starts",
        ),
        pytest.param(
            "list_slice",
            ([1, 2], 0, 3),
            "cannot slice(0, 3), list is length 2",
            id="a slice beyond the end",
        ),
        pytest.param(
            "list_flatten_int",
            ([], -1),
            "level must be non-negative",
            id="flatten less than nothing",
        ),
        pytest.param(
            "@mapInsert_map_key_value",
            ({1: "a"}, 1.0, "b"),
            "insert failed: key 1 already exists",
            id="a key that is there, of another type of number",
        ),
        pytest.param(
            "@mapInsert_map_map",
            ({"k": 1}, {"k": 2}),
            "insert failed: key k already exists",
            id="a map with a key that is there",
        ),
    ],
)
def test_error(overload: str, arguments: tuple[Value, ...], expected: str) -> None:
    with pytest.raises(EvaluationError) as error:
        RUN[overload](*arguments)
    assert str(error.value) == expected


def shared_empties(levels: int) -> list[Value]:
    """A hundred lists in each of a hundred, down to empty ones: nothing, but much of it."""
    items: list[Value] = []
    for _ in range(levels):
        items = [items] * 100
    return items


@pytest.mark.parametrize(
    ("overload", "arguments"),
    [
        pytest.param("lists_range", (MAX_ITEMS + 1,), id="a range that is too long"),
        pytest.param("list_flatten", ([[1] * MAX_ITEMS],), id="a flat list that is too long"),
        pytest.param("list_flatten_int", (shared_empties(4), 9), id="empty lists without end"),
        pytest.param(
            "@mapInsert_map_key_value",
            (dict.fromkeys(range(MAX_ITEMS)), -1, 0),
            id="an entry too many",
        ),
    ],
)
def test_limit(overload: str, arguments: tuple[Value, ...]) -> None:
    with pytest.raises(CostLimitError):
        RUN[overload](*arguments)


def test_insertion_leaves_the_map_alone() -> None:
    entries = {1: "a"}
    RUN["@mapInsert_map_key_value"](entries, 2, "b")
    RUN["@mapInsert_map_map"](entries, {3: "c"})
    assert entries == {1: "a"}


def test_insertion_in_place() -> None:
    entries: dict[object, object] = {}
    insert(entries, Uint(1), "a")
    insert_all(entries, {"k": "b"})
    assert entries == {(Uint, 1): "a", "k": "b"}
