"""`leeway compile`: writes extended rules of manifests as plain tolerations and node affinity."""

import argparse
import asyncio
import dataclasses
import functools
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from extender.cli import compile_devices, compile_output, flags, manual, sources, validate
from extender.cli.compile_output import Outcome
from extender.cli.manual import Page
from extender.cluster import list_once
from extender.cluster.manifests import Skipped
from extender.cluster.source import FileSource
from extender.config import reading
from extender.config.schema import Config
from extender.errors import ConfigError, DocumentError
from extender.framework.snapshot import NodeInfo
from extender.model.core_v1 import Taint
from extender.review import compilation
from extender.review.compiling import texts
from extender.review.compiling.workloads import Facts

_PAGE: Final = Page(
    "write the rules of manifests as plain tolerations",
    """Write what the extended rules of Pods and pod templates come to: one Equal toleration for
    each taint of the cluster that a rule matches, and for each comparison of versions in node
    affinity the list of versions that nodes have. For ResourceClaims and their templates, write one
    Equal toleration for each taint of a device that a rule matches. The rules stay in their
    annotations, and an annotation records what was written, so that the same command brings a
    manifest up to date.

    This is for pods that no controller can compile: those of DaemonSets, and clusters where
    manifests come from a repository. A changed template rolls every pod of its workload. A list
    grows with the values in the cluster; the summary says by how many.

    By default the command prints patches and changes no file.""",
    examples=[
        (
            "leeway compile deploy/examples/pending-pod.yaml"
            " --cluster deploy/examples/cluster.yaml",
            "Patches for the taints of a cluster from manifests.",
        ),
        ("leeway compile -o yaml - < app.yaml > compiled.yaml", "The whole manifests."),
        ("leeway compile --write app/ --cluster dump/", "Update the files of a folder."),
        (
            "leeway compile --check -o github deploy/",
            "Fail in CI if a manifest is stale.",
        ),
        (
            "kubectl get daemonset agent -o yaml | leeway compile - --taint sla=950:NoSchedule",
            "Without a cluster, for taints that you name.",
        ),
    ],
    exit_codes={
        0: "done; with --check, every manifest is current",
        1: "with --check, a manifest is stale",
        2: "a problem in the input; nothing was written",
    },
    see="docs/compile.md",
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = manual.add_command(commands, "compile", _PAGE)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILES",
        help="files and folders of YAML or JSON manifests; - is standard input",
    )
    flags.add_filename(parser)
    parser.add_argument(
        "-o",
        "--output",
        choices=sorted(compile_output.FORMATS),
        default="patch",
        help="strategic merge patches (patch, default), JSON patches (json), the whole manifests"
        " (yaml), or annotations for a workflow (github)",
    )
    parser.add_argument(
        "--check", action="store_true", help="print a diff and fail if a manifest is stale"
    )
    parser.add_argument(
        "--write", action="store_true", help="change the files; none, if one of them has a problem"
    )
    flags.add_cluster(parser, "the cluster: files or folders of YAML or JSON manifests")
    flags.add_kubeconfig(parser)
    for flag, text in (
        ("--taint", "compile for this taint instead of those of a cluster; repeat for more"),
        ("--device-taint", "compile claims for this taint of devices; repeat for more"),
        ("--extra-taint", "one more taint, of a node group without nodes; repeat for more"),
    ):
        parser.add_argument(
            flag, action="append", default=[], metavar="KEY=VALUE:EFFECT", help=text
        )
    flags.add_rules_to(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compile all files; nothing is written if one of them has a problem."""
    files = [*arguments.files, *arguments.filename]
    if not files:
        raise ConfigError(["which files? Give FILES before --cluster, or - for standard input"])
    if arguments.write and (arguments.check or "-" in files):
        raise ConfigError(["--write changes files: leave out --check and standard input"])
    config = flags.effective_config(arguments)
    extra = (*config.compile.extra_taints, *_taints("--extra-taint", arguments.extra_taint))
    config = dataclasses.replace(
        config, compile=dataclasses.replace(config.compile, extra_taints=extra)
    )
    outcome = compiled(files, _facts(arguments, config), config)
    for sentence in outcome.problems():
        sources.tell(sentence)
    if not outcome.is_bad:
        if arguments.write:
            _write(outcome)
        else:
            sys.stdout.write(compile_output.render(outcome, arguments.output, arguments.check))
            sys.stdout.flush()
    print(outcome.summary(), file=sys.stderr)
    if outcome.is_bad:
        return 2
    return 1 if arguments.check and outcome.stale else 0


def compiled(paths: Iterable[str], facts: Facts, config: Config) -> Outcome:
    """Compile every file; a problem in one does not hide those of the others."""
    outcome, settings = Outcome(), config.settings()
    for path in paths:
        skipped = Skipped(Path(path))
        for name, read in validate.texts(path, skipped, outcome.unreadable):
            text = ""
            try:
                text = read()
                outcome.add(name, texts.compile_text(text, facts, settings, config.compile))
            except OSError as exc:
                outcome.unreadable.append(f"{name}: cannot be read: {exc.strerror}")
            except (DocumentError, UnicodeDecodeError) as exc:
                if not skipped.is_foreign(Path(name), text):
                    outcome.unreadable.append(f"{name}: {exc}")
        skipped.report(sources.tell)
    return outcome


def _facts(arguments: argparse.Namespace, config: Config) -> Facts:
    given = _taints("--taint", arguments.taint)
    of_devices = _taints("--device-taint", arguments.device_taint)
    if given or of_devices:
        if config.cluster_files or config.kubeconfig or arguments.context:
            raise ConfigError(
                ["give taints or a cluster, not both; --extra-taint adds to a cluster"]
            )
        named = dict.fromkeys((*given, *config.compile.extra_taints), 0)
        known = dict.fromkeys(of_devices, 1) if of_devices else None
        return Facts(named, devices=lambda: known)
    nodes = _nodes(arguments, config)
    labels: dict[str, set[str]] = {}
    for node in nodes:
        for key, value in node.labels.items():
            labels.setdefault(key, set()).add(value)
    taints = compilation.view_of(nodes, config.compile).counts
    # Read when a claim asks: not everybody may list the devices, and not every cluster has any.
    devices = functools.cache(lambda: compile_devices.counted(config, arguments.context))
    return Facts(taints, labels, devices)


def _nodes(arguments: argparse.Namespace, config: Config) -> list[NodeInfo]:
    if config.cluster_files:
        if arguments.context:
            raise ConfigError(["give --cluster or --context, not both"])
        found = FileSource(config.cluster_files, tell=sources.tell).snapshot()
    else:
        server = sources.api_server(config.kubeconfig, arguments.context)
        if server is None:
            raise sources.no_cluster("--cluster PATH or --taint KEY=VALUE:EFFECT")
        found = asyncio.run(list_once.snapshot(server, {"nodes"}))
    return list(found.nodes.values())


def _taints(flag: str, written: list[str]) -> tuple[Taint, ...]:
    try:
        return reading.taints(list(written))
    except ValueError as exc:
        raise ConfigError([f"{flag}: {exc}"]) from exc


def _write(outcome: Outcome) -> None:
    """Replace each stale file; all new files exist before the first one takes its place."""
    new: dict[Path, Path] = {}
    try:
        for name, text in outcome.rewritten().items():
            file = Path(name).resolve()
            new[file] = written_beside(file, text)
    except OSError as exc:
        for scratch in new.values():
            scratch.unlink()
        raise ConfigError([f"{exc.filename}: cannot be written: {exc.strerror}"]) from exc
    for file, scratch in new.items():
        scratch.replace(file)


def written_beside(file: Path, text: str) -> Path:
    """A file with the text and the mode of another one, in its folder."""
    with tempfile.NamedTemporaryFile(
        "w", dir=file.parent, delete=False, encoding="utf-8", newline=""
    ) as new:
        new.write(text)
    scratch = Path(new.name)
    scratch.chmod(file.stat().st_mode)
    return scratch
