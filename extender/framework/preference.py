"""How much one pod would like each node of a table.

Each plugin scores every key of its column. How a score compares depends on who else is a
candidate, so what is kept of a row is which raw scores it has, as one code for all plugins.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, eq=False)
class Preference:
    """One combination of raw scores a row, as its place in `combinations`."""

    codes: bytes
    combinations: tuple[tuple[int, ...], ...]
    threads: tuple[ScoreThread, ...]

    def scores(self, codes: bytes) -> dict[int, int]:
        """What the extender gives to each of the codes that are among these."""
        present = [code for code in range(len(self.combinations)) if code in codes]
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
        places: dict[int, int] = {}
        raw = bytearray(len(column))
        if len(column) > most:
            return None
        for code, key, node in column.present():
            value = _value(question, thread, key, node)
            if value is None:
                return None
            place = places.setdefault(value, len(places))
            if (place + 1) * len(combinations) > MAX_COMBINATIONS:
                return None
            raw[code] = place * len(combinations)
        codes += int.from_bytes(column.translated(raw), "little")
        combinations = [(*before, value) for value in places for before in combinations]
    return Preference(codes.to_bytes(len(table), "little"), tuple(combinations), tuple(threads))


def _value(
    question: NodeScorer, thread: Thread[NodeScorer, Score], key: Hashable, node: NodeInfo
) -> int | None:
    score = thread.answers.get(key)
    if score is None:
        try:
            score = thread.answers[key] = question.score(node)
        except Exception:  # noqa: BLE001 - who scores node by node meets it again, and tells
            return None
    return None if score.findings else score.value
