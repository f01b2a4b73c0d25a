"""Soft constraints: the fewer pods a node's domains have, the better."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor, log
from typing import Final

from extender.framework.interface import MAX_NODE_SCORE, Score
from extender.framework.node_info import NodeInfo
from extender.framework.pods import Selection
from extender.framework.topology import Tally
from extender.match.findings import Finding
from extender.plugins.pod_topology_spread.constraints import Constraint

HOSTNAME: Final = "kubernetes.io/hostname"
# A node that lacks a topology key; no sum of counts comes near it.
IGNORED: Final = -(1 << 62)


@dataclass(frozen=True, slots=True)
class Soft:
    """One constraint and its counts; a hostname has no tally, each node counts for itself."""

    constraint: Constraint
    selection: Selection
    tally: Tally | None

    def count(self, node: NodeInfo) -> int:
        """The pods that speak against this node."""
        if self.tally is None:
            return self.selection.on_node.get(node.name, 0)
        return self.tally.counts.get(node.labels[self.constraint.key], 0)


@dataclass(slots=True)
class SoftConstraints:
    """Scores candidates among each other: the column must be asked of all of them first."""

    softs: tuple[Soft, ...]
    findings: frozenset[Finding] = frozenset()
    _weights: Sequence[float] = field(default=())

    @property
    def facet(self) -> "SoftConstraints":
        """It is its own facet: a score depends on who the candidates are."""
        return self

    def __hash__(self) -> int:
        return id(self)

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        """The counts of each node, None where it is ignored."""
        keys = [soft.constraint.key for soft in self.softs]
        live = [all(key in node.labels for key in keys) for node in nodes]
        candidates = [node for node, counts in zip(nodes, live, strict=True) if counts]
        self._weights = [self._weight(soft, candidates) for soft in self.softs]
        columns = [self._counts(soft, candidates) for soft in self.softs]
        counted = iter(zip(*columns, strict=True))
        return [next(counted) if counts else None for counts in live]

    def score(self, node: NodeInfo) -> Score:
        """Upstream's sum, added in the order of the constraints."""
        if any(soft.constraint.key not in node.labels for soft in self.softs):
            return Score(IGNORED)
        total = 0.0
        for soft, weight in zip(self.softs, self._weights, strict=True):
            total += soft.count(node) * weight + (soft.constraint.max_skew - 1)
        return Score(_rounded(total))

    def normalize(self, scores: Sequence[int]) -> Sequence[int]:
        """The lowest sum is the best; who lacks a key has nothing."""
        live = [score for score in scores if score != IGNORED]
        lowest, highest = min(live, default=0), max(live, default=0)
        return [
            0
            if score == IGNORED
            else MAX_NODE_SCORE
            if highest == 0
            else _quotient(MAX_NODE_SCORE * (highest + lowest - score), highest)
            for score in scores
        ]

    def _weight(self, soft: Soft, candidates: Sequence[NodeInfo]) -> float:
        """More domains make smaller differences, so each pod weighs more."""
        key = soft.constraint.key
        size = len(candidates) if soft.tally is None else len({n.labels[key] for n in candidates})
        return log(size + 2)

    def _counts(self, soft: Soft, candidates: Sequence[NodeInfo]) -> Sequence[int]:
        if soft.tally is None:
            counts: Mapping[str, int] = soft.selection.on_node
            return [counts.get(node.name, 0) for node in candidates]
        counts, key = soft.tally.counts, soft.constraint.key
        return [counts.get(node.labels[key], 0) for node in candidates]


def _rounded(value: float) -> int:
    """As Go's math.Round: half away from zero."""
    return floor(value + 0.5) if value >= 0 else -floor(-value + 0.5)


def _quotient(dividend: int, divisor: int) -> int:
    """As Go divides integers: towards zero."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient
