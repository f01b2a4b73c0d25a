"""Which overloads a call may mean, and the type of its result."""

from collections.abc import Iterator, Sequence
from typing import Final

from extender.match.cel.annotations import Annotations
from extender.match.cel.ast import Call, Expr
from extender.match.cel.check_fields import (
    OPTIONAL_SELECT,
    qualified_name,
    visit_optional_select,
)
from extender.match.cel.declarations import FUNCTIONS
from extender.match.cel.types import BOOL, DYN, ERROR, Type, describe

_LOGIC: Final = {"_&&_": "logical_and", "_||_": "logical_or"}


def visit_call(notes: Annotations, expr: Call) -> Iterator[Expr]:
    """What stands before the dot is a namespace, if that makes a declared name, or a receiver."""
    if expr.function == OPTIONAL_SELECT:
        yield from visit_optional_select(notes, expr)
        return
    yield from expr.args
    if expr.target is None:
        _resolve_global(notes, expr, expr.function.removeprefix("."))
        return
    prefix = qualified_name(expr.target)
    name = f"{prefix}.{expr.function}".removeprefix(".")
    if prefix is not None and name in FUNCTIONS:
        _resolve_global(notes, expr, name)
        return
    yield expr.target
    if expr.function in FUNCTIONS:
        _resolve(notes, expr, expr.function, (expr.target, *expr.args), member=True)
    else:
        notes.undeclared(expr, expr.function)


def _resolve_global(notes: Annotations, expr: Call, name: str) -> None:
    if name not in FUNCTIONS:
        notes.undeclared(expr, expr.function)
        return
    if name != expr.function:
        notes.names[expr.id] = name
    if name in _LOGIC:
        _resolve_logic(notes, expr)
    else:
        _resolve(notes, expr, name, expr.args, member=False)


def _resolve_logic(notes: Annotations, expr: Call) -> None:
    """Both operands are reported, unlike those of other functions."""
    result = BOOL
    for operand in expr.args:
        type_ = notes.types[operand.id]
        if not notes.unifier.assignable(type_, BOOL):
            notes.mismatch(operand, BOOL, type_)
            result = ERROR
    notes.set(expr, result)
    notes.overloads[expr.id] = (_LOGIC[expr.function],)


def _resolve(
    notes: Annotations, expr: Call, name: str, arguments: Sequence[Expr], *, member: bool
) -> None:
    """All overloads that fit, one after the other: what one finds out holds for the next."""
    types = [notes.types[argument.id] for argument in arguments]
    fitting: list[str] = []
    results: list[Type] = []
    for overload in FUNCTIONS[name]:
        if overload.member != member:
            continue
        parameters, result = notes.unifier.instantiate(overload)
        if notes.unifier.all_assignable(types, parameters):
            fitting.append(overload.id)
            results.append(notes.unifier.resolve(result))
    if not results:
        _refuse(notes, expr, name, types, member=member)
        return
    notes.set(expr, results[0] if results.count(results[0]) == len(results) else DYN)
    notes.overloads[expr.id] = tuple(fitting)


def _refuse(
    notes: Annotations, expr: Call, name: str, types: Sequence[Type], *, member: bool
) -> None:
    texts = [describe(notes.unifier.settle(type_)) for type_ in types]
    receiver = f"{texts.pop(0)}." if member else ""
    applied = f"{receiver}({', '.join(texts)})"
    notes.refuse(expr, f"found no matching overload for '{name}' applied to '{applied}'")
