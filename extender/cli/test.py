"""`leeway test`: runs rules as unit tests, without a cluster."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from extender.cli import escapes, flags, manual, sources, test_output, test_sources
from extender.cli.manual import Page
from extender.cli.test_output import Problem, Report, Result
from extender.cli.test_sources import CaseSources, Document
from extender.cluster import manifests
from extender.errors import CaseError, DocumentError, ManifestError
from extender.model import documents, positions
from extender.model.documents import Plain
from extender.review.cases import judging, reading
from extender.review.cases.schema import KIND

_FILE_BYTES: Final = 1 << 26
_PAGE: Final = Page(
    "run rules as unit tests",
    """Run the cases of RuleTest files. A case has nodes, a pod or workload, and what you expect of
    them: which nodes pass, which are refused and why, their scores, or the fix that
    'leeway explain' tells. Leeway judges the pod exactly as 'leeway serve' does.

    FILES are files and folders. In a folder, every file that has a RuleTest is run. File names in
    a RuleTest are relative to it. A case without nodes is judged on the cluster of --cluster, or on
    the one that kubectl would use.

    Run it in CI before a rule, a taint or a label changes.""",
    examples=[
        ("leeway test deploy/examples/stories", "Every test in a folder."),
        (
            "leeway test deploy/examples/stories -o github",
            "Annotations on the lines of a change.",
        ),
        (
            "leeway test deploy/examples/stories -o junit > report.xml",
            "A report for a CI server.",
        ),
        (
            "leeway test rules/ --kubeconfig ~/.kube/config",
            "Cases without nodes, on the nodes of a live cluster.",
        ),
    ],
    exit_codes={
        0: "every case is as expected",
        1: "at least one case is not",
        2: "a file could not be read, or a test is not valid",
    },
    files={"RuleTest": "the format: docs/test.md, and docs/ruletest.schema.json for editors"},
    see="docs/test.md",
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = manual.add_command(commands, "test", _PAGE)
    parser.add_argument(
        "files", nargs="+", metavar="FILES", help="RuleTest files, or folders; - is standard input"
    )
    parser.add_argument(
        "-o",
        "--output",
        choices=sorted(test_output.FORMATS),
        default="table",
        help="output format (table)",
    )
    flags.add_cluster(parser, "the cluster for cases without nodes: manifests, files or folders")
    flags.add_kubeconfig(parser)
    flags.add_rules_to(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run all cases; the exit code says whether they hold."""
    config = flags.effective_config(arguments)
    report = Report()
    given = CaseSources(config, arguments.context)
    for file, text in _texts(arguments.files, report):
        _run_file(file, text, report, given)
    test_output.show(report, arguments.output)
    for problem in report.problems:
        print(f"leeway: {escapes.lines(str(problem))}", file=sys.stderr)
    print(test_output.summary(report), file=sys.stderr)
    if report.problems:
        return 2
    return 0 if all(result.holds for result in report.results) else 1


def _texts(paths: Iterable[str], report: Report) -> Iterator[tuple[str, str]]:
    """Name and text of each file; of a folder those that mention a RuleTest."""
    for path in paths:
        if path == sources.STANDARD_INPUT:
            yield test_sources.STDIN, sys.stdin.read()
            continue
        try:
            found = manifests.files(Path(path))
        except ManifestError as exc:
            report.problems.append(Problem(str(exc)))
            continue
        texts = [(file, _text(str(file), report)) for file in found]
        if Path(path).is_dir():
            # A folder has other files, too, and some that are not even YAML.
            texts = [(file, text) for file, text in texts if text is not None and KIND in text]
            if not texts:
                report.problems.append(Problem(f"{path}: no file in it has a {KIND}"))
        for file, text in texts:
            if text is not None:
                yield str(file), text


def _text(file: str, report: Report) -> str | None:
    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError as exc:
        report.problems.append(Problem(f"cannot be read: {exc.strerror}", file))
    except UnicodeDecodeError as exc:
        report.problems.append(Problem(str(exc), file))
    return None


def _run_file(file: str, text: str, report: Report, given: CaseSources) -> None:
    try:
        parsed = documents.parse_manifests(text, _FILE_BYTES)
    except DocumentError as exc:
        report.problems.append(Problem(str(exc), file))
        return
    places = positions.of_text(text)
    tests = [(n, each) for n, each in enumerate(parsed) if reading.is_rule_test(each)]
    if not tests:
        report.problems.append(Problem(f"has no {KIND}: a test has `kind: {KIND}`", file))
    for number, document in tests:
        lines = reading.lines_of(places[number]) if number < len(places) else {}
        _run_document(Document(file, lines), document, report, given)


def _run_document(document: Document, data: Plain, report: Report, given: CaseSources) -> None:
    test, problems = reading.read(data if isinstance(data, dict) else {})
    for problem in problems:
        path, _, what = problem.partition(": ")
        report.problems.append(_problem(document, path, what))
    if problems:
        return
    for case in test.cases:
        try:
            verdicts = judging.judge(case, given.inquiry(case, document))
        except CaseError as exc:
            report.problems.append(_problem(document, exc.path, str(exc)))
        else:
            lines = tuple(document.line(each.path) for each in verdicts.mismatches)
            report.results.append(
                Result(document.file, document.line(case.path), test.name, case, verdicts, lines)
            )


def _problem(document: Document, path: str, what: str) -> Problem:
    return Problem(f"{path}: {what}", document.file, document.line(path))
