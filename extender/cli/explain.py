"""`leeway explain`: why a pod can be placed, or cannot, and what would help."""

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from extender import plugins
from extender.cli import derivation_tables, explain_tables, flags, manual, output, sources
from extender.cli.manual import Page
from extender.cli.tables import Screen
from extender.cluster import manifests, survey
from extender.cluster.api import ApiServer
from extender.cluster.source import FileSource
from extender.config.schema import Config
from extender.errors import ConfigError, NotFoundError
from extender.framework import volumes
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from extender.review.explain import nearness, templates
from extender.review.explain.explaining import explain
from extender.review.explain.inquiry import Inquiry
from extender.review.explain.schema import Explanation
from extender.review.explain.templates import Subject
from extender.server.profiles import Profiles

_PAGE: Final = Page(
    "say why a pod is Pending, and which change would help",
    """Judge a pod on every node of a cluster, exactly as 'leeway serve' would, and say for each
    node whether the pod passes, which plugin refuses it and why, and which change would let it
    pass. The command has tried every change that it shows.

    The pod is a manifest (POD is a file, or '-' for standard input), or with -n the name of a pod
    in the cluster. A manifest may be a Pod or a workload with a pod template. If a file has
    several, name the file with -f and choose one by POD. The cluster is that of --cluster, of
    --kubeconfig, or the one that the command runs in. POD may stand before --cluster or after
    its paths.

    The command reads a live cluster with your rights: 'get' on the pod, 'list' on nodes, and
    'list' on pods, or on claims, volumes and storage classes, if the pod has spread constraints
    or claims. It reads $KUBECONFIG and ~/.kube/config only if --kubeconfig names them.""",
    examples=[
        (
            "leeway explain pod.yaml --cluster deploy/examples/cluster.yaml",
            "Judge a manifest in a cluster from manifests.",
        ),
        (
            "leeway explain -n batch nightly-report --kubeconfig ~/.kube/config",
            "Judge a Pending pod of a live cluster.",
        ),
        (
            "kubectl get deployment web -o yaml | leeway explain - --cluster dump.json --node n1",
            "Derive the verdict on one node, rule by rule, for the pods of a Deployment.",
        ),
        (
            "leeway explain pod.yaml --cluster dump.json -o json | jq .fix.patch",
            "Print the nearest fix as a patch.",
        ),
    ],
    exit_codes={
        0: "a node passes; with --node, that node passes",
        1: "no node passes; with --node, that node does not",
        2: "it could not judge; a sentence says why",
    },
    see="docs/explain.md",
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = manual.add_command(commands, "explain", _PAGE)
    parser.add_argument(
        "pod", nargs="?", metavar="POD", help="a file, '-', or a name (with -n or -f)"
    )
    parser.add_argument("-f", "--filename", metavar="FILE", help="the file that has the pod")
    parser.add_argument("-n", "--namespace", metavar="NAMESPACE", help="the namespace of the pod")
    parser.add_argument("--node", metavar="NAME", help="derive the verdict on this node")
    parser.add_argument("--all", action="store_true", help="a line for every node")
    flags.add_cluster(parser, "the cluster, as files or folders of YAML or JSON manifests")
    flags.add_kubeconfig(parser, "the cluster of this kubeconfig's current context")
    flags.add_rules_to(parser)
    output.add_to(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Explain one pod."""
    _take_pod_from_paths(arguments)
    config = flags.effective_config(arguments)
    server = None if config.cluster_files else sources.api_server(config.kubeconfig)
    subject = _subject(arguments, config, server)
    profiles = Profiles(config)
    explanation = explain(
        Inquiry(
            subject,
            profiles.of(subject.pod),
            profiles.settings,
            _snapshot(config, server, subject.pod),
            node=arguments.node,
        )
    )
    derived = explanation.derivation

    def text(on: Screen) -> str:
        if derived is not None:
            return derivation_tables.render(explanation, derived, on)
        return explain_tables.render(explanation, on, every=arguments.all)

    output.show(msgspec.to_builtins(explanation), arguments.output, text)
    return _exit_code(explanation)


def _take_pod_from_paths(arguments: argparse.Namespace) -> None:
    """--cluster takes all paths that follow it, the pod too where it comes last."""
    paths = vars(arguments)["--cluster"]
    if arguments.pod is not None or len(paths or ()) < 2:
        return
    if arguments.filename is None or not Path(paths[-1]).exists():
        arguments.pod = paths.pop()


def _exit_code(explanation: Explanation) -> int:
    if explanation.derivation is not None:
        return 0 if derivation_tables.passes(explanation.derivation) else 1
    return 0 if explanation.passing else 1


def _subject(arguments: argparse.Namespace, config: Config, server: ApiServer | None) -> Subject:
    name, file, namespace = arguments.pod, arguments.filename, arguments.namespace or ""
    if file is None and name is not None and not namespace:
        file, name = name, None  # POD is a file
    if file is not None:
        return _chosen(_in_file(file, namespace), file, name)
    if name is None:
        raise ConfigError(["which pod? Give a file, '-', or -n NAMESPACE POD"])
    if config.cluster_files:
        return _in_cluster_files(config.cluster_files, namespace, name)
    if server is None:
        raise _no_cluster()
    body = asyncio.run(survey.pod(server, namespace, name))
    origin = f"pod {namespace}/{name}"
    return next(templates.subjects(origin, {"kind": "Pod", **msgspec.json.decode(body)}))


def _in_file(file: str, namespace: str) -> Iterator[Subject]:
    if file != sources.STANDARD_INPUT and not Path(file).exists():
        raise NotFoundError(
            f"{file}: there is no such file; a pod of the cluster is named with -n NAMESPACE POD"
        )
    for origin, document in sources.read(file):
        yield from templates.subjects(origin, document, namespace)


def _chosen(found: Iterator[Subject], file: str, name: str | None) -> Subject:
    """The one that is meant."""
    all_of_them = list(found)
    matching = [each for each in all_of_them if name in (None, each.name, _full_name(each))]
    if len(matching) == 1:
        return matching[0]
    kinds = ", ".join(templates.TEMPLATES)
    if not all_of_them:
        raise NotFoundError(f"{file}: there is no pod in it, nor a workload; known are {kinds}")
    names = ", ".join(map(_full_name, all_of_them[:10]))
    if not matching:
        raise NotFoundError(f"{file}: there is no {name} in it, only {names}")
    raise NotFoundError(f"{file}: holds {names}; choose one: leeway explain -f {file} NAME")


def _full_name(subject: Subject) -> str:
    return f"{subject.kind.lower()}/{subject.name}"


def _in_cluster_files(paths: Sequence[str], namespace: str, name: str) -> Subject:
    names = []
    for path in paths:
        for file in manifests.files(Path(path)):
            for each in _in_file(str(file), ""):
                meta = each.pod.metadata
                if each.kind != "Pod" or meta is None or meta.namespace != namespace:
                    continue
                if meta.name == name:
                    return each
                names.append(meta.name)
    meant = nearness.spelling(name, names)
    hint = f"; did you mean {meant}?" if meant else ""
    raise NotFoundError(f"there is no pod {namespace}/{name} in {', '.join(paths)}{hint}")


def _snapshot(config: Config, server: ApiServer | None, pod: Pod) -> Snapshot:
    if config.cluster_files:
        return FileSource(config.cluster_files).snapshot()
    if server is None:
        raise _no_cluster()
    # Only what this pod is judged by: a person may not be allowed to read more.
    wanted = {"nodes"}
    if pod.spec and pod.spec.topology_spread_constraints:
        wanted |= plugins.resources({"PodTopologySpread"})
    if any(volumes.claims_of(pod)):
        wanted |= plugins.resources({"VolumeBinding"})
    return asyncio.run(survey.snapshot(server, wanted))


def _no_cluster() -> ConfigError:
    return ConfigError(
        [
            "which cluster? Give --cluster PATH or --kubeconfig FILE, for instance"
            " --kubeconfig ~/.kube/config; $KUBECONFIG is not read by itself"
        ]
    )
