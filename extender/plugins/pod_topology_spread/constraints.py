"""The spread constraints of a pod, parsed, and which nodes count for them (KEP-3094)."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from operator import and_
from typing import Final, Literal

from extender.framework import rules
from extender.framework.interface import Settings
from extender.framework.node_info import NodeInfo, TaintSet
from extender.framework.rules import PodTolerations
from extender.framework.snapshot import TAINTS, LabelsFacet
from extender.match import label_selectors, selectors
from extender.match.budget import TERM_COST, Budget
from extender.match.label_selectors import Selector
from extender.match.selectors import Required
from extender.model.core_v1 import LabelSelector, Pod, TopologySpreadConstraint

HARD: Final = "DoNotSchedule"
SOFT: Final = "ScheduleAnyway"

Action = Literal["DoNotSchedule", "ScheduleAnyway"]

# A pod has one constraint of a kind for a topology key, and spreads over two or three keys.
MAX_CONSTRAINTS: Final = 16
# Keys and values in all selectors of a kind, and matchLabelKeys. To compile so many takes 5 ms.
MAX_CONDITIONS: Final = 2_000
REASON_TOO_MANY: Final = (
    f"spec.topologySpreadConstraints: more than {MAX_CONSTRAINTS} constraints"
    " with the same whenUnsatisfiable"
)
REASON_TOO_LARGE: Final = (
    f"spec.topologySpreadConstraints: selectors with more than {MAX_CONDITIONS} keys and values"
)


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint, with its selector compiled and the defaults filled in."""

    key: str
    max_skew: int
    min_domains: int
    selector: Selector
    matches_itself: bool
    honors_affinity: bool
    honors_taints: bool


def excess(pod: Pod, action: Action) -> str | None:
    """Why the constraints of one kind are more than is judged; None if they are not."""
    written = _written(pod, action)
    if len(written) > MAX_CONSTRAINTS:
        return REASON_TOO_MANY
    return REASON_TOO_LARGE if sum(map(_conditions, written)) > MAX_CONDITIONS else None


def parse(pod: Pod, action: Action, settings: Settings) -> tuple[Constraint, ...]:
    """The constraints of one kind; SelectorError if one cannot be read."""
    return tuple(_parsed(pod, each, settings) for each in _written(pod, action))


def _written(pod: Pod, action: Action) -> list[TopologySpreadConstraint]:
    every = (pod.spec.topology_spread_constraints if pod.spec else None) or ()
    return [each for each in every if each.when_unsatisfiable == action]


def _conditions(written: TopologySpreadConstraint) -> int:
    selector = written.label_selector or LabelSelector()
    requirements = selector.match_expressions or ()
    values = sum([1 + len(each.values or ()) for each in requirements])
    return values + len(selector.match_labels or ()) + len(written.match_label_keys or ())


def _parsed(pod: Pod, written: TopologySpreadConstraint, settings: Settings) -> Constraint:
    labels = (pod.metadata.labels if pod.metadata else None) or {}
    selector = label_selectors.compile_selector(written.label_selector)
    keys = written.match_label_keys or ()
    selector = selector.also({key: labels[key] for key in keys if key in labels})
    policies = settings.gates.node_inclusion_policy
    return Constraint(
        key=written.topology_key,
        max_skew=written.max_skew,
        min_domains=1 if written.min_domains is None else written.min_domains,
        selector=selector,
        matches_itself=selector.matches(labels),
        honors_affinity=not policies or written.node_affinity_policy in (None, "Honor"),
        honors_taints=policies and written.node_taints_policy == "Honor",
    )


@dataclass(frozen=True, slots=True)
class Inclusion:
    """The nodes that count for a constraint: by the pod's own rules, the extended ones too."""

    key: Hashable
    required: Required | None
    tolerations: PodTolerations | None
    no_execute: Literal["narrow", "join"]
    budget: Budget

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[bool]:
        """Whether each node counts; nodes that are alike in what is read are asked once."""
        included = [True] * len(nodes)
        if self.required is not None:
            included = self._by_affinity(self.required, nodes)
        if self.tolerations is not None:
            included = list(map(and_, included, self._by_taints(self.tolerations, nodes)))
        return included

    def _by_affinity(self, required: Required, nodes: Sequence[NodeInfo]) -> list[bool]:
        facet = LabelsFacet.of(required.terms(), (key for key, _ in required.labels))
        column = facet.column(nodes)
        self.budget.spend(TERM_COST * required.most * len(set(column)))
        verdicts = {
            key: required.matches(node.name, node.labels, set())
            for key, node in dict(zip(column, nodes, strict=True)).items()
        }
        return list(map(verdicts.__getitem__, column))

    def _by_taints(self, tolerations: PodTolerations, nodes: Sequence[NodeInfo]) -> list[bool]:
        column: Sequence[TaintSet] = TAINTS.column(nodes)  # type: ignore[assignment]
        sets = set(column)
        self.budget.spend(tolerations.size * sum(len(taints.hard) for taints in sets))
        verdicts = {
            taints: tolerations.first_refusal(taints.hard, self.no_execute, set()) is None
            for taints in sets
        }
        return list(map(verdicts.__getitem__, column))


class Inclusions:
    """The inclusions of one pod; its rules are read when the first constraint honours them."""

    def __init__(self, pod: Pod, settings: Settings) -> None:
        self._pod = pod
        self._settings = settings
        self._known: dict[tuple[bool, bool], Inclusion] = {}

    def of(self, constraint: Constraint) -> Inclusion:
        """Which nodes count; AnnotationError if a rule of the pod cannot be read."""
        policies = constraint.honors_affinity, constraint.honors_taints
        inclusion = self._known.get(policies)
        if inclusion is None:
            inclusion = self._known[policies] = self._made(*policies)
        return inclusion

    def _made(self, affinity: bool, taints: bool) -> Inclusion:
        pod, settings = self._pod, self._settings
        required = self._required() if affinity else None
        tolerations = rules.pod_tolerations(pod, settings) if taints else None
        affinity_key: Hashable = ()
        taints_key: Hashable = ()
        if required is not None:
            affinity_key = rules.affinity_signature(pod, settings, annotation_only=False)
        if tolerations is not None:
            taints_key = rules.toleration_signature(pod, settings)
        key = affinity_key, taints_key
        return Inclusion(key, required, tolerations, settings.no_execute, settings.budget)

    def _required(self) -> Required | None:
        pod, settings = self._pod, self._settings
        affinities = rules.native_affinity(pod), rules.annotated_affinity(pod, settings)
        node_selector = pod.spec.node_selector if pod.spec else None
        return selectors.compile_required(node_selector, affinities, settings.gates, set())
