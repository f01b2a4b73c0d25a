"""`leeway doctor`: finds what is wrong with an installation, and says how to fix it."""

import argparse
import asyncio
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from extender.cli import (
    doctor_cluster,
    doctor_output,
    doctor_probes,
    flags,
    manual,
    output,
    sources,
)
from extender.cli.doctor_cluster import CONFIG_MAP, Findings, Users
from extender.cli.doctor_output import Running
from extender.cli.doctor_probes import Visit
from extender.cli.manual import Page
from extender.cli.sources import LiveCluster
from extender.review.doctor import compile_mode, examining, problems
from extender.review.doctor.problems import Problem
from extender.review.doctor.setup import Setup

_PAGE: Final = Page(
    "find what is wrong with an installation",
    """Check a KubeSchedulerConfiguration, or the controller of compile mode, for every setting
    that makes Leeway useless or dangerous. Each finding has a severity, a place, the reason why
    it matters, and a fix.

    FILE may contain KubeSchedulerConfigurations, ExtenderConfigurations, ConfigMaps with them,
    and manifests of Pods and Deployments that run kube-scheduler, kube-apiserver or Leeway. For
    compile mode it may also contain MutatingWebhookConfigurations, Namespaces and workloads.
    Other objects are ignored, so you can pipe in all rendered manifests. 'configmap/NAME[:KEY]'
    reads a ConfigMap of the cluster instead. All inputs count as one installation: Leeway's
    configuration is compared with the scheduler's, and the controller's with the extender's.

    With --kubeconfig, --context or --as, and inside a cluster, the command also checks whether
    Leeway may list and watch what it needs, and for compile mode the webhooks, the leader and the
    toleration whitelists of namespaces. Without any FILE, it does so in the cluster that kubectl
    would use. With --extender it asks a running Leeway whether it is ready, and who called it,
    when and in which mode, or who leads. With --listener it checks the certificate that Leeway
    presents. It changes nothing.""",
    examples=[
        (
            "leeway doctor deploy/examples/scheduler-config.yaml"
            " deploy/examples/extender-config.yaml",
            "Check both sides of an installation.",
        ),
        (
            "kubectl kustomize deploy/kustomize/overlays/second-scheduler | leeway doctor -",
            "Check what is about to be installed.",
        ),
        (
            "leeway doctor -n leeway configmap/leeway-scheduler-config configmap/leeway-config",
            "Check what is installed.",
        ),
        (
            "leeway doctor --as system:serviceaccount:leeway:leeway",
            "Check the rights of Leeway's service account.",
        ),
        (
            "leeway doctor --kubeconfig ~/.kube/config leeway.yaml"
            " --as system:serviceaccount:leeway:leeway-controller",
            "Check compile mode in a cluster, by the configuration of the controller.",
        ),
        (
            "leeway doctor --extender http://127.0.0.1:8080",
            "Ask a running Leeway, for example through 'kubectl port-forward'.",
        ),
    ],
    exit_codes={
        0: "no problems, or only notes (info)",
        1: "at least one error: something does not work, or taints are not enforced",
        2: "the check failed: a wrong command line, an unreadable file, or an unreachable server",
        3: "warnings, but no error",
    },
    files={
        "deploy/examples/scheduler-config.yaml": "a KubeSchedulerConfiguration without findings",
        "deploy/kustomize/base/rbac.yaml": "the rights that Leeway needs",
        "deploy/kustomize/overlays/compile/rbac.yaml": "the rights that the controller needs",
    },
    see="docs/doctor.md, docs/scheduler.md",
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = manual.add_command(commands, "doctor", _PAGE)
    parser.add_argument(
        "sources",
        nargs="*",
        metavar="FILE",
        help="manifests and configurations, - for standard input, or configmap/NAME[:KEY]",
    )
    flags.add_filename(parser)
    flags.add_kubeconfig(parser)
    parser.add_argument(
        "-n",
        "--namespace",
        metavar="NAMESPACE",
        help="the namespace of the ConfigMaps (that of the context)",
    )
    _add_users(parser)
    parser.add_argument(
        "--extender", metavar="URL", help="ask the ops listener of a running Leeway"
    )
    parser.add_argument(
        "--listener",
        metavar="HOST:PORT",
        help="check the certificate of this scheduler listener of a running Leeway",
    )
    output.add_to(parser)
    parser.set_defaults(run=run)


def _add_users(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--as",
        dest="user",
        default="",
        metavar="USER",
        help="check the rights of this user, such as system:serviceaccount:leeway:leeway; you"
        " must be allowed to impersonate it",
    )
    parser.add_argument(
        "--scheduler-as",
        default="",
        metavar="USER",
        help="check the rights of this user as the scheduler's",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run all checks and print the findings; the exit code is the worst severity."""
    arguments.sources += arguments.filename
    cluster = _cluster(arguments)
    setup = _read(arguments)
    visit = doctor_probes.visit(arguments.extender) if arguments.extender else None
    if visit is not None and visit.is_controller:
        setup.answering = visit.where
    told = Findings()
    if cluster is not None:
        users = Users(arguments.user, arguments.scheduler_as)
        namespace = arguments.namespace or cluster.namespace
        asking = doctor_cluster.ask(cluster.server, arguments.sources, namespace, users, setup)
        told = asyncio.run(asking)
    now = datetime.now(UTC)
    found = [*told.problems, *examining.examine(setup, told.version)]
    found += doctor_probes.all_certificates(setup, now)
    if arguments.listener:
        found += doctor_probes.presented(arguments.listener, setup, now)
    if visit is not None:
        found += visit.problems(setup)
    _show(found, visit, [*_skipped(arguments, setup, cluster, visit), *told.skipped], arguments)
    return problems.exit_code(each.severity for each in found)


def _show(
    found: list[Problem], visit: Visit | None, skipped: list[str], arguments: argparse.Namespace
) -> None:
    report = problems.worst_first(found)
    running = Running(visit.where, visit.process, visit.status.callers) if visit else None
    output.show(
        doctor_output.document(report, running, skipped),
        arguments.output,
        lambda on: "".join(doctor_output.tables_of(report, running, skipped, on)),
    )


def _cluster(arguments: argparse.Namespace) -> LiveCluster | None:
    """The cluster to ask; files alone are checked without any, whatever $KUBECONFIG names."""
    kubeconfig = getattr(arguments, "--kubeconfig")
    asks = any(each.startswith(CONFIG_MAP) for each in arguments.sources) or arguments.user
    asks = asks or arguments.scheduler_as or kubeconfig or arguments.context
    others = arguments.sources or arguments.extender or arguments.listener
    if others and not asks and "KUBERNETES_SERVICE_HOST" not in os.environ:
        return None
    cluster = sources.live_cluster(kubeconfig, arguments.context)
    if cluster is None:
        raise sources.no_cluster("a FILE, --extender or --listener to check without it")
    return cluster


def _read(arguments: argparse.Namespace) -> Setup:
    setup = Setup()
    for source in arguments.sources:
        if not source.startswith(CONFIG_MAP):
            for origin, document in sources.read(source):
                setup.add(origin, document)
    return setup


def _skipped(
    arguments: argparse.Namespace, setup: Setup, cluster: LiveCluster | None, visit: Visit | None
) -> Iterator[str]:
    if arguments.sources or setup.controller is not None:
        yield from examining.skipped(setup)
    compiles = setup.controller is not None
    if cluster is None:
        what = "rights, leader and toleration whitelists" if compiles else "rights"
        yield f"{what}, because no cluster was given (--kubeconfig)"
        if compile_mode.any_gate_off(setup.extenders + setup.controllers):
            yield "whether pods use a feature gate that is off, except for those in the files"
    if visit is None and not setup.only_compiles:
        yield "who calls Leeway, because no running one was given (--extender)"
    elif visit is None:
        yield "whether the controller is ready, because no running one was given (--extender)"
    elif visit.is_controller and not setup.only_compiles:
        yield f"who calls Leeway, because a controller answers at {visit.where}"
