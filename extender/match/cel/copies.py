"""Copies of expressions: for macros that need an operand twice."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from extender.match.cel.ast import (
    Call,
    Expr,
    FieldInit,
    Fold,
    ListExpr,
    MapEntry,
    MapExpr,
    Select,
    StructExpr,
)
from extender.match.cel.source import NOWHERE, HaltError, Issue

# `optMap` doubles its operand, so that chains of it grow exponentially. Upstream has no limit.
MAX_COPIED: Final = 10_000


class Copier:
    """Copies expressions, so that every node has an id of its own."""

    __slots__ = ("_copied", "_next_id")

    def __init__(self, next_id: Callable[[], int]) -> None:
        self._next_id: Final = next_id
        self._copied = 0

    def copy(self, root: Expr, offset: int) -> Expr:
        """Nodes stay where they are in the source; entries of maps and objects are at `offset`."""
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
