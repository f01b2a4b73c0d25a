"""The source of an expression, and its issues as cel-go prints them."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from extender.errors import LeewayError

NOWHERE: Final = -1  # the offset of issues of the whole expression, printed as -1:0
UNPLACED: Final = -2  # the offset of placeholders, printed as 1:0
MAX_ISSUES: Final = 100


class Issue(Struct, frozen=True, gc=False):
    """One thing that is wrong, at an offset in code points."""

    offset: int
    message: str


class IssuesError(LeewayError):
    """An expression that is refused, with everything that is wrong with it."""

    def __init__(self, issues: Sequence[Issue]) -> None:
        super().__init__("; ".join(issue.message for issue in issues))
        self.issues: Final = tuple(issues)


class HaltError(Exception):
    """A limit that ends the parse at once, with its issue."""

    def __init__(self, issue: Issue) -> None:
        super().__init__(issue.message)
        self.issue: Final = issue


class Source:
    """The text of an expression, cut into lines."""

    __slots__ = ("_starts", "lines", "text")

    def __init__(self, text: str) -> None:
        self.text: Final = text
        self.lines: Final = text.split("\n")
        starts = [0]
        for line in self.lines[:-1]:
            starts.append(starts[-1] + len(line) + 1)
        self._starts: Final = starts

    def location(self, offset: int) -> tuple[int, int]:
        """Line (from 1) and column (from 0)."""
        if offset == NOWHERE:
            return -1, -1
        if offset == UNPLACED or not self.text:
            return 1, -1
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]


def format_issues(source: Source, issues: Sequence[Issue]) -> str:
    """The issues by place; those of one place stay in the order in which they were found."""
    shown = sorted(issues[:MAX_ISSUES], key=lambda issue: source.location(issue.offset))
    texts = [_format_issue(source, issue) for issue in shown]
    if len(issues) > MAX_ISSUES:
        texts.append(f"{len(issues) - MAX_ISSUES} more errors were truncated")
    return "\n".join(texts)


def _format_issue(source: Source, issue: Issue) -> str:
    line, column = source.location(issue.offset)
    text = f"ERROR: <input>:{line}:{column + 1}: {issue.message}"
    if issue.offset == NOWHERE or not source.text:
        return text
    snippet = source.lines[line - 1].replace("\t", " ")
    column = max(column, 0)
    dots = "".join("." if char.isascii() else "\uff0e" for char in snippet[:column])
    caret = "^" if snippet[column : column + 1].isascii() else "\uff3e"
    return f"{text}\n | {snippet}\n | {dots}{caret}"
