"""Which function runs where only the values tell, and what is said if there is none."""

import pytest

from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.library import FUNCTIONS
from extender.match.cel.plan.dispatch import accepts, as_bool, dispatcher, go_type
from extender.match.cel.types import DYN, INT, STRING, TIMESTAMP, Type, list_of, map_of
from extender.match.cel.values import (
    MAX_ITEMS,
    NONE,
    Duration,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    map_key,
)
from tests.match.cel.evaluating import answered


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("dyn(1) + dyn(2) == 3", True, 2, id="integers"),
        pytest.param("dyn(1u) + dyn(2u) == 3u", True, 2, id="unsigned integers"),
        pytest.param("dyn('a') + dyn('b') == 'ab'", True, 2, id="texts"),
        pytest.param("dyn([1]) + dyn([2]) == [1, 2]", True, 2, id="lists"),
        pytest.param(
            "dyn(timestamp(0)) + dyn(duration('1s')) == timestamp(1)",
            True,
            2,
            id="a time and a duration",
        ),
        pytest.param(
            "dyn(timestamp(1)) - dyn(timestamp(0)) == duration('1s')", True, 2, id="two times"
        ),
        pytest.param("dyn(1) < dyn(1.5)", True, 1, id="an integer and a double"),
        pytest.param("!dyn(false)", True, 1, id="a negation"),
        pytest.param("size(dyn({'a': 1})) == 1", True, 2, id="a size of a map"),
        pytest.param("dyn('a') in dyn({'a': 1})", True, 1, id="a member of a map"),
        pytest.param("dyn('b') in dyn({'a': 1})", False, 1, id="no member of a map"),
        pytest.param("dyn('a') in dyn(['b', 'a'])", True, 1, id="a member of a list"),
        pytest.param(
            "dyn(taint.effect).lowerAscii() == 'noschedule'", True, 5, id="a text in lower case"
        ),
        pytest.param(
            "dyn(semver('2.0.0')).isGreaterThan(semver('1.0.0'))", True, 4, id="a version"
        ),
        pytest.param("dyn(quantity('2')).isGreaterThan(quantity('1'))", True, 4, id="a quantity"),
        pytest.param("dyn([1, 2]).sum() == 3", True, 3, id="a list by its first element"),
        pytest.param(
            "dyn([duration('1s')]).sum() == duration('1s')",
            True,
            2,
            id="a list of durations by its first element",
        ),
        pytest.param("dyn('abc').indexOf('c') == 2", True, 1, id="an index in a text"),
        pytest.param("dyn(['a', 'b', 'c']).indexOf('c') == 2", True, 1, id="an index in a list"),
        pytest.param("dyn({'a': 1}) == {'a': 1}", True, 1, id="a map by its first entry"),
        pytest.param("dyn({'a': 1}) != {'a': 2}", True, 1, id="unequal things"),
    ],
)
def test_the_values_choose(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("!dyn('a')", "no such overload", 1, id="a negation of a text"),
        pytest.param("-dyn('a') == 1", "no such overload", 2, id="a negative text"),
        pytest.param("dyn(1) in dyn(1)", "no such overload", 1, id="a member of a number"),
        pytest.param("dyn(1) + dyn('a') == 1", "no such overload", 2, id="a sum of unlike things"),
        pytest.param(
            "dyn(1) + dyn(1u) == 2", "no such overload", 2, id="an integer and an unsigned one"
        ),
        pytest.param(
            "dyn(1).lowerAscii() == taint.key",
            "no such overload: lowerAscii(int)",
            4,
            id="a text function on a number",
        ),
        pytest.param(
            "dyn(quantity('2')).isGreaterThan(semver('1.0.0'))",
            "no such overload: isGreaterThan(kubernetes.Quantity, kubernetes.Semver)",
            4,
            id="a version is no quantity",
        ),
        pytest.param(
            "dyn(['a']).sum() == 1", "no such overload: sum(list)", 1, id="a sum of texts"
        ),
        pytest.param("dyn(1).sum() == 3", "no such overload: sum(int)", 2, id="a sum of a number"),
        pytest.param(
            "int(dyn([taint.key])) == 1", "no such overload: int(list)", 15, id="a conversion"
        ),
        pytest.param(
            "string(dyn([taint.key])) == ''",
            "no such overload: string(list)",
            14,
            id="a text of a list",
        ),
        pytest.param(
            "dyn('a') ? true : false", "no such overload", 0, id="a condition that is no bool"
        ),
        pytest.param("dyn('a') && true", "no such overload", 0, id="a term that is no bool"),
        pytest.param(
            "dyn('a') || true", True, 0, id="a term that is no bool beside one that decides"
        ),
        pytest.param(
            "[dyn('a')].all(x, x)", "no such overload", 5, id="a predicate that is no bool"
        ),
        pytest.param(
            "taint.key.contains(dyn(1))", "no such overload", 5, id="a part that is no text"
        ),
        pytest.param(
            "taint.key.startsWith(dyn(1))", "no such overload", 5, id="a prefix that is no text"
        ),
        pytest.param(
            "dyn(1).endsWith('a')", "no such overload", 1, id="a suffix of what is no text"
        ),
    ],
)
def test_no_function_takes_the_values(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        pytest.param(DYN, [1], True, id="anything"),
        pytest.param(Type("var", "A"), 1, True, id="a type that is a variable"),
        pytest.param(STRING, "a", True, id="a text"),
        pytest.param(STRING, b"a", False, id="bytes are no text"),
        pytest.param(INT, Uint(1), False, id="an unsigned integer is no integer"),
        pytest.param(INT, True, False, id="nor is a bool"),
        pytest.param(TIMESTAMP, Timestamp(1), True, id="a time"),
        pytest.param(TIMESTAMP, Duration(1), False, id="a duration is no time"),
        pytest.param(list_of(INT), [], True, id="an empty list"),
        pytest.param(list_of(INT), [1, "a"], True, id="a list by its first element"),
        pytest.param(list_of(INT), ["a", 1], False, id="a list of others"),
        pytest.param(list_of(list_of(INT)), [[1]], True, id="a list of lists"),
        pytest.param(list_of(list_of(INT)), [["a"]], False, id="a list of lists of others"),
        pytest.param(list_of(DYN), ["a"], True, id="a list of anything"),
        pytest.param(map_of(STRING, INT), {}, True, id="an empty map"),
        pytest.param(map_of(STRING, INT), {"a": 1}, True, id="a map"),
        pytest.param(map_of(STRING, INT), {1: 1}, False, id="a map with other keys"),
        pytest.param(map_of(STRING, INT), {"a": "b"}, False, id="a map with other values"),
        pytest.param(map_of(Type("var", "A"), INT), {map_key(True): 1}, True, id="any keys"),
        pytest.param(map_of(STRING, INT), [1], False, id="a list is no map"),
    ],
)
def test_accepts(parameter: Type, value: Value, *, expected: bool) -> None:
    assert accepts(parameter, value) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, "types.Null", id="null"),
        pytest.param(True, "types.Bool", id="bool"),
        pytest.param(1, "types.Int", id="int"),
        pytest.param(Uint(1), "types.Uint", id="uint"),
        pytest.param(1.0, "types.Double", id="double"),
        pytest.param("a", "types.String", id="string"),
        pytest.param(b"a", "types.Bytes", id="bytes"),
        pytest.param([], "*types.baseList", id="list"),
        pytest.param({}, "*types.baseMap", id="map"),
        pytest.param(NONE, "*types.Optional", id="optional"),
        pytest.param(TypeValue("int"), "*types.Type", id="type"),
        pytest.param(Duration(1), "types.Duration", id="duration"),
        pytest.param(Timestamp(1), "types.Timestamp", id="timestamp"),
    ],
)
def test_go_has_another_name_for_a_type(value: Value, expected: str) -> None:
    assert go_type(value) == expected


