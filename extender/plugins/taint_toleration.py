"""TaintToleration: hard taints refuse a node, soft ones lower its score."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from msgspec import Struct

from extender.errors import AnnotationError
from extender.framework import rules
from extender.framework.interface import (
    MAX_NODE_SCORE,
    NOTHING_FOUND,
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
from extender.framework.rules import PodTolerations, Refusal
from extender.framework.snapshot import (
    HARD_TAINTS,
    SOFT_TAINTS,
    AttributeFacet,
    NodeInfo,
    Snapshot,
)
from extender.match.budget import Budget
from extender.match.findings import Finding, Noticed
from extender.match.taints import PREFER_NO_SCHEDULE, Tolerations
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

    def signature(self, pod: Pod) -> Hashable | None:
        """The question depends on these and on nothing else."""
        return rules.toleration_signature(pod, self.settings)

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
        soft = tolerations.joined.for_effects("", PREFER_NO_SCHEDULE)
        return _SoftTaints(soft, tolerations.findings, self.settings.budget)


class _HardTaints(Struct, frozen=True, gc=False):
    by_carrier: PodTolerations
    settings: Settings
    facet: ClassVar[AttributeFacet] = HARD_TAINTS

    @property
    def findings(self) -> frozenset[Finding]:
        return self.by_carrier.findings

    def filter(self, node: NodeInfo) -> Status:
        self.settings.budget.spend(self.by_carrier.size * len(node.taints.hard))
        return self._judged(node.taints.hard)

    def filter_all(self, nodes: Sequence[NodeInfo]) -> Sequence[Status] | None:
        compared = self.by_carrier.size * sum([len(node.taints.hard) for node in nodes])
        if not self.settings.budget.try_spend(compared):
            return None
        refusal_of, no_execute = self.by_carrier.refusal, self.settings.no_execute
        alone: dict[Taint, Status] = {}  # what is to be said of a node with this taint only
        noticed: Noticed = set()
        said = []
        for node in nodes:
            status = SUCCESS
            for taint in node.taints.hard:
                found = alone.get(taint)
                if found is None:
                    refusal = refusal_of(taint, no_execute, noticed)
                    found = alone[taint] = self._status(refusal, noticed)
                if found is not SUCCESS:
                    # What was noticed is to be joined over all taints up to the refusal.
                    status = self._judged(node.taints.hard) if found.findings else found
                    break
            said.append(status)
        return said

    def _judged(self, hard: tuple[Taint, ...]) -> Status:
        noticed: Noticed = set()
        refusal = self.by_carrier.first_refusal(hard, self.settings.no_execute, noticed)
        return self._status(refusal, noticed)

    def _status(self, refusal: Refusal | None, noticed: Noticed) -> Status:
        if refusal is None and not noticed:
            return SUCCESS
        findings = frozenset(noticed) if noticed else NOTHING_FOUND
        noticed.clear()
        if refusal is None:
            return success(findings)
        return _refused(refusal, self.settings.reasons, findings)


def _refused(
    refusal: Refusal, reasons: Literal["detailed", "redacted"], findings: frozenset[Finding]
) -> Status:
    taint, annotation_only = refusal.taint, refusal.annotation_only
    if reasons == "redacted":
        redacted = REASON_ANNOTATION_ONLY_REDACTED if annotation_only else REASON_REDACTED
        return unresolvable(redacted, findings=findings)
    reason = REASON_ANNOTATION_ONLY if annotation_only else REASON
    return unresolvable(
        reason.format(f"{taint.key}: {taint.value}"),
        brief=reason.format(taint.key),
        findings=findings,
    )


class _SoftTaints(Struct, frozen=True, gc=False):
    tolerations: Tolerations
    findings: frozenset[Finding]
    budget: Budget
    facet: ClassVar[AttributeFacet] = SOFT_TAINTS

    def score(self, node: NodeInfo) -> Score:
        """How many soft taints are not tolerated."""
        self.budget.spend(len(self.tolerations.matchers) * len(node.taints.soft))
        return self._judged(node.taints.soft)

    def score_all(self, nodes: Sequence[NodeInfo]) -> Sequence[Score] | None:
        compared = len(self.tolerations.matchers) * sum([len(node.taints.soft) for node in nodes])
        if not self.budget.try_spend(compared):
            return None
        return [self._judged(node.taints.soft) for node in nodes]

    def _judged(self, soft: tuple[Taint, ...]) -> Score:
        noticed: Noticed = set()
        tolerates = self.tolerations.tolerates
        count = sum([not tolerates(taint, noticed) for taint in soft])
        return Score(count, frozenset(noticed)) if noticed else score_of(count)

    def normalize(self, scores: Sequence[int]) -> Sequence[int]:
        """The fewest taints win: upstream's DefaultNormalizeScore, reversed."""
        highest = max(scores, default=0)
        if not highest:
            return [MAX_NODE_SCORE] * len(scores)
        return [MAX_NODE_SCORE - MAX_NODE_SCORE * score // highest for score in scores]
