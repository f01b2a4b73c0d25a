"""Expressions as the tests of the checker ask for them: by their text."""

from collections.abc import Callable

from extender.match.cel.check.checker import check
from extender.match.cel.check.notes import Checked
from extender.match.cel.syntax.parser import parse
from extender.match.cel.syntax.source import IssuesError, Source


def checked(text: str) -> Checked:
    source = Source(text)
    return check(source, parse(source))


def type_of(text: str) -> str:
    result = checked(text)
    return str(result.types[result.root.id])


def refusals(text: str, step: Callable[[str], object] = checked) -> list[str]:
    """The column, counted from one, and the message of everything that is wrong."""
    try:
        step(text)
    except IssuesError as error:
        return [f"{issue.offset + 1}: {issue.message}" for issue in error.issues]
    return []
