"""`leeway doctor`: finds what is wrong with an installation, and says how to fix it."""

import argparse
import asyncio
import contextlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from extender.cli import doctor_output, doctor_probes, flags, manual, output, sources
from extender.cli.doctor_probes import Visit
from extender.cli.manual import Page
from extender.cli.sources import LiveCluster
from extender.cluster import access_reviews
from extender.cluster.api import ApiServer, Connection
from extender.errors import ApiForbiddenError, ConfigError
from extender.model.documents import Plain
from extender.review.doctor import examining, problems, rights
from extender.review.doctor.problems import Problem
from extender.review.doctor.setup import Setup

_CONFIG_MAP: Final = "configmap/"
_PAGE: Final = Page(
    "find what is wrong with an installation",
    """Check a KubeSchedulerConfiguration for every setting that makes Leeway useless or dangerous.
    Each finding has a severity, a place, the reason why it matters, and a fix.

    FILE may contain KubeSchedulerConfigurations, ExtenderConfigurations, ConfigMaps with them,
    and manifests of Pods and Deployments that run kube-scheduler or Leeway. Other objects are
    ignored, so you can pipe in all rendered manifests. 'configmap/NAME[:KEY]' reads a ConfigMap
    of the cluster instead. All inputs count as one installation: Leeway's configuration is
    compared with the scheduler's.

    With --kubeconfig, --context or --as, and inside a cluster, the command also checks whether
    Leeway may list and watch what it needs. Without any FILE, it does so in the cluster that
    kubectl would use. With --extender it asks a running Leeway whether it is ready, and who
    called it, when and in which mode. With --listener it checks the certificate that Leeway
    presents. It changes nothing.""",
    examples=[
        (
            "leeway doctor scheduler-config.yaml leeway.yaml",
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
    version, found = None, list[Problem]()
    if cluster is not None:
        arguments.namespace = arguments.namespace or cluster.namespace
        version, found = asyncio.run(_ask_cluster(cluster.server, arguments, setup))
    visit = doctor_probes.visit(arguments.extender, setup) if arguments.extender else Visit()
    now = datetime.now(UTC)
    found += examining.examine(setup, version)
    found += doctor_probes.all_certificates(setup, now)
    if arguments.listener:
        found += doctor_probes.presented(arguments.listener, setup, now)
    report = problems.worst_first([*found, *visit.problems])
    skipped = list(_skipped(arguments, setup, cluster))
    output.show(
        doctor_output.document(report, visit.callers, skipped),
        arguments.output,
        lambda on: "".join(doctor_output.tables_of(report, visit.callers, skipped, on)),
    )
    return problems.exit_code(each.severity for each in report)


def _cluster(arguments: argparse.Namespace) -> LiveCluster | None:
    """The cluster to ask; files alone are checked without any, whatever $KUBECONFIG names."""
    kubeconfig = getattr(arguments, "--kubeconfig")
    asks = any(each.startswith(_CONFIG_MAP) for each in arguments.sources) or arguments.user
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
        if not source.startswith(_CONFIG_MAP):
            for origin, document in sources.read(source):
                setup.add(origin, document)
    return setup


async def _ask_cluster(
    server: ApiServer, arguments: argparse.Namespace, setup: Setup
) -> tuple[tuple[int, int] | None, list[Problem]]:
    async with server.connect() as connection:
        for source in arguments.sources:
            if source.startswith(_CONFIG_MAP):
                name, _, key = source.removeprefix(_CONFIG_MAP).partition(":")
                data = await access_reviews.config_map(connection, arguments.namespace, name)
                _add_config_map(setup, f"{arguments.namespace}/{name}", data, key)
        version = None
        with contextlib.suppress(ApiForbiddenError):  # only a few checks depend on it
            version = await access_reviews.server_version(connection)
        ours = setup.extenders[0][1] if setup.extenders else None
        refused = [
            access
            for access in rights.needed(ours)
            if not await access_reviews.is_allowed(connection, access, arguments.user)
        ]
        found = list(rights.check(refused, arguments.user))
        if arguments.scheduler_as:
            found += await _scheduler_rights(connection, arguments.scheduler_as, setup)
        return version, found


async def _scheduler_rights(connection: Connection, user: str, setup: Setup) -> list[Problem]:
    refused = [
        access
        for _, config in setup.schedulers
        for access in rights.needed_by_scheduler(config)
        if not await access_reviews.is_allowed(connection, access, user)
    ]
    return list(rights.check_scheduler(refused, user))


def _add_config_map(setup: Setup, origin: str, data: object, key: str) -> None:
    if not isinstance(data, dict) or (key and key not in data):
        raise ConfigError([f"configmap/{origin}: it has no key {key!r}"])
    chosen: Plain = {name: text for name, text in data.items() if not key or name == key}
    setup.add("cluster", {"kind": "ConfigMap", "metadata": {"name": origin}, "data": chosen})


def _skipped(
    arguments: argparse.Namespace, setup: Setup, cluster: LiveCluster | None
) -> Iterator[str]:
    if arguments.sources:
        yield from examining.skipped(setup)
    if cluster is None:
        yield "rights, because no cluster was given (--kubeconfig)"
    if not arguments.extender:
        yield "who calls Leeway, because no running one was given (--extender)"
