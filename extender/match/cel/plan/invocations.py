"""How a function is called: when its arguments are evaluated, and what is charged.

A call with one or two arguments evaluates all of them, even if one fails, and is charged. A call
with more stops at the first that fails, and is charged only if that was the last one. `general`
calls functions of any shape; the other closures do the same for common shapes, with less work.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, Final

from msgspec import Struct

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.charges import TENTHS, Charge, Work, first_tenth, tenth
from extender.match.cel.plan.code import NO_SLOT, UNKNOWN, Code, Run, State, compose, spend

_TABLED: Final = len(TENTHS)


class Invocation(Struct, frozen=True):
    """A call, ready to be made into a closure."""

    function: str
    overload: str  # empty if several fit
    call: Callable[..., Any]
    parts: tuple[Code, ...]
    charge: Charge
    work: Work
    in_order: bool  # stops at the first argument that fails
    texts: tuple[bool, ...]  # which arguments are always strings


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
    """The charge beyond the fixed one if an argument failed."""
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


def invoked(invocation: Invocation) -> Code:
    """The code of a call."""
    run = _shaped(invocation) or general(invocation)
    work = invocation.work.always
    return compose(run, invocation.parts, cost=invocation.charge.fixed, work=work)


def _shaped(invocation: Invocation) -> Run | None:
    parts, work = invocation.parts, invocation.work
    if not parts or work.by_arguments or work.by_result or invocation.charge.by_result:
        return None
    if any(part.known is UNKNOWN for part in parts[1:]):
        return _two(invocation) if len(parts) == 2 and not invocation.in_order else None
    if invocation.overload in ("equals", "not_equals") and all(invocation.texts):
        return _compared(parts[0], parts[1].known, equal=invocation.overload == "equals")
    price = invocation.charge.by_arguments
    return _priced(invocation, price) if price else _fixed(invocation)


def _compared(part: Code, text: Any, *, equal: bool) -> Run:
    """A string compared with a constant."""
    run, slot, length = part.run, part.slot, len(text)

    def compare_slot(s: State) -> bool:
        value = s[slot]
        size = len(value)
        if size > length:
            size = length
        s[0] += TENTHS[size] if size < _TABLED else tenth(size)
        return (value == text) is equal

    def compare(s: State) -> bool:
        try:
            value = run(s)
        except EvaluationError:
            s[0] += min(length, 1)
            raise
        s[0] += tenth(min(len(value), length))
        return (value == text) is equal

    return compare if slot == NO_SLOT else compare_slot


def _fixed(invocation: Invocation) -> Run:
    """A fixed charge, and constant arguments but for the first."""
    first, *others = invocation.parts
    run, slot, call = first.run, first.slot, invocation.call
    if not others:
        return lambda s: call(run(s))
    if invocation.in_order:
        refund = invocation.charge.fixed + sum(part.cost for part in others)
        return _refunding(run, call, [part.known for part in others], refund)
    (other,) = others
    known = other.known
    if slot == NO_SLOT:
        return lambda s: call(run(s), known)
    return lambda s: call(s[slot], known)


def _refunding(run: Run, call: Any, known: list[Any], refund: int) -> Run:
    def invoke(s: State) -> Any:
        try:
            value = run(s)
        except EvaluationError:
            s[0] -= refund
            raise
        return call(value, *known)

    return invoke


def _priced(invocation: Invocation, price: Callable[..., int]) -> Run:
    """A charge by the arguments, which are constant but for the first."""
    first, *others = invocation.parts
    run, call, known = first.run, invocation.call, [part.known for part in others]
    if invocation.in_order:
        on_failure = -invocation.charge.fixed - sum(part.cost for part in others)
    else:
        on_failure = price(EvaluationError(), *known)

    def invoke(s: State) -> Any:
        try:
            value = run(s)
        except EvaluationError:
            s[0] += on_failure
            raise
        s[0] += price(value, *known)
        return call(value, *known)

    def invoke_on_text(s: State) -> Any:
        try:
            value = run(s)
        except EvaluationError:
            s[0] += on_failure
            raise
        size = len(value)
        s[0] += TENTHS[size] if size < _TABLED else tenth(size)
        return call(value, *known)

    return invoke_on_text if price is first_tenth and invocation.texts[0] else invoke


def _two(invocation: Invocation) -> Run:
    """Two arguments; both are evaluated even if one fails."""
    left, right = (part.run for part in invocation.parts)
    call, price = invocation.call, invocation.charge.by_arguments
    if price is not None:
        return _two_priced(left, right, call, price)

    def invoke(s: State) -> Any:
        try:
            value = left(s)
        except EvaluationError:
            _attempt(right, s)
            raise
        return call(value, right(s))

    return invoke


def _two_priced(left: Run, right: Run, call: Callable[..., Any], price: Callable[..., int]) -> Run:
    def invoke(s: State) -> Any:
        value, other = _attempt(left, s), _attempt(right, s)
        s[0] += price(value, other)
        if type(value) is EvaluationError:
            raise value
        if type(other) is EvaluationError:
            raise other
        return call(value, other)

    return invoke


def _attempt(run: Run, s: State) -> Any:
    """The value or the error: the call is charged in either case."""
    try:
        return run(s)
    except EvaluationError as error:
        return error
