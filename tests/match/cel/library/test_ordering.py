import math

import pytest

from extender.match.cel.faults import EvaluationError
from extender.match.cel.values import INT_MAX, UINT_MAX, Duration, Timestamp, Uint, Value
from tests.match.cel.library.calls import RUN

NAN = math.nan
DURATION = "google.protobuf.Duration"
TIMESTAMP = "google.protobuf.Timestamp"


@pytest.mark.parametrize(
    ("overload", "items", "expected"),
    [
        pytest.param("list_int_is_sorted_bool", [], True, id="nothing is sorted"),
        pytest.param("list_int_is_sorted_bool", [1, 1, 2], True, id="equal ones are sorted"),
        pytest.param("list_int_is_sorted_bool", [2, 1], False, id="not sorted"),
        pytest.param("list_int_is_sorted_bool", [1, 1.5, Uint(2)], True, id="numbers, sorted"),
        pytest.param("list_int_is_sorted_bool", [1, 2.5, Uint(2)], False, id="numbers, not sorted"),
        pytest.param("list_int_is_sorted_bool", [2, "a", 1], True, id="types without an order"),
        pytest.param("list_int_is_sorted_bool", [2, 1.0, []], False, id="decided before a list"),
        pytest.param("list_double_is_sorted_bool", [2.0, NAN, 1.0], True, id="NaN has no place"),
        pytest.param("list_double_is_sorted_bool", [NAN, 1], True, id="NaN and an integer"),
        pytest.param("list_int_min_int", [2, 1, 3], 1, id="the least integer"),
        pytest.param("list_int_max_int", [2, 3, 1], 3, id="the greatest integer"),
        pytest.param("list_string_min_string", ["b", "a"], "a", id="the least string"),
        pytest.param("list_bytes_max_bytes", [b"b", b"a"], b"b", id="the greatest bytes"),
        pytest.param("list_bool_max_bool", [False, True], True, id="true is greater than false"),
        pytest.param("list_int_min_int", [1, 2.5, Uint(0)], Uint(0), id="the least of all numbers"),
        pytest.param("list_int_max_int", [1, 2.5, "a"], 2.5, id="types without an order are left"),
        pytest.param("list_double_min_double", [2.0, NAN, 1.0], 1.0, id="NaN is not the least"),
        pytest.param("list_double_max_double", [1.0, NAN, 2.0], 2.0, id="nor the greatest"),
        pytest.param("list_int_sum_int", [], 0, id="the sum of nothing"),
        pytest.param("list_int_sum_int", [1, 2], 3, id="a sum of integers"),
        pytest.param("list_uint_sum_uint", [Uint(1)], Uint(1), id="a sum of unsigned integers"),
        pytest.param(
            "list_double_sum_double", [0.1, 0.2, 0.3], 0.1 + 0.2 + 0.3, id="a sum of doubles"
        ),
        pytest.param(
            "list_double_sum_double", [1e100, 1.0, -1e100], 0.0, id="a sum loses what is too small"
        ),
        pytest.param(
            "list_duration_sum_duration", [Duration(1)], Duration(1), id="a sum of durations"
        ),
        pytest.param("list_int_sort", [3, 1, 2], [1, 2, 3], id="integers sorted"),
        pytest.param("list_int_sort", [], [], id="nothing sorted"),
        pytest.param("list_string_sort", ["é", "z", "a"], ["a", "z", "é"], id="strings sorted"),
        pytest.param("list_bool_sort", [True, False], [False, True], id="booleans sorted"),
        pytest.param("list_double_sort", [2.0, -1.5], [-1.5, 2.0], id="doubles sorted"),
        pytest.param("list_double_sort", [0.5] * 13, [0.5] * 13, id="many doubles sorted"),
        pytest.param(
            f"list_{TIMESTAMP}_sort",
            [Timestamp(2), Timestamp(1)],
            [Timestamp(1), Timestamp(2)],
            id="timestamps sorted",
        ),
    ],
)
def test_function(overload: str, items: list[Value], expected: Value) -> None:
    found = RUN[overload](items)
    assert (type(found), found) == (type(expected), expected)


def test_nan_stays_where_insertion_leaves_it() -> None:
    found = RUN["list_double_sort"]([2.0, NAN, 1.0, 0.0])
    assert str(found) == "[2.0, nan, 0.0, 1.0]"


@pytest.mark.parametrize(
    ("name", "keys", "expected"),
    [
        pytest.param("int", [2, 1, 3], ["b", "a", "c"], id="by integers"),
        pytest.param("string", ["x", "x", "w"], ["c", "a", "b"], id="equal keys keep their order"),
        pytest.param(
            DURATION, [Duration(3), Duration(2), Duration(1)], ["c", "b", "a"], id="by durations"
        ),
    ],
)
def test_sort_by(name: str, keys: list[Value], expected: list[Value]) -> None:
    assert RUN[f"list_{name}_sortByAssociatedKeys"](["a", "b", "c"], keys) == expected


@pytest.mark.parametrize(
    ("overload", "arguments", "expected"),
    [
        pytest.param("list_int_min_int", ([],), "min called on empty list", id="least of nothing"),
        pytest.param("list_int_max_int", ([],), "max called on empty list", id="most of nothing"),
        pytest.param("list_int_min_int", ([1, []],), "no such overload", id="a list has no order"),
        pytest.param("list_int_is_sorted_bool", ([1, []],), "no such overload", id="nor is sorted"),
        pytest.param("list_int_sum_int", ([INT_MAX, 1, -1],), "integer overflow", id="overflow"),
        pytest.param(
            "list_uint_sum_uint",
            ([Uint(UINT_MAX), Uint(1)],),
            "unsigned integer overflow",
            id="overflow of unsigned integers",
        ),
        pytest.param("list_int_sum_int", ([1, 1.5],), "no such overload", id="a sum of two types"),
        pytest.param(
            "list_double_sum_double", ([1.5, 1],), "no such overload", id="and of doubles"
        ),
        pytest.param(
            "list_int_sort", ([1, 1.5],), "list elements must have the same type", id="mixed types"
        ),
        pytest.param(
            "list_int_sort", ([[1], [2]],), "list elements must be comparable", id="lists of lists"
        ),
        pytest.param(
            "list_int_sortByAssociatedKeys",
            (["a", "b"], [1]),
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
            "but got 2 and 1 elements respectively",
            id="a key is missing",
        ),
    ],
)
def test_error(overload: str, arguments: tuple[Value, ...], expected: str) -> None:
    with pytest.raises(EvaluationError) as error:
        RUN[overload](*arguments)
    assert str(error.value) == expected
