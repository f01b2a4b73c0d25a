import pytest

from extender.match.cel.syntax.source import (
    NOWHERE,
    UNPLACED,
    Issue,
    IssuesError,
    Source,
    format_issues,
)


@pytest.mark.parametrize(
    ("text", "offset", "expected"),
    [
        pytest.param("abc", 0, (1, 0), id="the first character"),
        pytest.param("abc", 3, (1, 3), id="the end"),
        pytest.param("a\nbc", 1, (1, 1), id="a line end belongs to its line"),
        pytest.param("a\nbc", 2, (2, 0), id="the first character of a line"),
        pytest.param("a\n\nc", 3, (3, 0), id="after an empty line"),
        pytest.param("a\rb", 2, (1, 2), id="a carriage return ends no line"),
        pytest.param("a", NOWHERE, (-1, -1), id="nowhere"),
        pytest.param("a", UNPLACED, (1, -1), id="something that is missing"),
        pytest.param("", 0, (1, -1), id="an empty text has no first character"),
    ],
)
def test_an_offset_has_a_line_and_a_column(
    text: str, offset: int, expected: tuple[int, int]
) -> None:
    assert Source(text).location(offset) == expected


@pytest.mark.parametrize(
    ("text", "issues", "expected"),
    [
        pytest.param(
            "a + b",
            [Issue(2, "no")],
            "ERROR: <input>:1:3: no\n | a + b\n | ..^",
            id="one issue",
        ),
        pytest.param(
            "a\nb c\nd",
            [Issue(4, "no")],
            "ERROR: <input>:2:3: no\n | b c\n | ..^",
            id="only its line is shown",
        ),
        pytest.param(
            "\té😀b",
            [Issue(2, "wide"), Issue(3, "narrow")],
            "ERROR: <input>:1:3: wide\n |  é😀b\n | .\uff0e\uff3e\n"
            "ERROR: <input>:1:4: narrow\n |  é😀b\n | .\uff0e\uff0e^",
            id="wide characters have wide marks, a tab is a space",
        ),
        pytest.param(
            "ab",
            [Issue(1, "third"), Issue(0, "second"), Issue(1, "fourth"), Issue(NOWHERE, "first")],
            "ERROR: <input>:-1:0: first\n"
            "ERROR: <input>:1:1: second\n | ab\n | ^\n"
            "ERROR: <input>:1:2: third\n | ab\n | .^\n"
            "ERROR: <input>:1:2: fourth\n | ab\n | .^",
            id="by place, and those of one place as they came",
        ),
        pytest.param(
            "ab",
            [Issue(UNPLACED, "no")],
            "ERROR: <input>:1:0: no\n | ab\n | ^",
            id="something that is missing",
        ),
        pytest.param("", [Issue(0, "no")], "ERROR: <input>:1:0: no", id="nothing to show"),
    ],
)
def test_issues_read_as_upstream_prints_them(text: str, issues: list[Issue], expected: str) -> None:
    assert format_issues(Source(text), issues) == expected


def test_the_first_hundred_that_were_found_are_shown() -> None:
    found = [Issue(1, "late")] * 100 + [Issue(0, "early")] * 3

    lines = format_issues(Source("ab"), found).split("\n")

    assert lines[0] == "ERROR: <input>:1:2: late"
    assert lines[-1] == "3 more errors were truncated"
    assert len(lines) == 301


def test_a_refusal_says_what_is_wrong() -> None:
    assert str(IssuesError([Issue(0, "this"), Issue(1, "that")])) == "this; that"
