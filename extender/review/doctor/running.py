"""Checks a running Leeway: which process it is, whether it is ready, and who calls or leads."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from extender import __version__
from extender.review.doctor import leader
from extender.review.doctor.problems import Problem
from extender.review.doctor.scheduler import SchedulerConfiguration

_NO_CLUSTER: Final = "no cluster source"
_FAILING: Final = "failing: "
# The user agent of kube-scheduler's extender client is only Go's default.
_CALLERS: Final = ("kube-scheduler", "Go-http-client")
# Only a controller takes part in an election; the line below says how it stands.
_LEADER: Final = re.compile(r"^\[\+\]leader ok\n(?: +(.*)$)?", re.MULTILINE)


class Caller(Struct, frozen=True, rename="camel"):
    """One caller in `/status`."""

    remote: str = ""
    user_agent: str = ""
    verb: str = ""
    mode: str = ""
    calls: int = 0
    last: datetime | None = None
    certificate: str | None = None


class Status(Struct, frozen=True, rename="camel"):
    """The page `/status`."""

    version: str = ""
    started_at: datetime | None = None
    cluster: str = ""
    callers: tuple[Caller, ...] = ()


@dataclass(frozen=True, slots=True)
class Process:
    """Which command answers, and how its election stands if it is a controller."""

    command: Literal["serve", "controller"]
    version: str
    leader: str | None = None

    def __str__(self) -> str:
        state = "" if self.leader is None else f", {self.leader}"
        return f"leeway {self.command} {self.version}{state}"


def process_of(report: str, status: Status) -> Process:
    """Who answers, by the checks in its report."""
    if found := _LEADER.search(report):
        return Process("controller", status.version, found[1] or "")
    return Process("serve", status.version)


def check(where: str, *, ready: bool, report: str, status: Status) -> Iterator[Problem]:
    """Problems that the ops listener shows."""
    process = process_of(report, status)
    so = "filter answers with an error" if process.leader is None else "it compiles nothing"
    for line in report.splitlines():
        name, failed, why = line.partition(" failed: ")
        if not ready and failed:
            yield Problem(
                "error",
                "ready",
                f"{where}/readyz: {name.removeprefix('[-]')}",
                why,
                f"docs/operations.md says what to do; until then {so}",
            )
    if status.version != __version__:
        yield Problem(
            "info",
            "version",
            f"{where}/version",
            f"Leeway {status.version} runs, and this is {__version__}: its checks may differ",
            "use the same version",
        )
    if process.leader is not None:
        yield from leader.check_state(f"{where}/readyz: leader", process.leader)
    else:
        yield from _nudges(where, report)
        yield from _callers(where, status)


def _nudges(where: str, report: str) -> Iterator[Problem]:
    """The line below the check of that name says whether pods can be woken."""
    _, _, rest = report.partition("[+]nudges ok\n")
    line = rest.partition("\n")[0].strip()
    if line.startswith(_FAILING):
        yield Problem(
            "warning",
            "nudges",
            f"{where}/readyz: nudges",
            f"Leeway cannot wake a pod that it refused too early: {line.removeprefix(_FAILING)}",
            "allow patch on pods/status, as in deploy/kustomize/base/rbac.yaml",
        )


def check_mode(where: str, status: Status, config: SchedulerConfiguration) -> Iterator[Problem]:
    """Check that the calls match this configuration and can be answered."""
    names = any(each.node_cache_capable for each in config.extenders)
    if names and status.cluster.startswith(_NO_CLUSTER):
        yield Problem(
            "error",
            "no-cluster",
            f"{where}/status",
            "the scheduler sends names of nodes, and this Leeway knows no cluster to look them up"
            " in: every call is answered with an error",
            "start it with --kubeconfig, or in the cluster, or set nodeCacheCapable to false",
        )
    modes = {caller.mode for caller in status.callers if caller.verb in ("filter", "prioritize")}
    expected = {"names" if each.node_cache_capable else "nodes" for each in config.extenders}
    if modes and expected and not modes & expected:
        yield Problem(
            "warning",
            "mode",
            f"{where}/status",
            f"the calls carry {' and '.join(sorted(modes))}, while the configuration says"
            f" {' or '.join(sorted(expected))}",
            "the scheduler runs with another configuration than this: restart it, or look at the"
            " right one",
        )


def _callers(where: str, status: Status) -> Iterator[Problem]:
    filtering = [caller for caller in status.callers if caller.verb == "filter"]
    if not status.callers:
        why = "nobody has ever called: no rule of Leeway has an effect"
    elif not filtering:
        why = "filter was never called: no rule of Leeway refuses a node"
    else:
        strangers = [each for each in filtering if not each.user_agent.startswith(_CALLERS)]
        if len(strangers) == len(filtering):
            yield Problem(
                "info",
                "caller",
                f"{where}/status",
                f"no caller looks like kube-scheduler, only {strangers[0].user_agent!r}",
                "look at who calls",
            )
        return
    since = f" since {status.started_at:%Y-%m-%d %H:%M} UTC" if status.started_at else ""
    yield Problem(
        "warning",
        "never-called",
        f"{where}/status",
        why + since,
        "look at urlPrefix, the network policy and the certificates; pods must ask for the"
        " scheduler by schedulerName",
    )
