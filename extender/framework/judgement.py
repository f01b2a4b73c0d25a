"""What one pod's rules say of all nodes of a table at once.

Each plugin is asked about every key of its column, and what it says becomes bytes, one a row.
Bytes are joined as one large integer, so that "the first refusal stands" is an `&` and an `|`.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final

from extender.framework.interface import SUCCESS, Code, ExtensionPoint, NodeFilter, Status
from extender.framework.ledger import Clock, Evaluation
from extender.framework.memory import Thread
from extender.framework.node_info import NodeInfo
from extender.framework.node_table import Column, NodeTable
from extender.framework.runner import FilterThread, signed_verdict

# A status is a byte.
MAX_STATUSES: Final = 256
_PASSES: Final = bytes((0xFF, *bytes(255)))


@dataclass(frozen=True, slots=True)
class Collapsed:
    """Refusals that are told apart by their brief form only, because they are too many."""

    places: bytes  # of those refusals, among the statuses
    rows: tuple[int, ...]  # that each of the full reasons has in the table, the most first

    def has_more_than(self, reasons: int, codes: bytes) -> bool:
        """Whether these codes surely stand for more than so many full reasons.

        No row may be among them twice.
        """
        return _count_of(self.places, codes) > sum(self.rows[:reasons])


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """One status a row, as its place in `statuses`; the first of those is a pass."""

    codes: bytes
    statuses: tuple[Status, ...]
    plugins: tuple[str, ...]  # that were asked, in order
    # What answers from it depend on: equal for judgements of which nobody could tell apart.
    wording: tuple[Hashable, ...]
    # How many rows each plugin refuses, by whether an eviction may cure it.
    refusals: Mapping[tuple[str, bool], int]
    seconds: tuple[float, ...] = ()  # that the plugins took
    collapsed: "Collapsed | None" = None

    def present(self, codes: bytes) -> dict[int, Status]:
        """The refusals that are among these codes."""
        return {code: self.statuses[code] for code in range(1, len(self.statuses)) if code in codes}

    def said_last(self, codes: Collection[int]) -> Collection[int]:
        """Those of some refusals that the last of their plugins has given."""
        last = max({self.statuses[code].plugin for code in codes}, key=self.plugins.index)
        return [code for code in codes if self.statuses[code].plugin == last]

    def evaluations(self, codes: bytes) -> list[Evaluation]:
        """How often each plugin gave which code; who was asked about nobody is left out."""
        left = len(codes)
        refusals = self.refusals if codes is self.codes else _refusals(self.statuses, codes)
        counted = []
        for name, seconds in zip(self.plugins, self.seconds, strict=True):
            if not left:
                break
            counts: dict[Code, int] = {}
            for code in (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE):
                if refused := refusals.get((name, code is Code.UNSCHEDULABLE)):
                    counts[code] = refused
                    left -= refused
            if left:
                counts[Code.SUCCESS] = left
            counted.append(Evaluation(name, ExtensionPoint.FILTER, counts, seconds))
        return counted


def _refusals(statuses: Sequence[Status], codes: bytes) -> Mapping[tuple[str, bool], int]:
    """How many of the codes are refusals of each plugin, by whether an eviction may cure them."""
    kinds: dict[tuple[str, bool], list[int]] = {}
    for place in range(1, len(statuses)):
        kinds.setdefault(kind_of(statuses[place]), []).append(place)
    return {kind: _count_of(places, codes) for kind, places in kinds.items()}


def kind_of(status: Status) -> tuple[str, bool]:
    """Whose refusal it is, and whether an eviction may cure it."""
    return status.plugin, status.code is Code.UNSCHEDULABLE


def _count_of(places: Iterable[int], codes: bytes) -> int:
    """How many of the codes are one of these.

    Bits are counted in half the time that bytes are compared in: which code is next, no processor
    can foretell.
    """
    among = bytearray(256)
    for place in places:
        among[place] = 1
    return int.from_bytes(codes.translate(among), "little").bit_count()


def settled(status: Status, table: NodeTable) -> Judgement:
    """The pod itself was refused, whatever the node."""
    wording = (), wording_of(status)
    return Judgement(b"\x01" * len(table), (SUCCESS, status), (), wording, {})


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
    codes, reach = 0, -1
    seconds = []
    turns = [(1, len(table))]  # after each plugin: how many statuses there are, and rows left
    for name, question, thread in threads:
        since = clock()
        column = table.column(question.facet)
        refusals = _said(name, question, thread, column, statuses) if len(column) <= most else None
        if refusals is None:
            return None
        if any(refusals):
            codes |= reach & int.from_bytes(column.translated(refusals), "little")
            passes = refusals.translate(_PASSES)
            reach &= int.from_bytes(column.translated(passes), "little")
            turns.append((len(statuses.all), reach.bit_count() // 8))
        seconds.append(clock() - since)
    return made(
        codes.to_bytes(len(table), "little"),
        statuses.all,
        list(statuses.places),
        tuple(name for name, _, _ in threads),
        seconds,
        refusals=_counted(turns, statuses.all),
        collapsed=statuses.collapsed(),
    )


def _counted(
    turns: Sequence[tuple[int, int]], statuses: Sequence[Status]
) -> Mapping[tuple[str, bool], int] | None:
    """How many rows each plugin refuses, from how many are left; None if that does not tell."""
    found = {}
    for (first, before), (end, after) in pairwise(turns):
        kinds = {kind_of(status) for status in statuses[first:end]}
        if len(kinds) > 1:
            return None
        for kind in kinds:
            found[kind] = before - after
    return found


def made(
    codes: bytes,
    statuses: Sequence[Status],
    wordings: Sequence[Hashable],
    plugins: tuple[str, ...],
    seconds: Sequence[float],
    *,
    refusals: Mapping[tuple[str, bool], int] | None = None,
    collapsed: Collapsed | None = None,
) -> Judgement:
    """A judgement, without the last of the statuses as long as no row has it.

    So judgements that say the same are alike, however they came about.
    """
    last = len(wordings)
    while last and last not in codes:
        last -= 1
    return Judgement(
        codes,
        tuple(statuses[: last + 1]),
        plugins,
        (plugins, *wordings[:last]),
        _refusals(statuses, codes) if refusals is None else refusals,
        tuple(seconds),
        collapsed,
    )


def _said(
    name: str,
    question: NodeFilter,
    thread: Thread[NodeFilter, Status],
    column: Column,
    statuses: "_Statuses",
) -> bytearray | None:
    """By the codes of the column: the place of the refusal, 0 if there is none."""
    refusals = bytearray(len(column))
    present = tuple(column.present())
    try:
        said = thread.answered(present, partial(asked, name, question, thread))
    except Exception:  # noqa: BLE001 - who judges node by node meets it again, and tells
        return None
    known = statuses.known
    for (code, _, _), status in zip(present, said, strict=True):
        if status is not SUCCESS:
            place = known.get(id(status)) or statuses.add(status)
            if not place:
                return None
            refusals[code] = place
    if statuses.brief:
        for (code, _, _), status in zip(present, said, strict=True):
            if status is not SUCCESS:
                statuses.count(status, column.rows_with(code))
    return refusals


def asked(
    name: str,
    question: NodeFilter,
    thread: Thread[NodeFilter, Status],
    nodes: Sequence[NodeInfo],
) -> Iterable[Status]:
    """What a plugin says of nodes; those of one wording are mostly one status."""
    filter_all = getattr(question, "filter_all", None)
    said: Sequence[Status] | None = None if filter_all is None else filter_all(nodes)
    if said is not None:
        return [status if status is SUCCESS else status.signed(name) for status in said]
    one_by_one = (signed_verdict(name, question, node) for node in nodes)
    # Equal ones are one: so they are told apart by identity ever after.
    return (thread.distinct.setdefault(wording_of(status), status) for status in one_by_one)


class _Statuses:
    """The statuses that were given, those of one wording once.

    If `brief`, those that have a brief form are one if that is the same; but a status that noticed
    something stays by itself.
    """

    def __init__(self, *, brief: bool = False) -> None:
        self.all = [SUCCESS]
        self.places: dict[Hashable, int] = {}
        self.known: dict[int, int] = {}  # places by identity
        self.brief = brief
        self.overflow = False
        self._collapsed: set[int] = set()
        self._rows: Counter[tuple[str, ...]] = Counter()

    def add(self, status: Status) -> int:
        """The place of a refusal; 0 if it is none, or one too many."""
        if status.code is Code.SUCCESS or status.code is Code.ERROR:
            return 0
        wording = _brief_wording(status) if self.collapses(status) else wording_of(status)
        place = self.places.setdefault(wording, len(self.all))
        if place == len(self.all):
            if place == MAX_STATUSES:
                self.overflow = True
                return 0
            self.all.append(status)
        self.known[id(status)] = place
        return place

    def count(self, status: Status, rows: int) -> None:
        """So many rows have a status; of brief refusals it is kept."""
        if self.collapses(status):
            self._rows[status.reasons] += rows
            self._collapsed.add(self.known[id(status)])

    def collapses(self, status: Status) -> bool:
        return self.brief and bool(status.brief) and not status.findings

    def collapsed(self) -> Collapsed | None:
        if not self._collapsed:
            return None
        rows = sorted(self._rows.values(), reverse=True)
        return Collapsed(bytes(self._collapsed), tuple(rows))


def _brief_wording(status: Status) -> Hashable:
    return status.plugin, status.code is Code.UNSCHEDULABLE, status.brief


def wording_of(status: Status) -> Hashable:
    return *kind_of(status), status.reasons, status.brief, status.findings
