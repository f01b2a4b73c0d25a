"""What one pod's rules say of a table of which some rows have changed.

All other rows keep their status, so the plugins are asked about the rows that changed, and
nothing is done for the others outside of one copy.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from itertools import compress
from operator import not_
from typing import Final

from extender.framework import judgement
from extender.framework.interface import SUCCESS, Code, Status
from extender.framework.judgement import Judgement, asked, kind_of, made, wording_of
from extender.framework.ledger import Clock
from extender.framework.node_info import NodeInfo
from extender.framework.node_table import NodeTable
from extender.framework.runner import FilterThread

# From so many rows on it takes as long to judge all of them.
MAX_ROWS: Final = 128


def rejudge(
    before: Judgement,
    threads: Sequence[FilterThread],
    table: NodeTable,
    *,
    since: int,
    most: int,
    clock: Clock,
) -> Judgement | None:
    """The judgement of a table that has had the version `since`; None: judge it from scratch.

    That is: too much has changed, or there is more to say than `judge` can.
    """
    rows = table.changed_since(since, most=MAX_ROWS)
    if rows is None or before.collapsed is not None:
        return None
    places = _Places(before)
    known = before.codes.ljust(len(table), b"\0")
    codes = bytearray(known)
    seconds = []
    left = rows
    for thread in threads:
        begun = clock()
        said = places.told(thread, table, left, most=most)
        if said is None:
            return None
        for row, place in zip(left, said, strict=True):
            codes[row] = place
        left = list(compress(left, map(not_, said)))
        seconds.append(clock() - begun)
    changes = [(known[row], codes[row]) for row in rows if known[row] != codes[row]]
    refusals = places.counted(before.refusals, changes)
    made_of = places.statuses, places.wordings, before.plugins, seconds
    return made(bytes(codes), *made_of, refusals=refusals)


class _Places:
    """The statuses of a judgement, to which new ones can come."""

    def __init__(self, before: Judgement) -> None:
        self.statuses = list(before.statuses)
        self.wordings = list(before.wording[1:])
        self._known: dict[int, int] = {id(s): place for place, s in enumerate(self.statuses)}

    def told(
        self, thread: FilterThread, table: NodeTable, rows: Sequence[int], *, most: int
    ) -> Sequence[int] | None:
        """The places of what a plugin says of some rows; None if there is not one for each."""
        _, question, remembered = thread
        column = table.column(question.facet)
        if len(column) > most:
            return None
        keys = column.keys_of(rows)
        # Nearly all of it was said before.
        found = list(map(self._known.get, map(id, map(remembered.answers.get, keys))))
        while None in found:
            index = found.index(None)
            node = table.nodes[rows[index]]
            status = SUCCESS if node is None else _status(thread, keys[index], node)
            place = found[index] = None if status is None else self._place(status)
            if place is None:
                return None
        return found  # type: ignore[return-value] # none of them is None by now

    def _place(self, status: Status) -> int | None:
        if status is SUCCESS:
            return 0
        if status.code in (Code.SUCCESS, Code.ERROR):
            return None
        wording = wording_of(status)
        if wording not in self.wordings:
            if len(self.statuses) == judgement.MAX_STATUSES:
                return None
            self.statuses.append(status)
            self.wordings.append(wording)
        return self.wordings.index(wording) + 1

    def counted(
        self, before: Mapping[tuple[str, bool], int], changes: Iterable[tuple[int, int]]
    ) -> Mapping[tuple[str, bool], int]:
        """How many rows each plugin refuses, when some have now another place than before."""
        counts = dict(before)
        for old, new in changes:
            if old:
                counts[kind_of(self.statuses[old])] -= 1
            if new:
                kind = kind_of(self.statuses[new])
                counts[kind] = counts.get(kind, 0) + 1
        return counts


def _status(thread: FilterThread, key: Hashable, node: NodeInfo) -> Status | None:
    """What a plugin says of a node with a key; None if it breaks."""
    name, question, remembered = thread
    try:
        ask = partial(asked, name, question, remembered)
        (status,) = remembered.answered(((0, key, node),), ask)
    except Exception:  # noqa: BLE001 - who judges node by node meets it again, and tells
        return None
    return status
