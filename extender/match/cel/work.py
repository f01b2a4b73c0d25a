"""Compiling and evaluating expressions, as far as an allowance reaches; any thread may do it.

Cost is counted in units of evaluation. What compiling costs shows in two steps: the text tells
what parsing takes, and only the parsed expression what its regular expressions take. RE2 compiles
them without letting another thread run, so they are paid for before the first one compiles.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from extender.errors import AllowanceError
from extender.match.cel.faults import CompileError, TooComplexError
from extender.match.cel.plan.patterns import Afford
from extender.match.cel.program import MAX_BYTES, Evaluation, Program
from extender.match.cel.values import COST_LIMIT
from extender.model.core_v1 import Taint

# Characters of an error text that are kept: each of 100 issues may quote a line of 10 KiB.
MAX_PROBLEM: Final = 10_000
# What compiling a character costs, in units of evaluation: they take about as long.
COMPILE_COST: Final = 300
# The same for an instruction of a regular expression.
INSTRUCTION_COST: Final = 10
# Instructions of all regular expressions in one object that is validated: 0.2 to 0.5 s.
MAX_INSTRUCTIONS: Final = 400_000

Outcome = Program | CompileError
Compile = Callable[[str, Afford], Program]
# Whether nobody waits for the work any more.
IsOver = Callable[[], bool]


class Allowance:
    """What may still be spent."""

    def __init__(self, left: float) -> None:
        self.left = left

    def afford(self, instructions: int) -> None:
        """Pay for regular expressions before they compile."""
        self.spend(INSTRUCTION_COST * instructions)

    def spend(self, cost: float) -> None:
        """Pay, or raise AllowanceError."""
        self.require(cost)
        self.left -= cost

    def require(self, cost: float) -> None:
        """AllowanceError if there is less left."""
        if cost > self.left:
            raise AllowanceError(
                "the CEL expressions of the pod take more work than one call may do; what is"
                " done is remembered, and the next call goes on from there"
            )


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
    room: float = math.inf  # bytes that new programs may take

    def do(self, allowance: float, is_over: IsOver = lambda: False) -> Sequence[Finished]:
        """Do as much as the allowance covers, or as is wanted; the next call does the rest."""
        finished: list[Finished] = []
        purse, room = Allowance(allowance), self.room
        for expression, known, taints in self.jobs:
            if is_over():
                break
            outcome = known
            if outcome is None:
                try:
                    purse.spend(compile_cost(expression))
                    outcome = outcome_of(self.compile, expression, purse.afford)
                except AllowanceError:
                    break
                room -= outcome.plan.bytes if isinstance(outcome, Program) else 0
            verdicts: Mapping[Taint, Evaluation] = {}
            if isinstance(outcome, Program):
                verdicts = _judged(outcome, taints, purse, is_over)
            finished.append(Finished(expression, outcome, verdicts))
            if room < 0:
                break
        return finished


def _judged(
    program: Program, taints: Sequence[Taint], purse: Allowance, is_over: IsOver
) -> Mapping[Taint, Evaluation]:
    verdicts: dict[Taint, Evaluation] = {}
    for taint in dict.fromkeys(map(program.seen, taints)):
        if purse.left < 0 or is_over():
            break
        verdict = verdicts[taint] = program.judge(taint)
        purse.left -= verdict.cost + verdict.steps
    return verdicts


class Compilation:
    """The expressions of one object, to be compiled in their order.

    Which of them are refused depends on the object alone, and not on what is known already: their
    regular expressions are bounded together.
    """

    def __init__(
        self, compile_with: Compile, expressions: Iterable[str], known: Mapping[str, Outcome]
    ) -> None:
        self._compile = compile_with
        self._pending = list(dict.fromkeys(expressions))[::-1]
        self._known = known
        self._instructions = 0
        self._failures: dict[str, CompileError | None] = {}
        self.finished: list[Finished] = []  # what was compiled here
        # What compiling costs, without regular expressions.
        self.cost = sum(compile_cost(text) for text in self._pending if text not in known)

    def go_on(self, allowance: float, is_over: IsOver = lambda: False) -> bool:
        """Compile what the allowance covers, or as is wanted; True when nothing is left to do."""
        purse = Allowance(allowance)
        while self._pending and not is_over():
            try:
                self._finish(self._pending[-1], purse)
            except AllowanceError:
                return False
            self._pending.pop()
        return not self._pending

    def failure(self, expression: str) -> CompileError | None:
        """The error of an expression; None if it can be evaluated."""
        return self._failures[expression]

    def _finish(self, expression: str, purse: Allowance) -> None:
        outcome = self._known.get(expression)
        try:
            if outcome is None:
                outcome = self._compiled(expression, purse)
            elif isinstance(outcome, Program):
                self._count(outcome.plan.pattern_size)
        except _TooManyInstructionsError:
            self._failures[expression] = _TOO_MANY
        else:
            self._failures[expression] = outcome if isinstance(outcome, CompileError) else None

    def _compiled(self, expression: str, purse: Allowance) -> Outcome:
        def afford(instructions: int) -> None:
            self._count(instructions)
            try:
                purse.afford(instructions)
            except AllowanceError:
                self._instructions -= instructions
                raise

        purse.spend(compile_cost(expression))
        outcome = outcome_of(self._compile, expression, afford)
        self.finished.append(Finished(expression, outcome, {}))
        return outcome

    def _count(self, instructions: int) -> None:
        if self._instructions + instructions > MAX_INSTRUCTIONS:
            raise _TooManyInstructionsError
        self._instructions += instructions


class _TooManyInstructionsError(Exception):
    """The regular expressions of the object are too large together."""


_TOO_MANY: Final = TooComplexError(
    "too complex, the regular expressions of one object may take"
    f" {MAX_INSTRUCTIONS} instructions in all"
)


def compile_cost(expression: str) -> int:
    """The cost of parsing. An expression over the size limit is free: nobody reads it."""
    return COMPILE_COST * len(expression) if len(expression) <= MAX_BYTES else 0


def outcome_of(compile_with: Compile, expression: str, afford: Afford) -> Outcome:
    """The program of an expression, or what refuses it."""
    try:
        program = compile_with(expression, afford)
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
