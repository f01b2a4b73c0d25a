"""What `leeway test` prints: a table with differences, JSON, JUnit XML, or GitHub annotations."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from xml.etree import ElementTree  # only writes XML

from extender.cli import escapes, github, tables
from extender.cli.tables import Cell, Colour, Row, Screen
from extender.model.documents import Plain
from extender.review.cases.judging import Mismatch, Verdicts
from extender.review.cases.schema import Case


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a test cannot be run, and where."""

    text: str
    file: str = ""
    line: int | None = None

    @property
    def place(self) -> str:
        """File and line."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.file else self.text


@dataclass(frozen=True, slots=True)
class Result:
    """One case that was judged; `lines` has the line of each mismatch."""

    file: str
    line: int | None
    test: str
    case: Case
    verdicts: Verdicts
    lines: tuple[int | None, ...]

    @property
    def holds(self) -> bool:
        """Whether everything is as expected."""
        return self.verdicts.holds

    @property
    def place(self) -> str:
        """File and line."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def located(self) -> Iterator[tuple[Mismatch, int | None]]:
        """Each mismatch with its line."""
        return zip(self.verdicts.mismatches, self.lines, strict=True)


@dataclass(slots=True)
class Report:
    """All cases of a run, and what could not be run."""

    results: list[Result] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def failures(self) -> list[Result]:
        """The cases that are not as expected."""
        return [result for result in self.results if not result.holds]


def show(report: Report, form: str) -> None:
    """Print the report."""
    sys.stdout.write(FORMATS[form](report, tables.screen(sys.stdout, os.environ)))
    sys.stdout.flush()


def summary(report: Report) -> str:
    """The counts on one line."""
    failed = len(report.failures)
    counts = f"{len(report.results)} case(s), {len(report.results) - failed} ok, {failed} failed"
    return f"{counts}, {len(report.problems)} problem(s)" if report.problems else counts


def _as_table(report: Report, on: Screen) -> str:
    rows: list[Row] = [
        (
            result.place,
            result.case.name,
            Cell("ok", "green") if result.holds else Cell("FAILED", "red"),
        )
        for result in report.results
    ]
    text = tables.render(("TEST", "CASE", "RESULT"), rows, on) if rows else ""
    return text + "".join(_difference(result, on) for result in report.failures)


def _difference(result: Result, on: Screen) -> str:
    """What a case expects, and what it gets."""
    text = "\n" + tables.paragraph(f"{result.place}: {result.case.name}", on)
    for mismatch, line in result.located():
        where = f"line {line}" if line is not None else mismatch.path
        about = f"{mismatch.node} ({where})" if mismatch.node else f"the fix ({where})"
        text += tables.paragraph(about, on, indent="  ")
        text += _painted(f"- {mismatch.expected}", "red", on)
        text += _painted(f"+ {mismatch.actual}", "green", on)
    if result.verdicts.omitted:
        text += tables.paragraph(f"and {result.verdicts.omitted} more", on, indent="  ")
    return text


def _painted(text: str, colour: Colour, on: Screen) -> str:
    lines = tables.paragraph(text, on, indent="    ").splitlines()
    return "".join(f"{on.paint(line, colour)}\n" for line in lines)


def _as_json(report: Report, _on: Screen) -> str:
    return escapes.json_text(_document(report), indent=2) + "\n"


def _document(report: Report) -> Plain:
    return {
        "cases": len(report.results),
        "failed": len(report.failures),
        "results": [_result_document(result) for result in report.results],
        "problems": [
            {"file": each.file, "line": each.line, "message": each.text} for each in report.problems
        ],
    }


def _result_document(result: Result) -> Plain:
    return {
        "file": result.file,
        "line": result.line,
        "test": result.test,
        "case": result.case.name,
        "ok": result.holds,
        "mismatches": [
            {
                "path": mismatch.path,
                "line": line,
                "node": mismatch.node,
                "expected": mismatch.expected,
                "actual": mismatch.actual,
            }
            for mismatch, line in result.located()
        ],
        "omitted": result.verdicts.omitted,
    }


def _as_junit(report: Report, _on: Screen) -> str:
    """JUnit's XML: a suite for each file."""
    root = ElementTree.Element("testsuites", _counts(report.results, report.problems))
    named = [each.file for each in report.results] + [each.file for each in report.problems]
    files = dict.fromkeys(named)
    for file in files:
        results = [each for each in report.results if each.file == file]
        problems = [each for each in report.problems if each.file == file]
        attributes = {"name": _xml(file or "leeway test"), **_counts(results, problems)}
        suite = ElementTree.SubElement(root, "testsuite", attributes)
        for result in results:
            case = _testcase(suite, result.case.name, result.test or file, result)
            if not result.holds:
                sentences = [_sentence(each) for each in result.verdicts.mismatches]
                if result.verdicts.omitted:
                    sentences.append(f"and {result.verdicts.omitted} more")
                failure = ElementTree.SubElement(case, "failure", message=_xml(sentences[0]))
                failure.text = "\n".join(map(_xml, sentences))
        for problem in problems:
            case = _testcase(suite, problem.text, file, problem)
            ElementTree.SubElement(case, "error", message=_xml(problem.text))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _counts(results: list[Result], problems: list[Problem]) -> dict[str, str]:
    return {
        "tests": str(len(results) + len(problems)),
        "failures": str(sum(not each.holds for each in results)),
        "errors": str(len(problems)),
    }


def _testcase(
    suite: ElementTree.Element, name: str, group: str, where: Result | Problem
) -> ElementTree.Element:
    attributes = {"name": _xml(name), "classname": _xml(group or "leeway test")}
    if where.file:
        attributes["file"] = _xml(where.file)
    if where.line is not None:
        attributes["line"] = str(where.line)
    return ElementTree.SubElement(suite, "testcase", attributes)


def _xml(text: str) -> str:
    """Text that XML can hold: most control characters cannot stand in it even when escaped."""
    return escapes.line(text)


def _as_github(report: Report, _on: Screen) -> str:
    commands = [
        github.command(
            "error", _sentence(mismatch), file=result.file, line=line, title=result.case.name
        )
        for result in report.failures
        for mismatch, line in result.located()
    ]
    commands += [
        github.command("error", each.text, file=each.file, line=each.line, title="leeway test")
        for each in report.problems
    ]
    return "".join(f"{command}\n" for command in commands)


def _sentence(mismatch: Mismatch) -> str:
    about = mismatch.node or "the fix"
    return f"{about}: expected {mismatch.expected}, got {mismatch.actual}"


FORMATS: Final[Mapping[str, Callable[[Report, Screen], str]]] = {
    "table": _as_table,
    "json": _as_json,
    "junit": _as_junit,
    "github": _as_github,
}
