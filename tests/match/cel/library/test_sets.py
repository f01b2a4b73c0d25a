import math

import pytest

from extender.match.cel.equality import equals, same
from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.library.sets import distinct
from extender.match.cel.values import MAX_ITEMS, Uint, Value
from tests.match.cel.library.calls import RUN

ONE = RUN["string_to_quantity"]("1")
SUM_ONE = RUN["quantity_add_int"](RUN["string_to_quantity"]("0"), 1)
# Two numbers that are one double.
LARGE, LARGE_DOUBLE = 2**53 + 1, float(2**53)


@pytest.mark.parametrize(
    ("items", "wanted", "expected"),
    [
        pytest.param([], [], True, id="nothing in nothing"),
        pytest.param([1], [], True, id="nothing in something"),
        pytest.param([], [1], False, id="something in nothing"),
        pytest.param([1, 2, 3], [3, 1, 1], True, id="order and repetition do not count"),
        pytest.param(["a"], ["a", "b"], False, id="one is missing"),
        pytest.param([1, 2], [1.0, Uint(2)], True, id="numbers of other types"),
        pytest.param([LARGE], [LARGE_DOUBLE], True, id="an integer is rounded to a double"),
        pytest.param([1], [True], False, id="a boolean is no number"),
        pytest.param([[1], {"a": [2]}], [{"a": [2]}, [1.0]], True, id="lists and maps"),
        pytest.param([math.nan], [math.nan], False, id="NaN is nowhere"),
        pytest.param([math.nan, 1.0], [1.0], True, id="NaN does not hide others"),
        pytest.param([SUM_ONE], [ONE], False, id="upstream does not find its own sums"),
    ],
)
def test_contains(items: list[Value], wanted: list[Value], expected: bool) -> None:
    assert RUN["list_sets_contains_list"](items, wanted) is expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param([], [], False, id="nothing and nothing"),
        pytest.param([], [1], False, id="nothing and something"),
        pytest.param([1], [], False, id="something and nothing"),
        pytest.param([1, 2], [2, 3], True, id="one in common"),
        pytest.param(["a"], ["b"], False, id="none in common"),
        pytest.param([1, "a"], [1.0], True, id="an equal number of another type"),
        pytest.param([[1]], [[2]], False, id="different lists"),
    ],
)
def test_intersects(a: list[Value], b: list[Value], expected: bool) -> None:
    assert RUN["list_sets_intersects_list"](a, b) is expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param([], [], True, id="nothing and nothing"),
        pytest.param([1, 2, 2], [2, 1], True, id="the same in another order"),
        pytest.param([1], [1, 2], False, id="more on the right"),
        pytest.param([1, 2], [1], False, id="more on the left"),
    ],
)
def test_equivalent(a: list[Value], b: list[Value], expected: bool) -> None:
    assert RUN["list_sets_equivalent_list"](a, b) is expected


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param(["b", "a", "b"], ["b", "a"], id="the first of equal ones"),
        pytest.param([1, 1.0, Uint(1), 2], [1, 2], id="numbers of different types"),
        pytest.param([LARGE_DOUBLE, LARGE], [LARGE_DOUBLE], id="an integer rounded to a double"),
        pytest.param([True, 1, False, 0], [True, 1, False, 0], id="booleans are no numbers"),
        pytest.param([[1], [1.0], [2]], [[1], [2]], id="lists"),
        pytest.param([0.0, -0.0], [0.0], id="zero has no sign"),
        pytest.param([None, None], [None], id="null"),
        pytest.param([SUM_ONE, SUM_ONE], [SUM_ONE, SUM_ONE], id="sums, which upstream cannot tell"),
    ],
)
def test_distinct(items: list[Value], expected: list[Value]) -> None:
    found = distinct(items)
    assert [type(item) for item in found] == [type(item) for item in expected]
    assert all(item is other or item == other for item, other in zip(found, expected, strict=True))


def test_each_nan_is_distinct() -> None:
    assert len(distinct([math.nan, math.nan, 1.0, 1.0])) == 3


@pytest.mark.parametrize(
    ("overload", "arguments"),
    [
        pytest.param("list_sets_contains_list", ([1, "a"] * 501, [1] * 1000), id="contains"),
        pytest.param("list_sets_intersects_list", ([1] * 1000, [2, "a"] * 501), id="intersects"),
    ],
)
def test_limit(overload: str, arguments: tuple[Value, ...]) -> None:
    with pytest.raises(CostLimitError):
        RUN[overload](*arguments)


def test_limit_of_distinct() -> None:
    with pytest.raises(CostLimitError):
        distinct([1, "a"] * 501)


def test_large_sets_of_one_type_are_looked_up() -> None:
    texts: list[Value] = [str(number) for number in range(MAX_ITEMS // 10)]
    assert RUN["list_sets_equivalent_list"](texts, texts[::-1]) is True


def test_what_cannot_be_compared_is_not_the_same() -> None:
    with pytest.raises(EvaluationError):
        equals(ONE, SUM_ONE)
    assert same(ONE, SUM_ONE) is False
    assert same(SUM_ONE, ONE) is True
