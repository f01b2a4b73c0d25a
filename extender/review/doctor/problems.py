"""Problems that checks report, and their severities."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Severity = Literal["error", "warning", "info"]
SEVERITIES: Final[Sequence[Severity]] = ("error", "warning", "info")

# Exit code 2 is not a finding: it means that the command itself failed.
EXIT_CODES: Final = {"error": 1, "warning": 3, "info": 0}


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: where it is, why it matters and how to fix it."""

    severity: Severity
    check: str
    where: str
    why: str
    fix: str


def worst_first(problems: Iterable[Problem]) -> list[Problem]:
    """The problems without duplicates, the worst first, else in the order of discovery."""
    return sorted(dict.fromkeys(problems), key=lambda each: SEVERITIES.index(each.severity))


def exit_code(severities: Iterable[Severity]) -> int:
    """1 with an error, 3 with warnings only, else 0."""
    found = set(severities)
    return next((EXIT_CODES[each] for each in SEVERITIES if each in found), 0)
