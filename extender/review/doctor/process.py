"""Checks the scheduler as a whole: lease, back-off, version and feature gates."""

from collections.abc import Iterator
from typing import Final

from extender.review.doctor import scheduler
from extender.review.doctor.component import Component
from extender.review.doctor.problems import Problem
from extender.review.doctor.scheduler import SchedulerConfiguration

_BACKOFF_SECONDS: Final = 60
_DEFAULT_LEASE: Final = "kube-scheduler"
POP_GATE: Final = "SchedulerPopFromBackoffQ"
HINTS_GATE: Final = "SchedulerQueueingHints"
_POP_SINCE: Final = (1, 33)
_PROMPT_SINCE: Final = (1, 32)
_HINTS_SINCE: Final = (1, 28)


def check(config: SchedulerConfiguration, origin: str) -> Iterator[Problem]:
    """Problems of the configuration that concern the whole scheduler."""
    yield from _lease(config, origin)
    backoff = config.pod_max_backoff_seconds
    if backoff is None or backoff < _BACKOFF_SECONDS:
        yield Problem(
            "warning",
            "backoff",
            f"{origin}: podMaxBackoffSeconds",
            "every refused pod is asked about again at every event of the cluster, and back-off"
            f" is all that bounds it: it ends at {backoff or 10} s",
            f"set it to {_BACKOFF_SECONDS}",
        )
    if len(config.all_profiles()) > 1:
        names = ", ".join(each.scheduler_name for each in config.all_profiles())
        yield Problem(
            "warning",
            "shared-extender",
            f"{origin}: profiles",
            f"extenders belong to the scheduler, not to a profile: pods of all of {names} wait"
            " while Leeway is away",
            "give the extended profile a scheduler of its own",
        )


def check_process(process: Component, version: tuple[int, int] | None) -> Iterator[Problem]:
    """Problems of the command line; `version` counts if the image has none."""
    version = process.version or version
    where = f"{process.origin}: --feature-gates"
    pops, hints = process.gate(POP_GATE), process.gate(HINTS_GATE)
    if version is not None and version < _POP_SINCE:
        if pops is not None:
            yield _unknown_gate(where, POP_GATE, version)
        if version == _PROMPT_SINCE:
            yield _no_pop(where)
        if version < _PROMPT_SINCE and not (hints and version >= _HINTS_SINCE):
            yield _slow_retries(where, version)
    elif pops is False:
        yield Problem(
            "info",
            "pop-from-backoff",
            where,
            "a pod that was refused too early waits for the end of its back-off, although Leeway"
            " wakes it: up to podMaxBackoffSeconds",
            f"remove {POP_GATE}=false; an idle scheduler then asks about all refused pods at"
            " every event",
        )


def _unknown_gate(where: str, gate: str, version: tuple[int, int]) -> Problem:
    return Problem(
        "error",
        "pop-from-backoff",
        where,
        f"kube-scheduler {version[0]}.{version[1]} does not know {gate}, and an unknown gate ends"
        " it at its start",
        f"remove {gate}, which exists from 1.33 on",
    )


def _no_pop(where: str) -> Problem:
    return Problem(
        "info",
        "pop-from-backoff",
        where,
        "kube-scheduler 1.32 cannot end a back-off early: a pod that was refused too early waits"
        " for up to podMaxBackoffSeconds, although Leeway wakes it",
        "use Kubernetes 1.33 or newer where that is too long",
    )


def _slow_retries(where: str, version: tuple[int, int]) -> Problem:
    known = version >= _HINTS_SINCE
    return Problem(
        "warning",
        "queueing-hints",
        where,
        f"kube-scheduler {version[0]}.{version[1]} may leave a pod that could run waiting for 5"
        " minutes",
        f"add {HINTS_GATE}=true" if known else "use Kubernetes 1.32 or newer",
    )


def _lease(config: SchedulerConfiguration, origin: str) -> Iterator[Problem]:
    election = config.leader_election
    names = {each.scheduler_name for each in config.all_profiles()}
    own = scheduler.DEFAULT_SCHEDULER in names  # the cluster's own scheduler uses the default lease
    if own or not election.leader_elect or election.resource_name not in ("", _DEFAULT_LEASE):
        return
    if election.resource_name and election.resource_namespace not in ("", "kube-system"):
        return
    yield Problem(
        "error",
        "leader-election",
        f"{origin}: leaderElection.resourceName",
        "the default lease is the cluster scheduler's: two schedulers that share a lease take"
        " turns, and only one of them places pods",
        f"give it a name of its own, such as {min(names)}",
    )
