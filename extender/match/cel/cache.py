"""Compiled expressions and their verdicts on taints, within the budget of all caches.

Pods of one workload carry the same expressions and nodes share taints, so an expression is
compiled once and evaluated once for a taint, or for all taints that differ only in fields that it
does not read. Both are pure, so nothing that is kept can become wrong. Failures are kept like
programs: a broken expression costs as little the second time.
"""

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from extender.errors import AllowanceError
from extender.match.cel.faults import CompileError, TooComplexError
from extender.match.cel.program import MAX_BYTES, Evaluation, Program, compile_expression
from extender.match.cel.values import COST_LIMIT
from extender.match.lru import LRU, MAX_SHARE, CacheBudget
from extender.model.core_v1 import Taint

# Characters of an error text that are kept: each of 100 issues may quote a line of 10 KiB.
MAX_PROBLEM: Final = 10_000
# What compiling a character costs, in units of evaluation: they take about as long.
COMPILE_COST: Final = 300
# An evaluation may cost this many times its estimate: upstream's estimate leaves out, for example,
# the length of the string on which startsWith() is called.
UNDERESTIMATE: Final = 20
# Beside the text and the plan: the entry, its place in the LRU, the program, an empty dict.
_ENTRY_BYTES: Final = 1_000
# A Taint with three strings, an Evaluation with its cost, and their slot in a dict that is half
# full. A character counts as 2 bytes: it takes 1, or up to 4 beyond ASCII. The strings belong to
# nodes, but a verdict may outlive its node.
_VERDICT_BYTES: Final = 400
# The LRU learns a new weight once an entry has grown by an eighth: for each verdict it would take
# 0.5 us.
_UNTOLD: Final = 8

Outcome = Program | CompileError
Compile = Callable[[str], Program]


