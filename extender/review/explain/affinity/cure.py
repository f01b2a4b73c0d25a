"""Fixes for a refusal by node affinity: a rule or a label that nearly matches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from extender.framework.interface import Settings
from extender.framework.snapshot import NodeInfo
from extender.match import operators, selectors
from extender.model.core_v1 import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from extender.review.explain import nearness
from extender.review.explain.affinity import derivation
from extender.review.explain.edits import REQUIRED, Editor, line_of, with_spec
from extender.review.explain.proposals import Case, Proposal
from extender.review.explain.schema import Change
from extender.review.explain.words import NATIVE, quoted

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


@dataclass(frozen=True, slots=True)
class AffinityCure:
    """For NodeAffinity."""

    settings: Settings
    annotation_only: bool = False

    def obstacles(self, case: Case) -> int:
        """How many labels and requirements fail, in the nearest term of each carrier."""
        total = len(self._wrong_labels(case))
        for _, selector in self._selectors(case):
            failing = self._nearest(case, selector)
            total += 1 if failing is None else len(failing.requirements) + failing.fields
        return total

    def proposals(self, case: Case) -> Iterator[Proposal]:
        """For each label of the selector, and each requirement of the nearest term."""
        for key in self._wrong_labels(case):
            yield from _of_label(case, key)
        for carrier, selector in self._selectors(case):
            failing = self._nearest(case, selector)
            if failing is not None:
                for place in failing.requirements:
                    yield from self._of_requirement(case, carrier, selector, failing, place)

    def advice(self, case: Case) -> list[str]:
        """Problems that no change of one rule can cure."""
        found: list[str] = []
        for carrier, selector in self._selectors(case):
            failing = self._nearest(case, selector)
            if failing is None:
                found.append(f"the {carrier} node affinity has no term that could ever match")
            elif failing.fields:
                found.append(f"the {carrier} node affinity names other nodes in matchFields")
            else:
                found += self._wrong(case, failing)
        return found

    def _wrong(self, case: Case, failing: _Failing) -> list[str]:
        expressions = failing.term.match_expressions or ()
        checks = (
            derivation.requirement_check(expressions[place], case.node.labels, self.settings)
            for place in failing.requirements
        )
        return [f"{' '.join((c.key, c.operator, *c.values))}: {c.why}" for c in checks]

    def _wrong_labels(self, case: Case) -> list[str]:
        spec = case.pod.spec
        wanted = {} if self.annotation_only or not spec else spec.node_selector or {}
        return [key for key, value in wanted.items() if case.node.labels.get(key) != value]

    def _selectors(self, case: Case) -> list[tuple[str, NodeSelector]]:
        """The selectors without a matching term."""
        return [
            (carrier, selector)
            for carrier, selector in derivation.required_selectors(
                case.pod, self.settings, annotation_only=self.annotation_only
            )
            if not self._matches(selector, case.node)
        ]

    def _matches(self, selector: NodeSelector, node: NodeInfo) -> bool:
        compiled = selectors.compile_selector(selector, self.settings.gates, set())
        return compiled.match(node.name, node.labels, set())

    def _nearest(self, case: Case, selector: NodeSelector) -> _Failing | None:
        """The term with the fewest failing requirements."""
        terms = [
            self._failing(case, index, term)
            for index, term in enumerate((selector.node_selector_terms or ())[:_MAX_TERMS])
            if term.match_expressions or term.match_fields
        ]
        return min(terms, key=lambda each: len(each.requirements) + each.fields, default=None)

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
        self, case: Case, carrier: str, selector: NodeSelector, failing: _Failing, place: int
    ) -> Iterator[Proposal]:
        requirement = (failing.term.match_expressions or ())[place]
        mended = _mended(requirement, case.node.labels, self.settings)
        if mended is not None:
            changed, cost, said = mended
            path = f"{_path(carrier, self.settings)}[{failing.index}].matchExpressions[{place}]"
            change = Change(_NAME, said, path, line_of(requirement), line_of(changed))
            new = _with_requirement(selector, failing, place, changed)
            pod = Editor(self.settings).with_required(case.pod, carrier, new)
            yield Proposal(cost, change, pod, case.node)
        yield from _relabelled(case, requirement)


def _path(carrier: str, settings: Settings) -> str:
    native = "spec.affinity.nodeAffinity"
    annotation = f"metadata.annotations[{settings.annotation_prefix}node-affinity]"
    return f"{native if carrier == NATIVE else annotation}.{REQUIRED}.nodeSelectorTerms"


def _with_requirement(
    selector: NodeSelector, failing: _Failing, place: int, changed: Requirement
) -> NodeSelector:
    expressions = list(failing.term.match_expressions or ())
    expressions[place] = changed
    terms = list(selector.node_selector_terms or ())
    terms[failing.index] = replace(failing.term, match_expressions=tuple(expressions))
    return replace(selector, node_selector_terms=tuple(terms))


def _of_label(case: Case, key: str) -> Iterator[Proposal]:
    """For one label of spec.nodeSelector."""
    wanted = dict((case.pod.spec.node_selector if case.pod.spec else None) or {})
    value, actual = wanted[key], case.node.labels.get(key)
    if actual is not None:
        cost = 1.0 if nearness.spelling(value, [actual]) else 3.0
        said = f"nodeSelector {key}={value}: the node has {quoted(actual)}"
        change = Change(_NAME, said, f"spec.nodeSelector[{key}]", value, actual)
        yield Proposal(
            cost, change, with_spec(case.pod, node_selector=wanted | {key: actual}), case.node
        )
        return
    meant = nearness.spelling(key, case.node.labels)
    if meant is not None:
        del wanted[key]
        wanted[meant] = case.node.labels[meant]
        said = f"the node has no label {quoted(key)}: did you mean {quoted(meant)}?"
        change = Change(
            _NAME, said, "spec.nodeSelector", f"{key}={value}", f"{meant}={wanted[meant]}"
        )
        yield Proposal(1.5, change, with_spec(case.pod, node_selector=wanted), case.node)
    yield from _labelled(case, key, value)


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
        meant = nearness.spelling(changed.key, labels)
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
    node = case.node
    if not selectors.is_label_key(key) or not selectors.is_label_value(value):
        return
    change = Change(
        _NAME,
        f"the node has no label {quoted(key)}: label it, if it is what the pod needs",
        f"node {node.name}: metadata.labels[{key}]",
        "",
        value,
        command=f"kubectl label node {node.name} {key}={value}",
    )
    labels = {**node.labels, key: value}
    yield Proposal(3.5, change, case.pod, replace(node, labels=labels), additive=True)
