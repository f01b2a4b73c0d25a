"""Finds the type of every node, the overloads of every call, and all that does not fit.

As cel-go does: after an error it goes on with the error type, which fits everything.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

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
from extender.match.cel.checked import Checked
from extender.match.cel.declarations import FIELDS, FUNCTIONS, TYPE_NAMES, VARIABLES, Overload
from extender.match.cel.source import NOWHERE, Issue, IssuesError, Source
from extender.match.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    TAINT,
    UINT,
    Type,
    describe,
    is_optional,
    list_of,
    map_of,
    optional_of,
    type_of,
)
from extender.match.cel.unification import (
    TypeTooLargeError,
    Unifier,
    checked_weight,
    most_general,
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
_LOGIC: Final = ("_&&_", "_||_")


def check(_source: Source, root: Expr) -> Checked:
    """Raises IssuesError with everything that is wrong."""
    checker = _Checker()
    try:
        checker.walk(root)
        if not checker.issues:
            return checker.checked(root)
    except TypeTooLargeError as error:
        checker.issues.append(Issue(NOWHERE, str(error)))
    raise IssuesError(checker.issues)


def qualified_name(expr: Expr) -> str | None:
    """The dotted name that an expression may be, if it is nothing but names."""
    fields: list[str] = []
    while isinstance(expr, Select) and not expr.test_only:
        fields.append(expr.field)
        expr = expr.operand
    if not isinstance(expr, Ident):
        return None
    return ".".join([expr.name, *reversed(fields)])


class _Checker:
    """What is known while an expression is walked."""

    def __init__(self) -> None:
        self.issues: Final[list[Issue]] = []
        self._types: Final[dict[int, Type]] = {}
        self._overloads: Final[dict[int, tuple[str, ...]]] = {}
        self._names: Final[dict[int, str]] = {}
        self._locals: Final[dict[str, list[Type]]] = {}
        self._unifier: Final = Unifier()

    def walk(self, root: Expr) -> None:
        """A visit yields the children that it needs first, so no nesting is too deep for it."""
        visits = [self._visit(root)]
        while visits:
            child = next(visits[-1], None)
            if child is None:
                visits.pop()
            else:
                visits.append(self._visit(child))

    def checked(self, root: Expr) -> Checked:
        settle = self._unifier.settle
        types = {node: settle(type_) for node, type_ in self._types.items()}
        return Checked(root, types, self._overloads, self._names)

    def _visit(self, expr: Expr) -> Iterator[Expr]:
        match expr:
            case Constant():
                self._set(expr, _CONSTANTS[expr.kind])
            case Ident():
                self._visit_ident(expr)
            case Select():
                return self._visit_select(expr)
            case Call():
                return self._visit_call(expr)
            case ListExpr():
                return self._visit_list(expr)
            case MapExpr():
                return self._visit_map(expr)
            case StructExpr():
                return self._visit_struct(expr)
            case Fold():
                return self._visit_fold(expr)
            case _:
                raise TypeError(f"no expression: {expr}")
        return iter(())

    def _set(self, expr: Expr, type_: Type) -> None:
        self._types[expr.id] = checked_weight(type_)

    def _report(self, offset: int, message: str) -> None:
        self.issues.append(Issue(offset, message))

    def _refuse(self, expr: Expr, message: str) -> None:
        self._report(expr.offset, message)
        self._set(expr, ERROR)

    def _mismatch(self, expr: Expr, expected: Type, found: Type) -> None:
        texts = describe(expected), describe(found)
        self._report(expr.offset, "expected type '{}' but found '{}'".format(*texts))

    # Names

    def _look_up(self, name: str) -> tuple[str, Type] | None:
        """What is declared under the name; a local variable hides what is global."""
        name = name.removeprefix(".")
        if self._locals.get(name):
            return name, self._locals[name][-1]
        if name in VARIABLES:
            return name, VARIABLES[name]
        if name in TYPE_NAMES:
            return name, type_of(TYPE_NAMES[name])
        return None

    def _resolve_name(self, expr: Expr, name: str) -> bool:
        found = self._look_up(name)
        if found is None:
            return False
        self._set(expr, found[1])
        if not self._locals.get(found[0]):
            self._names[expr.id] = found[0]
        return True

    def _visit_ident(self, expr: Ident) -> None:
        if not self._resolve_name(expr, expr.name):
            self._undeclared(expr, expr.name)

    def _undeclared(self, expr: Expr, name: str) -> None:
        self._refuse(expr, f"undeclared reference to '{name}' (in container '')")

    # Fields

    def _visit_select(self, expr: Select) -> Iterator[Expr]:
        name = qualified_name(expr)
        if name is not None and self._resolve_name(expr, name):
            return
        yield expr.operand
        type_ = self._field_type(expr, expr.operand, expr.field, optional=False)
        self._set(expr, BOOL if expr.test_only else type_)

    def _visit_optional_select(self, expr: Call) -> Iterator[Expr]:
        operand, field = expr.args
        yield operand
        yield field
        if isinstance(field, Constant):
            self._set(expr, self._field_type(expr, operand, str(field.value), optional=True))
        self._overloads[expr.id] = ("select_optional_field",)

    def _field_type(self, expr: Expr, operand: Expr, field: str, *, optional: bool) -> Type:
        operand_type = self._unifier.resolve(self._types[operand.id])
        type_ = operand_type.parameters[0] if is_optional(operand_type) else operand_type
        result = DYN
        match type_.kind:
            case "map":
                result = type_.parameters[1]
            case "object":
                result = self._object_field(expr.offset, type_.name, field)
            case "var":
                self._unifier.assignable(DYN, type_)
            case "dyn" | "error":
                pass
            case _:
                message = f"type '{describe(type_)}' does not support field selection"
                self._report(expr.offset, message)
        if optional or is_optional(operand_type):
            result = optional_of(result)
        return self._unifier.resolve(result)

    def _object_field(self, offset: int, type_name: str, field: str) -> Type:
        if type_name != TAINT.name:
            self._report(offset, f"unexpected failed resolution of '{type_name}'")
        elif field not in FIELDS:
            self._report(offset, f"undefined field '{field}'")
        else:
            return FIELDS[field]
        return ERROR

    # Calls

    def _visit_call(self, expr: Call) -> Iterator[Expr]:
        if expr.function == "_?._":
            yield from self._visit_optional_select(expr)
            return
        yield from expr.args
        args = expr.args
        prefix = qualified_name(expr.target) if expr.target is not None else None
        name = f"{prefix}.{expr.function}" if prefix is not None else expr.function
        name = name.removeprefix(".")
        if expr.target is not None and (prefix is None or name not in FUNCTIONS):
            yield expr.target
            args = (expr.target, *args)
            name = expr.function
        if name not in FUNCTIONS:
            self._undeclared(expr, expr.function)
        elif len(args) > len(expr.args):
            self._resolve_call(expr, name, args, member=True)
        else:
            if name != expr.function:
                self._names[expr.id] = name
            self._resolve_call(expr, name, args, member=False)

    def _resolve_call(self, expr: Call, name: str, args: Sequence[Expr], *, member: bool) -> None:
        types = [self._types[arg.id] for arg in args]
        candidates = [overload for overload in FUNCTIONS[name] if overload.member == member]
        if name in _LOGIC:
            self._resolve_logic(expr, candidates[0], args, types)
            return
        result: Type | None = None
        fitting: list[str] = []
        for overload in candidates:
            parameters, overload_result = self._unifier.instantiate(overload)
            if not self._unifier.all_assignable(types, parameters):
                continue
            fitting.append(overload.id)
            overload_result = self._unifier.resolve(overload_result)
            if result is None:
                result = overload_result
            elif result != overload_result:
                result = DYN
        if result is None:
            self._no_overload(expr, name, types, member=member)
            return
        self._set(expr, result)
        self._overloads[expr.id] = tuple(fitting)

    def _resolve_logic(
        self, expr: Call, overload: Overload, args: Sequence[Expr], types: Sequence[Type]
    ) -> None:
        result = BOOL
        for arg, type_ in zip(args, types, strict=True):
            if not self._unifier.assignable(type_, BOOL):
                self._mismatch(arg, BOOL, type_)
                result = ERROR
        self._set(expr, result)
        self._overloads[expr.id] = (overload.id,)

    def _no_overload(self, expr: Call, name: str, types: Sequence[Type], *, member: bool) -> None:
        texts = [describe(self._unifier.settle(type_)) for type_ in types]
        receiver = f"{texts.pop(0)}." if member else ""
        applied = f"{receiver}({', '.join(texts)})"
        self._refuse(expr, f"found no matching overload for '{name}' applied to '{applied}'")

    # Literals

    def _visit_list(self, expr: ListExpr) -> Iterator[Expr]:
        joined: Type | None = None
        for index, element in enumerate(expr.elements):
            yield element
            type_ = self._literal_type(element, optional=index in expr.optional_indices)
            joined = self._join(joined, type_)
        self._set(expr, list_of(joined or self._unifier.fresh()))

    def _visit_map(self, expr: MapExpr) -> Iterator[Expr]:
        keys: Type | None = None
        values: Type | None = None
        for entry in expr.entries:
            yield entry.key
            keys = self._join(keys, self._types[entry.key.id])
            yield entry.value
            values = self._join(values, self._literal_type(entry.value, optional=entry.optional))
        if keys is None:
            keys = self._unifier.fresh()
        self._set(expr, map_of(keys, values or self._unifier.fresh()))

    def _visit_struct(self, expr: StructExpr) -> Iterator[Expr]:
        found = self._look_up(expr.type_name)
        if found is None:
            self._undeclared(expr, expr.type_name)
            return
        name, type_ = found
        self._names[expr.id] = name
        result = ERROR
        if type_.kind != "type":
            if type_ != ERROR:
                self._report(expr.offset, f"'{type_.name}' is not a type")
        elif type_.parameters[0].kind == "object":
            result = type_.parameters[0]
        else:
            self._report(expr.offset, f"'{type_.parameters[0].name}' is not a message type")
        self._set(expr, result)
        for field in expr.fields:
            yield field.value
            wanted = self._object_field(field.offset, name, field.name)
            given = self._literal_type(field.value, optional=field.optional)
            if not self._unifier.assignable(wanted, given):
                self._report(
                    field.offset,
                    f"expected type of field '{field.name}' is '{describe(wanted)}'"
                    f" but provided type is '{describe(given)}'",
                )

    def _literal_type(self, expr: Expr, *, optional: bool) -> Type:
        """The type that a part of a literal adds to it: an optional one adds what is in it."""
        type_ = self._types[expr.id]
        if not optional:
            return type_
        if is_optional(type_):
            return type_.parameters[0]
        if type_ != DYN:
            self._mismatch(expr, optional_of(type_), type_)
        return type_

    def _join(self, joined: Type | None, type_: Type) -> Type:
        if joined is None:
            return type_
        return most_general(joined, type_) if self._unifier.assignable(joined, type_) else DYN

    # Folds

    def _visit_fold(self, expr: Fold) -> Iterator[Expr]:
        yield expr.range
        yield expr.init
        accumulated = self._types[expr.init.id]
        variables = self._loop_variables(expr)
        self._enter({expr.accumulator: accumulated})
        self._enter(variables)
        yield expr.condition
        self._require(expr.condition, BOOL)
        yield expr.step
        self._require(expr.step, accumulated)
        self._leave(variables)
        yield expr.result
        self._leave((expr.accumulator,))
        self._set(expr, self._unifier.resolve(self._types[expr.result.id]))

    def _loop_variables(self, expr: Fold) -> dict[str, Type]:
        range_type = self._unifier.resolve(self._types[expr.range.id])
        first = second = DYN
        match range_type.kind:
            case "list":
                first, second = INT, range_type.parameters[0]
                if not expr.variable2:
                    first = second
            case "map":
                first, second = range_type.parameters
            case "dyn" | "error" | "var":
                self._unifier.assignable(DYN, range_type)
            case _:
                self._report(
                    expr.range.offset,
                    f"expression of type '{describe(range_type)}' cannot be range of a"
                    " comprehension (must be list, map, or dynamic)",
                )
                first = second = ERROR
        return (
            {expr.variable2: second, expr.variable: first}
            if expr.variable2
            else {expr.variable: first}
        )

    def _enter(self, variables: dict[str, Type]) -> None:
        for name, type_ in variables.items():
            self._locals.setdefault(name, []).append(type_)

    def _leave(self, variables: Iterable[str]) -> None:
        for name in variables:
            self._locals[name].pop()

    def _require(self, expr: Expr, wanted: Type) -> None:
        found = self._types[expr.id]
        if not self._unifier.assignable(wanted, found):
            self._mismatch(expr, wanted, found)
