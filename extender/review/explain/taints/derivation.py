"""Each taint of a node against each toleration of a pod: the values and the result.

Every verdict comes from the core, which compiles and evaluates each toleration alone. This module
only adds the words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from extender.framework import rules
from extender.framework.interface import Settings
from extender.framework.rules import PodTolerations
from extender.framework.snapshot import NodeInfo
from extender.match import operators, taints
from extender.match.findings import Noticed
from extender.match.gates import CEL_GATE
from extender.match.taints import HARD_EFFECTS, NO_EXECUTE, PREFER_NO_SCHEDULE
from extender.model.core_v1 import Pod, Taint, Toleration
from extender.plugins.taint_toleration import TaintToleration
from extender.review.explain.proposals import Case
from extender.review.explain.schema import Derivation, TaintCheck, TolerationCheck
from extender.review.explain.words import (
    ANNOTATION,
    NATIVE,
    Side,
    compared,
    one_of,
    quoted,
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A toleration with its carrier and index."""

    carrier: str
    index: int
    toleration: Toleration


def placed_tolerations(pod: Pod, settings: Settings) -> list[Placed]:
    """Every toleration of both carriers; AnnotationError if the annotation is unreadable."""
    native, annotated = rules.written_tolerations(pod, settings)
    return [
        *(Placed(NATIVE, index, each) for index, each in enumerate(native)),
        *(Placed(ANNOTATION, index, each) for index, each in enumerate(annotated)),
    ]


def derive(plugin: TaintToleration, case: Case, limit: int, derived: Derivation) -> Derivation:
    """The derivation with the taints of the node in it."""
    found = checks(case.pod, case.node, plugin.settings, limit)
    return msgspec.structs.replace(derived, taints=tuple(found))


def checks(pod: Pod, node: NodeInfo, settings: Settings, limit: int) -> list[TaintCheck]:
    """Every taint of the node; `limit` bounds the rows altogether."""
    placed = placed_tolerations(pod, settings)
    compiled = rules.pod_tolerations(pod, settings)
    made = []
    for taint in [*node.taints.hard, *node.taints.soft][:limit]:
        made.append(taint_check(taint, placed, compiled, settings, limit))
        limit = max(1, limit - len(placed))
    return made


def taint_check(
    taint: Taint,
    placed: Sequence[Placed],
    compiled: PodTolerations,
    settings: Settings,
    limit: int,
) -> TaintCheck:
    """One taint against every toleration."""
    against = tuple(toleration_check(each, taint, settings) for each in placed[:limit])
    tolerated, why = _outcome(taint, compiled, settings)
    return TaintCheck(
        taint.key,
        taint.value,
        taint.effect,
        tolerated,
        refuses=not tolerated and taint.effect in HARD_EFFECTS,
        why=why,
        tolerations=against,
        omitted=len(placed[limit:]),
    )


def refusing(pod: Pod, node: NodeInfo, settings: Settings) -> list[Taint]:
    """The hard taints that refuse the pod, each judged alone."""
    compiled = rules.pod_tolerations(pod, settings)
    return [
        taint
        for taint in node.taints.hard
        if compiled.first_refusal((taint,), settings.no_execute, set()) is not None
    ]


def _outcome(taint: Taint, compiled: PodTolerations, settings: Settings) -> tuple[bool, str]:
    """Whether the taint is tolerated, and by which carrier or why not."""
    noticed: Noticed = set()
    if taint.effect == PREFER_NO_SCHEDULE:
        if compiled.joined.tolerates(taint, noticed):
            return True, "tolerated"
        return False, "not tolerated: lowers the score, refuses nobody"
    native = compiled.native.tolerates(taint, noticed)
    annotated = compiled.annotated.tolerates(taint, noticed)
    refusal = compiled.first_refusal((taint,), settings.no_execute, noticed)
    narrow = taint.effect == NO_EXECUTE and settings.no_execute == "narrow"
    if refusal is not None and refusal.annotation_only:
        return False, (
            "tolerated only by annotation: the kubelet and the controller manager evict by"
            " spec.tolerations alone, so a NoExecute taint must be tolerated there"
        )
    if refusal is not None and native and narrow:
        return False, (
            "spec.tolerations tolerate it, but the annotation speaks of it and does not match:"
            " for NoExecute the annotation narrows"
        )
    if refusal is not None:
        return False, "no toleration matches"
    by = " and ".join(
        name
        for name, matches in (("spec.tolerations", native), ("the annotation", annotated))
        if matches
    )
    return True, f"tolerated by {by}"


def toleration_check(placed: Placed, taint: Taint, settings: Settings) -> TolerationCheck:
    """One toleration against one taint."""
    each = placed.toleration
    noticed: Noticed = set()
    (matcher,) = taints.compile_tolerations(
        [each], settings.gates, settings.programs, noticed
    ).matchers
    addressed = matcher.addresses(taint)
    matches = addressed and matcher.accepts(taint, noticed)
    detail = _Detail(matches=matches)
    if each.expression:
        detail = _of_expression(each.expression, taint, settings, matches=matches)
    elif not addressed:
        detail.why = _why_not_addressed(each, taint)
    else:
        _explain_value(each, taint, settings, detail)
    return TolerationCheck(
        placed.carrier,
        placed.index,
        each.key,
        each.operator,
        each.value,
        each.effect,
        each.expression,
        matches,
        detail.why,
        detail.parsed_value,
        detail.parsed_taint,
        detail.cost,
    )


@dataclass(slots=True)
class _Detail:
    matches: bool
    why: str = ""
    parsed_value: str | None = None
    parsed_taint: str | None = None
    cost: int | None = None


def _of_expression(expression: str, taint: Taint, settings: Settings, *, matches: bool) -> _Detail:
    if not settings.gates.cel:
        return _Detail(matches, f"feature gate {CEL_GATE} is off: expressions match nothing")
    problem = settings.programs.problem(expression)
    if problem is not None:
        return _Detail(matches, f"the expression tolerates nothing: {problem}")
    verdict = settings.programs.evaluate(expression, taint)
    if verdict.error is not None:
        why = f"the expression ends in an error: {verdict.error}"
    else:
        why = f"the expression is {str(bool(verdict.result)).lower()}"
    return _Detail(matches, why, cost=verdict.cost)


def _why_not_addressed(each: Toleration, taint: Taint) -> str:
    parts = []
    if each.key not in ("", taint.key):
        parts.append("key differs")
    if each.effect not in ("", taint.effect):
        parts.append(f"effect {each.effect} is not {taint.effect}")
    return ", ".join(parts)


def _explain_value(each: Toleration, taint: Taint, settings: Settings, detail: _Detail) -> None:
    """Explain the comparison of the values; key and effect already match."""
    operator = operators.toleration(each.operator)
    if operator is None:
        detail.why = f"operator {quoted(each.operator)} is unknown and matches nothing"
    elif not operator.is_on(settings.gates):
        detail.why = f"feature gate {operator.gate} is off: {operator.name} matches nothing"
    elif operator.comparison is None and operator.arity == operators.NONE:
        detail.why = f"{operator.name} takes any value"
    elif operator.comparison is None:
        detail.why = one_of(taint.value, (each.value,))
    else:
        comparison = operator.comparison
        own, theirs = comparison.parse(each.value), comparison.parse(taint.value)
        detail.parsed_value = None if own is None else str(own)
        detail.parsed_taint = None if theirs is None else str(theirs)
        detail.why = compared(
            comparison,
            Side("toleration", each.value, detail.parsed_value),
            Side("taint", taint.value, detail.parsed_taint),
            holds=detail.matches,
        )
