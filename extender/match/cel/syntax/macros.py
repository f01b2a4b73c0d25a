"""Macros: calls that the parser expands, because they take expressions and not values."""

from collections.abc import Callable, Mapping
from typing import Final

from extender.match.cel.syntax.ast import (
    ACCUMULATOR,
    Call,
    Expr,
    Fold,
    Ident,
    ListExpr,
    Select,
)
from extender.match.cel.syntax.factory import Factory

_RESERVED_NAMES: Final = frozenset({ACCUMULATOR, "__result__"})
_SORT_INPUT: Final = "@__sortBy_input__"
_SORTABLE: Final = (ListExpr, Select, Ident, Fold, Call)


class MacroError(ValueError):
    """A macro that is called with the wrong kind of argument."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset: Final = offset
        self.message: Final = message


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
        step=make.when(args[-1], one_more),
        result=make.call("_==_", make.ident(), make.constant(1, "int")),
    )


def _list(
    make: Factory, target: Expr, names: tuple[str, str], element: Expr, predicate: Expr | None
) -> Expr:
    longer = make.call("_+_", make.ident(), make.list(element))
    step = make.when(predicate, longer)
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
    step = make.when(args[2] if len(args) == 4 else None, insert)
    return make.fold("map", target, names, init=make.map(), step=step)


def _transform_map_entry(make: Factory, target: Expr, args: _Args) -> Expr:
    names = _two(args)
    insert = make.call("cel.@mapInsert", make.ident(), args[-1])
    step = make.when(args[2] if len(args) == 4 else None, insert)
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
    """The expansion of a call; None if it is no macro."""
    if target is None:
        if function != "has" or len(args) != 1:
            return None
        select = args[0]
        if not isinstance(select, Select):
            raise MacroError(select.offset, "invalid argument to has() macro")
        return make.presence(select.operand, select.field)
    expander = _METHODS.get((function, len(args)))
    return expander and expander(make, target, args)
