"""What the planner knows about an expression: its types, the variables in scope, the mode."""

from collections.abc import Generator, Iterable, Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from extender.match.cel.check.notes import Checked
from extender.match.cel.library.regex import Pattern
from extender.match.cel.plan.code import FIRST_LOCAL, Code, metered
from extender.match.cel.plan.links import Qualifier
from extender.match.cel.syntax.ast import Expr, ListExpr, MapExpr
from extender.match.cel.types import Type, is_optional


class Branch(Struct, frozen=True):
    """A request to plan a branch of `?:` or a key, where a chain costs one less.

    `suffix` are the links behind the `?:`, which apply to the branch that is taken.
    """

    expr: Expr
    suffix: tuple[Qualifier, ...] = ()


# A handler yields requests for the nodes below its own and is sent their codes.
Steps: TypeAlias = Generator[Expr | Branch, Code, Code]


def plan_each(exprs: Iterable[Expr]) -> Generator[Expr | Branch, Code, list[Code]]:
    """The codes of several nodes."""
    codes = []
    for expr in exprs:
        code = yield expr
        codes.append(code)
    return codes


class Variable(Struct, frozen=True):
    """The slot of a variable; `init` is evaluated on the first read."""

    slot: int
    init: Code | None = None


class ProgramError(Exception):
    """An invalid constant, found when the program is built."""


class Scope:
    """What the handlers of one expression share."""

    def __init__(self, checked: Checked, *, exact: bool) -> None:
        self.checked: Final = checked
        self.slots = FIRST_LOCAL
        self.patterns: Final[dict[str, Pattern]] = {}  # regular expressions that are constants
        self.heavy = False  # whether a run may do work that its cost does not cover
        self.fields: Final[set[int]] = set()  # of the taint that are read, by their slots
        # In an exact plan each node charges for itself as soon as it has run.
        self._exact: Final = exact
        # Whether all values have their static types. With a dyn anywhere in the expression they may
        # not, even where the static type is another.
        self.sound: Final = _is_sound(checked)
        self._variables: Final[dict[str, list[Variable]]] = {}

    def type_of(self, expr: Expr) -> Type:
        return self.checked.types[expr.id]

    def new_slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def enter(self, name: str, variable: Variable) -> None:
        self._variables.setdefault(name, []).append(variable)

    def leave(self, name: str) -> None:
        self._variables[name].pop()

    def variable(self, name: str) -> Variable:
        return self._variables[name][-1]

    def settle(self, code: Code, *, units: bool = False) -> Code:
        """The finished code of a node; `units` if upstream charges it one unit at a time."""
        return metered(code, units=units) if self._exact and not code.constant else code


def _is_sound(checked: Checked) -> bool:
    lying = {type_ for type_ in set(checked.types.values()) if _may_lie(type_)}
    if not lying:
        return True
    return not any(
        checked.types.get(node.id) in lying and not _is_empty(node) for node in _nodes(checked.root)
    )


def _may_lie(type_: Type) -> bool:
    """Null passes for objects, and reading a variable unwraps an optional in an optional."""
    if type_.kind in ("dyn", "any", "null"):
        return True
    if is_optional(type_):
        return any(
            is_optional(part) or part.kind == "type" or _may_lie(part) for part in type_.parameters
        )
    return any(map(_may_lie, type_.parameters))


def _is_empty(node: Expr) -> bool:
    return (isinstance(node, ListExpr) and not node.elements) or (
        isinstance(node, MapExpr) and not node.entries
    )


def _nodes(root: Expr) -> Iterator[Expr]:
    pending: list[Struct] = [root]
    while pending:
        part = pending.pop()
        if isinstance(part, Expr):
            yield part
        for name in part.__struct_fields__:
            below = getattr(part, name)
            for child in below if isinstance(below, tuple) else (below,):
                pending += [child] if isinstance(child, Struct) else []
