"""How much one pod would like each node of a table.

Each plugin scores every key of its column. How a score compares depends on who else is a
candidate, so what is kept of a row is which raw scores it has, as one code for all plugins.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from extender.framework.interface import NodeScorer, Score
from extender.framework.means import weighted_mean
from extender.framework.memory import Thread
from extender.framework.node_info import NodeInfo
from extender.framework.node_table import NodeTable

# A combination of raw scores is a byte.
MAX_COMBINATIONS: Final = 256

# A plugin's weight, its question, and what is remembered of it.
ScoreThread = tuple[int, NodeScorer, Thread[NodeScorer, Score]]


@dataclass(slots=True, eq=False)
class Preference:
    """One combination of raw scores a row, as its place in `combinations`."""

    codes: bytes
    combinations: tuple[tuple[int, ...], ...]
    threads: tuple[ScoreThread, ...]
    # The last scale; mostly the next candidates have the same scores among them.
    _scale: tuple[Sequence[int], bytes] = (), b""

    def scale(self, codes: bytes) -> bytes:
        """What the extender gives to each of the codes that are among these, by code."""
        present = [code for code in range(len(self.combinations)) if code in codes]
        if self._scale[0] != present:
            table = bytearray(MAX_COMBINATIONS)
            for code, score in self._scores(present).items():
                table[code] = score
            self._scale = present, bytes(table)
        return self._scale[1]

    def _scores(self, present: Sequence[int]) -> dict[int, int]:
        columns = list(zip(*(self.combinations[code] for code in present), strict=True))
        weights: list[int] = []
        normal: list[list[int]] = []
        for (weight, question, _), column in zip(self.threads, columns, strict=True):
            distinct = list(set(column))
            by_raw = dict(zip(distinct, question.normalize(distinct), strict=True))
            # A plugin that finds all equal is silent.
            if len(set(by_raw.values())) > 1:
                weights.append(weight)
                normal.append([by_raw[raw] for raw in column])
        if not weights:
            return dict.fromkeys(present, 0)
        rows = zip(*normal, strict=True)
        return {code: weighted_mean(weights, row) for code, row in zip(present, rows, strict=True)}


def prefer(threads: Sequence[ScoreThread], table: NodeTable, *, most: int) -> Preference | None:
    """Score every key; None where that is not all that there is to say.

    That is: a plugin broke, noticed something about a node, has more to say than fits a byte, or
    would have to be asked about more than `most` keys.
    """
    combinations: list[tuple[int, ...]] = [()]
    codes = 0
    for _, question, thread in threads:
        column = table.column(question.facet)
        if len(column) > most:
            return None
        present = tuple(column.present())
        try:
            scores = thread.answered(present, partial(_asked, question))
        except Exception:  # noqa: BLE001 - who scores node by node meets it again, and tells
            return None
        step = len(combinations)
        places: dict[Score, int] = {}  # by what they say, and what they noticed
        raw = bytearray(len(column))
        for (code, _, _), score in zip(present, scores, strict=True):
            place = places.get(score)
            if place is None:
                if score.findings or (len(places) + 1) * step > MAX_COMBINATIONS:
                    return None
                place = places[score] = len(places) * step
            raw[code] = place
        codes += int.from_bytes(column.translated(raw), "little")
        combinations = [(*before, score.value) for score in places for before in combinations]
    return Preference(codes.to_bytes(len(table), "little"), tuple(combinations), tuple(threads))


def _asked(question: NodeScorer, nodes: Sequence[NodeInfo]) -> Iterable[Score]:
    score_all = getattr(question, "score_all", None)
    said: Sequence[Score] | None = None if score_all is None else score_all(nodes)
    return map(question.score, nodes) if said is None else said
