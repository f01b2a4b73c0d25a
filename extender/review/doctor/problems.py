"""What a check has to say, and how bad it is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Severity = Literal["error", "warning", "info"]
SEVERITIES: Final[Sequence[Severity]] = ("error", "warning", "info")

# Fault, which is 2, is nobody's finding: the command could not look.
EXIT_CODES: Final = {"error": 1, "warning": 3, "info": 0}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where it stands, why it matters and how it is mended."""

    severity: Severity
    check: str
    where: str
    why: str
    fix: str


def worst_first(problems: Iterable[Problem]) -> list[Problem]:
    """The same problems, each once, the worst first and otherwise as they were found."""
    return sorted(dict.fromkeys(problems), key=lambda each: SEVERITIES.index(each.severity))


def exit_code(severities: Iterable[Severity]) -> int:
    """0 if nothing is worse than an info, 1 with an error, 3 with warnings only."""
    found = set(severities)
    return next((EXIT_CODES[each] for each in SEVERITIES if each in found), 0)
