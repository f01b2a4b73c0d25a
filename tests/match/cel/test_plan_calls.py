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
