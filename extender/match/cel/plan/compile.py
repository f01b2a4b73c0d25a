"""Turns a checked expression into closures."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from msgspec import Struct

from extender.match.cel.check.notes import Checked
from extender.match.cel.plan.aggregates import plan_list, plan_map, plan_struct
from extender.match.cel.plan.attributes import plan_branch, plan_ident, plan_select
from extender.match.cel.plan.calls import plan_call
from extender.match.cel.plan.code import FIRST_LOCAL, Code, Run, constant
from extender.match.cel.plan.folds import plan_fold
from extender.match.cel.plan.patterns import Afford, any_size, compile_patterns
from extender.match.cel.plan.scope import Branch, ProgramError, Scope, Steps
from extender.match.cel.plan.weight import bytes_of
from extender.match.cel.syntax.ast import (
    Call,
    Constant,
    Expr,
    Fold,
    Ident,
    ListExpr,
    MapExpr,
    Select,
    StructExpr,
)
from extender.match.cel.values import Uint

# Python's stack has room for 1,000 nested calls, and our callers need some of them.
MAX_NESTING: Final = 600


class Plan(Struct, frozen=True):
    """A program, ready to run."""

    run: Run
    cost: int  # the fixed part, charged before it runs
    locals: tuple[None, ...]  # of its state
    fields: frozenset[int]  # of the taint that it reads, by their slots
    bytes: int  # of memory, regular expressions included
    pattern_size: int  # instructions of its regular expressions
    heavy: bool  # whether a run may do work that its cost does not cover


def plan(checked: Checked, afford: Afford = any_size, *, exact: bool = False) -> Plan:
    """Raises ProgramError. An exact plan is slower and stops at the limit as upstream does."""
    scope = Scope(checked, exact=exact)
    code = _planned(scope, checked.root)
    if code.depth > MAX_NESTING:
        raise ProgramError("expression is nested too deeply")
    local = (None,) * (scope.slots - FIRST_LOCAL)
    compile_patterns(scope, afford)
    patterns = scope.patterns.values()
    return Plan(
        code.run,
        code.cost,
        local,
        frozenset(scope.fields),
        bytes=bytes_of(code.run) + sum(pattern.bytes for pattern in patterns),
        pattern_size=sum(pattern.size for pattern in patterns),
        heavy=scope.heavy,
    )


def _planned(scope: Scope, root: Expr) -> Code:
    """Handlers are generators on an explicit stack: no recursion, so no depth is too much."""
    stack = [_handler(scope, root)]
    code: Code | None = None
    while True:
        try:
            request = next(stack[-1]) if code is None else stack[-1].send(code)
        except StopIteration as stop:
            stack.pop()
            code = cast(Code, stop.value)
            if not stack:
                return code
        else:
            stack.append(_handler(scope, request))
            code = None


def _handler(scope: Scope, request: Expr | Branch) -> Steps:
    return _HANDLERS[type(request)](scope, request)


def _plan_constant(_: Scope, expr: Constant) -> Steps:
    return constant(Uint(cast(int, expr.value)) if expr.kind == "uint" else expr.value)
    yield


_HANDLERS: Final[Mapping[type[Any], Callable[[Scope, Any], Steps]]] = {
    Branch: plan_branch,
    Call: plan_call,
    Constant: _plan_constant,
    Fold: plan_fold,
    Ident: plan_ident,
    ListExpr: plan_list,
    MapExpr: plan_map,
    Select: plan_select,
    StructExpr: plan_struct,
}
