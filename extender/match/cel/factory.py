"""Makes the nodes that macros put in place of a call."""

from collections.abc import Callable
from typing import Final, Literal

from extender.match.cel.ast import (
    ACCUMULATOR,
    Call,
    Constant,
    Expr,
    Fold,
    Ident,
    Kind,
    ListExpr,
    MapExpr,
    Select,
)
from extender.match.cel.copies import Copier


class Factory:
    """Makes nodes of one macro call: each has an id of its own and the place of the call."""

    __slots__ = ("_copier", "_next_id", "_offset")

    def __init__(self, next_id: Callable[[], int], copier: Copier, offset: int) -> None:
        self._next_id: Final = next_id
        self._copier: Final = copier
        self._offset: Final = offset

    def constant(self, value: bool | int, kind: Kind) -> Expr:
        return Constant(self._next_id(), self._offset, value, kind)

    def ident(self, name: str = ACCUMULATOR) -> Expr:
        return Ident(self._next_id(), self._offset, name)

    def call(self, function: str, *args: Expr, target: Expr | None = None) -> Expr:
        return Call(self._next_id(), self._offset, function, args, target)

    def list(self, *elements: Expr) -> Expr:
        return ListExpr(self._next_id(), self._offset, elements)

    def map(self) -> Expr:
        return MapExpr(self._next_id(), self._offset, ())

    def presence(self, operand: Expr, field: str) -> Expr:
        return Select(self._next_id(), self._offset, operand, field, test_only=True)

    def when(self, predicate: Expr | None, step: Expr) -> Expr:
        """The step if the predicate holds, otherwise the accumulator as it was."""
        return self.call("_?_:_", predicate, step, self.ident()) if predicate else step

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
            self._offset,
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

    def bind(self, name: str, value: Expr, result: Expr) -> Expr:
        """The result, in which the name stands for the value."""
        return Fold(
            self._next_id(),
            self._offset,
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

    def copy(self, expr: Expr) -> Expr:
        """The same expression with ids of its own."""
        return self._copier.copy(expr, self._offset)
