"""What a run of the plugins came to."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

from extender.framework.columns.columns import Column
from extender.framework.columns.judging import FIRST_REFUSAL, UNKNOWN_PLACE
from extender.framework.columns.scores import weighted_mean
from extender.framework.columns.verdicts import RuleVerdicts
from extender.framework.interface import SUCCESS, Code, Status
from extender.framework.stats import CallStats
from extender.rows import Candidates


@dataclass(frozen=True, slots=True)
class FilterResult:
    """The verdict on every candidate."""

    candidates: Candidates
    verdicts: Sequence[RuleVerdicts]
    stats: CallStats
    settled: Status | None = None  # the pod itself was refused, whatever the node

    @property
    def passed(self) -> int:
        """How many candidates pass."""
        return self.candidates.counts[0]

    @property
    def unknown(self) -> int:
        """How many candidates nobody knows, if that makes a difference."""
        return 0 if self.settled is not None else self.candidates.counts[UNKNOWN_PLACE]

    def fault(self) -> Status | None:
        """The status of a question that broke for a candidate, if one did."""
        if not any(Code.ERROR in each.codes for each in self.verdicts):
            return None
        return next((s for _, s in self.refusals() if s.code is Code.ERROR), None)

    def is_unsettled(self) -> bool:
        """Whether only pods in flight stand in the way of some candidate."""
        return any(each.has_unsettled for each in self.verdicts) and any(
            status.unsettled for _, status in self.refusals()
        )

    def refusing(self) -> frozenset[str]:
        """The plugins that refused a candidate."""
        counts = self.candidates.counts
        first = FIRST_REFUSAL
        found = set()
        for each in self.verdicts:
            last = first + len(each.statuses)
            if any(counts[first:last]):
                found.add(each.plugin)
            first = last
        return frozenset(found)

    def refusals(self) -> Iterator[tuple[int, Status]]:
        """The places of candidates that do not pass, each with its refusal."""
        counts = self.candidates.counts
        statuses = (status for each in self.verdicts for status in each.statuses)
        return compress(enumerate(statuses, FIRST_REFUSAL), counts[FIRST_REFUSAL:])

    def statuses(self) -> list[Status]:
        """One a candidate in the order of the request; all of them must be known."""
        by_place = {0: SUCCESS, **dict(self.refusals())}
        return [by_place[place] for place in self.candidates.places]


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """Columns and tables whose sums are the scores; none if all candidates are equal."""

    candidates: Candidates
    stats: CallStats
    columns: Sequence[Column] = ()
    tables: "Sequence[array[int]]" = ()
    unit: int = 0

    def encoded(self) -> bytes:
        """The answer to `/prioritize`."""
        if not self.unit:
            return b"[]"
        codes = [column.codes for column in self.columns]
        return self.candidates.score(codes, self.tables, self.unit)

    def scores(self) -> list[int]:
        """The score of each candidate that is known, in the order of the request."""
        self.candidates.judge((), (), ())
        known = self.candidates.rows(0)
        if not self.unit:
            return [0] * len(known)
        pairs = list(zip(self.columns, self.tables, strict=True))
        totals = (sum(table[column.codes[row]] for column, table in pairs) for row in known)
        return [weighted_mean(total, self.unit) for total in totals]
