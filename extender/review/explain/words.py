"""The words in which comparisons are explained; they decide nothing."""

from dataclasses import dataclass
from typing import Final

from extender.errors import VersionError
from extender.match import versions

NATIVE: Final = "native"
ANNOTATION: Final = "annotation"

_ORDER: Final = {
    "Gt": "greater than",
    "Lt": "less than",
    "SemverGt": "greater than",
    "SemverLt": "less than",
    "SemverEq": "equal to",
}


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: whose it is, how it is written, what that means."""

    owner: str
    text: str
    parsed: str | None
    number: str = "an integer"  # what it should be, where a number is wanted


def compared(operator: str, rule: Side, node: Side, *, holds: bool) -> str:
    """How a comparison went: the node's side is compared to the rule's."""
    unread = [_unreadable(operator, side) for side in (rule, node) if side.parsed is None]
    if unread:
        return "; ".join(unread)
    words = f"{node.parsed} {'is' if holds else 'is not'} {_ORDER[operator]} {rule.parsed}"
    core, dash, _ = str(node.parsed).partition("-")
    if dash and not holds and operator == "SemverGt" and rule.parsed == core:
        words += f": what follows the dash makes it a pre-release, which comes before {core}"
    return words


def _unreadable(operator: str, side: Side) -> str:
    whose = f"the {side.owner}'s {quoted(side.text)}"
    if operator.startswith("Semver"):
        return f"{whose} is not a version: {version_problem(side.text)}"
    return f"{whose} is not {side.number}"


def version_problem(text: str) -> str:
    """Why a text is not a version; empty if it is one."""
    try:
        versions.parse_tolerant(text)
    except VersionError as exc:
        return str(exc)
    return ""


def one_of(actual: str, values: tuple[str, ...]) -> str:
    """Whether a value is among others."""
    words = "is" if actual in values else "is not"
    among = "" if len(values) == 1 else "one of "
    return f"{quoted(actual)} {words} {among}{', '.join(map(quoted, values))}"


def quoted(text: str) -> str:
    """A value in a sentence, so that an empty one is seen."""
    return versions.go_quote(text)


def counted(number: int, noun: str) -> str:
    """A number of things: 1 node, 2 nodes."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
