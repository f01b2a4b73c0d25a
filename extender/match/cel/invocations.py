"""How a function is called: in which order its arguments are evaluated, what is charged when.

All arguments of a call with one or two of them are evaluated, whatever they yield, and the call is
charged for. A call of more than two stops at the first that fails; then it is charged for only if
that was the last.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from msgspec import Struct

from extender.match.cel.charges import Charge
from extender.match.cel.faults import EvaluationError
from extender.match.cel.plan import Code, Run, State, spend
from extender.match.cel.work import Work


class Invocation(Struct, frozen=True):
    """A call, ready to be made into a closure."""

    function: str
    overload: str  # empty where several are possible
    call: Callable[..., Any]
    parts: tuple[Code, ...]
    charge: Charge
    work: Work
    in_order: bool  # stops at the first argument that fails
    texts: tuple[bool, ...]  # which arguments are sure to be strings


def general(invocation: Invocation) -> Run:
    """A call of any shape."""
    gather = _in_order(invocation) if invocation.in_order else _all(invocation)
    call, charge, work = invocation.call, invocation.charge, invocation.work
    price, price_of_result = charge.by_arguments, charge.by_result
    effort, effort_of_result = work.by_arguments, work.by_result

    def run(s: State) -> Any:
        values = gather(s)
        if effort is not None:
            spend(s, effort(*values))
        if price is not None:
            s[0] += price(*values)
        try:
            result = call(*values)
        except EvaluationError as error:
            if price_of_result is not None:
                s[0] += price_of_result(error)
            raise
        if price_of_result is not None:
            s[0] += price_of_result(result)
        if effort_of_result is not None:
            spend(s, effort_of_result(result))
        return result

    return run


def price_of_failure(charge: Charge, values: Sequence[Any], error: EvaluationError) -> int:
    """What is charged beside the fixed charge if an argument failed."""
    if charge.by_arguments is not None:
        return charge.by_arguments(*values)
    return charge.by_result(error) if charge.by_result is not None else 0


def _all(invocation: Invocation) -> Run:
    runs = tuple(part.run for part in invocation.parts)
    charge = invocation.charge

    def gather(s: State) -> list[Any]:
        values: list[Any] = []
        failure: EvaluationError | None = None
        for run in runs:
            try:
                values.append(run(s))
            except EvaluationError as error:
                values.append(error)
                failure = failure or error
        if failure is None:
            return values
        s[0] += price_of_failure(charge, values, failure)
        raise failure

    return gather


def _in_order(invocation: Invocation) -> Run:
    runs = tuple(part.run for part in invocation.parts)
    charge = invocation.charge
    costs = [part.cost for part in reversed(invocation.parts)]
    refunds = [*accumulate(costs, initial=charge.fixed)][-2::-1]

    def gather(s: State) -> list[Any]:
        values: list[Any] = []
        try:
            for run in runs:
                values.append(run(s))  # noqa: PERF401  how many there are when one fails, counts
        except EvaluationError as error:
            if len(values) == len(runs) - 1:
                s[0] += price_of_failure(charge, [*values, error], error)
            else:
                s[0] -= refunds[len(values)]
            raise
        return values

    return gather