def test_the_first_overload_that_accepts_the_values_is_taken() -> None:
    size = dispatcher("size", ["string_size", "list_size"])

    assert size("abc") == 3
    assert size([1, 2]) == 2
    with pytest.raises(EvaluationError, match=r"^no such overload: size$"):
        size(Uint(7))


def test_lists_do_not_grow_beyond_bounds() -> None:
    half = [0] * (MAX_ITEMS // 2)

    assert len(dispatcher("_+_", ["add_list"])(half, half)) == MAX_ITEMS
    with pytest.raises(CostLimitError):
        dispatcher("_+_", ["add_list"])(half, [*half, 0])


def test_what_is_no_bool_has_no_truth() -> None:
    assert as_bool(True) is True
    assert as_bool(False) is False
    with pytest.raises(EvaluationError, match=r"^no such overload$"):
        as_bool(1)


def test_operators_have_one_implementation_and_functions_many() -> None:
    assert FUNCTIONS["_+_"].is_singleton
    assert not FUNCTIONS["indexOf"].is_singleton


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("1 in dyn(optional.of({1: 2})).value()", True, 4, id="a member of a map"),
        pytest.param("size(dyn(optional.of('abc')).value()) == 3", True, 5, id="a size of a text"),
        pytest.param("dyn(optional.of('x')).value() < dyn('y')", True, 4, id="an order of texts"),
        pytest.param(
            "string(dyn(optional.of(1)).value()) == '1'",
            "no such overload: string(int)",
            5,
            id="a conversion takes what the checker chose",
        ),
    ],
)
def test_operators_take_any_values_whatever_the_checker_chose(
    expression: str, answer: bool | str, cost: int
) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("dyn([1, 2]).flatten().size() == 2", True, 15, id="a list that is flat"),
        pytest.param(
            "[dyn('a'), dyn([[1, 1]])].flatten().size() == 2",
            True,
            15,
            id="a list that is partly flat",
        ),
    ],
)
def test_some_functions_look_at_no_element(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)
