"""`leeway explain`: why a pod passes or is refused on each node, and what would help."""

import argparse
import asyncio
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from extender import plugins
from extender.cli import explain_output, explain_owners, flags, manual, ops_client, output, sources
from extender.cli.manual import Page
from extender.cli.tables import Screen
from extender.cluster import list_once, manifests
from extender.cluster.api import ApiServer
from extender.cluster.source import FileSource
from extender.config.schema import Config
from extender.errors import ConfigError, NotFoundError
from extender.framework import volumes
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from extender.review.explain import nearness, owners, page, templates
from extender.review.explain.explaining import explain
from extender.review.explain.inquiry import Inquiry
from extender.review.explain.owners import Lookup
from extender.review.explain.schema import Explanation
from extender.review.explain.templates import Subject
from extender.verbs.profiles import Profiles

_HTML: Final = "html"

_PAGE: Final = Page(
    "say why a pod is Pending, and what would help",
    """Judge a pod on every node of a cluster, exactly as 'leeway serve' does. For each node, show
    whether the pod passes, which plugin refuses it and why, and which change would let it pass.
    Every suggested change has been tried on the pod.

    POD is a manifest (a file, or '-' for standard input) or, with -n, the name of a pod in the
    cluster. A manifest may be a Pod or a workload with a pod template. If a file contains several,
    give the file with -f and choose one by POD. The cluster comes from --cluster, from
    --kubeconfig, or from the environment of the command. POD may come before --cluster or after
    its paths.

    For a pod with rules whose scheduler is in compile.schedulerNames, show also what compile mode
    makes of it: which rule each plain toleration comes from, and what is missing.

    The command reads a live cluster with your rights: 'get' on the pod and 'list' on nodes; also
    'list' on pods if the pod has spread constraints, and on claims, volumes and storage classes
    if it has claims. It reads $KUBECONFIG and ~/.kube/config only if --kubeconfig names them.""",
    examples=[
        (
            "leeway explain pod.yaml --cluster deploy/examples/cluster.yaml",
            "A manifest against a cluster from manifests.",
        ),
        (
            "leeway explain -n batch nightly-report --kubeconfig ~/.kube/config",
            "A Pending pod of a live cluster.",
        ),
        (
            "kubectl get deployment web -o yaml | leeway explain - --cluster dump.json --node n1",
            "Every rule behind the verdict on one node, for the pods of a Deployment.",
        ),
        (
            "leeway explain -n batch report --kubeconfig config --extender http://127.0.0.1:8080",
            "Judge as the Leeway behind a port-forward does.",
        ),
        (
            "leeway explain pod.yaml --cluster dump.json -o html > why.html",
            "One page for a ticket, with nothing to load.",
        ),
        (
            "leeway explain pod.yaml --cluster dump.json -o json | jq .fix.patch",
            "The nearest fix as a patch.",
        ),
    ],
    exit_codes={
        0: "a node passes; with --node, that node does",
        1: "no node passes; with --node, that node does not",
        2: "failure; one sentence says why",
    },
    see="docs/explain.md",
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = manual.add_command(commands, "explain", _PAGE)
    parser.add_argument(
        "pod", nargs="?", metavar="POD", help="a file, '-', or a name (with -n or -f)"
    )
    parser.add_argument("-f", "--filename", metavar="FILE", help="the file with the pod")
    parser.add_argument("-n", "--namespace", metavar="NAMESPACE", help="the namespace of the pod")
    parser.add_argument(
        "--node", metavar="NAME", help="show every rule behind the verdict on this node"
    )
    parser.add_argument("--all", action="store_true", help="print a line for every node")
    flags.add_cluster(parser, "the cluster: files or folders of YAML or JSON manifests")
    flags.add_kubeconfig(parser, "the cluster of this kubeconfig's current context")
    flags.add_rules_to(parser)
    parser.add_argument(
        "--extender",
        metavar="URL",
        help="judge with the configuration and gates of a running Leeway: http://HOST:PORT of its"
        " ops listener",
    )
    output.add_to(parser, _HTML)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Explain one pod."""
    _take_pod_from_paths(arguments)
    config = _config(arguments)
    server = None if config.cluster_files else sources.api_server(config.kubeconfig)
    subject = owners.found(_subject(arguments, config, server), _lookup(config, server))
    profiles = Profiles(config)
    explanation = explain(
        Inquiry(
            subject,
            profiles.of(subject.pod),
            profiles.settings,
            _snapshot(config, server, subject.pod),
            node=arguments.node,
            compile_settings=config.compile,
        )
    )
    derived = explanation.derivation

    def text(on: Screen) -> str:
        if derived is not None:
            return explain_output.render_node(explanation, derived, on)
        return explain_output.render(explanation, on, every=arguments.all)

    if arguments.output == _HTML:
        sys.stdout.write(page.render(explanation))
        sys.stdout.flush()
    else:
        output.show(msgspec.to_builtins(explanation), arguments.output, text)
    return _exit_code(explanation)


def _config(arguments: argparse.Namespace) -> Config:
    """The configuration of file and flags, or with --extender that of a running Leeway."""
    own = flags.effective_config(arguments)
    if arguments.extender is None:
        return own
    if arguments.config is not None or vars(arguments)["--feature-gates"] is not None:
        raise ConfigError(
            ["--extender judges as the running Leeway does: leave out --config and --feature-gates"]
        )
    running = ops_client.configuration(arguments.extender)
    return replace(running, kubeconfig=own.kubeconfig, cluster_files=own.cluster_files)


def _lookup(config: Config, server: ApiServer | None) -> Lookup:
    """Where the owner of a pod is looked for: where the cluster is."""
    if server is None:
        return partial(explain_owners.in_files, config.cluster_files)
    return partial(explain_owners.in_cluster, server)


def _take_pod_from_paths(arguments: argparse.Namespace) -> None:
    """Take the pod back from --cluster, which consumes all paths that follow it."""
    paths = vars(arguments)["--cluster"]
    if arguments.pod is not None or len(paths or ()) < 2:
        return
    if arguments.filename is None or not Path(paths[-1]).exists():
        arguments.pod = paths.pop()


def _exit_code(explanation: Explanation) -> int:
    if explanation.derivation is not None:
        return 0 if explain_output.passes(explanation.derivation) else 1
    return 0 if explanation.passing else 1


def _subject(arguments: argparse.Namespace, config: Config, server: ApiServer | None) -> Subject:
    name, file, namespace = arguments.pod, arguments.filename, arguments.namespace or ""
    if file is None and name is not None and not namespace:
        file, name = name, None  # without -n, POD is a file
    if file is not None:
        return _chosen(_in_file(file, namespace), file, name)
    if name is None:
        raise ConfigError(["which pod? Give a file, '-', or -n NAMESPACE POD"])
    if config.cluster_files:
        return _in_cluster_files(config.cluster_files, namespace, name)
    if server is None:
        raise _no_cluster()
    body = asyncio.run(list_once.pod(server, namespace, name))
    origin = f"pod {namespace}/{name}"
    subject = next(templates.subjects(origin, {"kind": "Pod", **msgspec.json.decode(body)}))
    return replace(subject, is_living=True)


def _in_file(file: str, namespace: str) -> Iterator[Subject]:
    if file != sources.STANDARD_INPUT and not Path(file).exists():
        raise NotFoundError(
            f"{file}: no such file; to name a pod of the cluster, use -n NAMESPACE POD"
        )
    for origin, document in sources.read(file):
        yield from templates.subjects(origin, document, namespace)


def _chosen(found: Iterator[Subject], file: str, name: str | None) -> Subject:
    """The one pod or workload to explain."""
    all_of_them = list(found)
    matching = [each for each in all_of_them if name in (None, each.name, _full_name(each))]
    if len(matching) == 1:
        return matching[0]
    kinds = ", ".join(templates.TEMPLATES)
    if not all_of_them:
        raise NotFoundError(f"{file}: contains no pod and no workload; supported kinds: {kinds}")
    names = ", ".join(map(_full_name, all_of_them[:10]))
    if not matching:
        raise NotFoundError(f"{file}: contains no {name}, only {names}")
    raise NotFoundError(f"{file}: contains {names}; choose one: leeway explain -f {file} NAME")


def _full_name(subject: Subject) -> str:
    return f"{subject.kind.lower()}/{subject.name}"


def _in_cluster_files(paths: Sequence[str], namespace: str, name: str) -> Subject:
    names: list[str] = []
    for path in paths:
        for file, kind, item in manifests.items(path, {"Pod"}):
            meta = item.get("metadata")
            if not isinstance(meta, dict) or meta.get("namespace") != namespace:
                continue
            if meta.get("name") == name:
                found = next(templates.subjects(str(file), {**item, "kind": kind}))
                return replace(found, is_living=True)
            names.append(str(meta.get("name")))
    meant = nearness.spelling(name, names)
    hint = f"; did you mean {meant}?" if meant else ""
    raise NotFoundError(f"there is no pod {namespace}/{name} in {', '.join(paths)}{hint}")


def _snapshot(config: Config, server: ApiServer | None, pod: Pod) -> Snapshot:
    if config.cluster_files:
        return FileSource(config.cluster_files).snapshot()
    if server is None:
        raise _no_cluster()
    # List only what this pod needs: the user may not be allowed to list more.
    wanted = {"nodes"}
    if pod.spec and pod.spec.topology_spread_constraints:
        wanted |= plugins.resources({"PodTopologySpread"})
    if any(volumes.claims_of(pod)):
        wanted |= plugins.resources({"VolumeBinding"})
    return asyncio.run(list_once.snapshot(server, wanted))


def _no_cluster() -> ConfigError:
    return ConfigError(
        [
            "which cluster? Give --cluster PATH or --kubeconfig FILE, for instance"
            " --kubeconfig ~/.kube/config; $KUBECONFIG is not read automatically"
        ]
    )
