"""Calls: what the planner computes in advance, and which function runs later."""

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Final, cast

from msgspec.structs import replace

from extender.match.cel.cost.charges import charge_of, work_of
from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.library import FUNCTIONS, OVERLOADS
from extender.match.cel.library.charges import NOTHING
from extender.match.cel.plan.attributes import LINKS, TERNARY, plan_chain
from extender.match.cel.plan.code import FIRST_LOCAL, UNKNOWN, Code, compose, constant
from extender.match.cel.plan.dispatch import accepts, dispatcher
from extender.match.cel.plan.invocations import Invocation, invoked
from extender.match.cel.plan.logic import DECISIVE, plan_logic, plan_or
from extender.match.cel.plan.patterns import plan_pattern
from extender.match.cel.plan.rereading import taken
from extender.match.cel.plan.scope import Branch, ProgramError, Scope, Steps, plan_each
from extender.match.cel.syntax.ast import Call, Expr
from extender.match.cel.types import DYN, STRING, Type
from extender.match.cel.values import NUMBERS, Uint, Value, equal_integers, map_key

_CONVERSIONS: Final = frozenset(
    {
        *("bool", "bytes", "double", "duration", "dyn"),
        *("int", "string", "timestamp", "type", "uint"),
    }
)
_DISPATCH_STEPS: Final = 10
# Their result for constant arguments is computed in advance. It is small, unlike that of others.
_KEPT: Final = frozenset(
    {
        *("string_to_semver", "string_to_quantity", "string_to_ip", "string_to_cidr"),
        *("string_to_url", "string_to_duration", "string_to_timestamp", "optional_none"),
    }
)
_OF_OPTIONALS: Final = frozenset({"optional_value", "optional_unwrap", "optional_unwrapOpt"})
_EQUALITIES: Final[Mapping[str, Callable[..., bool]]] = {
    "equals": operator.eq,
    "not_equals": operator.ne,
}
_HASHED: Final = frozenset({str, int, Uint, float, bool})


def plan_call(scope: Scope, expr: Call) -> Steps:
    if expr.function in DECISIVE:
        return (yield from plan_logic(scope, expr))
    if expr.function in LINKS or expr.function == TERNARY:
        return (yield from plan_chain(scope, Branch(expr), unit=1))
    if expr.function in ("or", "orValue") and expr.target is not None:
        return (yield from plan_or(scope, expr))
    operands = _operands(scope, expr)
    parts = yield from plan_each(operands)
    function = scope.checked.names.get(expr.id, expr.function)
    overloads = scope.checked.overloads[expr.id]
    ready = _folded(function, overloads, parts)
    if ready is not None:
        return ready
    types = [scope.type_of(operand) for operand in operands]
    invocation = _invocation(scope, function, overloads, parts, types)
    code = (
        _membership(scope, invocation)
        or _kept(invocation)
        or plan_pattern(scope, invocation)
        or invoked(invocation)
    )
    return scope.settle(code)


def _operands(scope: Scope, expr: Call) -> Sequence[Expr]:
    if expr.target is None or expr.id in scope.checked.names:
        return expr.args
    return (expr.target, *expr.args)


def _folded(function: str, overloads: Sequence[str], parts: Sequence[Code]) -> Code | None:
    """A conversion of a constant, which upstream does when it builds the program too."""
    if function not in _CONVERSIONS or len(parts) != 1 or not parts[0].constant:
        return None
    try:
        return constant(dispatcher(function, overloads)(parts[0].known))
    except EvaluationError as error:
        raise ProgramError(str(error)) from None


