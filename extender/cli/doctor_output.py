"""What `leeway doctor` prints: tables for a person, or data for a program."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from extender.cli import tables
from extender.cli.tables import Cell, Colour, Screen
from extender.model.documents import Plain
from extender.review.doctor.problems import SEVERITIES, Problem, Severity
from extender.review.doctor.running import Caller, Process

_COLOURS: Final[dict[Severity, Colour]] = {"error": "red", "warning": "yellow", "info": "cyan"}


@dataclass(frozen=True, slots=True)
class Running:
    """A running Leeway: its address, which process it is, and who called it."""

    where: str
    process: Process
    callers: Sequence[Caller] = ()

    def document(self) -> Plain:
        """As data."""
        process = self.process
        return {
            "address": self.where,
            "command": process.command,
            "version": process.version,
            "leader": process.leader,
        }


def document(report: Sequence[Problem], running: Running | None, skipped: Sequence[str]) -> Plain:
    """Everything, as data."""
    return {
        "summary": {severity: _count(report, severity) for severity in SEVERITIES},
        "problems": [
            {
                "severity": each.severity,
                "check": each.check,
                "where": each.where,
                "why": each.why,
                "fix": each.fix,
            }
            for each in report
        ],
        "running": running.document() if running else None,
        "callers": [_caller(each) for each in running.callers] if running else [],
        "notChecked": [*skipped],
    }


def _count(report: Sequence[Problem], severity: Severity) -> int:
    return sum(each.severity == severity for each in report)


def _counted(report: Sequence[Problem], severity: Severity) -> str:
    count = _count(report, severity)
    return f"{count} {severity}{'' if count == 1 or severity == 'info' else 's'}"


def tables_of(
    report: Sequence[Problem], running: Running | None, skipped: Sequence[str], on: Screen
) -> Iterator[str]:
    """The problems, who answered and was called, what was not checked, and the count."""
    if report:
        rows = [
            (
                Cell(each.severity, _COLOURS[each.severity]),
                each.check,
                each.where,
                f"{each.why}. Fix: {each.fix}",
            )
            for each in report
        ]
        yield tables.render(("SEVERITY", "CHECK", "WHERE", "WHY AND FIX"), rows, on) + "\n"
    if running:
        yield tables.paragraph(f"{running.where}: {running.process}", on)
        if running.callers:
            yield _callers(running.callers, on) + "\n"
    for line in skipped:
        yield tables.paragraph(f"not checked: {line}", on)
    counts = ", ".join(_counted(report, severity) for severity in SEVERITIES)
    worst: Colour = _COLOURS[report[0].severity] if report else "green"
    yield on.paint(counts if report else "no problems found", worst) + "\n"


def _caller(each: Caller) -> Plain:
    return {
        "remote": each.remote,
        "userAgent": each.user_agent,
        "certificate": each.certificate,
        "verb": each.verb,
        "mode": each.mode,
        "calls": each.calls,
        "last": each.last.isoformat(timespec="milliseconds") if each.last else None,
    }


def _callers(callers: Sequence[Caller], on: Screen) -> str:
    rows = [
        (
            each.remote,
            each.user_agent,
            each.certificate or "-",
            each.verb,
            each.mode,
            str(each.calls),
            f"{each.last:%Y-%m-%d %H:%M:%S}" if each.last else "-",
        )
        for each in callers
    ]
    header = ("CALLER", "USER AGENT", "CERTIFICATE", "VERB", "MODE", "CALLS", "LAST (UTC)")
    return tables.render(header, rows, on)
