"""Finds the type of every node and the overloads of every call, and reports what does not fit.

After an error it goes on with the error type, which fits everything, as cel-go does.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from extender.match.cel.check.notes import Checked, Notes
from extender.match.cel.check.unification import TypeTooLargeError, most_general
from extender.match.cel.library import FUNCTIONS
from extender.match.cel.library.messages import KINDS
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
from extender.match.cel.syntax.source import NOWHERE, IssuesError, Source
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
    is_optional,
    is_wrapper,
    list_of,
    map_of,
    optional_of,
)

_CONSTANTS: Final = {
    "null": NULL,
    "bool": BOOL,
    "int": INT,
    "uint": UINT,
    "double": DOUBLE,
    "string": STRING,
    "bytes": BYTES,
}


OPTIONAL_SELECT: Final = "_?._"


_LOGIC: Final = {"_&&_": "logical_and", "_||_": "logical_or"}


# The messages whose fields literals of these types have. One message stands for all of a type.
_WELL_KNOWN: Final = {
    **{kind.type: name for name, kind in KINDS.items()},
    NULL: "google.protobuf.NullValue",
}


def check(_source: Source, root: Expr) -> Checked:
    """Raises IssuesError with everything that is wrong."""
    notes = Notes()
    try:
        _walk(notes, root)
        if not notes.issues:
            return notes.checked(root)
    except TypeTooLargeError as error:
        notes.report(NOWHERE, str(error))
    raise IssuesError(notes.issues)


def _walk(notes: Notes, root: Expr) -> None:
    """A visit yields the children that it needs first: no recursion, so no depth is too much."""
    visits = [_VISITS[type(root)](notes, root)]
    while visits:
        child = next(visits[-1], None)
        if child is None:
            visits.pop()
        else:
            visits.append(_VISITS[type(child)](notes, child))


def _visit_constant(notes: Notes, expr: Constant) -> Iterator[Expr]:
    notes.set(expr, _CONSTANTS[expr.kind])
    return iter(())


def _visit_ident(notes: Notes, expr: Ident) -> Iterator[Expr]:
    if not notes.resolve_name(expr, expr.name):
        notes.undeclared(expr, expr.name)
    return iter(())


def _visit_fold(notes: Notes, expr: Fold) -> Iterator[Expr]:
    yield expr.range
    yield expr.init
    accumulated = notes.types[expr.init.id]
    variables = _loop_variables(notes, expr)
    notes.enter({expr.accumulator: accumulated})
    notes.enter(variables)
    yield expr.condition
    yield expr.step
    # Always true, because only macros make folds. It may bind the element type of an empty list.
    notes.unifier.assignable(accumulated, notes.types[expr.step.id])
    notes.leave(variables)
    yield expr.result
    notes.leave((expr.accumulator,))
    notes.set(expr, notes.unifier.resolve(notes.types[expr.result.id]))


def _loop_variables(notes: Notes, expr: Fold) -> dict[str, Type]:
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


def qualified_name(expr: Expr) -> str | None:
    """`a.b.c` as one name; None if the expression has other parts."""
    fields: list[str] = []
    while isinstance(expr, Select) and not expr.test_only:
        fields.append(expr.field)
        expr = expr.operand
    if not isinstance(expr, Ident):
        return None
    return ".".join([expr.name, *reversed(fields)])


def visit_select(notes: Notes, expr: Select) -> Iterator[Expr]:
    """A dotted name, if one is declared, else a field of the operand."""
    name = qualified_name(expr)
    if name is not None and notes.resolve_name(expr, name):
        return
    yield expr.operand
    type_ = _selected(notes, expr, expr.operand, expr.field, optional=False)
    notes.set(expr, BOOL if expr.test_only else type_)


def visit_optional_select(notes: Notes, expr: Call) -> Iterator[Expr]:
    """`operand.?field`, which the parser turns into a call with a constant field name."""
    operand, field = expr.args
    yield operand
    yield field
    name = str(cast("Constant", field).value)
    notes.set(expr, _selected(notes, expr, operand, name, optional=True))
    notes.overloads[expr.id] = ("select_optional_field",)


def _selected(notes: Notes, expr: Expr, operand: Expr, field: str, *, optional: bool) -> Type:
    """The type of a field. A field of an optional value is optional."""
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
        case "dyn" | "any" | "error":
            pass
        case _:
            message = f"type '{describe(type_)}' does not support field selection"
            notes.report(expr.offset, message)
    return optional_of(result) if optional else result


def visit_call(notes: Notes, expr: Call) -> Iterator[Expr]:
    """`a.f()` is the function `a.f` if there is one, else the method `f` of `a`."""
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


def _resolve_global(notes: Notes, expr: Call, name: str) -> None:
    if name not in FUNCTIONS:
        notes.undeclared(expr, expr.function)
        return
    if name != expr.function:
        notes.names[expr.id] = name
    if name in _LOGIC:
        _resolve_logic(notes, expr)
    else:
        _resolve(notes, expr, name, expr.args, member=False)


def _resolve_logic(notes: Notes, expr: Call) -> None:
    """Report each operand that is no bool; other functions report the call once."""
    result = BOOL
    for operand in expr.args:
        type_ = notes.types[operand.id]
        if not notes.unifier.assignable(type_, BOOL):
            notes.mismatch(operand, BOOL, type_)
            result = ERROR
    notes.set(expr, result)
    notes.overloads[expr.id] = (_LOGIC[expr.function],)


def _resolve(
    notes: Notes, expr: Call, name: str, arguments: Sequence[Expr], *, member: bool
) -> None:
    """Try every overload in order. Type variables that one binds stay bound for the next."""
    types = [notes.types[argument.id] for argument in arguments]
    fitting: list[str] = []
    results: list[Type] = []
    for overload in FUNCTIONS[name].overloads:
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


def _refuse(notes: Notes, expr: Call, name: str, types: Sequence[Type], *, member: bool) -> None:
    texts = [describe(notes.unifier.settle(type_)) for type_ in types]
    receiver = f"{texts.pop(0)}." if member else ""
    applied = f"{receiver}({', '.join(texts)})"
    notes.refuse(expr, f"found no matching overload for '{name}' applied to '{applied}'")


def visit_list(notes: Notes, expr: ListExpr) -> Iterator[Expr]:
    """The element type is the most general of all; for an empty list it is a new variable."""
    joined: Type | None = None
    for index, element in enumerate(expr.elements):
        yield element
        type_ = _part_type(notes, element, optional=index in expr.optional_indices)
        joined = _join(notes, joined, type_)
    notes.set(expr, list_of(joined or notes.unifier.fresh()))


def visit_map(notes: Notes, expr: MapExpr) -> Iterator[Expr]:
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


def visit_struct(notes: Notes, expr: StructExpr) -> Iterator[Expr]:
    """A message. An error in its name does not keep its fields from being checked."""
    name = expr.type_name.removeprefix(".")
    declared = notes.look_up(name)
    if declared is None:
        notes.undeclared(expr, expr.type_name)
        return
    notes.names[expr.id] = name
    type_ = _message_type(notes, expr, declared)
    notes.set(expr, type_)
    owner = _WELL_KNOWN.get(type_, type_.name if type_.kind == "object" else name)
    for field in expr.fields:
        yield field.value
        wanted = notes.field_type(field.offset, owner, field.name)
        given = _part_type(notes, field.value, optional=field.optional)
        if not notes.unifier.assignable(wanted, given):
            notes.report(
                field.offset,
                f"expected type of field '{field.name}' is '{describe(wanted)}'"
                f" but provided type is '{describe(given)}'",
            )


def _message_type(notes: Notes, expr: StructExpr, declared: Type) -> Type:
    if declared.kind == "type":
        (type_,) = declared.parameters
        if type_.kind == "object" or (
            type_ in _WELL_KNOWN and (type_.kind != "primitive" or is_wrapper(type_))
        ):
            return type_
        notes.report(expr.offset, f"'{type_.name}' is not a message type")
    elif declared != ERROR:
        notes.report(expr.offset, f"'{declared.name}' is not a type")
    return ERROR


def _part_type(notes: Notes, part: Expr, *, optional: bool) -> Type:
    """The type of an element, field or value; for `?x` the type inside the optional."""
    type_ = notes.types[part.id]
    if not optional:
        return type_
    if is_optional(type_):
        return type_.parameters[0]
    if type_.kind not in ("dyn", "any"):
        notes.mismatch(part, optional_of(type_), type_)
    return type_


def _join(notes: Notes, joined: Type | None, type_: Type) -> Type:
    if joined is None:
        return type_
    return most_general(joined, type_) if notes.unifier.assignable(joined, type_) else DYN


_VISITS: Final[Mapping[type[Expr], Callable[[Notes, Any], Iterator[Expr]]]] = {
    Constant: _visit_constant,
    Ident: _visit_ident,
    Select: visit_select,
    Call: visit_call,
    ListExpr: visit_list,
    MapExpr: visit_map,
    StructExpr: visit_struct,
    Fold: _visit_fold,
}
