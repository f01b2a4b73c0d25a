"""What pods with different rules have in common: of most nodes the same is said.

A threshold of 905 and one of 907 tell the same nodes apart, unless one has a value in between. So
what follows from what the plugins say, from the judgement of a table to the answer, is made once
for all pods about whom they say the same, and after an event it is changed once for all of them.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Final

from extender.framework import judgement, rejudgement
from extender.framework.interface import Status
from extender.framework.judgement import Judgement
from extender.framework.ledger import Clock
from extender.framework.node_table import NodeTable
from extender.framework.recent import Recent
from extender.framework.runner import FilterThread

MAX_OUTCOMES: Final = 1_024
MAX_BYTES: Final = 16 << 20
MAX_SAID: Final = 4_096
MAX_SAID_BYTES: Final = 8 << 20
# What an outcome takes beside a byte a row, and what was said beside the answers, roughly.
_USUAL_BYTES: Final = 1_024
_BYTES_A_KEY: Final = 16


@dataclass(slots=True, eq=False)
class Outcome:
    """Who passes of the nodes of a table, as it was at a version."""

    version: int = 0
    judgement: Judgement | None = None  # None: the nodes are to be judged one by one
    told: tuple[Hashable, ...] = ()  # the key of the answer that was given last


class Outcomes:
    """The outcomes of late, by what the plugins say of each key."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._numbers = count(1)
        self._outcomes: Recent[tuple[int, ...], Outcome] = Recent(MAX_OUTCOMES, MAX_BYTES)
        # A number for all that one plugin says, found by the identities of the statuses. These
        # are kept with it, so that nothing else gets the identity of one of them.
        self._said: Recent[Hashable, tuple[int, Sequence[Status]]] = Recent(
            MAX_SAID, MAX_SAID_BYTES
        )

    def of(
        self,
        threads: Sequence[FilterThread],
        table: NodeTable,
        *,
        most: int,
        before: Outcome,
    ) -> Outcome:
        """The outcome for the table as it is, made from the one `before` if that is all there is.

        Plugins are asked about at most `most` keys.
        """
        try:
            kind = self._kind(threads, table, most)
        except Exception:  # noqa: BLE001 - who judges what is there meets it again, if it is there
            kind = None
        known = None if kind is None else self._outcomes.get(kind)
        if known is None:
            known = Outcome(before.version, before.judgement, before.told)
            if kind is not None:
                self._outcomes.put(kind, known, len(table) + _USUAL_BYTES)
        elif known.version == table.version:
            return known
        known.judgement = self._judged(known, threads, table, most)
        known.version = table.version
        return known

    def _judged(
        self, before: Outcome, threads: Sequence[FilterThread], table: NodeTable, most: int
    ) -> Judgement | None:
        again = None
        if before.judgement is not None:
            again = rejudgement.rejudge(
                before.judgement,
                threads,
                table,
                since=before.version,
                most=most,
                clock=self._clock,
            )
        return again or judgement.judge(threads, table, most=most, clock=self._clock)

    def _kind(
        self, threads: Sequence[FilterThread], table: NodeTable, most: int
    ) -> tuple[int, ...] | None:
        """Numbers that stand for all that is said; None where it is too much to compare."""
        numbers = []
        for name, question, thread in threads:
            column = table.column(question.facet)
            if not column.narrow or len(column) > most:
                return None
            epoch, number = thread.kind
            if epoch != column.epoch:
                # Of keys that are gone, too: mostly they return, and all that follows with them.
                ask = partial(judgement.asked, name, question, thread)
                said = thread.answered(tuple(column.known()), ask)
                number = self._number((name, column.epoch, *map(id, said)), said)
                thread.kind = column.epoch, number
            numbers.append(number)
        return tuple(numbers)

    def _number(self, key: Hashable, said: Sequence[Status]) -> int:
        known = self._said.get(key)
        if known is None:
            known = next(self._numbers), said
            self._said.put(key, known, _BYTES_A_KEY * len(said) + _USUAL_BYTES)
        return known[0]
