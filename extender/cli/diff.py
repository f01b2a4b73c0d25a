"""`leeway diff`: whose verdicts change between two clusters, or if something changed."""

import argparse
import asyncio
import dataclasses
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from extender.cli import diff_output, flags, manual, output, sources
from extender.cli.diff_sources import Observation, listed, read
from extender.cli.manual import Page
from extender.cli.progress import Progress
from extender.config import overriding
from extender.config.schema import Config
from extender.errors import AnnotationError, ConfigError, NotFoundError
from extender.match import annotations
from extender.review.diff import changes, comparing
from extender.review.diff.comparing import Difference, Side
from extender.review.diff.population import Member
from extender.review.explain import nearness, templates
from extender.review.scan.objects import Ref
from extender.verbs.profiles import Profiles

_PAGE: Final = Page(
    "show whose verdicts change, before you change something",
    """Judge the pods of a cluster before and after a change, exactly as 'leeway serve' does. For
    each workload, show on how many nodes its pods pass before and after, which running pods could
    not be placed where they run, and which pods Kubernetes would evict because of a NoExecute
    taint. Nothing is changed.

    Give two clusters (--cluster BEFORE --cluster AFTER, or --cluster BEFORE and --kubeconfig for
    the cluster as it is now). Or give one, from files or live, and what you want to change in it:
    --set-taint, --gate or --toleration.

    POD limits the comparison to one pod or workload: a manifest (a file, or '-'), or KIND/NAME in
    the cluster, with -n.""",
    examples=[
        (
            "leeway diff --cluster deploy/examples/cluster.yaml deploy/examples/workloads.yaml"
            " --set-taint spot-gold=node.kubernetes.io/sla=800:NoSchedule",
            "What if a node promises less?",
        ),
        ("leeway diff --cluster before/ --cluster after/", "Two dumps of a cluster."),
        (
            "leeway diff --kubeconfig ~/.kube/config --gate TaintTolerationCEL=false",
            "Who depends on expressions in a live cluster?",
        ),
        (
            "leeway diff -n batch deployment/report --cluster dump/ --toleration new.yaml",
            "What if a workload had other tolerations?",
        ),
    ],
    exit_codes={
        0: "nothing changes",
        1: "something changes: a verdict, or a pod that is evicted",
        2: "failure; one sentence says why",
    },
    files={"new.yaml": "a list of tolerations, as the annotation has them; see --toleration"},
    see="docs/diff.md",
)
_KIND_AND_NAME: Final = "KIND/NAME"


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = manual.add_command(commands, "diff", _PAGE)
    parser.add_argument(
        "pod", nargs="?", metavar="POD", help="only this one: a file, '-', or KIND/NAME"
    )
    parser.add_argument("-n", "--namespace", metavar="NAMESPACE", help="the namespace of POD")
    parser.add_argument(
        "--cluster",
        nargs="+",
        action="append",
        metavar="PATH",
        help="a cluster: files or folders of manifests; give it twice to compare two",
    )
    flags.add_kubeconfig(parser)
    parser.add_argument(
        "--set-taint",
        action="append",
        default=[],
        type=_taint_change,
        metavar="NODE=KEY=VALUE:EFFECT",
        help="set a taint, or remove it with a - at the end; NODE may have wildcards (*)",
    )
    parser.add_argument(
        "--gate",
        action="append",
        default=[],
        type=_gate,
        metavar="NAME=false",
        help="turn a feature gate on or off",
    )
    parser.add_argument(
        "--toleration", metavar="FILE", help="give POD these tolerations in its annotation"
    )
    flags.add_rules_to(parser)
    output.add_to(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compare, and print what differs."""
    found = _compared(arguments)
    output.show(
        diff_output.document(found),
        arguments.output,
        lambda on: diff_output.render(found, on),
    )
    return 1 if found.workloads else 0


def _compared(arguments: argparse.Namespace) -> Difference:
    _check(arguments)
    config = flags.effective_config(arguments)
    progress = Progress(sys.stderr)
    try:
        first, second = _observed(arguments, config, progress)
        before = _side(first, config)
        after = _side(second.with_taints(arguments.set_taint), _with_gates(config, arguments.gate))
        if arguments.pod is not None:
            before, after = _limited(arguments.pod, arguments.namespace, before, after)
        if arguments.toleration is not None:
            after = _with_tolerations(after, arguments.toleration)
        progress.begin("judging pods", len(before.members))
        return comparing.compare(before, after, progress.advance)
    finally:
        progress.end()


def _check(arguments: argparse.Namespace) -> None:
    """Refuse command lines that compare nothing."""
    clusters = len(arguments.cluster or ()) + _names_live_cluster(arguments)
    problems = []
    if clusters > 2:
        problems.append("diff: give one cluster, or two to compare")
    if clusters < 2 and not (arguments.set_taint or arguments.gate or arguments.toleration):
        problems.append(
            "diff: nothing to compare: give a second cluster, --set-taint, --gate or --toleration"
        )
    if arguments.toleration is not None and arguments.pod is None:
        problems.append("diff: --toleration: say whose: give POD, a file or KIND/NAME")
    if problems:
        raise ConfigError(problems)


def _names_live_cluster(arguments: argparse.Namespace) -> bool:
    return bool(getattr(arguments, "--kubeconfig") or arguments.context)


def _observed(
    arguments: argparse.Namespace, config: Config, progress: Progress
) -> tuple[Observation, Observation]:
    """The clusters before and after; one and the same if only one is given."""
    given: list[list[str]] = arguments.cluster or []
    found = [read(paths, progress) for paths in given]
    if not found and config.cluster_files:
        found.append(read(config.cluster_files, progress))
    if not found or _names_live_cluster(arguments):
        server = sources.api_server(config.kubeconfig, arguments.context)
        if server is None:
            raise sources.no_cluster("--cluster PATH")
        found.append(asyncio.run(listed(server, progress)))
    return found[0], found[-1]


def _side(observation: Observation, config: Config) -> Side:
    profiles = Profiles(config)
    members = {member.ref: member for member in observation.population.members()}
    return Side(observation.snapshot(), members, profiles.of, profiles.settings, config.compile)


def _with_gates(config: Config, given: Sequence[tuple[str, bool]]) -> Config:
    if not given:
        return config
    try:
        return overriding.override(config, {"featureGates": dict(given)})
    except ConfigError as exc:
        problems = [problem.removeprefix("featureGates.") for problem in exc.problems]
        raise ConfigError([f"--gate: {problem}" for problem in problems]) from None


def _limited(name: str, namespace: str | None, before: Side, after: Side) -> tuple[Side, Side]:
    """Both clusters with one pod or workload to judge."""
    if name == sources.STANDARD_INPUT or Path(name).is_file():
        members = _in_file(name, namespace or "")
        return dataclasses.replace(before, members=members), dataclasses.replace(
            after, members=members
        )
    wanted = _wanted(name, namespace or templates.DEFAULT_NAMESPACE, before.members)
    return _only(wanted, before), _only(wanted, after)


def _only(wanted: Ref, side: Side) -> Side:
    members = {
        ref: member for ref, member in side.members.items() if wanted in (ref, member.workload)
    }
    return dataclasses.replace(side, members=members)


def _in_file(file: str, namespace: str) -> dict[Ref, Member]:
    members = {}
    for origin, document in sources.read(file):
        for subject in templates.subjects(origin, document, namespace):
            meta = subject.pod.metadata
            ref = Ref(subject.kind, meta.namespace if meta else "", subject.name)
            members[ref] = Member(ref, ref, subject.pod)
    if not members:
        raise NotFoundError(f"{file}: contains no pod and no workload")
    return members


def _wanted(name: str, namespace: str, members: Mapping[Ref, Member]) -> Ref:
    refs = {each for member in members.values() for each in (member.ref, member.workload)}
    names = {f"{ref.kind.lower()}/{ref.name}": ref for ref in refs if ref.namespace == namespace}
    found = names.get(name) or names.get(f"pod/{name}")
    if found is None:
        meant = nearness.spelling(name, names)
        hint = f"; did you mean {meant}?" if meant else ""
        raise NotFoundError(
            f"there is no file {name}, and no {_KIND_AND_NAME} of this name in namespace"
            f" {namespace}{hint}"
        )
    return found


def _with_tolerations(side: Side, file: str) -> Side:
    text = _tolerations(file, side)
    members = {
        ref: changes.with_tolerations(member, text, side.settings)
        for ref, member in side.members.items()
    }
    return dataclasses.replace(side, members=members)


def _tolerations(file: str, side: Side) -> str:
    """The text of an annotation with the tolerations of a file."""
    found = [document for _, document in sources.read(file) if document is not None]
    if len(found) != 1 or not isinstance(found[0], list):
        raise ConfigError([f"--toleration: {file}: must be a list of tolerations"])
    text = msgspec.json.encode(found[0]).decode()
    name = side.settings.annotation_prefix + annotations.TOLERATIONS
    try:
        annotations.tolerations(
            {name: text}, side.settings.annotation_prefix, side.settings.annotation_bytes
        )
    except AnnotationError as exc:
        raise ConfigError([f"--toleration: {file}: {exc.problem}"]) from exc
    return text


def _gate(text: str) -> tuple[str, bool]:
    name, _, value = text.partition("=")
    if value not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form Name=false")
    return name, value == "true"


def _taint_change(text: str) -> changes.TaintChange:
    try:
        return changes.parse(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(str(exc)) from exc
