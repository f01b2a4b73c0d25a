"""Types of fields, and dotted names that look like fields."""

from collections.abc import Iterator
from typing import Final, cast

from extender.match.cel.annotations import Annotations
from extender.match.cel.ast import Call, Constant, Expr, Ident, Select
from extender.match.cel.types import BOOL, DYN, Type, describe, is_optional, optional_of

OPTIONAL_SELECT: Final = "_?._"


def qualified_name(expr: Expr) -> str | None:
    """The dotted name that an expression may be, if it is nothing but names."""
    fields: list[str] = []
    while isinstance(expr, Select) and not expr.test_only:
        fields.append(expr.field)
        expr = expr.operand
    if not isinstance(expr, Ident):
        return None
    return ".".join([expr.name, *reversed(fields)])


def visit_select(notes: Annotations, expr: Select) -> Iterator[Expr]:
    """A dotted name, if one is declared, else a field of the operand."""
    name = qualified_name(expr)
    if name is not None and notes.resolve_name(expr, name):
        return
    yield expr.operand
    type_ = _selected(notes, expr, expr.operand, expr.field, optional=False)
    notes.set(expr, BOOL if expr.test_only else type_)


def visit_optional_select(notes: Annotations, expr: Call) -> Iterator[Expr]:
    """`operand.?field`: the parser has made it a call with the field as a constant."""
    operand, field = expr.args
    yield operand
    yield field
    name = str(cast("Constant", field).value)
    notes.set(expr, _selected(notes, expr, operand, name, optional=True))
    notes.overloads[expr.id] = ("select_optional_field",)


def _selected(notes: Annotations, expr: Expr, operand: Expr, field: str, *, optional: bool) -> Type:
    """The type of a field; of what may be absent, the field may be absent too."""
    type_ = notes.unifier.resolve(notes.types[operand.id])
    if is_optional(type_):
        optional = True
        (type_,) = type_.parameters
    result = DYN
    match type_.kind:
        case "map":
            result = type_.parameters[1]
        case "object":
            result = notes.field_type(expr.offset, type_.name, field)
        case "var":
            notes.unifier.assignable(DYN, type_)
        case "dyn" | "error":
            pass
        case _:
            message = f"type '{describe(type_)}' does not support field selection"
            notes.report(expr.offset, message)
    return optional_of(result) if optional else result
