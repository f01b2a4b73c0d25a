"""Escapes and classes are refused with the part that upstream names."""

import pytest

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library import pattern_classes


@pytest.mark.parametrize(
    ("text", "code", "length"),
    [
        pytest.param(r"\.", ord("."), 2, id="a sign"),
        pytest.param(r"\_", ord("_"), 2, id="an underscore"),
        pytest.param(r"\n", 10, 2, id="a newline"),
        pytest.param(r"\v", 11, 2, id="a vertical tab"),
        pytest.param(r"\x41b", 0x41, 4, id="two hexadecimal digits"),
        pytest.param(r"\x{1F600}", 0x1F600, 9, id="hexadecimal digits in braces"),
        pytest.param(r"\0", 0, 2, id="one octal digit"),
        pytest.param(r"\018", 1, 3, id="two octal digits"),
        pytest.param(r"\1017", 0o101, 4, id="three octal digits"),
    ],
)
def test_escapes(text: str, code: int, length: int) -> None:
    assert pattern_classes.escape(text, 0) == (code, length)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        pytest.param(r"\q", r"\q", id="a letter"),
        pytest.param("\\\u00e9", "\\\u00e9", id="a letter beyond ASCII"),
        pytest.param(r"\1", r"\1", id="a reference back"),
        pytest.param(r"\8", r"\8", id="no octal digit"),
        pytest.param(r"\x", r"\x", id="no digit"),
        pytest.param(r"\x4", r"\x4", id="one hexadecimal digit"),
        pytest.param(r"\xg12", r"\xg1", id="no hexadecimal digit"),
        pytest.param(r"\x{}a", r"\x{}", id="empty braces"),
        pytest.param(r"\x{", r"\x{", id="an open brace"),
        pytest.param(r"\x{4", r"\x{4", id="an open brace and a digit"),
        pytest.param(r"\x{4g}", r"\x{4g", id="no hexadecimal digit in braces"),
        pytest.param(r"\x{1100000}", r"\x{110000", id="no code point"),
    ],
)
def test_escapes_that_make_no_sense(text: str, part: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        pattern_classes.escape(text, 0)

    assert str(raised.value) == f"error parsing regexp: invalid escape sequence: `{part}`"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("[abc]", "[abc]", id="characters"),
        pytest.param("[^a-z0-9]", "[^a-z0-9]", id="ranges, negated"),
        pytest.param("[]a]", "[]a]", id="a bracket in the first place"),
        pytest.param("[^]a]", "[^]a]", id="a bracket in the first place, negated"),
        pytest.param("[a-]", "[a-]", id="a minus in the last place"),
        pytest.param("[a-b-c]", "[a-b-c]", id="a minus behind a range"),
        pytest.param(r"[\]\-]", r"[\]\-]", id="escapes"),
        pytest.param(r"[\x00-\x{10ffff}]", r"[\x00-\x{10ffff}]", id="a range of escapes"),
        pytest.param(r"[\d\Wa]", r"[\d\Wa]", id="classes of one letter"),
        pytest.param("[[:alpha:][:^digit:]]", "[[:alpha:][:^digit:]]", id="classes by name"),
        pytest.param("[[:a]", "[[:a]", id="what only begins like a name"),
        pytest.param(r"[\pL\p{greek}\P{^Lu}]", r"[\p{L}\p{Greek}\p{Lu}]", id="Unicode groups"),
        pytest.param(r"[\p{ASCII}-]", r"[\x00-\x7f-]", id="a group without a name"),
    ],
)
def test_brackets(text: str, said: str) -> None:
    found, end = pattern_classes.bracket(text + "*", 0, fold=False)

    assert (found, end) == (said, len(text))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param("[", "missing closing ]: `[`", id="nothing behind it"),
        pytest.param("[]", "missing closing ]: `[]`", id="only a bracket"),
        pytest.param("[a-", "missing closing ]: `[a-`", id="an open range"),
        pytest.param("[b-a]", "invalid character class range: `b-a`", id="a range backwards"),
        pytest.param("[[:foo:]]", "invalid character class range: `[:foo:]`", id="no such name"),
        pytest.param(r"[a-\d]", r"invalid escape sequence: `\d`", id="a range up to a class"),
        pytest.param("[\\", "trailing backslash at end of expression: ``", id="a backslash"),
        pytest.param(r"[\p{Foo}]", r"invalid character class range: `\p{Foo}`", id="no such group"),
        pytest.param(r"[\p{L]", r"invalid character class range: `\p{L]`", id="an open brace"),
        pytest.param(r"[\p]", r"invalid character class range: `\p]`", id="a group of a bracket"),
    ],
)
def test_brackets_that_make_no_sense(text: str, fault: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        pattern_classes.bracket(text, 0, fold=False)

    assert str(raised.value) == f"error parsing regexp: {fault}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(r"\pNx", r"\p{N}", id="one letter"),
        pytest.param(r"\P{Lu}x", r"\P{Lu}", id="in braces"),
        pytest.param(r"\p{^Lu}x", r"\P{Lu}", id="all but"),
        pytest.param(r"\P{^Lu}x", r"\p{Lu}", id="not all but"),
        pytest.param(r"\p{ASCII}x", r"[\x00-\x7f]", id="without a name in RE2"),
    ],
)
def test_unicode_groups(text: str, said: str) -> None:
    assert pattern_classes.unicode_group(text, 0) == (said, len(text) - 1)


@pytest.mark.parametrize("text", [r"\p", r"\p{}", r"\p{Foo}", r"\pX"])
def test_unicode_groups_that_do_not_exist(text: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        pattern_classes.unicode_group(text, 0)

    assert str(raised.value) == f"error parsing regexp: invalid character class range: `{text}`"
