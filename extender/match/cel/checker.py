"""Finds the type of every node, the overloads of every call, and all that does not fit.

As cel-go does: after an error it goes on with the error type, which fits everything.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from extender.match.cel.annotations import Annotations
from extender.match.cel.ast import (
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
from extender.match.cel.check_calls import visit_call
from extender.match.cel.check_fields import visit_select
from extender.match.cel.check_literals import visit_list, visit_map, visit_struct
from extender.match.cel.checked import Checked
from extender.match.cel.source import NOWHERE, IssuesError, Source
from extender.match.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    Type,
    describe,
)
from extender.match.cel.unification import TypeTooLargeError

_CONSTANTS: Final = {
    "null": NULL,
    "bool": BOOL,
    "int": INT,
    "uint": UINT,
    "double": DOUBLE,
    "string": STRING,
    "bytes": BYTES,
}


def check(_source: Source, root: Expr) -> Checked:
    """Raises IssuesError with everything that is wrong."""
    notes = Annotations()
    try:
        _walk(notes, root)
        if not notes.issues:
            return notes.checked(root)
    except TypeTooLargeError as error:
        notes.report(NOWHERE, str(error))
    raise IssuesError(notes.issues)


def _walk(notes: Annotations, root: Expr) -> None:
    """A visit yields the children that it needs first, so that no nesting is too deep."""
    visits = [_VISITS[type(root)](notes, root)]
    while visits:
        child = next(visits[-1], None)
        if child is None:
            visits.pop()
        else:
            visits.append(_VISITS[type(child)](notes, child))


def _visit_constant(notes: Annotations, expr: Constant) -> Iterator[Expr]:
    notes.set(expr, _CONSTANTS[expr.kind])
    return iter(())


def _visit_ident(notes: Annotations, expr: Ident) -> Iterator[Expr]:
    if not notes.resolve_name(expr, expr.name):
        notes.undeclared(expr, expr.name)
    return iter(())


def _visit_fold(notes: Annotations, expr: Fold) -> Iterator[Expr]:
    yield expr.range
    yield expr.init
    accumulated = notes.types[expr.init.id]
    variables = _loop_variables(notes, expr)
    notes.enter({expr.accumulator: accumulated})
    notes.enter(variables)
    yield expr.condition
    yield expr.step
    # Always fits, as only macros make folds; but it may say what an empty list is to hold.
    notes.unifier.assignable(accumulated, notes.types[expr.step.id])
    notes.leave(variables)
    yield expr.result
    notes.leave((expr.accumulator,))
    notes.set(expr, notes.unifier.resolve(notes.types[expr.result.id]))


def _loop_variables(notes: Annotations, expr: Fold) -> dict[str, Type]:
    range_type = notes.unifier.resolve(notes.types[expr.range.id])
    first = second = DYN
    match range_type.kind:
        case "list":
            (second,) = range_type.parameters
            first = INT if expr.variable2 else second
        case "map":
            first, second = range_type.parameters
        case "dyn" | "error" | "var":
            notes.unifier.assignable(DYN, range_type)
        case _:
            first = second = ERROR
            notes.report(
                expr.range.offset,
                f"expression of type '{describe(range_type)}' cannot be range of a comprehension"
                " (must be list, map, or dynamic)",
            )
    return {expr.variable: first} | ({expr.variable2: second} if expr.variable2 else {})


_VISITS: Final[Mapping[type[Expr], Callable[[Annotations, Any], Iterator[Expr]]]] = {
    Constant: _visit_constant,
    Ident: _visit_ident,
    Select: visit_select,
    Call: visit_call,
    ListExpr: visit_list,
    MapExpr: visit_map,
    StructExpr: visit_struct,
    Fold: _visit_fold,
}
