"""One call's questions, asked of the codes that its candidates have."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import compress
from typing import Final

from extender.framework.columns.columns import Column, samples
from extender.framework.columns.verdicts import RuleVerdicts
from extender.framework.interface import Code, ExtensionPoint, Status
from extender.framework.node_info import Facet, NodeInfo
from extender.framework.snapshot import UNSCHEDULABLE
from extender.framework.stats import CallStats, Evaluation
from extender.match.findings import Finding
from extender.rows import Candidates

# A question is asked about all codes at once if there are at most so many more than twice the
# candidates, else only about those that a candidate has.
MAX_EAGER: Final = 64
# The places of candidates: 0 passes, 1 is a node that nobody knows, then come the refusals.
UNKNOWN_PLACE: Final = 1
FIRST_REFUSAL: Final = 2


class Judging:
    """Gives every candidate its place: the first refusal stands.

    `verdicts` are the questions in order; where one breaks, it is replaced by its fault.
    """

    def __init__(
        self,
        column_of: Callable[[Facet], Column],
        candidates: Candidates,
        stats: CallStats,
        verdicts: list[RuleVerdicts],
    ) -> None:
        self._column_of = column_of
        self._candidates = candidates
        self._stats = stats
        self._verdicts = verdicts
        self._columns: list[Column] = []
        self._seconds: dict[str, float] = {}
        self.has_asked = False

    def run(self) -> None:
        """Judge every candidate, asking what has not been asked before."""
        self._prepare()
        while (place := self._judge()) >= 0:
            self._ask(place)

    def _prepare(self) -> None:
        """Find the columns, and ask about few codes at once."""
        limit = 2 * len(self._candidates) + MAX_EAGER
        for place, each in enumerate(self._verdicts):
            since = self._stats.clock()
            try:
                column = self._column_of(each.question.facet)
            except Exception as exc:  # noqa: BLE001 - becomes the answer's Error, signed
                self._columns.append(self._column_of(UNSCHEDULABLE))
                self._break(place, exc)
                return
            self._columns.append(column)
            if each.refresh(column):
                self.has_asked = True
                if len(column) <= limit:
                    # It may break on a code that no candidate has: who has one meets it again.
                    with suppress(Exception):
                        each.ask_at_once(column)
                self._took(each.plugin, since)

    def _judge(self) -> int:
        return self._candidates.judge(
            [column.codes for column in self._columns],
            [each.table for each in self._verdicts],
            [len(each.statuses) for each in self._verdicts],
        )

    def _reached(self, place: int, column: Column) -> Sequence[int]:
        """How many candidates have each code, of those that reach a question."""
        return self._candidates.reached(
            [column.codes for column in self._columns[:place]],
            [each.table for each in self._verdicts[:place]],
            column.codes,
            len(column),
        )

    def _ask(self, place: int) -> None:
        since = self._stats.clock()
        each, column = self._verdicts[place], self._columns[place]
        reached = self._reached(place, column)
        self.has_asked = True
        try:
            each.ask(column, [code for code in each.unasked() if reached[code]])
        except Exception as exc:  # noqa: BLE001 - becomes the answer's Error, signed
            self._break(place, exc)
        self._took(each.plugin, since)

    def _break(self, place: int, exc: Exception) -> None:
        """The question has broken: so say all candidates that reach it, and no other is asked."""
        plugin, question = self._verdicts[place].plugin, self._verdicts[place].question
        broken = RuleVerdicts(plugin, question)
        broken.refuse_all(self._columns[place], self._stats.fault(exc))
        self._verdicts[place:] = [broken]
        del self._columns[place + 1 :]

    def _took(self, plugin: str, since: float) -> None:
        seconds = self._stats.clock() - since
        self._seconds[plugin] = self._seconds.get(plugin, 0.0) + seconds

    def count(self) -> None:
        """Count what each plugin said; one that no candidate reached is left out."""
        counts = self._candidates.counts
        left = len(self._candidates) - counts[UNKNOWN_PLACE]
        first = FIRST_REFUSAL
        codes_of: dict[str, dict[Code, int]] = {}
        for place, each in enumerate(self._verdicts):
            if not left:
                break
            codes = codes_of.setdefault(each.plugin, {})
            last = first + len(each.statuses)
            for code, refused in each.counted(counts[first:last]):
                codes[code] = codes.get(code, 0) + refused
                left -= refused
            codes[Code.SUCCESS] = left
            self._notice(place, each, counts[first:last])
            first = last
        for plugin, codes in codes_of.items():
            present = {code: count for code, count in codes.items() if count}
            seconds = self._seconds.get(plugin, 0.0)
            self._stats.evaluations.append(
                Evaluation(plugin, ExtensionPoint.FILTER, present, seconds)
            )

    def _notice(self, place: int, each: RuleVerdicts, counts: Sequence[int]) -> None:
        """Gather what the question noticed about candidates that reached it."""
        found: set[Finding] = self._stats.findings
        if each.has_findings:
            for status in compress(each.statuses, counts):
                found |= status.findings
        if each.noticed:
            reached = self._reached(place, self._columns[place])
            for code, findings in each.noticed.items():
                if reached[code]:
                    found |= findings

    def narrow(self) -> None:
        """Let questions choose among the candidates that pass, for the sake of pods in flight."""
        choosing = [
            (each.narrowing, each.plugin, column)
            for each, column in zip(self._verdicts, self._columns, strict=True)
            if each.narrowing is not None and each.narrowing.crowded
        ]
        choosing.sort(key=lambda item: item[0].domains)
        for narrowing, plugin, column in choosing:
            counts = self._reached(len(self._verdicts), column)
            codes = list(compress(range(len(column)), counts))
            nodes = samples(column, codes, column.facet)
            try:
                keeps = narrowing.keeps(nodes, [counts[code] for code in codes])
                verdict = narrowing.held_back
            except Exception as exc:  # noqa: BLE001 - becomes the answer's Error, signed
                keeps, verdict = [False] * len(nodes), self._stats.fault(exc)
            held_back = [code for code, kept in zip(codes, keeps, strict=True) if not kept]
            if held_back:
                self._hold_back(plugin, column, held_back, verdict)

    def _hold_back(
        self, plugin: str, column: Column, codes: Sequence[int], verdict: Status
    ) -> None:
        """One more question, which refuses these codes."""
        extra = RuleVerdicts(plugin, _HeldBack(verdict))
        extra.refuse(column, codes, verdict)
        self._verdicts.append(extra)
        self._columns.append(column)
        self._judge()


class _HeldBack:
    """Stands for a choice among candidates: what it says of a code was decided already."""

    facet = UNSCHEDULABLE
    findings: frozenset[Finding] = frozenset()

    def __init__(self, verdict: Status) -> None:
        self._verdict = verdict

    def filter(self, _node: NodeInfo) -> Status:
        return self._verdict
