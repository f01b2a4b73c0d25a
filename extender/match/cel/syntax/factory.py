"""Makes and copies the nodes that a macro expands to."""

from collections.abc import Callable, Sequence
from typing import Final, Literal

from msgspec.structs import replace

from extender.match.cel.syntax.ast import (
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
from extender.match.cel.syntax.source import NOWHERE, HaltError, Issue

# `optMap` doubles its operand, so that chains of it grow exponentially. Upstream has no limit.
MAX_COPIED: Final = 10_000


class Copier:
    """Copies expressions, so that every node has an id of its own."""

    __slots__ = ("_copied", "_next_id")

    def __init__(self, next_id: Callable[[], int]) -> None:
        self._next_id: Final = next_id
        self._copied = 0

    def copy(self, root: Expr, offset: int) -> Expr:
        """The copies keep their offsets, except entries of maps and objects, which get `offset`."""
        nodes = [root]
        families: list[Sequence[Expr]] = []
        for node in nodes:
            families.append(_children(node))
            nodes.extend(families[-1])
            self._copied += 1
            if self._copied > MAX_COPIED:
                raise HaltError(Issue(NOWHERE, f"macros copy more than {MAX_COPIED} nodes"))
        copies: dict[int, Expr] = {}
        for node, children in zip(reversed(nodes), reversed(families), strict=True):
            copies[node.id] = self._with(node, [copies[child.id] for child in children], offset)
        return copies[root.id]

    def _with(self, node: Expr, parts: Sequence[Expr], offset: int) -> Expr:
        fresh, children = self._next_id(), iter(parts)
        match node:
            case Select():
                return replace(node, id=fresh, operand=next(children))
            case Call():
                target = next(children) if node.target else None
                return replace(node, id=fresh, target=target, args=tuple(children))
            case ListExpr():
                return replace(node, id=fresh, elements=tuple(children))
            case MapExpr():
                entries = tuple(
                    MapEntry(self._next_id(), offset, next(children), next(children), old.optional)
                    for old in node.entries
                )
                return replace(node, id=fresh, entries=entries)
            case StructExpr():
                fields = tuple(
                    FieldInit(self._next_id(), offset, old.name, next(children), old.optional)
                    for old in node.fields
                )
                return replace(node, id=fresh, fields=fields)
            case Fold():
                names = ("range", "init", "condition", "step", "result")
                return replace(node, id=fresh, **dict(zip(names, children, strict=True)))
            case _:
                return replace(node, id=fresh)


def _children(node: Expr) -> Sequence[Expr]:
    match node:
        case Select():
            return (node.operand,)
        case Call():
            return (node.target, *node.args) if node.target else node.args
        case ListExpr():
            return node.elements
        case MapExpr():
            return [part for entry in node.entries for part in (entry.key, entry.value)]
        case StructExpr():
            return [field.value for field in node.fields]
        case Fold():
            return (node.range, node.init, node.condition, node.step, node.result)
        case _:
            return ()


class Factory:
    """Makes the nodes of one macro call, with fresh ids and the offset of the call."""

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
        """`predicate ? step : accumulator`; just the step without a predicate."""
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
        """`cel.bind`: the result, in which the name is the value."""
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