def _invocation(
    scope: Scope,
    function: str,
    overloads: Sequence[str],
    parts: Sequence[Code],
    types: Sequence[Type],
) -> Invocation:
    overload = overloads[0] if len(overloads) == 1 else ""
    run = OVERLOADS[overload].run if overload and _are_sure(scope, overload, parts) else None
    call = run or dispatcher(function, overloads)
    work = work_of(overloads)
    if run is None:
        work = replace(work, always=work.always + _DISPATCH_STEPS)
    if overload in _EQUALITIES and _are_plain(scope, parts, types):
        call, work = _EQUALITIES[overload], NOTHING
    elif not _OF_OPTIONALS.isdisjoint(overloads):
        call = _without_failures(call)
    in_order = (
        len(parts) > 2
        or overload == "string_format"
        or (not overload and not FUNCTIONS[function].is_singleton)
    )
    return Invocation(
        function=function,
        overload=overload,
        call=call,
        parts=tuple(parts),
        charge=charge_of(function, overload, types if scope.sound else [DYN] * len(types)),
        work=work,
        in_order=in_order,
        texts=tuple(map(partial(_is_text, scope), parts, types)),
    )


def _are_sure(scope: Scope, overload: str, parts: Sequence[Code]) -> bool:
    """Whether the arguments have the types of the parameters at run time, without a check."""
    if scope.sound:
        return True
    return all(
        parameter.kind in ("var", "dyn")
        or (part.known is not UNKNOWN and accepts(parameter, part.known))
        or (parameter == STRING and _is_surely_text(part))
        for parameter, part in zip(OVERLOADS[overload].parameters, parts, strict=True)
    )


def _are_plain(scope: Scope, parts: Sequence[Code], types: Sequence[Type]) -> bool:
    """Whether both sides have one simple type at run time, without a check."""
    if scope.sound:
        return types[0] == types[1] and types[0].kind in ("primitive", "well_known")
    return all(map(_is_surely_text, parts))


def _is_text(scope: Scope, part: Code, type_: Type) -> bool:
    return (scope.sound and type_ == STRING) or _is_surely_text(part)


def _is_surely_text(part: Code) -> bool:
    return type(part.known) is str or 0 < part.slot < FIRST_LOCAL


def _without_failures(call: Any) -> Any:
    def unwrap(optional: Value) -> Any:
        value = call(optional)
        if type(value) is list:
            return [taken(item) for item in value]
        return taken(value)

    return unwrap


def _membership(scope: Scope, invocation: Invocation) -> Code | None:
    """`in` a constant list is free."""
    if invocation.overload != "in_list" or not invocation.parts[1].constant:
        return None
    part, items = invocation.parts[0], cast(list[Value], invocation.parts[1].known)
    if not items:
        return constant(False)
    kinds = set(map(type, items))
    if not kinds <= _HASHED:
        return None
    run = part.run
    if kinds == {str} and invocation.texts[0]:
        texts = frozenset(items)
        return compose(lambda s: run(s) in texts, (part,))
    members = _members(items)
    return compose(lambda s: map_key(run(s)) in members, (part,), work=1)


def _members(items: Sequence[Value]) -> frozenset[Hashable]:
    """The keys that upstream's hash table for a constant list has.

    They are not what `==` says. That rounds an integer to compare it with a double; here a double
    finds the integers that round to it, but an integer finds only the double that it equals.
    """
    keys = {map_key(item) for item in items}
    for item in items:
        if type(item) in NUMBERS:
            keys.update(equal_integers(item))
        if type(item) is int or type(item) is Uint:
            keys.add(map_key(float(item)))
    return frozenset(keys)


def _kept(invocation: Invocation) -> Code | None:
    """A call with constant arguments, computed in advance; each run is still charged."""
    known = [part.known for part in invocation.parts]
    if invocation.overload not in _KEPT or UNKNOWN in known:
        return None
    try:
        value = invocation.call(*known)
    except (EvaluationError, CostLimitError):
        return None
    price = invocation.charge.by_arguments
    cost = invocation.charge.fixed + (price(*known) if price else 0)
    cost += sum(part.cost for part in invocation.parts)
    return Code(lambda _: value, cost, known=value)
