"""Fixes for a refusal by a taint: the nearest value, a typo, or a new toleration."""

import math
import shlex
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from heapq import nsmallest
from typing import Final

import msgspec

from extender.framework import rules
from extender.framework.interface import Settings
from extender.match import operators
from extender.match.gates import CEL_GATE
from extender.match.taints import HARD_EFFECTS, NO_EXECUTE, PREFER_NO_SCHEDULE
from extender.model.core_v1 import Taint, Toleration
from extender.native.settings import CONDITION_TAINTS
from extender.review.explain import living, nearness
from extender.review.explain.edits import Editor, line_of
from extender.review.explain.proposals import Case, Edit, Estimate, OncePerPod, Proposal
from extender.review.explain.schema import Change
from extender.review.explain.taints import derivation
from extender.review.explain.taints.derivation import Placed
from extender.review.explain.words import (
    ANNOTATION,
    NATIVE,
    quoted,
)

EFFECTS: Final = (*sorted(HARD_EFFECTS), PREFER_NO_SCHEDULE)
MAX_TOLERATIONS: Final = 100
_NAME: Final = "TaintToleration"
_MAX_REPAIRS: Final = 6
_ADDED: Final = 3.0  # what a new toleration costs
_LEAST_ADDED: Final = 2.9
# What it costs to leave a toleration as it is and to write its repaired copy beside it.
_BESIDE: Final = 0.01


@dataclass(frozen=True, slots=True)
class _Repair:
    """A toleration that is changed step by step to match a taint."""

    toleration: Toleration
    cost: float = 0.0
    said: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    def then(self, field: str, value: str, cost: float, said: str) -> "_Repair":
        changed = msgspec.structs.replace(self.toleration, **{field: value})
        return _Repair(changed, self.cost + cost, (*self.said, said), (*self.fields, field))