@dataclass(slots=True)
class _Entry:
    outcome: Outcome
    bytes: int  # without verdicts
    room: int  # bytes that the verdicts may take
    weighed: int  # the weight that the LRU has
    verdicts: dict[Taint, Evaluation] = field(default_factory=dict)
    verdict_bytes: int = 0

    def add(self, taint: Taint, verdict: Evaluation) -> None:
        """Keep a verdict. When the room is full, forget all verdicts and start over."""
        weight = _VERDICT_BYTES + 2 * (len(taint.key) + len(taint.value) + len(taint.effect))
        if verdict.error is not None:
            weight += sys.getsizeof(verdict.error)
        if self.verdict_bytes + weight > self.room:
            self.verdicts.clear()
            self.verdict_bytes = 0
        if weight <= self.room:
            self.verdicts[taint] = verdict
            self.verdict_bytes += weight


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of working on one expression: its program or its failure, and its verdicts."""

    expression: str
    outcome: Outcome
    verdicts: Mapping[Taint, Evaluation]


@dataclass(frozen=True, slots=True)
class Work:
    """Expressions to compile and to evaluate; another thread may do it."""

    compile: Compile
    jobs: Sequence[tuple[str, Outcome | None, Sequence[Taint]]]

    def do(self, allowance: int, is_over: Callable[[], bool] = lambda: False) -> Sequence[Finished]:
        """Do as much as the allowance covers, or as is wanted; the next call does the rest."""
        finished = []
        for expression, known, taints in self.jobs:
            if is_over():
                break
            outcome = known
            if outcome is None:
                allowance -= compile_cost(expression)
                if allowance < 0:
                    break
                outcome = _outcome(self.compile, expression)
            verdicts: dict[Taint, Evaluation] = {}
            if isinstance(outcome, Program):
                for taint in dict.fromkeys(map(outcome.seen, taints)):
                    if allowance < 0 or is_over():
                        break
                    verdict = outcome.judge(taint)
                    verdicts[taint] = verdict
                    allowance -= verdict.cost
            finished.append(Finished(expression, outcome, verdicts))
        return finished


class ProgramCache:
    """ProgramCache by their expression.

    `allowance` is what may still be spent, in units of cost; the server renews it for each call.
    Work that it does not cover is not begun: AllowanceError.
    """

    def __init__(
        self, budget: CacheBudget | None = None, *, compile_with: Compile = compile_expression
    ) -> None:
        self.allowance: float = math.inf
        self._compile = compile_with
        self.budget = CacheBudget() if budget is None else budget
        self._share = int(MAX_SHARE * self.budget.max_bytes)
        self._entries: LRU[str, _Entry] = LRU("programs", self.budget)
        # The last program that is too heavy for the LRU. If it were forgotten, a call that ran out
        # of allowance would never finish: each retry would have to compile it again.
        self._heavy: tuple[str, _Entry] | None = None

    @property
    def hits(self) -> int:
        return self._entries.hits

    @property
    def misses(self) -> int:
        return self._entries.misses

    @property
    def evictions(self) -> int:
        return self._entries.evictions

    def __len__(self) -> int:
        return len(self._entries) + (self._heavy is not None)

    def __contains__(self, expression: str) -> bool:
        return self._peek(expression) is not None

    def problem(self, expression: str) -> str | None:
        """Why the expression can never match; None if it can be evaluated."""
        failure = self.failure(expression)
        return None if failure is None else str(failure)

    def failure(self, expression: str) -> CompileError | None:
        """The error of an expression that does not compile; None if it can be evaluated."""
        outcome = self._entry(expression).outcome
        return outcome if isinstance(outcome, CompileError) else None

    def evaluate(self, expression: str, taint: Taint) -> Evaluation:
        """What the expression says about the taint."""
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
            entry.add(taint, verdict)
            if entry.bytes + entry.verdict_bytes - entry.weighed > entry.weighed // _UNTOLD:
                self._reweigh(expression, entry)
        return verdict

    def work(self, expressions: Iterable[str], taints: Iterable[Taint]) -> Work:
        """What is still to be compiled and evaluated for these expressions and taints."""
        asked = tuple(taints)
        jobs: list[tuple[str, Outcome | None, Sequence[Taint]]] = []
        for expression in dict.fromkeys(expressions):
            entry = self._peek(expression)
            if entry is None:
                jobs.append((expression, None, asked))
            elif isinstance(entry.outcome, Program):
                seen = dict.fromkeys(map(entry.outcome.seen, asked))
                unknown = tuple(taint for taint in seen if taint not in entry.verdicts)
                jobs.append((expression, entry.outcome, unknown))
        return Work(self._compile, jobs)

    def learn(self, finished: Iterable[Finished]) -> None:
        """Keep the results of work that another thread did."""
        for each in finished:
            entry = self._peek(each.expression)
            if entry is None:
                self._entries.misses += 1
                entry = self._add(each.expression, each.outcome)
            for taint, verdict in each.verdicts.items():
                if taint not in entry.verdicts:
                    entry.add(taint, verdict)
            self._reweigh(each.expression, entry)

    def _peek(self, expression: str) -> _Entry | None:
        if self._heavy is not None and self._heavy[0] == expression:
            return self._heavy[1]
        return self._entries.peek(expression)

    def _entry(self, expression: str) -> _Entry:
        if self._heavy is not None and self._heavy[0] == expression:
            self._entries.hits += 1
            return self._heavy[1]
        entry = self._entries.get(expression)
        if entry is not None:
            return entry
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
        weight = _ENTRY_BYTES + sys.getsizeof(expression) + _outcome_bytes(outcome)
        if weight <= self._share // 2:
            entry = _Entry(outcome, weight, room=self._share - weight, weighed=weight)
            self._entries.put(expression, entry, weight)
        else:
            entry = _Entry(outcome, weight, room=self._share, weighed=weight)
            self._heavy = expression, entry
        return entry

    def _reweigh(self, expression: str, entry: _Entry) -> None:
        entry.weighed = entry.bytes + entry.verdict_bytes
        self._entries.reweigh(expression, entry.weighed)


def compile_cost(expression: str) -> int:
    """The cost of compiling. An expression over the size limit is free: nobody reads it."""
    return COMPILE_COST * len(expression) if len(expression) <= MAX_BYTES else 0


def _outcome_bytes(outcome: Outcome) -> int:
    return outcome.plan.bytes if isinstance(outcome, Program) else sys.getsizeof(str(outcome))


def _outcome(compile_with: Compile, expression: str) -> Outcome:
    try:
        program = compile_with(expression)
    except CompileError as exc:
        # Not `exc` itself: through its context it holds the compiler's frames and the AST.
        problem = str(exc)
        kept = problem if len(problem) <= MAX_PROBLEM else f"{problem[:MAX_PROBLEM]}..."
        return CompileError(kept)
    if program.too_costly:
        return TooComplexError(
            f"too complex, estimated cost {program.max_cost} exceeds limit {COST_LIMIT}"
        )
    return program
