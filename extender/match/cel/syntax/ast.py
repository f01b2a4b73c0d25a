"""The AST of an expression after macro expansion.

Nodes are immutable. Later steps keep what they know about a node in mappings by its id.
"""

from typing import Final, Literal

from msgspec import Struct

Kind = Literal["null", "bool", "int", "uint", "double", "string", "bytes"]
ConstantValue = bool | int | float | str | bytes | None

ACCUMULATOR: Final = "@result"


class Expr(Struct, frozen=True, gc=False):
    """Any node: its id, unique in the expression, and where it is in the source (code points)."""

    id: int
    offset: int


class Constant(Expr, frozen=True, gc=False):
    """A constant. A uint is told from an int by `kind`, not by its Python type."""

    value: ConstantValue
    kind: Kind


class Ident(Expr, frozen=True, gc=False):
    """A name; a leading dot is kept."""

    name: str


class Select(Expr, frozen=True, gc=False):
    """`operand.field`; with `test_only` the question `has(operand.field)`."""

    operand: Expr
    field: str
    test_only: bool = False


class Call(Expr, frozen=True, gc=False):
    """A function, an operator (`_==_`, `_&&_`, `_?_:_`, `_[_]`, `_?._` ...) or a method."""

    function: str
    args: tuple[Expr, ...]
    target: Expr | None = None


class ListExpr(Expr, frozen=True, gc=False):
    """`[a, ?b]`."""

    elements: tuple[Expr, ...]
    optional_indices: frozenset[int] = frozenset()


class MapEntry(Struct, frozen=True, gc=False):
    """`key: value` or `?key: value`."""

    id: int
    offset: int
    key: Expr
    value: Expr
    optional: bool


class MapExpr(Expr, frozen=True, gc=False):
    """`{key: value}`."""

    entries: tuple[MapEntry, ...]


class FieldInit(Struct, frozen=True, gc=False):
    """`name: value` inside of an object."""

    id: int
    offset: int
    name: str
    value: Expr
    optional: bool


class StructExpr(Expr, frozen=True, gc=False):
    """`some.Type{field: value}`."""

    type_name: str
    fields: tuple[FieldInit, ...]


class Fold(Expr, frozen=True, gc=False):
    """What a macro over a list or a map expands to; cel-go calls it a comprehension.

    For each element: stop if `condition` is false, else accumulator = `step`; in the end `result`.
    """

    macro: Literal["all", "exists", "exists_one", "list", "map", "bind"]
    range: Expr
    variable: str
    variable2: str  # "" unless the macro takes two
    accumulator: str
    init: Expr
    condition: Expr
    step: Expr
    result: Expr
