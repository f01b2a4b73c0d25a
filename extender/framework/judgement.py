"""What one pod's rules say of all nodes of a table at once.

Each plugin is asked about every key of its column, and what it says becomes bytes, one a row.
Bytes are joined as one large integer, so that "the first refusal stands" is an `&` and an `|`.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from extender.framework.interface import SUCCESS, Code, ExtensionPoint, NodeFilter, Status
from extender.framework.ledger import Clock, Evaluation
from extender.framework.memory import Thread
from extender.framework.node_table import Column, NodeTable
from extender.framework.runner import FilterThread, signed_verdict

# A status is a byte.
MAX_STATUSES: Final = 256
_ALL: Final = 0xFF


@dataclass(frozen=True, slots=True)
class Collapsed:
    """Refusals that are told apart by their brief form only, because they are too many."""

    places: bytes  # of those refusals, among the statuses
    rows: tuple[int, ...]  # that each of the full reasons has in the table, the most first

    def has_more_than(self, reasons: int, codes: bytes) -> bool:
        """Whether these codes surely stand for more than so many full reasons.

        No row may be among them twice.
        """
        refused = len(codes) - len(codes.translate(None, self.places))
        return refused > sum(self.rows[:reasons])


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """One status a row, as its place in `statuses`; the first of those is a pass."""

    codes: bytes
    statuses: tuple[Status, ...]
    plugins: tuple[str, ...]  # that were asked, in order
    # What answers from it depend on: equal for judgements of which nobody could tell apart.
    wording: Hashable
    seconds: tuple[float, ...] = ()  # that the plugins took
    collapsed: "Collapsed | None" = None

    def present(self, codes: bytes) -> dict[int, Status]:
        """The refusals that are among these codes."""
        return {code: self.statuses[code] for code in range(1, len(self.statuses)) if code in codes}

    def evaluations(self, codes: bytes) -> list[Evaluation]:
        """How often each plugin gave which code; who was asked about nobody is left out."""
        left = len(codes)
        counted = []
        for name, seconds in zip(self.plugins, self.seconds, strict=True):
            if not left:
                break
            counts: dict[Code, int] = {}
            for code in (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE):
                given = bytes(
                    place
                    for place, status in enumerate(self.statuses)
                    if status.code is code and status.plugin == name
                )
                if refused := len(codes) - len(codes.translate(None, given)):
                    counts[code] = refused
                    left -= refused
            if left:
                counts[Code.SUCCESS] = left
            counted.append(Evaluation(name, ExtensionPoint.FILTER, counts, seconds))
        return counted


def settled(status: Status, table: NodeTable) -> Judgement:
    """The pod itself was refused, whatever the node."""
    return Judgement(b"\x01" * len(table), (SUCCESS, status), (), _wording(status))


def judge(
    threads: Sequence[FilterThread], table: NodeTable, *, most: int, clock: Clock
) -> Judgement | None:
    """Ask every plugin about every key; None where that is not all that there is to say.

    That is: a plugin broke, noticed something about a node that passes, has more to say than
    fits a byte, or would have to be asked about more than `most` keys.
    """
    statuses = _Statuses()
    found = _judge(threads, table, statuses, most=most, clock=clock)
    if statuses.overflow:
        found = _judge(threads, table, _Statuses(brief=True), most=most, clock=clock)
    return found


def _judge(
    threads: Sequence[FilterThread],
    table: NodeTable,
    statuses: "_Statuses",
    *,
    most: int,
    clock: Clock,
) -> Judgement | None:
    codes, reach = 0, int.from_bytes(bytes((_ALL,)) * len(table), "little")
    seconds = []
    for name, question, thread in threads:
        since = clock()
        column = table.column(question.facet)
        said = _said(name, question, thread, column, statuses) if len(column) <= most else None
        if said is None:
            return None
        refusals, passes = said
        if any(refusals):
            codes |= reach & int.from_bytes(column.translated(refusals), "little")
            reach &= int.from_bytes(column.translated(passes), "little")
        seconds.append(clock() - since)
    names = tuple(name for name, _, _ in threads)
    return Judgement(
        codes.to_bytes(len(table), "little"),
        tuple(statuses.all),
        names,
        (names, *statuses.places),
        tuple(seconds),
        statuses.collapsed(),
    )


def _said(
    name: str,
    question: NodeFilter,
    thread: Thread[NodeFilter, Status],
    column: Column,
    statuses: "_Statuses",
) -> tuple[bytearray, bytearray] | None:
    """By the codes of the column: the place of the refusal, and whether there is none."""
    refusals = bytearray(len(column))
    passes = bytearray((_ALL,)) * len(column)
    for code, key, node in column.present():
        status = thread.answers.get(key)
        if status is None:
            try:
                status = signed_verdict(name, question, node)
            except Exception:  # noqa: BLE001 - who judges node by node meets it again, and tells
                return None
            # Equal ones are one: so they are told apart by identity ever after.
            status = thread.distinct.setdefault(_wording(status), status)
            thread.answers[key] = status
        if status is SUCCESS:
            continue
        if status.code in (Code.SUCCESS, Code.ERROR):
            return None
        place = statuses.place(status, column.rows_with(code))
        if statuses.overflow:
            return None
        refusals[code], passes[code] = place, 0
    return refusals, passes


class _Statuses:
    """The statuses that were given, those of one wording once.

    If `brief`, those that have a brief form are one if that is the same; but a status that noticed
    something stays by itself.
    """

    def __init__(self, *, brief: bool = False) -> None:
        self.all = [SUCCESS]
        self.places: dict[Hashable, int] = {}
        self._brief = brief
        self._known: dict[int, int] = {}  # by identity
        self._collapsed: set[int] = set()
        self._rows: Counter[tuple[str, ...]] = Counter()

    def place(self, status: Status, rows: int) -> int:
        place = self._known.get(id(status))
        collapses = self._brief and bool(status.brief) and not status.findings
        if place is None:
            wording = _brief_wording(status) if collapses else _wording(status)
            place = self.places.setdefault(wording, len(self.all))
            self._known[id(status)] = place
            if place == len(self.all):
                self.all.append(status)
        if collapses:
            self._rows[status.reasons] += rows
            self._collapsed.add(place)
        return place

    @property
    def overflow(self) -> bool:
        return len(self.all) > MAX_STATUSES

    def collapsed(self) -> Collapsed | None:
        if not self._collapsed:
            return None
        rows = sorted(self._rows.values(), reverse=True)
        return Collapsed(bytes(self._collapsed), tuple(rows))


def _brief_wording(status: Status) -> Hashable:
    return status.plugin, status.code is Code.UNSCHEDULABLE, status.brief


def _wording(status: Status) -> Hashable:
    cured = status.code is Code.UNSCHEDULABLE
    return status.plugin, cured, status.reasons, status.brief, status.findings
