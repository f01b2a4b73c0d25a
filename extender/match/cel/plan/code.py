"""What the planner makes of a node: a closure over the state of one evaluation, and its price.

The state of an evaluation is a list: [cost, key, value, effect, steps, local...]. `cost` is
upstream's. `steps` count the work that upstream does not charge for, or far too little.
What a node costs whatever the data is not charged by its closure but once and in advance by the
nearest control point above it (a branch, a term of `&&`, the body of a loop, the evaluation).
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
    cost: int = 0  # charged in advance, by whoever runs it
    work: int = 0  # steps of one run that the cost does not cover
    depth: int = 1  # how many calls deep a run gets
    slot: int = NO_SLOT  # where in the state the value lies ready
    known: Value = UNKNOWN  # the value, if it is always the same
    constant: bool = False  # known, free, and a constant for upstream as well
    charges_itself: bool = False  # when it has run

    @property
    def is_free(self) -> bool:
        """Whether it can be run as often as one likes, were it not for the steps."""
        return not self.cost and not self.charges_itself


def constant(value: Value) -> Code:
    """A node that upstream takes for a constant."""
    return Code(lambda _: value, known=value, constant=True)


def compose(
    run: Run,
    parts: Sequence[Code] = (),
    *,
    cost: int = 0,
    work: int = 0,
    later: Sequence[Code] = (),
) -> Code:
    """A node that always runs its parts, and charges for those that it runs later by itself."""
    return Code(
        run,
        cost + sum([part.cost for part in parts]),
        work + sum([part.work for part in (*parts, *later)]),
        1 + max([part.depth for part in (*parts, *later)], default=0),
    )


def charged(code: Code, cost: int) -> Code:
    """The same with something to pay for beside."""
    return Code(code.run, code.cost + cost, code.work, code.depth, code.slot, code.known)


def spend(s: State, steps: int) -> None:
    """Count work that upstream does not charge for."""
    s[4] += steps
    if s[4] > MAX_STEPS:
        raise CostLimitError(COST_LIMIT_EXCEEDED)


def caught(s: State, error: EvaluationError) -> str:
    """What a failure says that does not end the evaluation; it took some work to get here."""
    spend(s, _FAILURE_STEPS)
    return str(error)


def padded(code: Code) -> Code:
    """The code for use in a loop: every run counts the work that its cost does not cover."""
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
    """The end of an evaluation whose cost went over the limit in steps of one."""
    s[0] = COST_LIMIT + 1
    return CostLimitError(COST_LIMIT_EXCEEDED)


def metered(code: Code, *, units: bool) -> Code:
    """A node that charges for itself, once it has run, as upstream does; by units: one by one."""
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
