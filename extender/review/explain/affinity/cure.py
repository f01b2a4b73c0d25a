"""Fixes for a refusal by node affinity: a rule or a label that nearly matches."""

import math
import shlex
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

from msgspec.structs import replace

from extender.framework.interface import Settings
from extender.match import operators, selectors
from extender.model.core_v1 import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from extender.review.explain import nearness
from extender.review.explain.affinity import derivation
from extender.review.explain.edits import Editor, line_of, terms_path, with_spec
from extender.review.explain.proposals import INCURABLE, Case, Edit, Estimate, OncePerPod, Proposal
from extender.review.explain.schema import Change
from extender.review.explain.words import quoted

_NAME: Final = "NodeAffinity"
_MAX_TERMS: Final = 50

Labels = selectors.Labels
Requirement = NodeSelectorRequirement


@dataclass(frozen=True, slots=True)
class _Failing:
    """A term, and the indexes of its requirements that fail."""

    index: int
    term: NodeSelectorTerm
    requirements: tuple[int, ...]
    fields: int  # number of matchFields that fail

    @property
    def obstacles(self) -> int:
        """How much of it fails."""
        return len(self.requirements) + self.fields

    @property
    def order(self) -> tuple[int, int]:
        """The nearest term comes first; nobody can change the name of a node."""
        return self.fields, len(self.requirements)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of a pod, and the keys of labels that they name."""

    labels: Mapping[str, str]
    selectors: Sequence[tuple[str, NodeSelector, selectors.Terms]]
    keys: Sequence[str]
    by_name: bool  # whether they also name nodes


class AffinityCure:
    """For NodeAffinity."""

    def __init__(self, settings: Settings, annotation_only: bool = False) -> None:
        self.settings = settings
        self._rules = OncePerPod(partial(_rules, settings, annotation_only))

    def obstacles(self, case: Case) -> int:
        """How many labels and requirements fail, in the nearest term of each carrier."""
        total = len(self._wrong_labels(case))
        for _, selector in self._selectors(case):
            nearest = self._nearest(case, selector)
            total += nearest[0].obstacles if nearest else 1
        return total

    def facet(self, case: Case) -> Hashable:
        """The labels that the rules name, or those with a name that is close; and the node."""
        labels = case.node.labels
        keys = tuple(sorted(labels))
        rules = self._rules.of(case)
        found = [
            labels[key] if key in labels else _close_label(key, keys, labels) for key in rules.keys
        ]
        return tuple(found), case.node.name if rules.by_name else ""

    def estimate(self, case: Case) -> Estimate:
        """The sum over labels and selectors; one label of the node may cure several of them."""
        wrong = self._wrong_labels(case)
        costs = {key: _least(_of_label(case, key)) for key in wrong}
        parts = [(set(wrong), Estimate(len(wrong), sum(costs.values())))] if wrong else []
        for carrier, selector in self._selectors(case):
            terms = [
                self._estimate_term(case, carrier, each) for each in self._nearest(case, selector)
            ]
            keys = {key for each, _ in terms for key in each}
            parts.append((keys, min((each for _, each in terms), default=INCURABLE)))
        missing = [keys - case.node.labels.keys() for keys, _ in parts]
        if len(set().union(*missing)) < sum(map(len, missing)):
            return max(each for _, each in parts)
        return Estimate(sum(each.changes for _, each in parts), sum(each.cost for _, each in parts))

    def proposals(self, case: Case) -> Iterator[Proposal]:
        """For each label of the selector, and each requirement of the nearest terms."""
        for key in self._wrong_labels(case):
            yield from _of_label(case, key)
        for carrier, selector in self._selectors(case):
            for failing in self._nearest(case, selector):
                for place in failing.requirements:
                    yield from self._of_requirement(case, carrier, failing, place)

    def advice(self, case: Case) -> list[str]:
        """Problems that no change of one rule can cure."""
        found: list[str] = []
        for carrier, selector in self._selectors(case):
            nearest = self._nearest(case, selector)
            if not nearest:
                found.append(f"the {carrier} node affinity has no term that could ever match")
            elif nearest[0].fields:
                found.append(f"the {carrier} node affinity names other nodes in matchFields")
            else:
                found += self._wrong(case, nearest[0])
        return found

    def _estimate_term(
        self, case: Case, carrier: str, failing: _Failing
    ) -> tuple[list[str], Estimate]:
        """The keys that fail in a term, and what it costs to cure it."""
        expressions = failing.term.match_expressions or ()
        costs: dict[Hashable, float] = {}
        keys = [expressions[place].key for place in failing.requirements]
        for place, key in zip(failing.requirements, keys, strict=True):
            proposed = self._of_requirement(case, carrier, failing, place)
            # What is missing of a node may be cured at once, for all requirements.
            cause: Hashable = place if key in case.node.labels else key
            costs[cause] = max(costs.get(cause, 0.0), _least(proposed))
        if failing.fields:
            return keys, INCURABLE
        return keys, Estimate(len(costs), sum(costs.values()))

    def _wrong(self, case: Case, failing: _Failing) -> list[str]:
        expressions = failing.term.match_expressions or ()
        checks = (
            derivation.requirement_check(expressions[place], case.node.labels, self.settings)
            for place in failing.requirements
        )
        return [f"{' '.join((c.key, c.operator, *c.values))}: {c.why}" for c in checks]

    def _wrong_labels(self, case: Case) -> list[str]:
        wanted, labels = self._rules.of(case).labels, case.node.labels
        return [key for key, value in wanted.items() if labels.get(key) != value]

    def _selectors(self, case: Case) -> list[tuple[str, NodeSelector]]:
        """The selectors without a matching term."""
        node = case.node
        return [
            (carrier, selector)
            for carrier, selector, compiled in self._rules.of(case).selectors
            if not compiled.match(node.name, node.labels, set())
        ]

    def _nearest(self, case: Case, selector: NodeSelector) -> list[_Failing]:
        """The terms with the fewest failing requirements."""
        terms = [
            self._failing(case, index, term)
            for index, term in enumerate((selector.node_selector_terms or ())[:_MAX_TERMS])
            if term.match_expressions or term.match_fields
        ]
        fewest = min((each.order for each in terms), default=(0, 0))
        return [each for each in terms if each.order == fewest]

    def _failing(self, case: Case, index: int, term: NodeSelectorTerm) -> _Failing:
        labels, name = case.node.labels, case.node.name
        bad = [
            place
            for place, each in enumerate(term.match_expressions or ())
            if not derivation.requirement_check(each, labels, self.settings).matches
        ]
        fields = [
            each
            for each in term.match_fields or ()
            if not derivation.field_check(each, name).matches
        ]
        return _Failing(index, term, tuple(bad), len(fields))

    def _of_requirement(
        self, case: Case, carrier: str, failing: _Failing, place: int
    ) -> Iterator[Proposal]:
        requirement = (failing.term.match_expressions or ())[place]
        mended = _mended(requirement, case.node.labels, self.settings)
        if mended is not None:
            changed, cost, said = mended

            def make() -> Edit:
                terms = terms_path(carrier, self.settings)
                path = f"{terms}[{failing.index}].matchExpressions[{place}]"
                change = Change(_NAME, said, path, line_of(requirement), line_of(changed))
                editor = Editor(self.settings)
                pod = editor.with_requirement(case.pod, carrier, failing.index, place, changed)
                return Edit(change, pod, case.node)

            yield Proposal(cost, make)
        yield from _relabelled(case, requirement)


def _rules(settings: Settings, annotation_only: bool, case: Case) -> _Rules:
    spec = case.pod.spec
    labels = {} if annotation_only or not spec else spec.node_selector or {}
    required = derivation.required_selectors(case.pod, settings, annotation_only=annotation_only)
    terms = [term for _, each in required for term in each.node_selector_terms or ()]
    named = [each.key for term in terms for each in term.match_expressions or ()]
    return _Rules(
        labels,
        [
            (carrier, each, selectors.compile_selector(each, settings.gates, set()))
            for carrier, each in required
        ],
        list(dict.fromkeys([*labels, *named])),
        by_name=any(term.match_fields for term in terms),
    )


def _least(proposals: Iterable[Proposal]) -> float:
    return min((each.cost for each in proposals), default=math.inf)


@lru_cache(maxsize=4_096)
def _meant(key: str, keys: tuple[str, ...]) -> str | None:
    """The key of a label that was probably meant; most nodes have the same keys."""
    return nearness.spelling(key, keys)


def _close_label(key: str, keys: tuple[str, ...], labels: Labels) -> tuple[str, str] | None:
    meant = _meant(key, keys)
    return None if meant is None else (meant, labels[meant])


def _of_label(case: Case, key: str) -> Iterator[Proposal]:
    """For one label of spec.nodeSelector."""
    wanted = dict((case.pod.spec.node_selector if case.pod.spec else None) or {})
    value, actual = wanted[key], case.node.labels.get(key)
    if actual is not None:
        cost = 1.0 if nearness.spelling(value, [actual]) else 3.0
        yield Proposal(cost, partial(_revalued, case, wanted, key, actual))
        return
    meant = _meant(key, tuple(sorted(case.node.labels)))
    if meant is not None:
        yield Proposal(1.5, partial(_rekeyed, case, wanted, key, meant))
    yield from _labelled(case, key, value)


def _revalued(case: Case, wanted: Mapping[str, str], key: str, actual: str) -> Edit:
    said = f"nodeSelector {key}={wanted[key]}: the node has {quoted(actual)}"
    change = Change(_NAME, said, f"spec.nodeSelector[{key}]", wanted[key], actual)
    pod = with_spec(case.pod, node_selector={**wanted, key: actual})
    return Edit(change, pod, case.node)


def _rekeyed(case: Case, wanted: Mapping[str, str], key: str, meant: str) -> Edit:
    others = {each: value for each, value in wanted.items() if each != key}
    new = {**others, meant: case.node.labels[meant]}
    said = f"the node has no label {quoted(key)}: did you mean {quoted(meant)}?"
    before, after = f"{key}={wanted[key]}", f"{meant}={new[meant]}"
    change = Change(_NAME, said, "spec.nodeSelector", before, after)
    return Edit(change, with_spec(case.pod, node_selector=new), case.node)


def _mended(
    requirement: Requirement, labels: Labels, settings: Settings
) -> tuple[Requirement, float, str] | None:
    """The corrected requirement, its cost, and what was wrong."""
    changed, cost, said = requirement, 0.0, list[str]()
    if operators.affinity(changed.operator) is None:
        known = operators.AFFINITY
        meant = operators.meant_by(changed.operator, known) or nearness.spelling(
            changed.operator, known
        )
        if meant is None:
            return None
        said.append(f"operator {quoted(changed.operator)} is unknown: did you mean {meant}?")
        changed, cost = replace(changed, operator=meant), cost + 0.5
    if changed.key not in labels and changed.operator != "DoesNotExist":
        meant = _meant(changed.key, tuple(sorted(labels)))
        if meant is None:
            return None
        said.append(f"the node has no label {quoted(changed.key)}: did you mean {quoted(meant)}?")
        changed, cost = replace(changed, key=meant), cost + 0.5
    if not derivation.requirement_check(changed, labels, settings).matches:
        valued = _with_value(changed, labels.get(changed.key, ""))
        if valued is None:
            return None
        changed, more, words = valued
        said.append(words)
        cost += more
    return changed, cost, "; ".join(said)


def _with_value(requirement: Requirement, actual: str) -> tuple[Requirement, float, str] | None:
    """The requirement with values that match the node's label."""
    operator, values = requirement.operator, requirement.values or ()
    written = f"`{operator} {', '.join(values)}`".replace(" `", "`")
    match operator:
        case "In":
            kept = [value for value in values if nearness.spelling(value, [actual]) is None]
            close = len(kept) < len(values)
            said = f"{written} misses {requirement.key}={actual}: "
            said += f"use {quoted(actual)}" if close else f"add {quoted(actual)}"
            return replace(requirement, values=(*kept, actual)), 1.0 if close else 2.0, said
        case "NotIn" if len(values) > 1:
            said = f"{written} excludes {requirement.key}={actual}: take it off the list"
            return replace(requirement, values=_without(values, actual)), 3.0, said
        case "Exists" | "DoesNotExist" if values:
            said = f"{operator} takes no values: leave them out"
            return replace(requirement, values=None), 1.0, said
        case _:
            return _with_bound(requirement, actual, written)


