"""Regular expressions find what Go's find; the fast way to ask says what the slow one says."""

import contextlib

import pytest
import re2  # type: ignore[import-untyped]

from extender.match.cel import values
from extender.match.cel.faults import CostLimitError
from extender.match.cel.library import regex
from extender.match.cel.library.patterns import TooLargeError
from extender.match.cel.values import Value
from tests.match.cel.library.calls import Refused, call, typed


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        pytest.param("", "", True, id="nothing in nothing"),
        pytest.param("b", "abc", True, id="anywhere"),
        pytest.param("^b", "abc", False, id="not at the beginning"),
        pytest.param("^zone-a[12]-rack-[0-9]+$", "zone-a1-rack-03", True, id="a name"),
        pytest.param("a$", "a\n", False, id="the end is the end of the text"),
        pytest.param("(?m)a$", "a\nb", True, id="unless lines are meant"),
        pytest.param("a.b", "a\nb", False, id="a dot is no newline"),
        pytest.param("(?s)a.b", "a\nb", True, id="unless it is meant"),
        pytest.param("(?i)k", "\u212a", True, id="the sign of Kelvin is a k"),
        pytest.param("(?i)s", "\u017f", True, id="a long s is an s"),
        pytest.param(r"\w", "\u00e9", False, id="words are ASCII"),
        pytest.param(r"\s", "\v", False, id="a vertical tab is no space"),
        pytest.param(r"\pL", "\u00e9", True, id="a letter"),
        pytest.param("\x00", "a\x00b", True, id="a NUL"),
        pytest.param("^.$", "\U0001f600", True, id="one character beyond the plane"),
        pytest.param("^\ufffd$", "\ud800", True, id="half a surrogate is replaced"),
        pytest.param("a", "\ud800a", True, id="and does not hide what follows"),
        pytest.param(r"\B", "9\u01319", False, id="not within a character"),
        pytest.param(r"\B", "99", True, id="but within a word"),
        pytest.param("a{1000}" * 19, "a" * 317, False, id="almost too large"),
    ],
)
def test_matches(pattern: str, text: str, *, expected: bool) -> None:
    asked_often = regex.Pattern(pattern)
    asked_often.often = True
    asked_often.compile()

    assert asked_often.test(text) is expected
    assert regex.compile_pattern(pattern).test(text) is expected
    assert call("matches", text, pattern) == typed(expected)
    assert call("matches_string", text, pattern) == typed(expected)


@pytest.mark.parametrize(
    ("pattern", "text", "first", "found"),
    [
        pytest.param("[0-9]+", "a1b22", "1", ["1", "22"], id="numbers"),
        pytest.param("x", "abc", "", [], id="nothing"),
        pytest.param("a*", "baac", "", ["", "aa", ""], id="no nothing right behind a match"),
        pytest.param("", "\u00e9b", "", ["", "", ""], id="nothing between all characters"),
        pytest.param("a|ab", "abab", "a", ["a", "a"], id="the first that fits"),
        pytest.param("^a", "aa", "a", ["a"], id="there is one beginning"),
        pytest.param(r"\b", "a b", "", ["", "", "", ""], id="the ends of words"),
        pytest.param(
            "(?i)\u00e9+", "x\u00c9\u00e9x", "\u00c9\u00e9", ["\u00c9\u00e9"], id="accents"
        ),
        pytest.param(r"\B", "\u00e9\u00e9", "", ["", "", ""], id="not within a character"),
    ],
)
def test_find(pattern: str, text: str, first: str, found: list[str]) -> None:
    assert call("string_find_string", text, pattern) == typed(first)
    assert call("string_find_all_string", text, pattern) == typed(found)
    for limit in range(len(found) + 1):
        assert call("string_find_all_string_int", text, pattern, limit) == typed(found[:limit])
    assert call("string_find_all_string_int", text, pattern, -5) == typed(found)


FAULT = "error parsing regexp: missing closing ): `(`"


@pytest.mark.parametrize(
    ("overload", "arguments", "fault"),
    [
        pytest.param("matches", ("a", "("), FAULT, id="matches"),
        pytest.param("matches_string", ("a", "("), FAULT, id="matches as a method"),
        pytest.param("string_find_string", ("a", "("), f"Illegal regex: {FAULT}", id="find"),
        pytest.param("string_find_all_string", ("a", "("), f"Illegal regex: {FAULT}", id="all"),
        pytest.param(
            "string_find_all_string_int", ("a", "(", 1), f"Illegal regex: {FAULT}", id="some"
        ),
    ],
)
def test_patterns_that_make_no_sense(
    overload: str, arguments: tuple[Value, ...], fault: str
) -> None:
    assert call(overload, *arguments) == typed(Refused(fault))


def test_what_re2_has_no_memory_for_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should an estimate ever be far too low."""
    monkeypatch.setattr(regex, "_MEMORY_PER_INSTRUCTION", 1)

    with pytest.raises(TooLargeError):
        regex.compile_pattern(r"\pL{10}")


def test_what_is_too_large_for_a_set_is_searched_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex, "_SET_MEMORY_PER_INSTRUCTION", 1)
    pattern = regex.Pattern("a{900}b")
    pattern.often = True
    pattern.compile()

    assert pattern.test("a" * 900 + "b")
    assert pattern.testing_steps(100) == 100 * pattern.size >> 4


@pytest.mark.parametrize(
    ("pattern", "tried"),
    [
        pytest.param(r"\pL{200}0", 0, id="counted letters"),
        pytest.param("(?:abc){1000}" * 7, 0, id="counted characters"),
        pytest.param(r"\pL{16}", 1, id="what is not too large"),
    ],
)
def test_what_is_too_large_never_reaches_re2(
    pattern: str, tried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for its classes, one by one."""
    said: list[bytes] = []
    compile_ = re2.compile

    def noted(text: str | bytes, options: object) -> object:
        if isinstance(text, bytes):
            said.append(text)
        return compile_(text, options)

    monkeypatch.setattr(re2, "compile", noted)
    with contextlib.suppress(TooLargeError):
        regex.compile_pattern(pattern)

    assert len(said) == tried


@pytest.mark.parametrize("pattern", ["a", r"\pL+", r"\pL{16}", ".{1000}", "(?:.?){1000}"])
@pytest.mark.parametrize("often", [True, False], ids=["often", "once"])
def test_what_a_pattern_may_take_is_in_its_weight(pattern: str, *, often: bool) -> None:
    """RE2 keeps to what it is given; a set and what finds have each their own."""
    compiled = regex.Pattern(pattern)
    compiled.often = often
    compiled.compile()
    assert compiled.size >= compiled._expression.programsize - 4
    # Eight bytes an instruction: forward, backward, and in the set.
    assert compiled.bytes > compiled.size * 8 * 3
    assert (
        compiled._expression.options.max_mem < compiled.bytes < 16 * 1024 * 3 + 200 * compiled.size
    )


def test_what_would_be_too_much_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MAX_ITEMS", 10)

    with pytest.raises(CostLimitError):
        regex.compile_pattern("a").find_all("a" * 11)


def test_a_pattern_knows_how_large_it_is() -> None:
    assert regex.compile_pattern("a{100}").size > 100 > regex.compile_pattern("a").size
