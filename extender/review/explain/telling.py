"""The sentences of an explanation, the same on a terminal and on a page."""

from collections.abc import Iterator, Sequence
from typing import Final

from extender.match import operators
from extender.review.explain.schema import (
    PASSES,
    Domain,
    Explanation,
    Fix,
    Group,
    SpreadCheck,
    TaintCheck,
    Threshold,
    TolerationCheck,
    Verdict,
)
from extender.review.explain.words import counted

MAX_NAMES: Final = 3
MAX_PASSING: Final = 10
MAX_DOMAINS: Final = 10
_VERDICTS: Final = {PASSES: "passes", "Skip": "-", "Error": "error"}


def verdict(code: str) -> str:
    """A verdict in one word."""
    return _VERDICTS.get(code, "refused")


def pod_name(explanation: Explanation) -> str:
    """Kind and name of the pod or workload."""
    pod = explanation.pod
    name = f"{pod.namespace}/{pod.owner or pod.name}"
    return f"{pod.kind} {name}"


def gate_lines(explanation: Explanation) -> Iterator[str]:
    """One line for each feature gate that is off and decides."""
    for check in explanation.gates:
        yield (
            f"Feature gate {check.gate} is off, and it decides: with it, the pod would pass on"
            f" {check.passing} of {counted(explanation.nodes, 'node')}"
        )


def passes_on(explanation: Explanation) -> str:
    """How many nodes pass."""
    return f"passes on {explanation.passing} of {counted(explanation.nodes, 'node')}"


def context_lines(explanation: Explanation) -> Iterator[str]:
    """What else is known of the pod: kube-scheduler's own words, and what pins it."""
    attempt, pin = explanation.attempt, explanation.pin
    if attempt is not None:
        yield f"kube-scheduler's last attempt ({attempt.reason or 'no reason'}): {attempt.message}"
    if pin is not None:
        where = f"to {', '.join(pin.nodes)}" if pin.nodes else "to no node of this cluster"
        yield f"pinned {where} by {' and '.join(pin.by)}"


def passing_names(explanation: Explanation, passing: Sequence[Verdict]) -> str:
    """The nodes that pass, the best first, with their scores if those differ."""
    scored = len({each.score for each in passing}) > 1
    shown = [f"{each.node} ({each.score})" if scored else each.node for each in passing]
    names = ", ".join(shown[:MAX_PASSING])
    more = explanation.passing - MAX_PASSING
    return f"{names} and {more} more" if more > 0 else names


def group_names(group: Group) -> str:
    """Some nodes of a group."""
    names = ", ".join(group.nodes[:MAX_NAMES])
    more = group.count - MAX_NAMES
    return f"{names} and {more} more" if more > 0 else names


def steps_of(threshold: Threshold) -> str:
    """The bounds of a rule, each with the number of nodes that pass."""
    return ", ".join(
        f"{each.value}{' (now)' if each.is_current else ''}: {each.passing}"
        for each in threshold.steps
    )


def patch_title(fix: Fix) -> str:
    """Whose patch it is, and how it gets there."""
    target = fix.target
    if target is None:
        return "Patch"
    name = f"{target.namespace}/{target.name}" if target.namespace else target.name
    return f"Patch for {target.kind} {name}" + (f": {fix.how}" if fix.how else "")


def fix_title(fix: Fix, title: str) -> str:
    """How far a fix goes."""
    if not fix.changes:
        return "What to do"
    if not fix.complete:
        return f"{title}: cures a part of what refuses {fix.node}"
    said = f"{title}: {counted(len(fix.changes), 'change')}, and it passes on {fix.node}"
    others = fix.passing - 1
    return said + (f" and on {counted(others, 'other')}" if others > 0 else "")


def taint(check: TaintCheck) -> str:
    """A taint in kubectl's notation."""
    name = f"{check.key}={check.value}" if check.value else check.key
    return f"{name}:{check.effect}"


def toleration(each: TolerationCheck) -> str:
    """A toleration in a few words."""
    if each.expression:
        return each.expression
    known = operators.toleration(each.operator)
    operator = known.name if known is not None else each.operator
    valueless = known is not None and known.arity == operators.NONE
    value = "" if valueless else each.value or '""'
    words = (each.key or "any key", operator, value, each.effect and f"({each.effect})")
    return " ".join(filter(None, words))


def domains_of(check: SpreadCheck) -> list[Domain]:
    """The node's own domain, those with the most pods and those with the fewest."""
    domains = check.domains
    if len(domains) <= MAX_DOMAINS:
        return list(domains)
    half = MAX_DOMAINS // 2
    own = [each for each in domains[half:-half] if each.name == check.domain]
    return [*domains[:half], *own, *domains[-half:]]
