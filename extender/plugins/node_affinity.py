"""NodeAffinity: required terms refuse a node, preferred terms raise its score."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from extender.errors import AnnotationError
from extender.framework import rules
from extender.framework.interface import (
    MAX_NODE_SCORE,
    SKIP,
    NodeFilter,
    NodeScorer,
    Score,
    Settings,
    Status,
    success,
    unresolvable,
)
from extender.framework.snapshot import LabelsFacet, NodeInfo, Snapshot
from extender.match import selectors
from extender.match.effort import EFFORT_OF_TERM, Effort
from extender.match.findings import Finding, Noticed
from extender.match.selectors import Preferred, Required
from extender.model.core_v1 import NodeAffinity as NodeAffinityRules
from extender.model.core_v1 import Pod

REASON: Final = "node(s) didn't match Pod's node affinity/selector"


@dataclass(frozen=True, slots=True)
class NodeAffinity:
    """Judges by `spec.nodeSelector`, `spec.affinity.nodeAffinity` and the annotation.

    With `annotation_only` the native fields are left to kube-scheduler: that is how a pod of a
    profile that is not ours is judged.
    """

    name: ClassVar[str] = "NodeAffinity"
    settings: Settings
    annotation_only: bool = False

    def rules(self, pod: Pod) -> Hashable | None:
        """The question depends on these and on nothing else."""
        return rules.affinity_rules(pod, self.settings, annotation_only=self.annotation_only)

    def pre_filter(self, pod: Pod, _snapshot: Snapshot) -> NodeFilter | Status:
        """Compile what the pod requires; SKIP if it requires nothing."""
        noticed: Noticed = set()
        node_selector = pod.spec.node_selector if pod.spec and not self.annotation_only else None
        try:
            affinities = self._affinities(pod)
        except AnnotationError as exc:
            return unresolvable(str(exc))
        required = selectors.compile_required(
            node_selector, affinities, self.settings.gates, noticed
        )
        if required is None:
            return SKIP
        return _RequiredTerms(required, frozenset(noticed), self.settings.effort)

    def pre_score(self, pod: Pod, _snapshot: Snapshot) -> NodeScorer | Status:
        """Compile what the pod prefers; SKIP if it prefers nothing."""
        noticed: Noticed = set()
        try:
            affinities = self._affinities(pod)
        except AnnotationError as exc:
            return unresolvable(str(exc))
        preferred = selectors.compile_preferred(affinities, self.settings.gates, noticed)
        if preferred is None:
            return SKIP
        return _PreferredTerms(preferred, frozenset(noticed), self.settings.effort)

    def _affinities(self, pod: Pod) -> tuple[NodeAffinityRules | None, ...]:
        annotated = rules.annotated_affinity(pod, self.settings)
        return (annotated,) if self.annotation_only else (rules.native_affinity(pod), annotated)


@dataclass(frozen=True, slots=True)
class _RequiredTerms:
    required: Required
    findings: frozenset[Finding]
    effort: Effort

    @property
    def facet(self) -> LabelsFacet:
        return LabelsFacet.of(self.required.terms(), (key for key, _ in self.required.labels))

    def filter(self, node: NodeInfo) -> Status:
        self.effort.spend(EFFORT_OF_TERM * self.required.most)
        noticed: Noticed = set()
        if self.required.matches(node.name, node.labels, noticed):
            return success(frozenset(noticed))
        return unresolvable(REASON, findings=frozenset(noticed))


@dataclass(frozen=True, slots=True)
class _PreferredTerms:
    preferred: Preferred
    findings: frozenset[Finding]
    effort: Effort

    @property
    def facet(self) -> LabelsFacet:
        return LabelsFacet.of(self.preferred.terms)

    def score(self, node: NodeInfo) -> Score:
        self.effort.spend(EFFORT_OF_TERM * self.preferred.terms.most)
        noticed: Noticed = set()
        return Score(self.preferred.score(node.name, node.labels, noticed), frozenset(noticed))

    def normalize(self, scores: Sequence[int]) -> Sequence[int]:
        """The highest sum is 100. Below zero, which only an unchecked weight can cause, is 0."""
        highest = max(scores, default=0)
        if highest <= 0:
            return [0] * len(scores)
        return [max(0, MAX_NODE_SCORE * score // highest) for score in scores]
