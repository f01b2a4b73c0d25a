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
from extender.framework.rules import PodTolerations
from extender.framework.snapshot import TAINTS, AttributeFacet, NodeInfo, Snapshot
from extender.match.findings import Finding, Noticed
from extender.match.taints import NO_EXECUTE, PREFER_NO_SCHEDULE, Tolerations
from extender.model.core_v1 import Pod, Taint

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
        return _HardTaints(tolerations, tolerations.joined(), self.settings)

    def pre_score(self, pod: Pod, _snapshot: Snapshot) -> NodeScorer | Status:
        """Compile the tolerations that may speak of PreferNoSchedule."""
        try:
            tolerations = rules.pod_tolerations(pod, self.settings)
        except AnnotationError as exc:
            return unresolvable(str(exc))
        soft = tolerations.joined().for_effects("", PREFER_NO_SCHEDULE)
        return _SoftTaints(soft, tolerations.findings)


@dataclass(frozen=True, slots=True)
class _HardTaints:
    by_carrier: PodTolerations
    joined: Tolerations
    settings: Settings
    facet: ClassVar[AttributeFacet] = TAINTS

    @property
    def findings(self) -> frozenset[Finding]:
        return self.by_carrier.findings

    def filter(self, node: NodeInfo) -> Status:
        noticed: Noticed = set()
        narrow = self.settings.no_execute == "narrow"
        for taint in node.taints.hard:
            if narrow and taint.effect == NO_EXECUTE:
                refusal = self._narrowed(taint, noticed)
            else:
                refusal = None if self.joined.tolerates(taint, noticed) else REASON
            if refusal is not None:
                return self._refused(taint, refusal, frozenset(noticed))
        return success(frozenset(noticed))

    def _narrowed(self, taint: Taint, noticed: Noticed) -> str | None:
        """Why a NoExecute taint refuses, or None.

        Controller manager and kubelet evict by `spec.tolerations` alone, so the native list must
        tolerate; an annotation that speaks of the taint can then only narrow that.
        """
        annotated = self.by_carrier.annotated
        agrees = annotated.tolerates(taint, noticed)
        if not self.by_carrier.native.tolerates(taint, noticed):
            return REASON_ANNOTATION_ONLY if agrees else REASON
        return None if agrees or not annotated.addresses(taint) else REASON

    def _refused(self, taint: Taint, reason: str, findings: frozenset[Finding]) -> Status:
        if self.settings.reasons == "redacted":
            redacted = REASON_REDACTED if reason == REASON else REASON_ANNOTATION_ONLY_REDACTED
            return unresolvable(redacted, findings=findings, detail=taint)
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
    facet: ClassVar[AttributeFacet] = TAINTS

    def score(self, node: NodeInfo) -> Score:
        """How many soft taints are not tolerated."""
        noticed: Noticed = set()
        count = sum(not self.tolerations.tolerates(taint, noticed) for taint in node.taints.soft)
        return Score(count, frozenset(noticed))

    def normalize(self, scores: Sequence[int]) -> Sequence[int]:
        """The fewest taints win: upstream's DefaultNormalizeScore, reversed."""
        highest = max(scores, default=0)
        if not highest:
            return [MAX_NODE_SCORE] * len(scores)
        return [MAX_NODE_SCORE - MAX_NODE_SCORE * score // highest for score in scores]
