"""Checks the configuration of a controller: alone, and beside an extender's."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from extender.config.printing import taint_text
from extender.config.schema import Config
from extender.framework.interface import Settings
from extender.match.gates import ATTRIBUTE_OF, INCLUSION_GATE
from extender.model.core_v1 import Pod, Taint, Toleration
from extender.native.settings import CONDITION_TAINTS
from extender.review.doctor.problems import Problem
from extender.review.doctor.scheduler import DEFAULT_SCHEDULER, SchedulerConfiguration
from extender.review.scan import usage
from extender.review.scan.objects import Scanned, ScannedVolume, ref_of

# A leader that is killed is replaced after the 15 s of its Lease and one retry of 2 s.
TAKEOVER_SECONDS: Final = 17
# The only gate that does not concern tolerations.
_RULE_GATES: Final = tuple(gate for gate in ATTRIBUTE_OF if gate != INCLUSION_GATE)
Workload = tuple[str, Scanned]


def check(origin: str, config: Config) -> Iterator[Problem]:
    """Problems of a controller's configuration alone."""
    settings = config.compile
    grace = settings.no_execute_grace
    if grace < TAKEOVER_SECONDS:
        so = (
            "without guards, each change of a NoExecute value evicts"
            if not grace
            else f"a leader that is killed is replaced after up to {TAKEOVER_SECONDS} s, and a"
            f" NoExecute value that changes meanwhile evicts after {grace} s"
        )
        yield Problem(
            "warning",
            "no-execute-grace",
            f"{origin}: compile.noExecuteGrace",
            f"{so}, also if the new value is good",
            "set it to 30s",
        )
    extra = settings.extra_taints
    if len(set(extra)) > settings.max_tolerations:
        yield Problem(
            "warning",
            "max-tolerations",
            f"{origin}: compile.maxTolerations",
            f"it is {settings.max_tolerations}, and compile.extraTaints alone has"
            f" {len(set(extra))} taints: a rule that matches all of them is always cut",
            "raise it, or name fewer taints",
        )
    yield from _extra_taints(f"{origin}: compile.extraTaints", extra)


def _extra_taints(where: str, extra: Sequence[Taint]) -> Iterator[Problem]:
    for taint, count in Counter(extra).items():
        name = taint_text(taint)
        if taint.key in CONDITION_TAINTS:
            why = f"{name} is a condition that Kubernetes sets itself, not a taint of a node group"
        elif count > 1:
            why = f"{name} stands there {count} times"
        else:
            continue
        yield Problem("warning", "extra-taints", where, why, "remove it")


def check_beside(
    controller: tuple[str, Config],
    extenders: Sequence[tuple[str, Config]],
    schedulers: Iterable[SchedulerConfiguration],
) -> Iterator[Problem]:
    """Problems of a controller's configuration together with an extender's."""
    origin, config = controller
    calling = {p.scheduler_name for s in schedulers if s.extenders for p in s.all_profiles()}
    served = calling.union(*(each.extended_schedulers() for _, each in extenders))
    compiled = config.compile.scheduler_names
    unknown = sorted((served & compiled if compiled else served) - config.extended_schedulers())
    if unknown:
        yield Problem(
            "warning",
            "compile-profiles",
            f"{origin}: profiles",
            f"an extender serves {', '.join(unknown)}, and the controller does not know it: the"
            " webhook refuses their pods with a node-affinity annotation",
            "add a profile with this schedulerName (in the chart: compile.extenderSchedulerNames),"
            " or remove the name from compile.schedulerNames",
        )
    for other, extender in extenders:
        names = extender.extended_schedulers() or calling
        if not names or not compiled or names & compiled:
            yield from _gates(origin, config, other, extender)


def _gates(origin: str, config: Config, other: str, extender: Config) -> Iterator[Problem]:
    for gate in _RULE_GATES:
        if is_on(config, gate) != is_on(extender, gate):
            off, on = (other, origin) if is_on(config, gate) else (origin, other)
            yield Problem(
                "warning",
                "gate-mismatch",
                f"{origin}: featureGates.{gate}",
                f"it is on in {on} and off in {off}: both judge the same pods, and come to"
                " different verdicts",
                "set it to the same value in both",
            )


def is_on(config: Config, gate: str) -> bool:
    """Whether a gate is on."""
    return bool(getattr(config.gates, ATTRIBUTE_OF[gate]))


def gates_off(config: Config) -> list[str]:
    """The gates that are off."""
    return [gate for gate in ATTRIBUTE_OF if not is_on(config, gate)]


def any_gate_off(configs: Iterable[tuple[str, Config]]) -> bool:
    """Whether a gate is off in one of these configurations."""
    return any(gates_off(config) for _, config in configs)


def has_rules(obj: Scanned, settings: Settings) -> bool:
    """Whether an object is a pod or a template with extended rules."""
    return not isinstance(obj, ScannedVolume) and bool(usage.of_pod(obj.template(), settings)[0])


def check_used_gates(
    origin: str, config: Config, workloads: Iterable[Workload], *, compiles: bool
) -> Iterator[Problem]:
    """Gates that are off, although pods that this configuration is for have such rules."""
    off = gates_off(config)
    if not off:
        return
    names = config.compile.scheduler_names if compiles else config.extended_schedulers()
    users: dict[str, dict[str, None]] = {}
    settings = config.settings()
    for kind, obj in workloads:
        if isinstance(obj, ScannedVolume) or not _is_judged(obj.template(), names):
            continue
        # A controller reads tolerations alone.
        for gate in {
            each.gate
            for each in usage.of_pod(obj.template(), settings)[0]
            if not compiles or isinstance(each.rule, Toleration)
        }:
            users.setdefault(gate, {})[str(ref_of(kind, obj.metadata))] = None
    for gate in off:
        if found := users.get(gate):
            yield Problem(
                "warning",
                "gate-off",
                f"{origin}: featureGates.{gate}",
                f"it is off, and {len(found)} workloads or pods have such rules, such as"
                f" {next(iter(found))}: these rules never match",
                "switch it on, or remove the rules; `leeway scan` lists them",
            )


def _is_judged(pod: Pod, names: Collection[str]) -> bool:
    name = (pod.spec.scheduler_name if pod.spec else "") or DEFAULT_SCHEDULER
    return not names or name in names
