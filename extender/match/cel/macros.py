"""Macros: calls that the parser replaces, because their arguments are names or must not be values."""

from collections.abc import Callable, Mapping
from typing import Final, Literal

from extender.match.cel.ast import (
    ACCUMULATOR,
    Call,
    Constant,
    Expr,
    FieldInit,
    Fold,
    Ident,
    Kind,
    ListExpr,
    MapEntry,
    MapExpr,
    Select,
    StructExpr,
)

_RESERVED_NAMES: Final = frozenset({ACCUMULATOR, "__result__"})
_SORT_INPUT: Final = "@__sortBy_input__"
_SORTABLE: Final = (ListExpr, Select, Ident, Fold, Call)


class MacroError(ValueError):
    """A macro that is called with arguments it has no use for."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset: Final = offset
        self.message: Final = message


class Factory:
    """Makes the nodes of one macro: each has an id of its own and the place of the call."""

    __slots__ = ("_next_id", "offset")

    def __init__(self, next_id: Callable[[], int], offset: int) -> None:
        self._next_id: Final = next_id
        self.offset: Final = offset

    def constant(self, value: bool | int, kind: Kind) -> Expr:
        return Constant(self._next_id(), self.offset, value, kind)

    def ident(self, name: str = ACCUMULATOR) -> Expr:
        return Ident(self._next_id(), self.offset, name)

    def call(self, function: str, *args: Expr, target: Expr | None = None) -> Expr:
        return Call(self._next_id(), self.offset, function, args, target)

    def list(self, *elements: Expr) -> Expr:
        return ListExpr(self._next_id(), self.offset, elements)

    def map(self) -> Expr:
        return MapExpr(self._next_id(), self.offset, ())

    def presence(self, operand: Expr, field: str) -> Expr:
        return Select(self._next_id(), self.offset, operand, field, test_only=True)

    def bind(self, name: str, value: Expr, result: Expr) -> Expr:
        return Fold(
            self._next_id(),
            self.offset,
            macro="bind",
            range=self.list(),
            variable="#unused",
            variable2="",
            accumulator=name,
            init=value,
            condition=self.constant(False, "bool"),
            step=self.ident(name),
            result=result,
        )

    def fold(
        self,
        macro: Literal["all", "exists", "exists_one", "list", "map"],
        target: Expr,
        names: tuple[str, str],
        init: Expr,
        step: Expr,
        condition: Expr | None = None,
        result: Expr | None = None,
    ) -> Expr:
        return Fold(
            self._next_id(),
            self.offset,
            macro=macro,
            range=target,
            variable=names[0],
            variable2=names[1],
            accumulator=ACCUMULATOR,
            init=init,
            condition=condition or self.constant(True, "bool"),
            step=step,
            result=result or self.ident(),
        )

    def filtered(self, predicate: Expr | None, step: Expr) -> Expr:
        if predicate is None:
            return step
        return self.call("_?_:_", predicate, step, self.ident())

    def copy(self, expr: Expr) -> Expr:
        """The same expression with ids of its own."""
        copy, fresh, at = self.copy, self._next_id(), expr.offset
        match expr:
            case Constant():
                return Constant(fresh, at, expr.value, expr.kind)
            case Ident():
                return Ident(fresh, at, expr.name)
            case Select():
                return Select(fresh, at, copy(expr.operand), expr.field, expr.test_only)
            case Call():
                args = tuple(map(copy, expr.args))
                target = expr.target and copy(expr.target)
                return Call(fresh, at, expr.function, args, target)
            case ListExpr():
                elements = tuple(map(copy, expr.elements))
                return ListExpr(fresh, at, elements, expr.optional_indices)
            case MapExpr():
                entries = tuple(
                    MapEntry(
                        self._next_id(),
                        self.offset,
                        copy(entry.key),
                        copy(entry.value),
                        entry.optional,
                    )
                    for entry in expr.entries
                )
                return MapExpr(fresh, at, entries)
            case StructExpr():
                fields = tuple(
                    FieldInit(
                        self._next_id(), self.offset, field.name, copy(field.value), field.optional
                    )
                    for field in expr.fields
                )
                return StructExpr(fresh, at, expr.type_name, fields)
            case Fold():
                return Fold(
                    fresh,
                    at,
                    expr.macro,
                    copy(expr.range),
                    expr.variable,
                    expr.variable2,
                    expr.accumulator,
                    copy(expr.init),
                    copy(expr.condition),
                    copy(expr.step),
                    copy(expr.result),
                )
        return expr


_Args = tuple[Expr, ...]
_Expander = Callable[[Factory, Expr, _Args], Expr]


def _name(argument: Expr, complaint: str) -> str:
    if not isinstance(argument, Ident):
        raise MacroError(argument.offset, complaint)
    return argument.name


def _no_accumulator(name: str, argument: Expr) -> None:
    if name in _RESERVED_NAMES:
        raise MacroError(argument.offset, "iteration variable overwrites accumulator variable")


def _one(args: _Args, complaint: str) -> tuple[str, str]:
    name = _name(args[0], complaint)
    _no_accumulator(name, args[0])
    return name, ""


def _two(args: _Args) -> tuple[str, str]:
    first = _name(args[0], "argument must be a simple name")
    second = _name(args[1], "argument must be a simple name")
    if first == second:
        raise MacroError(args[1].offset, f"duplicate variable name: {first}")
    _no_accumulator(first, args[0])
    _no_accumulator(second, args[1])
    return first, second


def _variables(args: _Args) -> tuple[str, str]:
    return _one(args, "argument must be a simple name") if len(args) == 2 else _two(args)


def _all(make: Factory, target: Expr, args: _Args) -> Expr:
    names = _variables(args)
    return make.fold(
        "all",
        target,
        names,
        init=make.constant(True, "bool"),
        condition=make.call("@not_strictly_false", make.ident()),
        step=make.call("_&&_", make.ident(), args[-1]),
    )


def _exists(make: Factory, target: Expr, args: _Args) -> Expr:
    names = _variables(args)
    return make.fold(
        "exists",
        target,
        names,
        init=make.constant(False, "bool"),
        condition=make.call("@not_strictly_false", make.call("!_", make.ident())),
        step=make.call("_||_", make.ident(), args[-1]),
    )


def _exists_one(make: Factory, target: Expr, args: _Args) -> Expr:
    names = _variables(args)
    one_more = make.call("_+_", make.ident(), make.constant(1, "int"))
    return make.fold(
        "exists_one",
        target,
        names,
        init=make.constant(0, "int"),
        step=make.filtered(args[-1], one_more),
        result=make.call("_==_", make.ident(), make.constant(1, "int")),
    )


def _list(
    make: Factory, target: Expr, names: tuple[str, str], element: Expr, predicate: Expr | None
) -> Expr:
    longer = make.call("_+_", make.ident(), make.list(element))
    step = make.filtered(predicate, longer)
    return make.fold("list", target, names, init=make.list(), step=step)


def _map(make: Factory, target: Expr, args: _Args) -> Expr:
    names = _one(args, "argument is not an identifier")
    return _list(make, target, names, args[-1], args[1] if len(args) == 3 else None)


def _filter(make: Factory, target: Expr, args: _Args) -> Expr:
    names = _one(args, "argument is not an identifier")
    return _list(make, target, names, args[0], args[1])


def _transform_list(make: Factory, target: Expr, args: _Args) -> Expr:
    return _list(make, target, _two(args), args[-1], args[2] if len(args) == 4 else None)


def _transform_map(make: Factory, target: Expr, args: _Args) -> Expr:
    names = _two(args)
    insert = make.call("cel.@mapInsert", make.ident(), make.ident(names[0]), args[-1])
    step = make.filtered(args[2] if len(args) == 4 else None, insert)
    return make.fold("map", target, names, init=make.map(), step=step)


def _transform_map_entry(make: Factory, target: Expr, args: _Args) -> Expr:
    names = _two(args)
    insert = make.call("cel.@mapInsert", make.ident(), args[-1])
    step = make.filtered(args[2] if len(args) == 4 else None, insert)
    return make.fold("map", target, names, init=make.map(), step=step)


def _opt_map(make: Factory, target: Expr, args: _Args) -> Expr:
    name = _name(args[0], "optMap() variable name must be a simple identifier")
    value = make.call("value", target=make.copy(target))
    return make.call(
        "_?_:_",
        make.call("hasValue", target=target),
        make.call("optional.of", make.bind(name, value, args[1])),
        make.call("optional.none"),
    )


def _opt_flat_map(make: Factory, target: Expr, args: _Args) -> Expr:
    name = _name(args[0], "optFlatMap() variable name must be a simple identifier")
    value = make.call("value", target=make.copy(target))
    return make.call(
        "_?_:_",
        make.call("hasValue", target=target),
        make.bind(name, value, args[1]),
        make.call("optional.none"),
    )


def _sort_by(make: Factory, target: Expr, args: _Args) -> Expr:
    if not isinstance(target, _SORTABLE):
        raise MacroError(
            target.offset,
            "sortBy can only be applied to a list, identifier, comprehension, call or select"
            " expression",
        )
    keys = _map(make, make.ident(_SORT_INPUT), args)
    ordered = make.call("@sortByAssociatedKeys", keys, target=make.ident(_SORT_INPUT))
    return make.bind(_SORT_INPUT, target, ordered)


_METHODS: Final[Mapping[tuple[str, int], _Expander]] = {
    ("all", 2): _all,
    ("all", 3): _all,
    ("exists", 2): _exists,
    ("exists", 3): _exists,
    ("exists_one", 2): _exists_one,
    ("exists_one", 3): _exists_one,
    ("existsOne", 3): _exists_one,
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_map_entry,
    ("transformMapEntry", 4): _transform_map_entry,
    ("optMap", 2): _opt_map,
    ("optFlatMap", 2): _opt_flat_map,
    ("sortBy", 2): _sort_by,
}


def expand(make: Factory, function: str, target: Expr | None, args: _Args) -> Expr | None:
    """What the call stands for, or nothing if it is no macro."""
    if target is None:
        if function != "has" or len(args) != 1:
            return None
        select = args[0]
        if not isinstance(select, Select):
            raise MacroError(select.offset, "invalid argument to has() macro")
        return make.presence(select.operand, select.field)
    expander = _METHODS.get((function, len(args)))
    return expander and expander(make, target, args)
