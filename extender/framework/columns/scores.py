"""What one preference says of the codes of its column, and what several come to."""

from array import array
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Final, cast

from extender.framework.columns.columns import EMPTY, Column, samples
from extender.framework.columns.node_table import NodeTable
from extender.framework.interface import (
    MAX_NODE_SCORE,
    NodeScorer,
    RelativeScorer,
    Score,
)
from extender.framework.node_info import NodeInfo
from extender.match.findings import Finding

MAX_EXTENDER_PRIORITY: Final = 10
CODE_BYTES: Final = 40


class RuleScores:
    """One preference of one plugin, and the raw score of each code; None where not asked yet."""

    __slots__ = ("_relative", "_serial", "noticed", "plugin", "question", "raw", "weight")

    def __init__(self, plugin: str, question: NodeScorer, weight: int) -> None:
        self.plugin = plugin
        self.question = question
        self.weight = weight
        self._relative = (
            cast("RelativeScorer", question) if hasattr(question, "score_among") else None
        )
        self._serial = 0
        self.raw: list[int | None] = []
        self.noticed: dict[int, frozenset[Finding]] = {}

    @property
    def is_relative(self) -> bool:
        """Whether the scores depend on who the candidates are."""
        return self._relative is not None

    def column_of(self, column: Column, table: NodeTable) -> Column:
        """The column to ask about: one of its own for this call, if it knows of exceptions."""
        exceptions = None if self._relative is None else self._relative.exceptions(table)
        return column.apart(exceptions, table) if exceptions else column

    @property
    def nbytes(self) -> int:
        """About what the scores take in memory, without the question."""
        return CODE_BYTES * len(self.raw)

    def refresh(self, column: Column) -> bool:
        """Make room for every code of the column; whether there are codes to ask about."""
        if self._serial != column.serial:
            self._serial = column.serial
            self.raw, self.noticed = [0], {}
        new = len(column) - len(self.raw)
        self.raw.extend([None] * new)
        return new > 0

    def ask(self, column: Column, counts: Sequence[int]) -> None:
        """Ask about the codes that any candidate has, given how many have each."""
        present = compress(range(len(self.raw)), counts)
        if self._relative is not None:
            codes = list(present)
            nodes = samples(column, codes, self.question.facet)
            among = self._relative.score_among(nodes, [counts[code] for code in codes])
            for code, value in zip(codes, among, strict=True):
                self.raw[code] = value
            return
        codes = [code for code in present if self.raw[code] is None]
        if codes:
            self._enter(codes, self._said(samples(column, codes, self.question.facet)))

    def _enter(self, codes: Iterable[int], said: Iterable[Score]) -> None:
        for code, score in zip(codes, said, strict=True):
            self.raw[code] = score.value
            if score.findings:
                self.noticed[code] = score.findings

    def _said(self, nodes: Sequence[NodeInfo]) -> Iterable[Score]:
        score_all = getattr(self.question, "score_all", None)
        said: Sequence[Score] | None = None if score_all is None else score_all(nodes)
        return map(self.question.score, nodes) if said is None else said

    def is_flat(self, column: Column) -> bool:
        """Whether the score of every code there is is the same."""
        if None in self.raw:
            self.ask(column, [EMPTY, *([1] * (len(column) - 1))])
        return not self.noticed and len(set(self.raw[1:])) <= 1

    def weighed(self, counts: Sequence[int]) -> "array[int] | None":
        """The weight times the normalised score of each code; None if all candidates are equal."""
        present = list(set(compress(self.raw, counts)))
        normal = dict(zip(present, self.question.normalize(present), strict=True))  # type: ignore[arg-type]  # all were asked
        if len(set(normal.values())) < 2:
            return None
        weighed = {raw: self.weight * _clamped(score) for raw, score in normal.items()}
        return array("I", [weighed.get(raw, 0) for raw in self.raw])


def _clamped(score: int) -> int:
    """Rules that the API server would refuse may leave the scale."""
    return min(max(score, 0), MAX_NODE_SCORE)


def weighted_mean(total: int, unit: int) -> int:
    """A sum of weighed scores on the scale of the extender, rounded half up."""
    return (2 * MAX_EXTENDER_PRIORITY * total + unit) // (2 * unit)


def unit_of(weights: Iterable[int]) -> int:
    """The highest sum that scores with these weights can come to."""
    return MAX_NODE_SCORE * sum(weights)
