"""`leeway doctor`: what is wrong with an installation, and how it is mended."""

import argparse
import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from extender.cli import house_calls, manual, output, sources, tables
from extender.cli.house_calls import Visit
from extender.cli.manual import Page
from extender.cli.tables import Cell, Colour, Screen
from extender.cluster import questions
from extender.cluster.api import ApiServer, Connection
from extender.errors import ApiForbiddenError, ConfigError
from extender.model.documents import Plain
from extender.review.doctor import examining, problems, rights
from extender.review.doctor.problems import SEVERITIES, Problem, Severity
from extender.review.doctor.setup import Setup

_CONFIG_MAP: Final = "configmap/"
_COLOURS: Final[dict[Severity, Colour]] = {"error": "red", "warning": "yellow", "info": "cyan"}
_PAGE: Final = Page(
    "find what is wrong with an installation",
    """Check a KubeSchedulerConfiguration for every setting that makes Leeway useless or
    dangerous. Each finding says how bad it is, where it is, why it matters and how to fix it.

    FILE may have KubeSchedulerConfigurations, ExtenderConfigurations, ConfigMaps that carry them,
    and manifests of Pods and Deployments that run kube-scheduler or Leeway. The command ignores
    everything else, so you can pipe in whole rendered manifests. 'configmap/NAME[:KEY]' takes a
    ConfigMap of the cluster instead. The command takes all files together as one installation,
    and compares Leeway's configuration with the scheduler's.

    With --kubeconfig, or inside a cluster, it also checks whether Leeway may list and watch what
    it needs. With --extender it asks a running Leeway whether it is ready, and who called it,
    when and in which mode. With --listener it checks the certificate that Leeway presents. It
    changes nothing.""",
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
            "leeway doctor --kubeconfig ~/.kube/config -n leeway"
            " configmap/leeway-scheduler-config configmap/leeway-config",
            "Check what is installed.",
        ),
        (
            "leeway doctor --kubeconfig ~/.kube/config --as system:serviceaccount:leeway:leeway",
            "Check the rights of Leeway's service account.",
        ),
        (
            "leeway doctor --extender http://127.0.0.1:8080",
            "Ask a running Leeway, for example through 'kubectl port-forward'.",
        ),
    ],
    exit_codes={
        0: "nothing is wrong, or there are only infos",
        1: "at least one error: a part of Leeway does not work, or taints are not enforced",
        2: "it could not check: a wrong command line, a file that cannot be read, a server that"
        " cannot be reached",
        3: "no error, but warnings",
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
    sources.add_kubeconfig(parser)
    parser.add_argument(
        "-n", "--namespace", default="default", metavar="NAME", help="namespace of the ConfigMaps"
    )
    parser.add_argument(
        "--as",
        dest="user",
        default="",
        metavar="USER",
        help="the user whose rights to check, such as system:serviceaccount:leeway:leeway; you must"
        " be allowed to impersonate the user",
    )
    parser.add_argument(
        "--scheduler-as",
        default="",
        metavar="USER",
        help="the user whose rights to check as the scheduler's",
    )
    parser.add_argument(
        "--extender", metavar="URL", help="the ops listener of a running Leeway to ask"
    )
    parser.add_argument(
        "--listener",
        metavar="HOST:PORT",
        help="the scheduler listener of a running Leeway; checks its certificate",
    )
    output.add_to(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Examine, print, and tell by the exit code how bad it is."""
    server = sources.api_server(arguments.kubeconfig)
    if not (arguments.sources or server or arguments.extender or arguments.listener):
        raise ConfigError(
            ["doctor: nothing to look at: give a FILE, --kubeconfig, --extender or --listener"]
        )
    setup = _read(arguments)
    version, found = None, list[Problem]()
    if server is not None:
        version, found = asyncio.run(_ask_cluster(server, arguments, setup))
    visit = house_calls.visit(arguments.extender, setup) if arguments.extender else Visit()
    now = datetime.now(UTC)
    found += examining.examine(setup, version)
    found += house_calls.all_certificates(setup, now)
    if arguments.listener:
        found += house_calls.presented(arguments.listener, setup, now)
    report = problems.worst_first([*found, *visit.problems])
    skipped = list(_skipped(arguments, setup, server))
    output.show(
        _document(report, visit, skipped),
        arguments.output,
        lambda on: "".join(_table(report, visit, skipped, on)),
    )
    return problems.exit_code(each.severity for each in report)


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
                data = await questions.config_map(connection, arguments.namespace, name)
                _add_config_map(setup, f"{arguments.namespace}/{name}", data, key)
        version = None
        with contextlib.suppress(ApiForbiddenError):  # only a few checks depend on it
            version = await questions.server_version(connection)
        ours = setup.extenders[0][1] if setup.extenders else None
        refused = [
            access
            for access in rights.needed(ours)
            if not await questions.is_allowed(connection, access, arguments.user)
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
        if not await questions.is_allowed(connection, access, user)
    ]
    return list(rights.check_scheduler(refused, user))


def _add_config_map(setup: Setup, origin: str, data: object, key: str) -> None:
    if not isinstance(data, dict) or (key and key not in data):
        raise ConfigError([f"configmap/{origin}: it has no key {key!r}"])
    chosen: Plain = {name: text for name, text in data.items() if not key or name == key}
    setup.add("cluster", {"kind": "ConfigMap", "metadata": {"name": origin}, "data": chosen})


def _skipped(
    arguments: argparse.Namespace, setup: Setup, server: ApiServer | None
) -> Iterator[str]:
    if arguments.sources:
        yield from examining.skipped(setup)
    if server is None:
        wanted = any(source.startswith(_CONFIG_MAP) for source in arguments.sources)
        if wanted or arguments.user or arguments.scheduler_as:
            raise ConfigError(["doctor: there is no cluster to ask: give --kubeconfig"])
        yield "no cluster was asked (--kubeconfig): rights were not checked"
    if not arguments.extender:
        yield "no running Leeway was asked (--extender): who calls it is not known"


def _document(report: Sequence[Problem], visit: Visit, skipped: Sequence[str]) -> Plain:
    return {
        "summary": {severity: _count(report, severity) for severity in SEVERITIES},
        "problems": [
            {
                "severity": each.severity,
                "check": each.check,
                "where": each.where,
                "why": each.why,
                "fix": each.fix,
            }
            for each in report
        ],
        "callers": [*visit.document()],
        "notChecked": [*skipped],
    }


def _count(report: Sequence[Problem], severity: Severity) -> int:
    return sum(each.severity == severity for each in report)


def _counted(report: Sequence[Problem], severity: Severity) -> str:
    count = _count(report, severity)
    return f"{count} {severity}{'' if count == 1 or severity == 'info' else 's'}"


def _table(
    report: Sequence[Problem], visit: Visit, skipped: Sequence[str], on: Screen
) -> Iterator[str]:
    if report:
        rows = [
            (
                Cell(each.severity, _COLOURS[each.severity]),
                each.check,
                each.where,
                f"{each.why}. Fix: {each.fix}",
            )
            for each in report
        ]
        yield tables.render(("SEVERITY", "CHECK", "WHERE", "WHY AND FIX"), rows, on) + "\n"
    if visit.callers:
        yield visit.table(on) + "\n"
    for line in skipped:
        yield tables.paragraph(f"not checked: {line}", on)
    counts = ", ".join(_counted(report, severity) for severity in SEVERITIES)
    worst: Colour = _COLOURS[report[0].severity] if report else "green"
    yield on.paint(counts if report else "nothing is wrong", worst) + "\n"
