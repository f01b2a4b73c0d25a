"""Types of lists, maps and objects that are written out."""

from collections.abc import Iterator

from extender.match.cel.annotations import Annotations
from extender.match.cel.ast import Expr, ListExpr, MapExpr, StructExpr
from extender.match.cel.types import (
    DYN,
    ERROR,
    Type,
    describe,
    is_optional,
    list_of,
    map_of,
    optional_of,
)
from extender.match.cel.unification import most_general


def visit_list(notes: Annotations, expr: ListExpr) -> Iterator[Expr]:
    """Its element is the most general type of all; of an empty list it is yet to be found."""
    joined: Type | None = None
    for index, element in enumerate(expr.elements):
        yield element
        type_ = _part_type(notes, element, optional=index in expr.optional_indices)
        joined = _join(notes, joined, type_)
    notes.set(expr, list_of(joined or notes.unifier.fresh()))


def visit_map(notes: Annotations, expr: MapExpr) -> Iterator[Expr]:
    """The same for keys and values."""
    keys: Type | None = None
    values: Type | None = None
    for entry in expr.entries:
        yield entry.key
        keys = _join(notes, keys, notes.types[entry.key.id])
        yield entry.value
        values = _join(notes, values, _part_type(notes, entry.value, optional=entry.optional))
    keys = keys or notes.unifier.fresh()
    notes.set(expr, map_of(keys, values or notes.unifier.fresh()))


def visit_struct(notes: Annotations, expr: StructExpr) -> Iterator[Expr]:
    """The only object that can be made is a taint."""
    name = expr.type_name.removeprefix(".")
    declared = notes.look_up(name)
    if declared is None:
        notes.undeclared(expr, expr.type_name)
        return
    notes.names[expr.id] = name
    notes.set(expr, _object_type(notes, expr, declared))
    for field in expr.fields:
        yield field.value
        wanted = notes.field_type(field.offset, name, field.name)
        given = _part_type(notes, field.value, optional=field.optional)
        if not notes.unifier.assignable(wanted, given):
            notes.report(
                field.offset,
                f"expected type of field '{field.name}' is '{describe(wanted)}'"
                f" but provided type is '{describe(given)}'",
            )


def _object_type(notes: Annotations, expr: StructExpr, declared: Type) -> Type:
    if declared.kind == "type":
        (type_,) = declared.parameters
        if type_.kind == "object":
            return type_
        notes.report(expr.offset, f"'{type_.name}' is not a message type")
    elif declared != ERROR:
        notes.report(expr.offset, f"'{declared.name}' is not a type")
    return ERROR


def _part_type(notes: Annotations, part: Expr, *, optional: bool) -> Type:
    """What a part adds to the type of the whole: if it is optional, the type of what it holds."""
    type_ = notes.types[part.id]
    if not optional:
        return type_
    if is_optional(type_):
        return type_.parameters[0]
    if type_ != DYN:
        notes.mismatch(part, optional_of(type_), type_)
    return type_


def _join(notes: Annotations, joined: Type | None, type_: Type) -> Type:
    if joined is None:
        return type_
    return most_general(joined, type_) if notes.unifier.assignable(joined, type_) else DYN
