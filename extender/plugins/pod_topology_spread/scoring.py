"""Soft constraints: the fewer pods a node's domains have, the better."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import compress, repeat
from math import floor, log
from operator import attrgetter
from typing import Final

from extender.framework.interface import MAX_NODE_SCORE, Score
from extender.framework.node_info import LabelOf, NodeInfo
from extender.framework.pods import Selection
from extender.framework.topology import Tally
from extender.match.findings import Finding
from extender.plugins.pod_topology_spread.constraints import Constraint

HOSTNAME: Final = "kubernetes.io/hostname"
# A node that lacks a topology key; no sum of counts comes near it.
IGNORED: Final = -(1 << 62)
# Upstream's own mark is -1: a sum of -1, which takes a maxSkew of 0, is worth as little there.
_NOTHING: Final = frozenset({IGNORED, -1})


@dataclass(frozen=True, slots=True)
class Soft:
    """One constraint and its counts; a hostname has no tally, each node counts for itself."""

    constraint: Constraint
    selection: Selection
    tally: Tally | None
    labels: LabelOf

    def counts(self, nodes: Sequence[NodeInfo], domains: Sequence[str | None]) -> Sequence[int]:
        """The pods that speak against each node, given its domain."""
        if self.tally is None:
            names = map(attrgetter("name"), nodes)
            return list(map(self.selection.on_node.get, names, repeat(0)))
        return list(map(self.tally.counts.get, domains, repeat(0)))  # type: ignore[arg-type]


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
        """The score of each node: whoever has the same is alike."""
        domains = [soft.labels.column(nodes) for soft in self.softs]
        counts = [
            soft.counts(nodes, column) for soft, column in zip(self.softs, domains, strict=True)
        ]
        live = None
        if any(None in column for column in domains):
            live = [None not in row for row in zip(*domains, strict=True)]
            domains = [list(compress(column, live)) for column in domains]
        self._weights = [
            # More domains make smaller differences, so each pod weighs more.
            log((len(column) if soft.tally is None else len(set(column))) + 2)
            for soft, column in zip(self.softs, domains, strict=True)
        ]
        rows = list(zip(*counts, strict=True))
        sums = {row: self._sum(row) for row in set(rows)}
        scores = list(map(sums.__getitem__, rows))
        if live is None:
            return scores
        return [score if lives else IGNORED for score, lives in zip(scores, live, strict=True)]

    def score(self, node: NodeInfo) -> Score:
        """What the column has for one node, by what it knows of the others."""
        domains = [soft.labels.column([node]) for soft in self.softs]
        if [None] in domains:
            return Score(IGNORED)
        counts = (
            soft.counts([node], column) for soft, column in zip(self.softs, domains, strict=True)
        )
        return Score(self._sum([count for (count,) in counts]))

    def _sum(self, counts: Sequence[int]) -> int:
        """Upstream's sum, added in the order of the constraints."""
        total = 0.0
        for soft, weight, count in zip(self.softs, self._weights, counts, strict=True):
            total += count * weight + (soft.constraint.max_skew - 1)
        return _rounded(total)

    def normalize(self, scores: Sequence[int]) -> Sequence[int]:
        """The lowest sum is the best; who lacks a key has nothing."""
        live = [score for score in scores if score != IGNORED]
        lowest, highest = min(live, default=0), max(0, *live) if live else 0
        return [
            0
            if score in _NOTHING
            else MAX_NODE_SCORE
            if highest == 0
            else _quotient(MAX_NODE_SCORE * (highest + lowest - score), highest)
            for score in scores
        ]


def _rounded(value: float) -> int:
    """As Go's math.Round: half away from zero."""
    return floor(value + 0.5) if value >= 0 else -floor(-value + 0.5)


def _quotient(dividend: int, divisor: int) -> int:
    """As Go divides integers: towards zero."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient
