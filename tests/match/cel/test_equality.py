"""When values are equal, and what comes of those that cannot be compared."""

import math

import pytest

from extender.match.cel import values
from extender.match.cel.equality import are_plain_lists, differs, equals, in_list, same
from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.library.quantity import parse as quantity
from extender.match.cel.values import (
    INT_MAX,
    NONE,
    UINT_MAX,
    Duration,
    OptionalValue,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    map_key,
)
from tests.match.cel.evaluating import answered


def a_map(*entries: tuple[Value, Value]) -> dict[object, Value]:
    return {map_key(key): value for key, value in entries}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param(None, None, id="null"),
        pytest.param("a", "a", id="texts"),
        pytest.param(1, Uint(1), id="an int and a uint"),
        pytest.param(1, 1.0, id="an int and a double"),
        pytest.param(Uint(1), 1.0, id="a uint and a double"),
        pytest.param(0.0, -0.0, id="zero and minus zero"),
        pytest.param(2**53 + 1, 2.0**53, id="an int is rounded to a double"),
        pytest.param(Uint(UINT_MAX), 2.0**64, id="a uint is rounded to a double"),
        pytest.param([1, [2.0]], [Uint(1), [2]], id="lists of equal numbers"),
        pytest.param([], [], id="empty lists"),
        pytest.param(a_map((1, "a")), a_map((Uint(1), "a")), id="maps of equal keys"),
        pytest.param(a_map(("a", [1])), a_map(("a", [1.0])), id="maps of equal values"),
        pytest.param(NONE, OptionalValue(None, present=False), id="nothing"),
        pytest.param(OptionalValue(1), OptionalValue(1.0), id="optionals of equal numbers"),
        pytest.param(Timestamp(1), Timestamp(1), id="timestamps"),
        pytest.param(TypeValue("int"), TypeValue("int"), id="types"),
    ],
)
def test_equal(a: Value, b: Value) -> None:
    assert equals(a, b)
    assert equals(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param(1, 2, id="ints"),
        pytest.param(1, True, id="an int and a bool"),
        pytest.param(1, Duration(1), id="an int and a duration"),
        pytest.param(Timestamp(1), Duration(1), id="a timestamp and a duration"),
        pytest.param(INT_MAX, Uint(UINT_MAX), id="an int and a uint"),
        pytest.param(math.nan, math.nan, id="NaN"),
        pytest.param(math.nan, 1, id="NaN and an int"),
        pytest.param("a", b"a", id="a text and bytes"),
        pytest.param(None, False, id="null and false"),
        pytest.param([math.nan], [math.nan], id="lists of NaN"),
        pytest.param([1], [1, 2], id="lists of different lengths"),
        pytest.param([1, 2], [2, 1], id="lists in another order"),
        pytest.param([1], [True], id="a list of an int and one of a bool"),
        pytest.param([1], a_map((0, 1)), id="a list and a map"),
        pytest.param(a_map((1, "a")), a_map((True, "a")), id="a bool as a key"),
        pytest.param(a_map(("a", 1)), a_map(("a", 2)), id="maps of different values"),
        pytest.param(a_map(("a", 1)), a_map(("a", 1), ("b", 2)), id="maps of different sizes"),
        pytest.param(NONE, OptionalValue(None), id="nothing and null"),
        pytest.param(OptionalValue(1), OptionalValue(2), id="optionals"),
        pytest.param(OptionalValue(1), 1, id="an optional and its value"),
        pytest.param(TypeValue("int"), TypeValue("uint"), id="types"),
    ],
)
def test_not_equal(a: Value, b: Value) -> None:
    assert not equals(a, b)
    assert not equals([b], [a])


def test_which_map_comes_first_matters_for_keys_that_are_doubles() -> None:
    assert equals(a_map((1.0, "a")), a_map((1, "a")))
    assert not equals(a_map((1, "a")), a_map((1.0, "a")))


def test_depth_does_not_matter() -> None:
    nested: Value = 1
    for _ in range(5_000):
        nested = [nested]

    assert equals(nested, [nested[0]])  # type: ignore[index]


def test_one_list_many_times_over_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MAX_ITEMS", 10_000)
    doubled: Value = [1]
    for _ in range(100):
        doubled = [doubled, doubled]

    with pytest.raises(CostLimitError, match=values.COST_LIMIT_EXCEEDED):
        equals(doubled, [doubled[0], doubled[1]])  # type: ignore[index]


@pytest.mark.parametrize(
    ("value", "items", "expected"),
    [
        pytest.param("a", ["b", "a"], True, id="a text"),
        pytest.param("a", [b"a", None], False, id="a text that is not there"),
        pytest.param(1, [2, 1.0], True, id="a number of another type"),
        pytest.param(1, [True, Duration(1)], False, id="what Python takes for a number"),
        pytest.param([1], [[Uint(1)]], True, id="a list"),
        pytest.param(1, [], False, id="an empty list"),
    ],
)
def test_in_list(value: Value, items: list[Value], *, expected: bool) -> None:
    assert in_list(value, items) is expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param([1, 2], [2], True, id="of integers"),
        pytest.param(["a"], ["b"], True, id="of texts"),
        pytest.param([1.0], [1.0], False, id="of doubles, for NaN"),
        pytest.param([1], [True], False, id="of different types"),
        pytest.param([], [1], True, id="one is empty"),
        pytest.param([], [], False, id="both are empty"),
        pytest.param([[1]], [[1]], False, id="of lists"),
        pytest.param((), {}, False, id="no lists"),
    ],
)
def test_lists_that_can_be_compared_at_once(a: Value, b: Value, *, expected: bool) -> None:
    assert are_plain_lists(a, b) is expected


def test_an_object_cannot_be_compared_with_anything_else() -> None:
    one = quantity("1")

    with pytest.raises(EvaluationError, match=r"^no such overload$"):
        equals(one, 1)
    assert not equals(1, one)
    assert not equals(one, None)
    assert differs(one, 1)
    assert not same(one, 1)
    assert not in_list(one, [1])


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "dyn(semver('1.0.0')) == 1", "no such overload", 3, id="an object and a number"
        ),
        pytest.param("1 == dyn(semver('1.0.0'))", False, 3, id="a number and an object"),
        pytest.param("dyn(ip('1.1.1.1')) == null", False, 3, id="an object and null"),
        pytest.param(
            "dyn(url('https://a')) != 'a'", True, 3, id="an object that differs from text"
        ),
        pytest.param(
            "dyn(quantity('1')) == semver('1.0.0')",
            "no such overload",
            4,
            id="objects of two kinds",
        ),
        pytest.param(
            "[dyn(ip('1.1.1.1'))] == [dyn('a')]", True, 13, id="in lists they pass for equal"
        ),
        pytest.param(
            "{1: dyn(quantity('1'))} == {1: dyn('a')}", True, 33, id="in maps they pass for equal"
        ),
        pytest.param(
            "optional.of(dyn(quantity('1'))) == optional.of(dyn(1))",
            "no such overload",
            5,
            id="in optionals it is an error",
        ),
        pytest.param(
            "[optional.of(dyn(quantity('1')))] == [optional.of(dyn(1))]",
            True,
            25,
            id="in optionals in lists they pass for equal",
        ),
        pytest.param("dyn(quantity('1')) in [dyn(1)]", False, 2, id="nothing is found by it"),
        pytest.param(
            "quantity('2') == quantity('1').add(1)", "no such overload", 4, id="a sum on the right"
        ),
        pytest.param("quantity('1').add(1) == quantity('2')", True, 4, id="a sum on the left"),
        pytest.param(
            "quantity('2') != quantity('1').add(1)", True, 4, id="a sum on the right that differs"
        ),
        pytest.param("[quantity('1')] == [quantity('1').add(1)]", True, 24, id="a sum in a list"),
        pytest.param(
            "[quantity('1')] != [quantity('1').add(1)]",
            False,
            24,
            id="a sum in a list does not differ",
        ),
        pytest.param("quantity('1') in [quantity('2').add(1)]", False, 14, id="a sum is not found"),
        pytest.param(
            "quantity('1') in [quantity('2').add(1), quantity('1')]",
            True,
            16,
            id="something behind a sum is found",
        ),
        pytest.param(
            "cidr(taint.key.trim()) == cidr('0.0.0.0/0') || true",
            True,
            9,
            id="networks of which one fails, by the size of the other",
        ),
    ],
)
def test_what_comes_of_it_depends_on_who_asks(
    expression: str, answer: bool | str, cost: int
) -> None:
    assert answered(expression) == (answer, cost)