class TaintCure:
    """For TaintToleration."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._repairable = OncePerPod(partial(_repairable, settings))

    def obstacles(self, case: Case) -> int:
        """How many taints refuse."""
        return len(derivation.refusing(case.pod, case.node, self.settings))

    def proposals(self, case: Case) -> Iterator[Proposal]:
        """For the first taint that refuses: repair a toleration that nearly matches, or add one."""
        taint = next(iter(derivation.refusing(case.pod, case.node, self.settings)), None)
        if taint is None:
            return
        editor = Editor(self.settings)
        repairs = [(self._repaired(each, taint), each) for each in self._repairable.of(case)]
        known = [(repair, each) for repair, each in repairs if repair is not None]
        for repair, each in nsmallest(_MAX_REPAIRS, known, key=lambda pair: pair[0].cost):
            yield Proposal(repair.cost, partial(_mended, case, each, repair, editor))
            if each.carrier == NATIVE:
                # A pod that lives keeps its tolerations, but it may get more of them.
                beside = partial(_beside, case, repair, editor)
                yield Proposal(repair.cost + _BESIDE, beside, additive=True)
        if taint.key not in CONDITION_TAINTS:
            yield from self._added(case, taint, editor)

    def facet(self, case: Case) -> Hashable:
        """The taints that can refuse."""
        return case.node.taints.hard

    def estimate(self, case: Case) -> Estimate:
        """One change for each key that refuses: a toleration may match all taints of its key."""
        placed = self._repairable.of(case)
        costs: dict[str, float] = {}
        for taint in derivation.refusing(case.pod, case.node, self.settings):
            repairs = (self._repaired(each, taint) for each in placed)
            added = math.inf if taint.key in CONDITION_TAINTS else _LEAST_ADDED
            least = min([added, *(each.cost for each in repairs if each is not None)])
            key = "" if any(not each.toleration.key for each in placed) else taint.key
            costs[key] = max(costs.get(key, 0.0), least)
        return Estimate(len(costs), sum(costs.values()))

    def advice(self, case: Case) -> list[str]:
        """Problems that no change of the pod can cure."""
        found: list[str] = []
        placed = derivation.placed_tolerations(case.pod, self.settings)
        for taint in derivation.refusing(case.pod, case.node, self.settings):
            if taint.key in CONDITION_TAINTS:
                found.append(_of_condition(taint, case.node.name))
            for each in placed[:MAX_TOLERATIONS]:
                found += _remarks(each.toleration, taint, self.settings)
        return list(dict.fromkeys(found))

    def _added(self, case: Case, taint: Taint, editor: Editor) -> Iterator[Proposal]:
        """New tolerations for exactly this taint; the native field first, which everybody reads."""
        operator = operators.DEFAULT_TOLERATION if taint.value else "Exists"
        exact = Toleration(taint.key, operator, taint.value, taint.effect)
        wanted = [(NATIVE, exact, _ADDED), (ANNOTATION, exact, 3.2)]
        if taint.effect == NO_EXECUTE:
            # As wide as possible: the annotation still narrows it.
            matches = rules.pod_tolerations(case.pod, self.settings).annotated.tolerates
            cost = _LEAST_ADDED if matches(taint, set()) else 3.1
            wanted.append((NATIVE, Toleration(taint.key, "Exists", "", taint.effect), cost))
        for carrier, toleration, cost in wanted:
            said = _told(taint, carrier)
            make = partial(_appended, case, toleration, carrier, said, editor)
            yield Proposal(cost, make, additive=True)

    def _repaired(self, placed: Placed, taint: Taint) -> _Repair | None:
        """The toleration with the fewest changes that make it match, if it seems meant for it."""
        repair: _Repair | None = _Repair(placed.toleration)
        if placed.toleration.expression:
            return None
        for step in (_key, _effect, _operator):
            repair = None if repair is None else step(repair, taint)
        if repair is None:
            return None
        operator = operators.toleration(repair.toleration.operator)
        if operator is not None and not operator.is_on(self.settings.gates):
            return None
        check = derivation.toleration_check(
            replace(placed, toleration=repair.toleration), taint, self.settings
        )
        if not check.matches:
            repair = _value(repair, taint)
        return repair if repair is not None and repair.fields else None


@lru_cache(maxsize=1_024)
def _is_alike(key: str, other: str) -> bool:
    """Whether a key is probably a misspelt other one; there are few of both."""
    return nearness.spelling(key, [other]) is not None


def _key(repair: _Repair, taint: Taint) -> _Repair | None:
    key = repair.toleration.key
    if key in ("", taint.key):
        return repair
    if not _is_alike(key, taint.key):
        return None
    said = f"key {quoted(key)} is not {quoted(taint.key)}: did you mean that?"
    return repair.then("key", taint.key, 0.5, said)


def _effect(repair: _Repair, taint: Taint) -> _Repair:
    effect = repair.toleration.effect
    if effect in ("", taint.effect):
        return repair
    if effect not in EFFECTS:
        said = f"effect {quoted(effect)} is unknown: did you mean {taint.effect}?"
        return repair.then("effect", taint.effect, 0.5, said)
    said = f"effect {effect} does not fit the taint's {taint.effect}: leave it out"
    return repair.then("effect", "", 2.0, said)


def _operator(repair: _Repair, _taint: Taint) -> _Repair | None:
    operator = repair.toleration.operator
    if operators.toleration(operator) is not None:
        return repair
    known = operators.TOLERATION
    meant = operators.meant_by(operator, known) or nearness.spelling(operator, known)
    if meant is None:
        return None
    said = f"operator {quoted(operator)} is unknown: did you mean {meant}?"
    return repair.then("operator", meant, 0.5, said)


def _value(repair: _Repair, taint: Taint) -> _Repair | None:
    """Repair the value; key, effect and operator already match."""
    operator, value = operators.toleration(repair.toleration.operator), repair.toleration.value
    if operator is None:
        return None
    missed = f"`{operator.name} {value}` misses {taint.key}={taint.value}"
    comparison = operator.comparison
    if comparison is None:
        cost = 1.0 if nearness.spelling(value, [taint.value]) else 2.0
        return repair.then("value", taint.value, cost, f"{missed}: use {quoted(taint.value)}")
    near = nearness.bound(comparison, taint.value)
    if near is None:
        return None
    missed += nearness.because(comparison, value, taint.value)
    cost = 1.0 + nearness.distance(comparison, value, near)
    if comparison.kind == "integer":
        meant = nearness.canonical(value)
        test = None if meant is None else comparison.against(meant)
        if meant is not None and test is not None and test(taint.value):
            near, cost = meant, 0.5
    return repair.then("value", near, cost, f"{missed}: use {near}")


def _repairable(settings: Settings, case: Case) -> list[Placed]:
    """The tolerations that somebody wrote for this pod, up to a limit."""
    placed = derivation.placed_tolerations(case.pod, settings)
    return [each for each in placed if not _is_given(each)][:MAX_TOLERATIONS]


def _is_given(placed: Placed) -> bool:
    """Whether the system adds this toleration to pods; it is never what the author meant."""
    given = placed.toleration
    return placed.carrier == NATIVE and living.is_system(given)


def _appended(case: Case, toleration: Toleration, carrier: str, said: str, editor: Editor) -> Edit:
    listed = [*editor.tolerations(case.pod, carrier), toleration]
    path = f"{editor.path(carrier)}[{len(listed) - 1}]"
    change = Change(_NAME, said, path, "", line_of(toleration))
    return Edit(change, editor.with_tolerations(case.pod, carrier, listed), case.node)


def _beside(case: Case, repair: _Repair, editor: Editor) -> Edit:
    """The repaired toleration beside the one that does not match."""
    said = f"{'; '.join(repair.said)}, in one more toleration"
    return _appended(case, repair.toleration, NATIVE, said, editor)


def _mended(case: Case, placed: Placed, repair: _Repair, editor: Editor) -> Edit:
    listed = editor.tolerations(case.pod, placed.carrier)
    old, new = listed[placed.index], repair.toleration
    listed[placed.index] = new
    field = f".{repair.fields[0]}" if len(repair.fields) == 1 else ""
    before, after = (
        (getattr(old, repair.fields[0]), getattr(new, repair.fields[0]))
        if field
        else (line_of(old), line_of(new))
    )
    path = f"{editor.path(placed.carrier)}[{placed.index}]{field}"
    change = Change(_NAME, "; ".join(repair.said), path, before, after)
    return Edit(change, editor.with_tolerations(case.pod, placed.carrier, listed), case.node)


def _told(taint: Taint, carrier: str) -> str:
    name = f"{taint.key}={taint.value}" if taint.value else taint.key
    said = f"tolerate {name}:{taint.effect}"
    if carrier == NATIVE and taint.effect == NO_EXECUTE:
        said += " in spec.tolerations, which decide about eviction"
    return said


def _of_condition(taint: Taint, node: str) -> str:
    """What to do about a taint that Kubernetes sets itself, and removes again."""
    condition = taint.key.rpartition("/")[2]
    return (
        f"Kubernetes set the taint {condition}: kubectl describe node {shlex.quote(node)} says why"
    )


def _remarks(each: Toleration, taint: Taint, settings: Settings) -> Iterator[str]:
    """Why a toleration with the key of the taint can never match it."""
    if each.expression and not settings.gates.cel:
        yield f"feature gate {CEL_GATE} is off: expressions match nothing"
    if each.key != taint.key or each.expression:
        return
    operator = operators.toleration(each.operator)
    if operator is None:
        return
    comparison = operator.comparison
    if not operator.is_on(settings.gates):
        yield f"feature gate {operator.gate} is off: {operator.name} matches nothing"
    elif comparison is not None and comparison.parse(taint.value) is None:
        kind = "a version" if comparison.kind == "semver" else "an integer"
        yield (
            f"the taint {taint.key}={taint.value} is not {kind}, so `{operator.name}` never"
            " matches it: correct the taint on the node"
        )
