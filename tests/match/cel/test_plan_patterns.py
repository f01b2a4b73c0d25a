"""Regular expressions that are constants, and those that are not."""

import pytest

from tests.match.cel.evaluating import answered


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
    large = " || ".join(f"taint.key.matches(r'\\pL{{{n}}}')" for n in range(150, 200))

    assert answered(large) == (
        "program instantiation failed: regular expressions are too large together",
        0,
    )
