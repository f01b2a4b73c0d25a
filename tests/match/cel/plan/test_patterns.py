"""Regular expressions that are constants, and those that are not."""

from unittest import mock

import pytest

from extender.errors import AllowanceError
from extender.match.cel.library import regex
from extender.match.cel.library.regex import Pattern, compile_pattern
from extender.match.cel.program import compile_expression
from extender.model.core_v1 import Taint
from tests.match.cel.evaluating import answered, steps_of


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("taint.key.matches('^example[.]com/')", True, 14, id="matches"),
        pytest.param("taint.key.trim().matches('^example[.]com/')", True, 17, id="matches a call"),
        pytest.param("matches(taint.key, 'dedicated$')", True, 3, id="as a function"),
        pytest.param("taint.key.find('[a-z]+') == 'example'", True, 9, id="finds"),
        pytest.param(
            "taint.key.findAll('[a-z]+') == ['example', 'com', 'dedicated']",
            True,
            9,
            id="finds all",
        ),
        pytest.param("taint.key.findAll('[a-z]+', 1) == ['example']", True, 9, id="finds some"),
        pytest.param("string(1 / 0).matches('a')", "division by zero", 2, id="fails with its text"),
        pytest.param(
            "string(1 / 0).find('a') == ''",
            "division by zero",
            2,
            id="fails with its text, finding",
        ),
        pytest.param("dyn(1).matches('a')", "no such overload", 1, id="on what is no text"),
        pytest.param(
            "dyn(1).find('a') == ''", "no such overload", 1, id="finds in what is no text"
        ),
        pytest.param(
            "taint.key.find('(') == ''",
            "program instantiation failed: error parsing regexp: missing closing ): `(`",
            0,
            id="that cannot be read",
        ),
        pytest.param(
            "taint.key.find('(' + '') == ''",
            "Illegal regex: error parsing regexp: missing closing ): `(`",
            6,
            id="that cannot be read, when it runs",
        ),
        pytest.param("taint.key.matches(taint.value)", False, 7, id="out of the taint"),
        pytest.param("taint.key.matches(dyn(1))", "no such overload", 5, id="that is no text"),
        pytest.param(
            "'1234567890123456789'.matches('a')", False, 2, id="on a text of nineteen characters"
        ),
        pytest.param(
            "(taint.effect + taint.value + 'abcdef').matches('a')",
            True,
            10,
            id="on a text that is not known, of nineteen characters",
        ),
    ],
)
def test_a_pattern(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


def test_patterns_are_bounded_together() -> None:
    """Each of them could be compiled; upstream would take its time and memory for it."""
    large = " || ".join(f"taint.key.matches(r'\\pL{{15}}{n}')" for n in range(3))

    assert answered(large) == (
        "program instantiation failed: regular expressions are too large together, they take more"
        " than 40000 instructions",
        0,
    )


def test_one_pattern_that_is_used_often_counts_once() -> None:
    often = " || ".join([r"taint.key.matches(r'\pL{15}0')"] * 3)

    assert answered(often)[0] is False


TOO_LARGE = (
    r"error parsing regexp: expression too large, it takes more than 20000 instructions:"
    r" `\pL{200}0`"
)


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        pytest.param(
            r"taint.value.matches('\\pL{200}0')",
            f"program instantiation failed: {TOO_LARGE}",
            id="a constant",
        ),
        pytest.param(
            r"taint.value.find(string('\\pL{200}0')) == ''",
            f"program instantiation failed: {TOO_LARGE}",
            id="a constant that is converted",
        ),
        pytest.param(r"taint.value.matches('\\pL{200}' + '0')", TOO_LARGE, id="when it runs"),
        pytest.param(
            r"taint.value.find('\\pL{200}' + '0') == ''",
            f"Illegal regex: {TOO_LARGE}",
            id="when it runs, finding",
        ),
        pytest.param(
            r"taint.value.matches('\\pL{200}' + '0') || true", True, id="when it runs, absorbed"
        ),
        pytest.param(
            r"lists.range(9).exists(i, taint.value.matches('\\pL{200}' + string(i)))",
            "operation cancelled: actual cost limit exceeded",
            id="again and again",
        ),
        pytest.param(
            "taint.value.matches(lists.range(9000).map(i, 'ab').join())",
            "operation cancelled: actual cost limit exceeded",
            id="too long to be read",
        ),
    ],
)
def test_a_pattern_that_is_too_large(expression: str, answer: bool | str) -> None:
    assert answered(expression)[0] == answer


def test_patterns_are_paid_for_before_the_first_is_compiled() -> None:
    def afford(instructions: int) -> None:
        raise AllowanceError(str(instructions))

    expression = r"taint.key.matches('a{90}') || taint.value.find('b{70}') == ''"
    with mock.patch.object(Pattern, "compile") as compile_, pytest.raises(AllowanceError) as raised:
        compile_expression(expression, afford)

    assert str(raised.value) == str(90 + 70 + 2 * 4)
    compile_.assert_not_called()


def test_a_pattern_that_re2_has_no_room_for_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex, "_MEMORY_PER_INSTRUCTION", 1)

    answer, _ = answered(r"taint.value.matches('\\pL{10}')")

    assert "expression too large" in str(answer)


@pytest.mark.parametrize(
    ("expression", "heavy"),
    [
        pytest.param("taint.key == 'a'", False, id="none"),
        pytest.param("taint.key.matches('^[a-z]+$')", False, id="a small one"),
        pytest.param(r"taint.key.matches('\\pL')", True, id="a large one"),
        pytest.param("taint.key.find(taint.value) == ''", True, id="one that is no constant"),
    ],
)
def test_a_plan_knows_whether_patterns_do_more_than_they_cost(
    expression: str, *, heavy: bool
) -> None:
    assert compile_expression(expression).plan.heavy is heavy


LONG = Taint("k" * 300 + "12", "", "")
LETTERS = "[a-z]+[0-9]"
# What there is to do for a pattern on a text grows with both.
SEARCHING = 302 * compile_pattern(LETTERS).size >> 7


@pytest.mark.parametrize(
    ("expression", "steps"),
    [
        pytest.param(f"taint.key.matches('{LETTERS}')", SEARCHING, id="matches"),
        pytest.param(f"matches(taint.key, '{LETTERS}')", SEARCHING, id="as a function"),
        pytest.param(f"taint.key.find('{LETTERS}') == ''", SEARCHING, id="finds"),
        pytest.param(
            f"taint.key.findAll('{LETTERS}').size() == 1",
            SEARCHING + 10 * 302 + 14,
            id="finds all, one of which there is",
        ),
        pytest.param(
            "taint.key.findAll('[0-9]').size() == 2",
            (302 * compile_pattern("[0-9]").size >> 7) + 10 * 302 + 2 * 14,
            id="finds all, two of which there are",
        ),
        pytest.param("taint.value.matches('a')", 0, id="a short text is no work"),
    ],
)
def test_the_work_of_a_pattern(expression: str, steps: int) -> None:
    assert SEARCHING > 0
    assert steps_of(expression, LONG) == steps


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param("taint.key.findAll('e', dyn(1)) == ['e']", True, 6, id="it is"),
        pytest.param(
            "taint.key.findAll('e', dyn('1')).size() == 0", "no such overload", 7, id="it is not"
        ),
    ],
)
def test_how_many_to_find_must_be_an_integer(
    expression: str, answer: bool | str, cost: int
) -> None:
    assert answered(expression) == (answer, cost)
