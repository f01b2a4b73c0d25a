"""What a profile says of nodes, found in the plainest way: each plugin is asked of each node.

Nothing is shared between nodes and nothing is remembered. The runner must come to the same.
"""

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from extender.framework.interface import (
    SUCCESS,
    Code,
    CompoundFilter,
    Narrowing,
    NodeFilter,
    NodeScorer,
    Profile,
    RelativeScorer,
    Status,
)
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.framework.stats import CallStats
from extender.match.findings import Finding
from extender.model.core_v1 import Pod

Count = tuple[str, str, dict[Code, int]]


class Judged(NamedTuple):
    """What is to be said and counted of the candidates that are known, in their order."""

    said: list[Any]
    counts: list[Count]
    findings: set[Finding]


def whole(status: Status) -> tuple[object, ...]:
    """All that a status says; equality leaves the last ones out."""
    return (*(getattr(status, name) for name in Status.__struct_fields__),)


def counts_of(stats: CallStats) -> list[Count]:
    """What a call counted, but for the time that it took."""
    return [(e.plugin, e.extension_point.value, dict(e.codes)) for e in stats.evaluations]


def judge(profile: Profile, pod: Pod, snapshot: Snapshot, nodes: Sequence[NodeInfo]) -> Judged:
    """The first refusal of each node; where a question breaks, it breaks for all that reach it."""
    counts: list[Count] = []
    findings: set[Finding] = set()
    asking: list[tuple[str, NodeFilter]] = []
    for plugin in profile.filters:
        outcome = plugin.pre_filter(pod, snapshot)
        findings |= outcome.findings
        code = outcome.code if isinstance(outcome, Status) else Code.SUCCESS
        counts.append((plugin.name, "PreFilter", {code: 1}))
        if not isinstance(outcome, Status):
            asking.append((plugin.name, outcome))
        elif code is not Code.SKIP:
            return Judged([whole(outcome.signed(plugin.name))] * len(nodes), counts, findings)
    said = [SUCCESS] * len(nodes)
    for name, question in asking:
        left = [place for place, status in enumerate(said) if status is SUCCESS]
        try:
            statuses = [question.filter(nodes[place]) for place in left]
        except Exception as exc:  # noqa: BLE001 - any plugin may break in any way
            statuses = [CallStats(lambda: 0.0).fault(exc)] * len(left)
        for place, status in zip(left, statuses, strict=True):
            findings |= status.findings
            if status.code is not Code.SUCCESS:
                said[place] = status.signed(name)
        if left:
            codes = Counter(status.code for status in statuses)
            counts.append((name, "Filter", dict(codes)))
    return Judged([whole(status) for status in said], counts, findings)


def narrow(
    profile: Profile, pod: Pod, snapshot: Snapshot, nodes: Sequence[NodeInfo]
) -> list[NodeInfo]:
    """Which of the nodes that pass are kept for the sake of pods in flight."""
    questions = [plugin.pre_filter(pod, snapshot) for plugin in profile.filters]
    parts = [part for q in questions for part in (q.parts if isinstance(q, CompoundFilter) else ())]
    choosing = [part for part in parts if isinstance(part, Narrowing) and part.crowded]
    kept = list(nodes)
    for part in sorted(choosing, key=lambda part: part.domains) if kept else ():
        keys = part.facet.column(kept)
        alike = Counter(keys)
        samples = dict(zip(keys, kept, strict=True))
        keeps = part.keeps([samples[key] for key in alike], list(alike.values()))
        chosen = dict(zip(alike, keeps, strict=True))
        kept = [node for node, key in zip(kept, keys, strict=True) if chosen[key]]
    return kept


def score(profile: Profile, pod: Pod, snapshot: Snapshot, nodes: Sequence[NodeInfo]) -> Judged:
    """The weighted mean of those that tell nodes apart, from 0 to 10."""
    counts: list[Count] = []
    findings: set[Finding] = set()
    spoken: list[tuple[int, list[int]]] = []
    neutral = [0] * len(nodes)
    for plugin, weight in profile.scorers:
        outcome = plugin.pre_score(pod, snapshot)
        findings |= outcome.findings
        if isinstance(outcome, Status):
            counts.append((plugin.name, "Score", {outcome.code: 1}))
            if outcome.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return Judged(neutral, counts, findings)
            continue
        try:
            raw = _raw_scores(outcome, nodes, findings)
        except Exception:  # noqa: BLE001 - any plugin may break in any way; then it is silent
            counts.append((plugin.name, "Score", {Code.ERROR: len(nodes)}))
            continue
        counts.append((plugin.name, "Score", {Code.SUCCESS: len(nodes)}))
        distinct = sorted(set(raw))
        normal = dict(zip(distinct, outcome.normalize(distinct), strict=True))
        if len(set(normal.values())) > 1:
            spoken.append((weight, [min(max(normal[each], 0), 100) for each in raw]))
    if not spoken:
        return Judged(neutral, counts, findings)
    total = sum(weight for weight, _ in spoken)
    sums = [sum(weight * each[i] for weight, each in spoken) for i in range(len(nodes))]
    means = [math.floor(Fraction(each, 10 * total) + Fraction(1, 2)) for each in sums]
    return Judged(means, counts, findings)


def _raw_scores(
    scorer: NodeScorer, nodes: Sequence[NodeInfo], findings: set[Finding]
) -> Sequence[int]:
    if isinstance(scorer, RelativeScorer):
        return scorer.score_among(nodes, [1] * len(nodes))
    scores = [scorer.score(node) for node in nodes]
    findings.update(*(each.findings for each in scores))
    return [each.value for each in scores]
