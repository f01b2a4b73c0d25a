"""TaintToleration: hard taints refuse a node, soft ones lower its score."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from extender.errors import AnnotationError
from extender.framework import rules
from extender.framework.interface import (
    MAX_NODE_SCORE,
    NodeFilter,
    NodeScorer,
    Score,
    Settings,
    Status,
    success,
    unresolvable,
)
from extender.framework.rules import PodTolerations, Refusal
from extender.framework.snapshot import TAINTS, AttributeFacet, NodeInfo, Snapshot
from extender.match.effort import Effort
from extender.match.findings import Finding, Noticed
from extender.match.taints import PREFER_NO_SCHEDULE, Tolerations
from extender.model.core_v1 import Pod

REASON: Final = "node(s) had untolerated taint {{{}}}"
REASON_REDACTED: Final = "node(s) had untolerated taint(s)"
REASON_ANNOTATION_ONLY: Final = "node(s) had NoExecute taint {{{}}} tolerated only by annotation"
REASON_ANNOTATION_ONLY_REDACTED: Final = (
    "node(s) had NoExecute taint(s) tolerated only by annotation"
)


@dataclass(frozen=True, slots=True)
class TaintToleration:
    """Filters by NoSchedule and NoExecute taints, scores by PreferNoSchedule ones."""

    name: ClassVar[str] = "TaintToleration"
    settings: Settings

    def rules(self, pod: Pod) -> Hashable | None:
        """The question depends on these and on nothing else."""
        return rules.toleration_rules(pod, self.settings)

    def pre_filter(self, pod: Pod, _snapshot: Snapshot) -> NodeFilter | Status:
        """Compile the tolerations of both carriers."""
        try:
            tolerations = rules.pod_tolerations(pod, self.settings)
        except AnnotationError as exc:
            return unresolvable(str(exc))
        return _HardTaints(tolerations, self.settings)

    def pre_score(self, pod: Pod, _snapshot: Snapshot) -> NodeScorer | Status:
        """Compile the tolerations that may speak of PreferNoSchedule."""
        try:
            tolerations = rules.pod_tolerations(pod, self.settings)
        except AnnotationError as exc:
            return unresolvable(str(exc))
        soft = tolerations.joined().for_effects("", PREFER_NO_SCHEDULE)
        return _SoftTaints(soft, tolerations.findings, self.settings.effort)


@dataclass(frozen=True, slots=True)
class _HardTaints:
    by_carrier: PodTolerations
    settings: Settings
    facet: ClassVar[AttributeFacet] = TAINTS

    @property
    def findings(self) -> frozenset[Finding]:
        return self.by_carrier.findings

    def filter(self, node: NodeInfo) -> Status:
        self.settings.effort.spend(self.by_carrier.size * len(node.taints.hard))
        noticed: Noticed = set()
        refusal = self.by_carrier.first_refusal(node.taints.hard, self.settings.no_execute, noticed)
        if refusal is None:
            return success(frozenset(noticed))
        return self._refused(refusal, frozenset(noticed))

    def _refused(self, refusal: Refusal, findings: frozenset[Finding]) -> Status:
        taint, only = refusal.taint, refusal.annotation_only
        if self.settings.reasons == "redacted":
            redacted = REASON_ANNOTATION_ONLY_REDACTED if only else REASON_REDACTED
            return unresolvable(redacted, findings=findings, detail=taint)
        reason = REASON_ANNOTATION_ONLY if only else REASON
        return unresolvable(
            reason.format(f"{taint.key}: {taint.value}"),
            brief=reason.format(taint.key),
            findings=findings,
            detail=taint,
        )


@dataclass(frozen=True, slots=True)
class _SoftTaints:
    tolerations: Tolerations
    findings: frozenset[Finding]
    effort: Effort
    facet: ClassVar[AttributeFacet] = TAINTS

    def score(self, node: NodeInfo) -> Score:
        """How many soft taints are not tolerated."""
        self.effort.spend(len(self.tolerations.matchers) * len(node.taints.soft))
        noticed: Noticed = set()
        count = sum(not self.tolerations.tolerates(taint, noticed) for taint in node.taints.soft)
        return Score(count, frozenset(noticed))

    def normalize(self, scores: Sequence[int]) -> Sequence[int]:
        """The fewest taints win: upstream's DefaultNormalizeScore, reversed."""
        highest = max(scores, default=0)
        if not highest:
            return [MAX_NODE_SCORE] * len(scores)
        return [MAX_NODE_SCORE - MAX_NODE_SCORE * score // highest for score in scores]
