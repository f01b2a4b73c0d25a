"""Soft constraints: the fewer pods a node's domains have, the better."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, repeat
from math import floor, log
from operator import attrgetter
from typing import ClassVar, Final

from extender.framework.columns.node_table import NodeTable
from extender.framework.interface import MAX_NODE_SCORE, NOTHING_FOUND, Score
from extender.framework.node_info import NodeInfo
from extender.framework.pods.cohorts import Selection
from extender.framework.pods.topology import Tally
from extender.framework.snapshot import LabelsFacet
from extender.match.findings import Finding
from extender.plugins.pod_topology_spread.constraints import Constraint

HOSTNAME: Final = "kubernetes.io/hostname"
# A node that lacks a topology key; no sum of counts comes near it.
IGNORED: Final = -(1 << 62)
# What such a node has instead of a number of pods.
NO_LABEL: Final = "no label"
# Upstream's own mark is -1: a sum of -1, which takes a maxSkew of 0, is worth as little there.
_NOTHING: Final = frozenset({IGNORED, -1})


@dataclass(frozen=True, slots=True)
class Soft:
    """One constraint and its counts; a hostname has no tally, each node counts for itself."""

    constraint: Constraint
    selection: Selection
    tally: Tally | None

    def counts(self, nodes: Sequence[NodeInfo], domains: Sequence[str | None]) -> Sequence[int]:
        """The pods that speak against each node, given its domain."""
        if self.tally is None:
            names = map(attrgetter("name"), nodes)
            return list(map(self.selection.on_node.get, names, repeat(0)))
        return list(map(self.tally.counts.get, domains, repeat(0)))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class SoftConstraints:
    """Scores candidates among each other: how much a pod weighs depends on who they are."""

    softs: tuple[Soft, ...]
    findings: ClassVar[frozenset[Finding]] = NOTHING_FOUND

    @property
    def facet(self) -> LabelsFacet:
        """The domains of a node; `exceptions` are nodes that differ from others of theirs."""
        keys = {soft.constraint.key for soft in self.softs if soft.tally is not None}
        return LabelsFacet(tuple(sorted(keys)))

    def exceptions(self, table: NodeTable) -> Mapping[int, Hashable]:
        """Where each node counts for itself, most have no pods: the rows of those that do.

        A node that lacks the label is none of them, and is marked.
        """
        found: dict[int, Hashable] = {}
        for soft in self.softs:
            if soft.tally is None:
                for name, count in soft.selection.on_node.items():
                    row = table.rows.get(name)
                    if row is not None:
                        found[row] = found.get(row), count
                if table.labels[soft.constraint.key] < len(table.rows):
                    found |= _without(table, soft.constraint.key)
        return found

    def score(self, node: NodeInfo) -> Score:
        """The score of a node that is the only candidate."""
        (value,) = self.score_among([node], [1])
        return Score(value)

    def score_among(self, nodes: Sequence[NodeInfo], counts: Sequence[int]) -> Sequence[int]:
        """The score of each node, given how many candidates are like it."""
        domains = [self._domains(soft, nodes) for soft in self.softs]
        pods = list(
            zip(
                *(soft.counts(nodes, each) for soft, each in zip(self.softs, domains, strict=True)),
                strict=True,
            )
        )
        live = None
        if any(None in each for each in domains):
            live = [None not in row for row in zip(*domains, strict=True)]
            domains = [list(compress(each, live)) for each in domains]
            counts = list(compress(counts, live))
        weights = [
            # More domains make smaller differences, so each pod weighs more.
            log((sum(counts) if soft.tally is None else len(set(each))) + 2)
            for soft, each in zip(self.softs, domains, strict=True)
        ]
        sums = {row: self._sum(row, weights) for row in set(pods)}
        scores = list(map(sums.__getitem__, pods))
        if live is None:
            return scores
        return [score if lives else IGNORED for score, lives in zip(scores, live, strict=True)]

    def _domains(self, soft: Soft, nodes: Sequence[NodeInfo]) -> list[str | None]:
        key = soft.constraint.key
        return [node.labels.get(key) for node in nodes]

    def _sum(self, counts: Sequence[int], weights: Sequence[float]) -> int:
        """Upstream's sum, added in the order of the constraints."""
        total = 0.0
        for soft, weight, count in zip(self.softs, weights, counts, strict=True):
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


def _without(table: NodeTable, key: str) -> dict[int, Hashable]:
    """The rows of nodes that lack a label."""
    return {
        row: NO_LABEL
        for row, node in enumerate(table.nodes)
        if node is not None and key not in node.labels
    }


def _rounded(value: float) -> int:
    """As Go's math.Round: half away from zero."""
    return floor(value + 0.5) if value >= 0 else -floor(-value + 0.5)


def _quotient(dividend: int, divisor: int) -> int:
    """As Go divides integers: towards zero."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient
