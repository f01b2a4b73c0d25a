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
from extender.match.taints import Tolerations
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
        """The same tolerations; those of another effect do not match a soft taint."""
        try:
            tolerations = rules.pod_tolerations(pod, self.settings)
        except AnnotationError as exc:
            return unresolvable(str(exc))
        return _SoftTaints(tolerations.joined, tolerations.findings, self.settings.budget)


class _HardTaints(Struct, frozen=True, gc=False):
    by_carrier: PodTolerations
    settings: Settings
    facet: ClassVar[AttributeFacet] = HARD_TAINTS

    @property
    def findings(self) -> frozenset[Finding]:
        return self.by_carrier.findings

    def filter(self, node: NodeInfo) -> Status:
        self.settings.budget.spend(self.by_carrier.size * len(node.taints.hard))
        return self._first_refusal(node, {})

    def filter_all(self, nodes: Sequence[NodeInfo]) -> Sequence[Status] | None:
        compared = self.by_carrier.size * sum([len(node.taints.hard) for node in nodes])
        if not self.settings.budget.try_spend(compared):
            return None
        judged: dict[Taint, Status] = {}
        return [self._first_refusal(node, judged) for node in nodes]

    def _first_refusal(self, node: NodeInfo, judged: dict[Taint, Status]) -> Status:
        """What the first taint says that refuses; `judged` is what was said of taints before."""
        for taint in node.taints.hard:
            status = judged.get(taint)
            if status is None:
                status = judged[taint] = self._judged(taint)
            if status is not SUCCESS:
                return status
        return SUCCESS

    def _judged(self, taint: Taint) -> Status:
        noticed: Noticed = set()
        refusal = self.by_carrier.refusal(taint, self.settings.no_execute, noticed)
        if refusal is None:
            return SUCCESS  # nothing is noticed of a taint that is tolerated
        findings = frozenset(noticed) if noticed else NOTHING_FOUND
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
        self.budget.spend(self.tolerations.lookups * len(node.taints.soft))
        return self._judged(node.taints.soft)

    def score_all(self, nodes: Sequence[NodeInfo]) -> Sequence[Score] | None:
        compared = self.tolerations.lookups * sum([len(node.taints.soft) for node in nodes])
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