def _with_bound(
    requirement: Requirement, actual: str, written: str
) -> tuple[Requirement, float, str] | None:
    """The requirement with the nearest bound that matches the node's label."""
    operator = operators.affinity(requirement.operator)
    comparison = operator.comparison if operator is not None else None
    near = None if comparison is None else nearness.bound(comparison, actual)
    if comparison is None or near is None:
        return None
    old = next(iter(requirement.values or ()), "")
    cost = 1.0 + nearness.distance(comparison, old, near)
    why = nearness.because(comparison, old, actual) if comparison.kind == "semver" else ""
    said = f"{written} misses {requirement.key}={actual}{why}: use {near}"
    return replace(requirement, values=(near,)), cost, said


def _without(values: Sequence[str], actual: str) -> tuple[str, ...]:
    return tuple(value for value in values if value != actual)


def _relabelled(case: Case, requirement: Requirement) -> Iterator[Proposal]:
    """The node with the label that the requirement asks for."""
    values = requirement.values or ()
    match requirement.operator:
        case "In" if values and requirement.key not in case.node.labels:
            yield from _labelled(case, requirement.key, values[0])
        case "Exists" if requirement.key not in case.node.labels:
            yield from _labelled(case, requirement.key, "")
        case _:
            return


def _labelled(case: Case, key: str, value: str) -> Iterator[Proposal]:
    if selectors.is_label_key(key) and selectors.is_label_value(value):
        yield Proposal(3.5, partial(_with_label, case, key, value), additive=True)


def _with_label(case: Case, key: str, value: str) -> Edit:
    node = case.node
    change = Change(
        _NAME,
        f"the node has no label {quoted(key)}: label it, if it is what the pod needs",
        f"node {node.name}: metadata.labels[{key}]",
        "",
        value,
        command=shlex.join(["kubectl", "label", "node", node.name, f"{key}={value}"]),
    )
    return Edit(change, case.pod, replace(node, labels={**node.labels, key: value}))
