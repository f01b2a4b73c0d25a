"""Assembles an explanation: the verdicts of the core, grouped, with reasons and a fix.

It works in steps of a few milliseconds, so that a server can do other work in between.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from extender.errors import NotFoundError
from extender.framework.interface import Code, Status
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.model.core_v1 import ObjectMeta, PodSpec
from extender.review.explain import compiled, gate_checks, nearness, pins, remarks, thresholds
from extender.review.explain.inquiry import Inquiry
from extender.review.explain.judgement import Judgement
from extender.review.explain.schema import (
    Explanation,
    PodReference,
    ProfileReference,
    SchedulerAttempt,
)
from extender.review.explain.steps import Bench, Steps, filtered, finished
from extender.wire import answers

DEFAULT_SCHEDULER: Final = "default-scheduler"


def explain(inquiry: Inquiry) -> Explanation:
    """The whole explanation at once."""
    return finished(explaining(inquiry))


def explaining(inquiry: Inquiry) -> Steps[Explanation]:
    """The explanation in steps; the caller may do other work at each `yield`."""
    snapshot, profile, pod = inquiry.snapshot, inquiry.profile, inquiry.pod
    nodes = list(snapshot.nodes.values())
    asked = None if inquiry.node is None else _named(inquiry.node, snapshot)
    bench = Bench(nodes)
    result = yield from filtered(profile, pod, snapshot, nodes, bench=bench)
    judged = Judgement(inquiry, nodes, result.statuses, bench)
    verdicts = judged.verdicts()
    yield
    groups = yield from judged.groups()
    pin = pins.of(pod, profile, inquiry.settings, nodes)
    fix = yield from judged.fix(groups, pin.nodes if pin else ())
    gates = yield from gate_checks.of(inquiry, nodes, judged.passes, bench)
    steps = yield from thresholds.of(inquiry, nodes, bench)
    derived = None
    if asked is not None:
        derived = yield from judged.derivation(asked)
    compilation, notes = compiled.of(inquiry, nodes)
    yield
    limit = inquiry.bounds.verdicts
    return Explanation(
        pod=_reference(inquiry),
        profile=ProfileReference(profile.name, tuple(each.name for each in profile.filters)),
        nodes=len(nodes),
        passing=judged.passing,
        message=_message(nodes, result.statuses),
        groups=tuple(groups),
        verdicts=tuple(verdicts[:limit]),
        omitted=len(verdicts[limit:]),
        fix=fix,
        notes=(*remarks.of(inquiry, result.findings, judged.passing), *notes),
        derivation=derived,
        compilation=compilation,
        attempt=_attempt(inquiry),
        pin=pin,
        gates=tuple(gates),
        thresholds=tuple(steps),
    )


def _named(name: str, snapshot: Snapshot) -> NodeInfo:
    node = snapshot.nodes.get(name)
    if node is None:
        meant = nearness.spelling(name, snapshot.nodes)
        hint = f"; did you mean {meant}?" if meant else ""
        raise NotFoundError(f"node {name!r} is not in the cluster{hint}")
    return node


def _reference(inquiry: Inquiry) -> PodReference:
    meta = inquiry.pod.metadata or ObjectMeta()
    spec = inquiry.pod.spec or PodSpec()
    return PodReference(
        meta.namespace,
        meta.name,
        spec.scheduler_name or DEFAULT_SCHEDULER,
        inquiry.subject.kind,
        inquiry.subject.owner,
    )


def _attempt(inquiry: Inquiry) -> SchedulerAttempt | None:
    attempt = inquiry.subject.attempt
    if attempt is None:
        return None
    return SchedulerAttempt(attempt.reason, attempt.message, attempt.since)


def _message(nodes: Sequence[NodeInfo], statuses: Sequence[Status]) -> str:
    """The message of kube-scheduler's event for our answer."""
    if not nodes:
        return "no nodes available to schedule pods"
    fault = next((status for status in statuses if status.code is Code.ERROR), None)
    if fault is not None:
        return ": ".join((fault.plugin, *fault.reasons))
    refused = [status for status in statuses if status.code is not Code.SUCCESS]
    brief = answers.are_too_many(refused)
    texts = (", ".join(s.brief if brief and s.brief else s.reasons) for s in refused)
    reasons = sorted(f"{count} {reason}" for reason, count in Counter(texts).items())
    head = f"{len(nodes) - len(refused)}/{len(nodes)} nodes are available"
    return f"{head}: {', '.join(reasons)}." if reasons else f"{head}."
