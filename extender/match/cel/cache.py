"""Compiled expressions and their verdicts on taints, within the budget of all caches.

Pods of one workload carry the same expressions and nodes share taints, so an expression is
compiled once and evaluated once for a taint, or for all taints that differ only in fields that it
does not read. Both are pure, so nothing that is kept can become wrong. Failures are kept like
programs: a broken expression costs as little the second time.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from extender.match.cel.faults import CompileError
from extender.match.cel.program import Evaluation, Program, compile_expression
from extender.match.cel.values import COST_LIMIT
from extender.match.cel.work import (
    Allowance,
    Compilation,
    Compile,
    Finished,
    Outcome,
    Work,
    compile_cost,
    outcome_of,
)
from extender.match.lru import LRU, MAX_SHARE, CacheBudget
from extender.model.core_v1 import Taint

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


class ProgramCache:
    """ProgramCache by their expression.

    `allowance` is what may still be spent, in units of cost; the server renews it for each call.
    Work that it does not cover is not begun: AllowanceError.
    """

    def __init__(
        self, budget: CacheBudget | None = None, *, compile_with: Compile = compile_expression
    ) -> None:
        self._purse = Allowance(math.inf)
        self._compile = compile_with
        self.budget = CacheBudget() if budget is None else budget
        self._share = int(MAX_SHARE * self.budget.max_bytes)
        self._entries: LRU[str, _Entry] = LRU("programs", self.budget)
        # The last program that is too heavy for the LRU. If it were forgotten, a call that ran out
        # of allowance would never finish: each retry would have to compile it again.
        self._heavy: tuple[str, _Entry] | None = None

    @property
    def allowance(self) -> float:
        return self._purse.left

    @allowance.setter
    def allowance(self, cost: float) -> None:
        self._purse.left = cost

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
            self._purse.require(_most_of(outcome))
            verdict = outcome.judge(taint)
            self._purse.left -= verdict.cost + verdict.steps
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
        # Half of what is kept: while it is done, it is in nobody's weight.
        return Work(self._compile, jobs, room=self.budget.max_bytes // 2)

    def compilation(self, expressions: Iterable[str]) -> Compilation:
        """The expressions of one object that is validated, whatever the cache drops meanwhile."""
        asked = tuple(expressions)
        entries = {text: entry for text in asked if (entry := self._peek(text)) is not None}
        known = {text: entry.outcome for text, entry in entries.items()}
        return Compilation(self._compile, asked, known)

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
        self._purse.spend(compile_cost(expression))
        return self._add(expression, outcome_of(self._compile, expression, self._purse.afford))

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


def _most_of(program: Program) -> int:
    """What an evaluation costs at most, with the work that its cost does not cover."""
    return COST_LIMIT if program.plan.heavy else min(program.max_cost * UNDERESTIMATE, COST_LIMIT)


def _outcome_bytes(outcome: Outcome) -> int:
    return outcome.plan.bytes if isinstance(outcome, Program) else sys.getsizeof(str(outcome))
