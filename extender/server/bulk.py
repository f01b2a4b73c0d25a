"""filter and prioritize over tables: nothing is done for a single node outside of C.

Answers that were given are kept. They depend on the listing, on where the table has its names,
and on what is said of the rows; an event that changes none of these leaves them as they are.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from extender.framework.interface import Code, ExtensionPoint, Profile, Status
from extender.framework.judgement import Judgement
from extender.framework.ledger import Clock, Evaluation, Ledger, untimed
from extender.framework.memory import Memories
from extender.framework.node_table import NodeTable
from extender.framework.precedents import FilterPrecedent, Precedents, ScorePrecedent
from extender.framework.preference import Preference
from extender.framework.recent import Recent
from extender.framework.snapshot import Snapshot
from extender.match.findings import Finding
from extender.server.answers import Verdict
from extender.server.cases import ANY_ORDER, AnswerKey, Case, P, Told
from extender.wire import fragments, messages
from extender.wire.fragments import Hosts, Pieces, Refused
from extender.wire.messages import FilterArgs

# Fewer nodes are as well judged one by one.
MIN_NODES: Final = 64
MAX_ANSWERS: Final = 1_024
MAX_BYTES: Final = 64 << 20
_PASSES: Final = bytes((1, *bytes(255)))


class Bulk:
    """Answers of which most is known, over what the plugins remember."""

    def __init__(self, memories: Memories, clock: Clock, *, min_nodes: int = MIN_NODES) -> None:
        self._clock = clock
        self._min_nodes = max(min_nodes, 1)
        self._precedents = Precedents(memories, clock)
        self._last_hosts = 0, Hosts(())
        self._refused = Refused()
        self._answers: Recent[Hashable, Told] = Recent(MAX_ANSWERS, MAX_BYTES)

    def filter_case(
        self, profile: Profile, snapshot: Snapshot, args: FilterArgs
    ) -> Case[FilterPrecedent] | None:
        """What is known of a request; None if it is about few nodes, or unknown ones."""
        return self._case(self._precedents.filter, profile, snapshot, args, once=True)

    def filter(self, case: Case[FilterPrecedent]) -> Told | None:
        """The answer to `/filter`; None if the nodes are to be judged one by one."""
        judgement = case.precedent.judgement
        if judgement is None:
            return self._answers.get(case.key)
        order = case.order(judgement.codes)
        key = order, case.table.layout, judgement.codes, judgement.wording
        told = self._answers.get(key)
        if told is None:
            told = self._filtered(case, judgement, key)
            if told is None:
                return self._answers.get(case.key)
            if order == ANY_ORDER or case.listing.kept:
                self._supersede(case.precedent, told)
                self._keep(key, told)
        case.precedent.outcome.told = key
        return case.in_order(told) if order == ANY_ORDER else case.with_nodes(told)

    def _filtered(
        self, case: Case[FilterPrecedent], judgement: Judgement, key: AnswerKey
    ) -> Told | None:
        """An answer that was not given before; None if the judgement does not tell enough."""
        codes = judgement.codes if key[0] == ANY_ORDER else case.rows.pick(judgement.codes)
        if not case.is_told(judgement, codes):
            return None
        present = judgement.present(codes)
        texts = messages.reason_texts(present, brief=judgement.collapsed is not None)
        passes = codes.translate(_PASSES)
        base, pieces = self._retold(case, key, codes, texts)
        retold = base is not None
        if not retold:
            refused = self._refused_of(case, judgement, key, codes, texts)
            pieces = (case.framed(key, passes, refused),)
        elif case.carried is not None or 0 in codes:
            # What is put ahead of an answer is in the way there.
            base, pieces = None, (b"".join(pieces),)
        return Told(
            bytes(pieces[-1]),
            judgement.evaluations(codes),
            passes,
            int.from_bytes(passes, "little").bit_count(),
            frozenset(status.plugin for status in present.values()),
            frozenset[Finding]().union(*(status.findings for status in present.values())),
            ahead=pieces[:-1],
            codes=codes,
            texts=texts,
            retold=retold,
            base=base,
        )

    def _supersede(self, precedent: FilterPrecedent, told: Told) -> None:
        """Of answers that were made from each other, event by event, the last one is kept.

        So their memory is used again while it is warm. The first of them may be others', too.
        """
        before = self._answers.get(precedent.outcome.told) if told.retold else None
        if before is not None and before.retold:
            self._answers.drop(precedent.outcome.told)

    def _retold(
        self,
        case: Case[FilterPrecedent],
        key: AnswerKey,
        codes: bytes,
        texts: Mapping[int, str],
    ) -> tuple[Told | None, Pieces]:
        """The first of the answers before that differs in few places, and how this one is it."""
        last = case.precedent.outcome.told
        before = self._answers.get(last) if last[:2] == key[:2] else None
        if before is not None and (case.rows.whole or case.listing.distinct):
            base = before.base or before
            pieces = base.changed(case.names(key), codes, texts)
            if pieces is not None:
                return base, pieces
        return None, ()

    def _refused_of(
        self,
        case: Case[FilterPrecedent],
        judgement: Judgement,
        key: AnswerKey,
        codes: bytes,
        texts: Mapping[int, str],
    ) -> bytes:
        """Those that do not pass, as the members of an object."""
        names = case.names(key)
        by_row = key[0] == ANY_ORDER or case.rows.in_order
        if not (by_row and texts and 0 in codes):
            return fragments.refused_members(names, codes, texts)
        last = judgement.said_last(texts)
        return self._refused.members(case.table.layout, names, codes, texts, last)

    def score_case(
        self, profile: Profile, snapshot: Snapshot, args: FilterArgs
    ) -> Case[ScorePrecedent] | None:
        """What is known of a request, as for filter."""
        return self._case(self._precedents.score, profile, snapshot, args)

    def prioritize(self, case: Case[ScorePrecedent]) -> Told | None:
        """The answer to `/prioritize`; None if the nodes are to be scored one by one."""
        precedent, listing = case.precedent, case.listing
        if precedent.preference is None:
            return self._answers.get(case.key)
        asked = listing.serial, case.table.version
        told = self._answers.get(precedent.told) if precedent.asked == asked else None
        if told is None:
            codes = case.rows.pick(precedent.preference.codes)
            scores = _scores(precedent.preference, codes) if precedent.readable else bytes(codes)
            if scores is None:
                return None
            key = listing.serial, case.table.layout, scores, precedent.counted
            told = self._answers.get(key)
            if told is None:
                body = self._hosts(case.table).scored(listing.names, case.rows, scores)
                told = Told(body, precedent.evaluations(len(listing)))
                if listing.kept:
                    self._keep(key, told)
            precedent.told, precedent.asked = key, asked
        return told

    def learn_filter(
        self, case: Case[FilterPrecedent], verdict: Verdict, statuses: Sequence[Status]
    ) -> None:
        """Keep an answer to `/filter` that was found one by one."""
        ledger = verdict.ledger
        judging = [e for e in ledger.evaluations if e.extension_point is ExtensionPoint.FILTER]
        passes = bytes(status.code is Code.SUCCESS for status in statuses)
        findings = frozenset(ledger.findings)
        told = Told(verdict.body, judging, passes, verdict.passed, verdict.plugins, findings)
        if case.listing.kept:
            self._keep(case.key, told)

    def learn_scores(self, case: Case[ScorePrecedent], body: bytes, ledger: Ledger) -> None:
        """Keep an answer to `/prioritize` that was found one by one."""
        told = Told(body, ledger.evaluations, findings=frozenset(ledger.findings))
        if case.listing.kept:
            self._keep(case.key, told)

    def filter_ledger(self, case: Case[FilterPrecedent], told: Told) -> Ledger:
        """What is to be counted for an answer; told again, it is the same ledger."""
        return self._ledger(case.precedent, case.precedent.parsing, told)

    def score_ledger(self, case: Case[ScorePrecedent], told: Told) -> Ledger:
        """What is to be counted for an answer, as for filter."""
        return self._ledger(case.precedent, (), told)

    def _ledger(
        self,
        precedent: FilterPrecedent | ScorePrecedent,
        parsing: Sequence[Evaluation],
        told: Told,
    ) -> Ledger:
        if precedent.last is not None:
            parsed, judged, ledger = precedent.last
            if parsed is parsing and judged is told.evaluations:
                return ledger
        findings = {*precedent.findings, *told.findings}
        ledger = Ledger(self._clock, [*parsing, *told.evaluations], findings)
        precedent.last = parsing, told.evaluations, ledger
        return ledger

    def _hosts(self, table: NodeTable) -> Hosts:
        layout, hosts = self._last_hosts
        if layout != table.layout:
            hosts = Hosts(table.names())
            self._last_hosts = table.layout, hosts
        return hosts

    def _keep(self, key: Hashable, told: Told) -> None:
        kept = replace(told, evaluations=untimed(told.evaluations))
        self._answers.put(key, kept, kept.weight)

    def _case(
        self,
        find: Callable[..., P | None],
        profile: Profile,
        snapshot: Snapshot,
        args: FilterArgs,
        *,
        once: bool = False,
    ) -> Case[P] | None:
        listing = args.listing
        table = snapshot.table if args.carried is None else args.carried.table
        if listing is None or table is None or len(listing) < self._min_nodes:
            return None
        rows = listing.rows(table, once=once)
        if rows is None:
            return None
        found = find(profile, args.pod, snapshot, table, most=2 * len(listing))
        return None if found is None else Case(listing, table, rows, found, args.carried)


def _scores(preference: Preference, codes: bytes) -> bytes | None:
    try:
        return codes.translate(preference.scale(codes))
    except Exception:  # noqa: BLE001 - who scores node by node meets it again, and tells
        return None
