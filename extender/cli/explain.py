"""`leeway explain`: why a pod passes or is refused on each node, and what would help."""

import argparse
import asyncio
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from extender import plugins
from extender.cli import (
    explain_output,
    explain_owners,
    flags,
    manual,
    ops_client,
    output,
    pods,
    sources,
)
from extender.cli.manual import Page
from extender.cli.pods import Wanted
from extender.cli.sources import LiveCluster
from extender.cli.tables import Screen
from extender.cluster import list_once
from extender.cluster.source import FileSource
from extender.config.schema import Config
from extender.errors import ConfigError
from extender.framework import volumes
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from extender.review.explain import owners, page
from extender.review.explain.explaining import explain
from extender.review.explain.inquiry import Inquiry
from extender.review.explain.owners import Lookup
from extender.review.explain.schema import PASSES, Explanation
from extender.verbs.profiles import Profiles

_HTML: Final = "html"

_PAGE: Final = Page(
    "say why a pod is Pending, and what would help",
    """Judge a pod on every node of a cluster, exactly as 'leeway serve' does. For each node, show
    whether the pod passes, which plugin refuses it and why, and which change would let it pass.
    Every suggested change has been tried on the pod.

    POD is the name of a pod, KIND/NAME such as deployment/web, or a manifest (a file, or '-' for
    standard input). Of a workload, the command explains the newest pod, or the pod template if
    there is no pod. If a file contains several pods, give the file with -f and choose one by POD.
    POD may come before --cluster or after its paths.

    The cluster is the one that kubectl would use: of --kubeconfig, $KUBECONFIG or ~/.kube/config,
    else the cluster that the command runs in. --cluster reads manifests instead. Without -n, the
    namespace is that of the context.

    For a pod with rules whose scheduler is in compile.schedulerNames, show also what compile mode
    makes of it: which rule each plain toleration comes from, and what is missing.

    The command reads a live cluster with your rights: 'get' on the pod and 'list' on nodes; also
    'list' on pods if the pod has spread constraints, and on claims, volumes and storage classes
    if it has claims; for a workload, 'get' on it and 'list' on pods.""",
    examples=[
        (
            "leeway explain deploy/examples/pending-pod.yaml"
            " --cluster deploy/examples/cluster.yaml",
            "A manifest against a cluster from manifests.",
        ),
        ("leeway explain nightly-report -n batch", "A Pending pod of a live cluster."),
        (
            "leeway explain deployment/web --context prod",
            "The newest pod of a Deployment, in another cluster.",
        ),
        (
            "kubectl get deployment web -o yaml | leeway explain - --cluster dump.json --node n1",
            "Every rule behind the verdict on one node, for the pods of a Deployment.",
        ),
        (
            "kubectl get nodes,pods -A -o json | leeway explain web -o name --cluster -",
            "The nodes that a pod passes on, by name.",
        ),
        (
            "leeway explain -n batch report --extender http://127.0.0.1:8080",
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
        "pod", nargs="?", metavar="POD", help="the name of a pod, KIND/NAME, a file, or '-'"
    )
    parser.add_argument("-f", "--filename", metavar="FILE", help="the file with the pod")
    parser.add_argument("-n", "--namespace", metavar="NAMESPACE", help="the namespace of the pod")
    parser.add_argument(
        "-l", "--selector", metavar="LABELS", help="explain the newest pod with these labels"
    )
    parser.add_argument(
        "--node", metavar="NODE", help="show every rule behind the verdict on this node"
    )
    parser.add_argument("--all", action="store_true", help="print a line for every node")
    flags.add_cluster(parser, "the cluster: files or folders of YAML or JSON manifests")
    flags.add_kubeconfig(parser)
    flags.add_rules_to(parser)
    parser.add_argument(
        "--extender",
        metavar="URL",
        help="judge with the configuration and gates of a running Leeway: http://HOST:PORT of its"
        " ops listener",
    )
    output.add_to(parser, output.WIDE, output.NAME, _HTML)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Explain one pod."""
    _take_pod_from_paths(arguments)
    config = _config(arguments)
    cluster = _cluster(arguments, config)
    wanted = Wanted(arguments.pod, arguments.filename, arguments.namespace, arguments.selector)
    subject = pods.find(wanted, config.cluster_files, cluster)
    subject = owners.found(subject, _lookup(config, cluster))
    profiles = Profiles(config)
    explanation = explain(
        Inquiry(
            subject,
            profiles.of(subject.pod),
            profiles.settings,
            _snapshot(config, cluster, subject.pod),
            node=arguments.node,
            compile_settings=config.compile,
        )
    )
    derived = explanation.derivation

    def text(on: Screen) -> str:
        if derived is not None:
            return explain_output.render_node(explanation, derived, on)
        every = arguments.all or arguments.output == output.WIDE
        return explain_output.render(explanation, on, every=every)

    if arguments.output == _HTML:
        sys.stdout.write(page.render(explanation))
        sys.stdout.flush()
    else:
        names = _passing(explanation, arguments.node)
        output.show(msgspec.to_builtins(explanation), arguments.output, text, names)
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


def _lookup(config: Config, cluster: LiveCluster | None) -> Lookup:
    """Where the owner of a pod is looked for: where the cluster is."""
    if cluster is None:
        return partial(explain_owners.in_files, config.cluster_files)
    return partial(explain_owners.in_cluster, cluster.server)


def _passing(explanation: Explanation, node: str | None) -> Iterator[str]:
    """The names of the nodes that the pod passes on."""
    for each in explanation.verdicts:
        if each.code == PASSES and node in (None, each.node):
            yield f"node/{each.node}"


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


def _cluster(arguments: argparse.Namespace, config: Config) -> LiveCluster | None:
    if not config.cluster_files:
        return sources.live_cluster(config.kubeconfig, arguments.context)
    if arguments.context:
        raise ConfigError(["give --cluster or --context, not both"])
    return None


def _snapshot(config: Config, cluster: LiveCluster | None, pod: Pod) -> Snapshot:
    if config.cluster_files:
        return FileSource(config.cluster_files, tell=sources.tell).snapshot()
    if cluster is None:
        raise sources.no_cluster("--cluster PATH")
    # List only what this pod needs: the user may not be allowed to list more.
    wanted = {"nodes"}
    if pod.spec and pod.spec.topology_spread_constraints:
        wanted |= plugins.resources({"PodTopologySpread"})
    if any(volumes.claims_of(pod)):
        wanted |= plugins.resources({"VolumeBinding"})
    return asyncio.run(list_once.snapshot(cluster.server, wanted))
