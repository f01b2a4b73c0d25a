"""Compiled expressions and what they said of taints, within bounds.

Pods of one workload carry the same expressions and nodes share taints, so an expression is
compiled once and asked once about a taint, or about all taints that differ only in what it does
not read. Both are pure, so nothing that is kept can become wrong. Failures are kept like programs:
a broken expression costs as little the second time.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from extender.errors import AllowanceError
from extender.match.cel.faults import CompileError, TooComplexError
from extender.match.cel.program import MAX_BYTES, Evaluation, Program, compile_expression
from extender.match.cel.values import COST_LIMIT
from extender.model.core_v1 import Taint

MAX_ENTRIES: Final = 10_000
MAX_VERDICTS: Final = 200_000
# A program takes memory in proportion to its text, so text is counted too: of expressions of
# this length there is room for as many as there may be entries.
USUAL_LENGTH: Final = 128
# Of a refusal so much is kept: each of a hundred issues may show a line of 10 KiB.
MAX_PROBLEM: Final = 10_000
# What compiling costs, in the units of evaluation: about as long as that takes.
COMPILE_COST: Final = 300
# How far above its estimate an evaluation may turn out: upstream's estimate does not count, say,
# the length of the text on which startsWith() is called.
UNDERESTIMATE: Final = 20

Outcome = Program | CompileError
Compile = Callable[[str], Program]


@dataclass(slots=True)
class _Entry:
    outcome: Outcome
    verdicts: dict[Taint, Evaluation] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of one expression: its program or why there is none, and its verdicts."""

    expression: str
    outcome: Outcome
    verdicts: Mapping[Taint, Evaluation]


@dataclass(frozen=True, slots=True)
class Work:
    """Expressions to compile and to evaluate; can be done on another thread."""

    compile: Compile
    jobs: Sequence[tuple[str, Outcome | None, Sequence[Taint]]]

    def do(self, allowance: int) -> Sequence[Finished]:
        """Do what the allowance is enough for; the rest is left for another time."""
        finished = []
        for expression, known, taints in self.jobs:
            outcome = known
            if outcome is None:
                allowance -= compile_cost(expression)
                if allowance < 0:
                    break
                outcome = _outcome(self.compile, expression)
            verdicts: dict[Taint, Evaluation] = {}
            if isinstance(outcome, Program):
                for taint in dict.fromkeys(map(outcome.seen, taints)):
                    if allowance < 0:
                        break
                    verdict = outcome.judge(taint)
                    verdicts[taint] = verdict
                    allowance -= verdict.cost
            finished.append(Finished(expression, outcome, verdicts))
        return finished


