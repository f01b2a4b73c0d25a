"""`leeway validate`: checks the rules in manifests offline, as the webhook does."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from extender.cli import escapes, flags, github, manual, sources
from extender.cli.manual import Page
from extender.cluster import manifests as files
from extender.cluster.manifests import Skipped
from extender.errors import ConfigError, DocumentError, ManifestError
from extender.framework.interface import Settings
from extender.model.documents import Plain
from extender.review import manifests
from extender.review.manifests import Remark

_PAGE: Final = Page(
    "check the rules of manifests",
    """Check tolerations and node affinity, in native fields and annotations, of Pods, of the pod
    templates of Deployments, StatefulSets, DaemonSets, ReplicaSets, Jobs and CronJobs, and of
    PersistentVolumes. The checks are those of the admission webhook, without a cluster.

    Other objects, and documents that are not Kubernetes objects, are skipped. In a folder, so are
    templates of charts and other files that are not manifests.""",
    examples=[
        ("leeway validate deploy/", "Every manifest in a folder."),
        ("helm template chart | leeway validate -", "The manifests that a chart renders."),
        (
            "leeway validate -o github $(git diff --name-only main)",
            "Annotations on the lines of a diff.",
        ),
        (
            "leeway validate --feature-gates TaintTolerationCEL=false"
            " deploy/examples/pending-pod.yaml",
            "As on a cluster without expressions.",
        ),
    ],
    exit_codes={
        0: "no errors; there may be warnings",
        1: "errors were found, or warnings with --strict",
        2: "a file could not be read",
    },
    see="docs/validate.md",
)
_STDIN: Final = "-"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for all files: the findings, and the files that could not be read."""

    objects: int
    remarks: Sequence[tuple[str, Remark]]
    unreadable: Sequence[str]

    def count(self, severity: str) -> int:
        """The number of findings with a severity."""
        return sum(remark.severity == severity for _, remark in self.remarks)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = manual.add_command(commands, "validate", _PAGE)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILES",
        help="files and folders of YAML or JSON manifests; - is standard input",
    )
    parser.add_argument(
        "-o",
        "--output",
        choices=sorted(_FORMATS),
        default="text",
        help="lines (text, default), data (json, yaml), or annotations for a workflow (github)",
    )
    flags.add_filename(parser)
    parser.add_argument("--strict", action="store_true", help="fail on warnings, too")
    flags.add_rules_to(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check all files and print the findings; the exit code says whether there are any."""
    settings = flags.effective_config(arguments).settings()
    files = [*arguments.files, *arguments.filename]
    if not files:
        raise ConfigError(
            ["which files? Give files or folders of manifests, or - for standard input"]
        )
    outcome = judged(files, settings)
    for line in _FORMATS[arguments.output](outcome):
        print(line)
    for sentence in outcome.unreadable:
        sources.tell(sentence)
    print(_summary(outcome), file=sys.stderr)
    if outcome.unreadable:
        return 2
    failing = outcome.count("error") or (arguments.strict and outcome.count("warning"))
    return 1 if failing else 0


def judged(paths: Iterable[str], settings: Settings) -> Outcome:
    """Check every file; an unreadable file does not stop the others."""
    objects = 0
    remarks: list[tuple[str, Remark]] = []
    unreadable: list[str] = []
    for path in paths:
        skipped = Skipped(Path(path))
        for name, read in texts(path, skipped, unreadable):
            text = ""
            try:
                text = read()
                found = manifests.judge(text, settings)
            except OSError as exc:
                unreadable.append(f"{name}: cannot be read: {exc.strerror}")
            except UnicodeDecodeError as exc:
                unreadable.append(f"{name}: {exc}")
            except DocumentError as exc:
                if not skipped.is_foreign(Path(name), text):
                    unreadable.append(f"{name}: {exc}")
            else:
                objects += found.objects
                remarks += [(name, remark) for remark in found.remarks]
        skipped.report(sources.tell)
    return Outcome(objects, remarks, unreadable)


def texts(
    path: str, skipped: Skipped, unreadable: list[str]
) -> Iterator[tuple[str, Callable[[], str]]]:
    """The files of a path, each with how to read it; line breaks stay as they are."""
    if path == _STDIN:
        yield "stdin", lambda: sys.stdin.buffer.read().decode()
        return
    try:
        found = files.files(Path(path))
    except ManifestError as exc:
        unreadable.append(str(exc))
        return
    for file in found:
        if not skipped.is_template(file):
            yield str(file), lambda file=file: file.read_bytes().decode()  # type: ignore[misc]


def _as_text(outcome: Outcome) -> Iterator[str]:
    for file, remark in outcome.remarks:
        place = file if remark.line is None else f"{file}:{remark.line}"
        word = "" if remark.severity == "error" else f"{remark.severity}: "
        said = escapes.lines(f"{remark.field}: {remark.message}")
        yield f"{escapes.line(place)}: {word}{said}"


def _document(outcome: Outcome) -> dict[str, Plain]:
    return {
        "objects": outcome.objects,
        "errors": outcome.count("error"),
        "warnings": outcome.count("warning"),
        "findings": [{"file": file, **asdict(remark)} for file, remark in outcome.remarks],
        "unreadable": list(outcome.unreadable),
    }


def _as_json(outcome: Outcome) -> Iterator[str]:
    yield escapes.json_text(_document(outcome), indent=2)


def _as_yaml(outcome: Outcome) -> Iterator[str]:
    yield escapes.yaml_text(_document(outcome)).rstrip("\n")


def _as_github(outcome: Outcome) -> Iterator[str]:
    """Workflow commands, which GitHub shows on the lines of a change."""
    for file, remark in outcome.remarks:
        yield github.command(
            remark.severity,
            f"{remark.field}: {remark.message}",
            file=file,
            line=remark.line,
            title=f"{remark.kind} {remark.name}",
        )
    yield from (github.command("error", sentence) for sentence in outcome.unreadable)


_FORMATS: Final[dict[str, Callable[[Outcome], Iterator[str]]]] = {
    "text": _as_text,
    "json": _as_json,
    "yaml": _as_yaml,
    "github": _as_github,
}


def _summary(outcome: Outcome) -> str:
    errors, warnings = outcome.count("error"), outcome.count("warning")
    return f"{outcome.objects} object(s), {errors} error(s), {warnings} warning(s)"
