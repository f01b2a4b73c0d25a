"""Macros over lists and maps, planned as loops.

A fold of cel-go has an accumulator. These loops have none, because the use of it by each macro is
known.
"""

from collections.abc import Generator
from typing import cast

from extender.match.cel.plan.aggregates import LIST_COST
from extender.match.cel.plan.attributes import bound, refuse_types
from extender.match.cel.plan.code import Code, Run, charged, compose, padded
from extender.match.cel.plan.logic import strict
from extender.match.cel.plan.loops import (
    Loop,
    asking,
    collecting,
    counting,
    deciding,
    inserting,
    loop_over,
)
from extender.match.cel.plan.scope import Branch, Scope, Steps, Variable
from extender.match.cel.syntax.ast import Call, Expr, Fold, ListExpr

_Body = Generator[Expr | Branch, Code, tuple[Code | None, Code]]


def plan_fold(scope: Scope, expr: Fold) -> Steps:
    if expr.macro == "bind":
        return (yield from _plan_bind(scope, expr))
    source = yield expr.range
    names = [name for name in (expr.variable, expr.variable2) if name]
    slots = [scope.new_slot() for _ in names]
    for name, slot in zip(names, slots, strict=True):
        scope.enter(name, Variable(slot))
    predicate, element = yield from _plan_body(scope, expr)
    for name in names:
        scope.leave(name)
    loop = loop_over(source, scope.type_of(expr.range), slots, sound=scope.sound)
    run = _loop(scope, expr, loop, predicate, element)
    body = [element]
    if predicate is not None:  # runs inside an iterator
        body.append(Code(predicate.run, depth=predicate.depth + 1))
    return scope.settle(compose(run, (source,), later=body))


def _plan_bind(scope: Scope, expr: Fold) -> Steps:
    init = yield expr.init
    refuse_types(expr.accumulator, scope.type_of(expr.init))
    slot = scope.new_slot()
    scope.enter(expr.accumulator, Variable(slot, init))
    result = yield expr.result
    scope.leave(expr.accumulator)
    return scope.settle(bound(slot, result))


def _plan_body(scope: Scope, expr: Fold) -> _Body:
    """The filter of the elements, if there is one, and what is computed for each."""
    step = cast(Call, expr.step)
    if expr.macro in ("all", "exists", "exists_one"):
        verdict = yield step.args[expr.macro != "exists_one"]
        return None, padded(strict(scope, verdict))
    asked, growth = _growth(step)
    predicate = None if asked is None else padded(strict(scope, (yield asked)))
    element = yield from _plan_element(scope, growth)
    return predicate, padded(element)


def _growth(step: Call) -> tuple[Expr | None, Call]:
    """The filter of a step, if there is one, and the call that adds to the result."""
    if step.function != "_?_:_":
        return None, step
    return step.args[0], cast(Call, step.args[1])


def _plan_element(scope: Scope, growth: Call) -> Steps:
    """What each element adds to the list or map, with the cost of adding it."""
    addition = growth.args[-1]
    if isinstance(addition, ListExpr) and growth.function == "_+_":
        element = yield addition.elements[0]
        if not element.constant:
            element = scope.settle(charged(element, LIST_COST))
    else:
        element = yield addition
    return scope.settle(charged(element, 1))


def _loop(scope: Scope, expr: Fold, loop: Loop, predicate: Code | None, element: Code) -> Run:
    if expr.macro == "all" or expr.macro == "exists":
        return deciding(loop, element, stop=expr.macro == "exists")
    if expr.macro == "exists_one":
        return counting(loop, element)
    failure = scope.new_slot()
    if predicate is not None:
        loop = asking(loop, predicate, failure)
    if expr.macro == "list":
        return collecting(loop, element, failure)
    _, growth = _growth(cast(Call, expr.step))
    return inserting(loop, element, failure, keyed=len(growth.args) == 3)