class Programs:
    """Programs by their expression, the longest unused dropped first.

    `allowance` is what may still be spent, in units of cost; who serves renews it for each call.
    What it does not cover is not begun: AllowanceError.
    """

    def __init__(
        self,
        max_entries: int = MAX_ENTRIES,
        *,
        max_verdicts: int = MAX_VERDICTS,
        compile_with: Compile = compile_expression,
    ) -> None:
        self.allowance: float = math.inf
        self.hits = self.misses = self.evictions = 0
        self._compile = compile_with
        self._max_entries = max_entries
        self._max_verdicts = max_verdicts
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._text = 0
        self._verdicts = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, expression: str) -> bool:
        return expression in self._entries

    def problem(self, expression: str) -> str | None:
        """Why the expression can never match; None if it can be evaluated."""
        failure = self.failure(expression)
        return None if failure is None else str(failure)

    def failure(self, expression: str) -> CompileError | None:
        """What refuses the expression; None if it can be evaluated."""
        outcome = self._entry(expression).outcome
        return outcome if isinstance(outcome, CompileError) else None

    def evaluate(self, expression: str, taint: Taint) -> Evaluation:
        """What the expression says of the taint."""
        entry = self._entry(expression)
        outcome = entry.outcome
        if isinstance(outcome, CompileError):
            return Evaluation(None, str(outcome), 0)
        taint = outcome.seen(taint)
        verdict = entry.verdicts.get(taint)
        if verdict is None:
            self._afford(min(outcome.max_cost * UNDERESTIMATE, COST_LIMIT))
            verdict = outcome.judge(taint)
            self.allowance -= verdict.cost
            self._note_one(entry, taint, verdict)
        return verdict

    def work(self, expressions: Iterable[str], taints: Iterable[Taint]) -> Work:
        """All that is not known yet of these expressions and taints."""
        asked = tuple(taints)
        jobs: list[tuple[str, Outcome | None, Sequence[Taint]]] = []
        for expression in dict.fromkeys(expressions):
            entry = self._entries.get(expression)
            if entry is None:
                jobs.append((expression, None, asked))
            elif isinstance(entry.outcome, Program):
                seen = dict.fromkeys(map(entry.outcome.seen, asked))
                unknown = tuple(taint for taint in seen if taint not in entry.verdicts)
                jobs.append((expression, entry.outcome, unknown))
        return Work(self._compile, jobs)

    def learn(self, finished: Iterable[Finished]) -> None:
        """Take over the results of work that was done elsewhere."""
        for each in finished:
            entry = self._entries.get(each.expression)
            if entry is None:
                self.misses += 1
                entry = self._add(each.expression, each.outcome)
            self._entries.move_to_end(each.expression)
            self._note(entry, each.verdicts)

    def _entry(self, expression: str) -> _Entry:
        entry = self._entries.get(expression)
        if entry is not None:
            self.hits += 1
            self._entries.move_to_end(expression)
            return entry
        self.misses += 1
        cost = compile_cost(expression)
        self._afford(cost)
        self.allowance -= cost
        return self._add(expression, _outcome(self._compile, expression))

    def _afford(self, cost: int) -> None:
        if cost > self.allowance:
            raise AllowanceError(
                "the CEL expressions of the pod take more work than one call may do; what is"
                " done is remembered, and the next call goes on from there"
            )

    def _add(self, expression: str, outcome: Outcome) -> _Entry:
        entry = self._entries[expression] = _Entry(outcome)
        self._text += len(expression)
        self._trim(entry)
        return entry

    def _note(self, entry: _Entry, verdicts: Mapping[Taint, Evaluation]) -> None:
        before = len(entry.verdicts)
        if before + len(verdicts) > self._max_verdicts:
            entry.verdicts.clear()  # this expression alone fills the room
        entry.verdicts.update(verdicts)
        self._verdicts += len(entry.verdicts) - before
        self._trim(entry)

    def _note_one(self, entry: _Entry, taint: Taint, verdict: Evaluation) -> None:
        """The same for one of thousands: next to always there is room for it."""
        if len(entry.verdicts) < self._max_verdicts and self._verdicts < self._max_verdicts:
            entry.verdicts[taint] = verdict
            self._verdicts += 1
        else:
            self._note(entry, {taint: verdict})

    def _trim(self, newest: _Entry) -> None:
        """Drop what was longest unused, but never what was just added."""
        while self._over():
            expression, oldest = next(iter(self._entries.items()))
            if oldest is newest:
                break
            del self._entries[expression]
            self._text -= len(expression)
            self._verdicts -= len(oldest.verdicts)
            self.evictions += 1

    def _over(self) -> bool:
        return (
            len(self._entries) > self._max_entries
            or self._text > self._max_entries * USUAL_LENGTH
            or self._verdicts > self._max_verdicts
        )


def compile_cost(expression: str) -> int:
    """What compiling costs; an expression that is too long is refused unread."""
    return COMPILE_COST * len(expression) if len(expression) <= MAX_BYTES else 0


def _outcome(compile_with: Compile, expression: str) -> Outcome:
    try:
        program = compile_with(expression)
    except CompileError as exc:
        problem = str(exc)
        if len(problem) > MAX_PROBLEM:
            return CompileError(f"{problem[:MAX_PROBLEM]}...")
        return exc.with_traceback(None)
    if program.too_costly:
        return TooComplexError(
            f"too complex, estimated cost {program.max_cost} exceeds limit {COST_LIMIT}"
        )
    return program
