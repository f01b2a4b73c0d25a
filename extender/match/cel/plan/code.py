"""What a node is planned to: a closure over the state of one evaluation, and its cost.

The state of an evaluation is a list: [cost, key, value, effect, steps, local...]. `cost` is
upstream's. `steps` count work that upstream does not charge for, or far too little. The fixed cost
of a node is charged once and in advance by the nearest control point above it (a branch, a term of
`&&`, the body of a loop, the evaluation), and not by its own closure.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.values import COST_LIMIT, COST_LIMIT_EXCEEDED, MAX_STEPS, Value

State: TypeAlias = list[Any]
Run: TypeAlias = Callable[[State], Any]

KEY_SLOT: Final = 1
VALUE_SLOT: Final = 2
EFFECT_SLOT: Final = 3
FIELD_SLOTS: Final = {"key": KEY_SLOT, "value": VALUE_SLOT, "effect": EFFECT_SLOT}
FIRST_LOCAL: Final = 5
NO_SLOT: Final = -1
UNKNOWN: Final = object()

_FAILURE_STEPS: Final = 30
_FREE_STEPS: Final = 2


class Code(Struct, frozen=True, eq=False):
    """A node, planned."""

    run: Run
    cost: int = 0  # charged in advance, by the caller
    work: int = 0  # steps of one run that the cost does not cover
    depth: int = 1  # how many Python calls deep a run gets
    slot: int = NO_SLOT  # of the state, if that already holds the value
    known: Value = UNKNOWN  # the value, if it is always the same
    constant: bool = False  # known, free, and a constant in upstream's plan too
    charges_itself: bool = False  # right after it has run

    @property
    def is_free(self) -> bool:
        """Whether a run costs nothing, so that only steps can bound a loop over it."""
        return not self.cost and not self.charges_itself


def constant(value: Value) -> Code:
    """A node that is a constant in upstream's plan."""
    return Code(lambda _: value, known=value, constant=True)


def compose(
    run: Run,
    parts: Sequence[Code] = (),
    *,
    cost: int = 0,
    work: int = 0,
    later: Sequence[Code] = (),
) -> Code:
    """A node that always runs `parts`; those of `later` it charges itself, when it runs them."""
    return Code(
        run,
        cost + sum([part.cost for part in parts]),
        work + sum([part.work for part in (*parts, *later)]),
        1 + max([part.depth for part in (*parts, *later)], default=0),
    )


def charged(code: Code, cost: int) -> Code:
    """The same code at a higher cost."""
    return Code(code.run, code.cost + cost, code.work, code.depth, code.slot, code.known)


def spend(s: State, steps: int) -> None:
    """Count work that upstream does not charge for."""
    s[4] += steps
    if s[4] > MAX_STEPS:
        raise CostLimitError(COST_LIMIT_EXCEEDED)


def caught(s: State, error: EvaluationError) -> str:
    """The text of an absorbed error; raising and catching it counts as steps."""
    spend(s, _FAILURE_STEPS)
    return str(error)


def padded(code: Code) -> Code:
    """The code for the body of a loop: each run counts the steps that its cost does not cover."""
    run, work = code.run, code.work
    if code.is_free:
        work += _FREE_STEPS
    if not work:
        return code

    def counted(s: State) -> Any:
        s[4] += work
        if s[4] > MAX_STEPS:
            raise CostLimitError(COST_LIMIT_EXCEEDED)
        return run(s)

    return Code(counted, code.cost, depth=code.depth + 1)


def over_limit(s: State) -> CostLimitError:
    """The error of an evaluation that went over the limit one unit at a time."""
    s[0] = COST_LIMIT + 1
    return CostLimitError(COST_LIMIT_EXCEEDED)


def metered(code: Code, *, units: bool) -> Code:
    """A node that charges its own cost right after it has run, as upstream does.

    With `units` upstream charges it one unit at a time, and so stops at the limit exactly.
    """
    run, cost = code.run, code.cost

    def charged(s: State) -> Any:
        failure: EvaluationError | None = None
        value = None
        try:
            value = run(s)
        except EvaluationError as error:
            failure = error
        total = s[0] = s[0] + cost
        if total > COST_LIMIT:
            raise over_limit(s) if units else CostLimitError(COST_LIMIT_EXCEEDED)
        if failure is not None:
            raise failure
        return value

    return Code(charged, 0, code.work, code.depth + 1, charges_itself=True)
