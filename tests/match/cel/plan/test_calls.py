"""Calls: what is done before the program runs, and what then."""

import pytest

from tests.match.cel.evaluating import answered


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("int('42') == 42", True, 1, id="an integer"),
        pytest.param("type(1) == int", True, 1, id="a type"),
        pytest.param(
            "int('x') == 1",
            "program instantiation failed: type conversion error from 'string' to 'int'",
            0,
            id="what cannot be converted",
        ),
        pytest.param(
            "int('4' + '2') == 42", True, 3, id="what is not constant is converted when it runs"
        ),
    ],
)
def test_a_constant_is_converted_once(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("taint.value in ['gpu', 'cpu']", True, 2, id="is looked up for free"),
        pytest.param("1 / 0 in []", False, 0, id="of nothing is not even evaluated"),
        pytest.param("dyn(1u) in [1, 2]", True, 0, id="among numbers of all kinds"),
        pytest.param("[1] in [[1], [2]]", True, 2, id="that is a list is compared"),
        pytest.param(
            "int(taint.value) in [1, 2]",
            "type conversion error from 'string' to 'int'",
            3,
            id="that fails",
        ),
        pytest.param("dyn(taint.value) in ['gpu', 'cpu']", True, 3, id="that is a text behind dyn"),
        pytest.param("dyn(1) in ['gpu', 'cpu']", False, 0, id="that is no text"),
        pytest.param("taint.value.split('/')[0] in ['gpu', 'cpu']", True, 5, id="that is computed"),
        pytest.param("dyn(taint.value) in [dyn(1), dyn('gpu')]", True, 3, id="among other kinds"),
        pytest.param(
            "dyn(bytes(taint.key)) in [1, 2]",
            "internal error: runtime error: hash of unhashable type types.Bytes",
            6,
            id="that has no hash",
        ),
        pytest.param(
            "dyn(semver('1.0.0')) in ['a'] || true",
            "internal error: runtime error: hash of unhashable type cel.Semver",
            2,
            id="that has no hash, which nothing absorbs",
        ),
        pytest.param(
            "dyn(format.uuid()) in ['a']",
            "internal error: runtime error: hash of unhashable type cel.Format",
            2,
            id="that is a format, which has none either",
        ),
        pytest.param("dyn(quantity('1')) in ['a']", False, 2, id="that is a quantity"),
        pytest.param("dyn(taint) in ['a']", False, 2, id="that is a map"),
        pytest.param("dyn(double('NaN')) in [1, 2]", False, 0, id="that is no number"),
        pytest.param("dyn(bytes(taint.key)) in []", False, 0, id="that has no hash, of nothing"),
    ],
)
def test_a_member_of_a_constant_list(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("semver('1.2.3').major() == 1", True, 3, id="a version"),
        pytest.param(
            "semver('a').major() == 1",
            "No Major.Minor.Patch elements found",
            3,
            id="a version that cannot be read",
        ),
        pytest.param(
            "semver('a').major() == 1 || true",
            True,
            3,
            id="a version that cannot be read, absorbed",
        ),
        pytest.param("optional.none().hasValue()", False, 2, id="nothing"),
        pytest.param("semver('v1.2', true).major() == 1", True, 3, id="a version in two ways"),
        pytest.param("semver(dyn('1.2.3')).major() == 1", True, 3, id="a version behind dyn"),
        pytest.param(
            "semver(dyn(1)).major() == 1",
            "no such overload: semver(int)",
            3,
            id="a number is no version",
        ),
        pytest.param("cidr('10.0.0.0/8').containsIP('10.1.1.1')", True, 3, id="a network"),
        pytest.param(
            "url('https://a/' + taint.key).getHost() == 'a'", True, 12, id="a URL that is not known"
        ),
        pytest.param("duration('1h').getHours() == 1", True, 2, id="a duration"),
    ],
)
def test_what_is_known_is_kept_and_charged_for_all_the_same(
    expression: str, answer: bool | str, cost: int
) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("optional.of(taint.key).value() == taint.key", True, 9, id="is taken out"),
        pytest.param(
            "[taint.?key, optional.none()].unwrapOpt() == [taint.key]",
            True,
            27,
            id="is taken out of all",
        ),
        pytest.param(
            "optional.none().value() == 1", "optional.none() dereference", 3, id="may be nothing"
        ),
        pytest.param(
            "[[optional.of(1)]].map(l, l.unwrapOpt())[0] == [1]",
            True,
            39,
            id="is taken out of lists that are read",
        ),
    ],
)
def test_what_was_in_an_optional(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("sets.contains([1], [1])", True, 2, id="of sets"),
        pytest.param("strings.quote(taint.value) == '\"gpu\"'", True, 4, id="of the strings"),
    ],
)
def test_a_call_of_a_package(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("dyn(1) == dyn(1.0)", True, 1, id="constants behind dyn"),
        pytest.param("dyn(1.0) == 1", True, 1, id="one of them behind dyn"),
        pytest.param("[1].map(x, dyn(x))[0] == 1.0", True, 18, id="elements"),
        pytest.param("dyn(1u) != 1", False, 1, id="a difference"),
        pytest.param("[1, 2] == [taint.value.size() - 2, 2]", True, 15, id="lists"),
        pytest.param("dyn(taint.value) == 'gpu'", True, 4, id="texts behind dyn"),
        pytest.param("dyn(taint) == dyn('gpu')", False, 3, id="an object and a text"),
        pytest.param(
            "[double('NaN')].exists(x, [x] == [x])", False, 28, id="a list of NaN and itself"
        ),
        pytest.param("[double('NaN')].exists(x, x == x)", False, 8, id="NaN and itself"),
        pytest.param(
            "[double('NaN')].all(x, {1: x} != {1: x})",
            True,
            67,
            id="a map of NaN that differs from itself",
        ),
    ],
)
def test_equality_goes_across_the_types_of_numbers(
    expression: str, answer: bool | str, cost: int
) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("dyn(1 / 0).indexOf(taint.key) == 0", "division by zero", 3, id="a function"),
        pytest.param(
            "dyn(1 / 0) + dyn(int(taint.key)) == 0", "division by zero", 8, id="an operator"
        ),
        pytest.param(
            "dyn(string(1 / 0)).split(taint.key) == []",
            "division by zero",
            6,
            id="a function of one overload",
        ),
        pytest.param(
            "dyn(taint.key).split(string(1 / 0)) == []",
            "division by zero",
            10,
            id="the second argument of a function of one overload",
        ),
        pytest.param("'%d'.format([dyn(1 / 0)]) == ''", "division by zero", 13, id="format"),
        pytest.param(
            "string(1 / 0).replace(taint.key, taint.value) == ''",
            "division by zero",
            2,
            id="a function of three arguments",
        ),
    ],
)
def test_where_overloads_are_open_functions_stop_and_operators_do_not(
    expression: str, answer: bool | str, cost: int
) -> None:
    assert answered(expression) == (answer, cost)
