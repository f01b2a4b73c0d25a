"""Comparisons in words."""

import re
from dataclasses import dataclass
from typing import Final

from extender.errors import VersionError
from extender.match import versions
from extender.match.operators import AnyComparison

NATIVE: Final = "native"
ANNOTATION: Final = "annotation"
_UNREADABLE: Final = re.compile(r'(?:pod|persistentvolume ".*") annotation \S+ is invalid: ')


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: its owner, its text and its parsed value."""

    owner: str
    text: str
    parsed: str | None


def compared(comparison: AnyComparison, rule: Side, node: Side, *, holds: bool) -> str:
    """The result of a comparison in words; the node's side comes first."""
    unread = [_unreadable(comparison, side) for side in (rule, node) if side.parsed is None]
    if unread:
        return "; ".join(unread)
    words = f"{node.parsed} {'is' if holds else 'is not'} {comparison.words} {rule.parsed}"
    core, dash, _ = str(node.parsed).partition("-")
    newer = (comparison.kind, comparison.relation) == ("semver", "above")
    if dash and not holds and newer and rule.parsed == core:
        words += f": what follows the dash makes it a pre-release, which comes before {core}"
    return words


def _unreadable(comparison: AnyComparison, side: Side) -> str:
    problem = f"the {side.owner}'s {quoted(side.text)} is not {comparison.noun}"
    return f"{problem}: {version_problem(side.text)}" if comparison.kind == "semver" else problem


def version_problem(text: str) -> str:
    """Why a text is not a version; empty if it is one."""
    try:
        versions.parse_tolerant(text)
    except VersionError as exc:
        return str(exc)
    return ""


def cause(plugin: str, reason: str) -> str:
    """Who refuses: an annotation that cannot be read is not the fault of the plugin that met it."""
    return ANNOTATION if _UNREADABLE.match(reason) else plugin


def one_of(actual: str, values: tuple[str, ...]) -> str:
    """Whether a value is among others."""
    words = "is" if actual in values else "is not"
    among = "" if len(values) == 1 else "one of "
    return f"{quoted(actual)} {words} {among}{', '.join(map(quoted, values))}"


def quoted(text: str) -> str:
    """A value in quotes, so that an empty one is visible."""
    return versions.go_quote(text)


def counted(number: int, noun: str) -> str:
    """A number of things: 1 node, 2 nodes."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
