"""NodeAffinity: required terms refuse a node, preferred terms raise its score."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from msgspec import Struct
from msgspec.structs import replace

from extender.errors import AnnotationError
from extender.framework import rules
from extender.framework.interface import (
    MAX_NODE_SCORE,
    SKIP,
    SUCCESS,
    NodeFilter,
    NodeScorer,
    Score,
    Settings,
    Status,
    score_of,
    success,
    unresolvable,
)
from extender.framework.snapshot import LabelsFacet, NodeInfo, Snapshot
from extender.match import selectors
from extender.match.budget import TERM_COST, Budget
from extender.match.findings import Finding, Noticed
from extender.match.selectors import Preferred, Required
from extender.model.core_v1 import NodeAffinity as NodeAffinityRules
from extender.model.core_v1 import Pod

REASON: Final = "node(s) didn't match Pod's node affinity/selector"
REFUSED: Final = unresolvable(REASON)


@dataclass(frozen=True, slots=True)
class NodeAffinity:
    """Judges by `spec.nodeSelector`, `spec.affinity.nodeAffinity` and the annotation.

    With `annotation_only` the native fields are left to kube-scheduler: that is how a pod of a
    profile that is not ours is judged.
    """

    name: ClassVar[str] = "NodeAffinity"
    settings: Settings
    annotation_only: bool = False

    def signature(self, pod: Pod) -> Hashable | None:
        """The question depends on these and on nothing else."""
        return rules.affinity_signature(pod, self.settings, annotation_only=self.annotation_only)

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
        facet = LabelsFacet.of(required.terms(), (key for key, _ in required.labels))
        return _RequiredTerms(required, facet, frozenset(noticed), self.settings.budget)

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
        facet = LabelsFacet.of(preferred.terms)
        return _PreferredTerms(preferred, facet, frozenset(noticed), self.settings.budget)

    def _affinities(self, pod: Pod) -> tuple[NodeAffinityRules | None, ...]:
        annotated = rules.annotated_affinity(pod, self.settings)
        return (annotated,) if self.annotation_only else (rules.native_affinity(pod), annotated)


class _RequiredTerms(Struct, frozen=True, gc=False):
    required: Required
    facet: LabelsFacet
    findings: frozenset[Finding]
    budget: Budget

    def filter(self, node: NodeInfo) -> Status:
        self.budget.spend(TERM_COST * self.required.most)
        return self._judged(node)

    def filter_all(self, nodes: Sequence[NodeInfo]) -> Sequence[Status] | None:
        asked = TERM_COST * self.required.most * len(nodes)
        if not self.budget.try_spend(asked):
            return None
        only = self.required.only
        if only is not None:
            noticed: Noticed = set()
            said = [SUCCESS if only(node.labels, noticed) else REFUSED for node in nodes]
            if not noticed:
                return said
        return list(map(self._judged, nodes))

    def _judged(self, node: NodeInfo) -> Status:
        noticed: Noticed = set()
        if self.required.matches(node.name, node.labels, noticed):
            return success(frozenset(noticed)) if noticed else SUCCESS
        return replace(REFUSED, findings=frozenset(noticed)) if noticed else REFUSED


class _PreferredTerms(Struct, frozen=True, gc=False):
    preferred: Preferred
    facet: LabelsFacet
    findings: frozenset[Finding]
    budget: Budget

    def score(self, node: NodeInfo) -> Score:
        self.budget.spend(TERM_COST * self.preferred.terms.most)
        return self._judged(node)

    def score_all(self, nodes: Sequence[NodeInfo]) -> Sequence[Score] | None:
        asked = TERM_COST * self.preferred.terms.most * len(nodes)
        if not self.budget.try_spend(asked):
            return None
        only = self.preferred.terms.only
        if only is not None:
            noticed: Noticed = set()
            matched, unmatched = score_of(self.preferred.weights[0]), score_of(0)
            found = [matched if only(node.labels, noticed) else unmatched for node in nodes]
            if not noticed:
                return found
        return list(map(self._judged, nodes))

    def _judged(self, node: NodeInfo) -> Score:
        noticed: Noticed = set()
        value = self.preferred.score(node.name, node.labels, noticed)
        return Score(value, frozenset(noticed)) if noticed else score_of(value)

    def normalize(self, scores: Sequence[int]) -> Sequence[int]:
        """The highest sum is 100. Below zero, which only an unchecked weight can cause, is 0."""
        highest = max(scores, default=0)
        if highest <= 0:
            return [0] * len(scores)
        return [max(0, MAX_NODE_SCORE * score // highest) for score in scores]
