"""Makes the nodes of the AST, and reports errors that the grammar does not cover."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from extender.match.cel.syntax.ast import (
    Call,
    Constant,
    ConstantValue,
    Expr,
    FieldInit,
    Ident,
    Kind,
    ListExpr,
    MapEntry,
    MapExpr,
    Select,
    StructExpr,
)
from extender.match.cel.syntax.factory import Copier, Factory
from extender.match.cel.syntax.lexer import (
    BYTES,
    ESC_IDENTIFIER,
    IDENTIFIER,
    NUM_FLOAT,
    NUM_INT,
    NUM_UINT,
    STRING,
    Token,
)
from extender.match.cel.syntax.literals import (
    LiteralError,
    bytes_value,
    double_value,
    int_value,
    string_value,
    uint_value,
)
from extender.match.cel.syntax.macros import MacroError, expand
from extender.match.cel.syntax.source import UNPLACED, Issue

RESERVED: Final = frozenset(
    {
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    }
)
_CONSTANTS: Final[Mapping[str, tuple[Kind, Callable[[str], ConstantValue]]]] = {
    NUM_INT: ("int", int_value),
    NUM_UINT: ("uint", uint_value),
    NUM_FLOAT: ("double", double_value),
    STRING: ("string", string_value),
    BYTES: ("bytes", bytes_value),
    "true": ("bool", lambda _: True),
    "false": ("bool", lambda _: False),
    "null": ("null", lambda _: None),
}


class Builder:
    """Makes nodes and knows how deep each is, as cel-go counts depth.

    Operators, selections, indexes and methods count. Functions, lists, maps, negations, `&&` and
    `||` do not.
    """

    __slots__ = ("_copier", "_depths", "_last_id", "issues")

    def __init__(self) -> None:
        self._last_id = 0
        self._copier: Final = Copier(self._next_id)
        self._depths: Final[dict[int, int]] = {}
        self.issues: Final[list[Issue]] = []

    def depth(self, node: Expr) -> int:
        """The number of counted nodes on the longest path down."""
        return self._depths.get(node.id, 0)

    def missing(self, offset: int = UNPLACED) -> Expr:
        """The placeholder of an operand that could not be parsed."""
        return Expr(self._next_id(), offset)

    def operator(self, token: Token, function: str, *operands: Expr) -> Expr:
        """An operator that counts, or an index."""
        node = Call(self._next_id(), token.offset, function, operands)
        return self._deep(node, operands, 1)

    def negation(self, token: Token, operand: Expr) -> Expr:
        """`!` or `-`."""
        node = Call(self._next_id(), token.offset, f"{token.kind}_", (operand,))
        return self._deep(node, (operand,), 0)

    def balanced(self, function: str, chain: Sequence[tuple[Expr, Token]], last: Expr) -> Expr:
        """The terms of `&&` or `||` as a balanced tree, as cel-go builds it."""
        if not chain:
            return last
        middle = len(chain) // 2
        term, operator = chain[middle]
        left = self.balanced(function, chain[:middle], term)
        right = self.balanced(function, chain[middle + 1 :], last)
        node = Call(self._next_id(), operator.offset, function, (left, right))
        return self._deep(node, (left, right), 0)

    def select(self, dot: Token, operand: Expr, field: Token, *, optional: bool) -> Expr:
        """`operand.field` or `operand.?field`."""
        self.is_plain(field, field.offset)
        if optional:
            name = Constant(self._next_id(), field.offset, field.text, "string")
            node: Expr = Call(self._next_id(), dot.offset, "_?._", (operand, name))
        else:
            node = Select(self._next_id(), dot.offset, operand, field.text)
        return self._deep(node, (operand,), 1)

    def call(
        self, function: str, paren: Token, args: Sequence[Expr], target: Expr | None = None
    ) -> Expr:
        """A function, a method, or the expansion of a macro."""
        make = Factory(self._next_id, self._copier, paren.offset)
        try:
            node = expand(make, function, target, tuple(args))
        except MacroError as error:
            node = self._faulty(error.offset, error.message)
        if node is None:
            node = Call(self._next_id(), paren.offset, function, tuple(args), target)
        if target is None:
            return self._deep(node, args, 0)
        return self._deep(node, (target, *args), 1)

    def ident(self, name: Token, dot: Token | None) -> Expr:
        """A name, perhaps with a leading dot."""
        if name.text in RESERVED:
            return self.reserved(name, dot)
        return Ident(self._next_id(), name.offset, "." + name.text if dot else name.text)

    def reserved(self, name: Token, dot: Token | None) -> Expr:
        """The placeholder of a reserved word where a name should be."""
        return self._faulty((dot or name).offset, f"reserved identifier: {name.text}")

    def constant(self, token: Token, sign: Token | None) -> Expr:
        """A literal."""
        offset = (sign or token).offset
        kind, value_of = _CONSTANTS[token.kind]
        try:
            value = value_of("-" + token.text if sign else token.text)
        except LiteralError as error:
            return self._faulty(offset, str(error))
        return Constant(self._next_id(), offset, value, kind)

    def list(self, bracket: Token, elements: Sequence[Expr], optional: Sequence[int]) -> Expr:
        """`[elements]`, some of them optional."""
        node = ListExpr(self._next_id(), bracket.offset, tuple(elements), frozenset(optional))
        return self._deep(node, elements, 0)

    def entry(self, colon: Token, key: Expr, value: Expr, *, optional: bool) -> MapEntry:
        """`key: value`."""
        return MapEntry(self._next_id(), colon.offset, key, value, optional)

    def map(self, brace: Token, entries: Sequence[MapEntry]) -> Expr:
        """`{entries}`."""
        node = MapExpr(self._next_id(), brace.offset, tuple(entries))
        parts = [part for entry in entries for part in (entry.key, entry.value)]
        return self._deep(node, parts, 0)

    def field(self, name: Token, colon: Token, value: Expr, *, optional: bool) -> FieldInit:
        """`name: value`."""
        return FieldInit(self._next_id(), colon.offset, name.text, value, optional)

    def struct(self, name: str, brace: Token, fields: Sequence[FieldInit]) -> Expr:
        """`name{fields}`."""
        node = StructExpr(self._next_id(), brace.offset, name, tuple(fields))
        return self._deep(node, [field.value for field in fields], 0)

    def is_plain(self, name: Token, offset: int) -> bool:
        """Whether a token may name a field; reports it if not."""
        if name.kind == ESC_IDENTIFIER:
            self.issues.append(Issue(offset, "unsupported syntax: '`'"))
        elif name.kind != IDENTIFIER:
            self.issues.append(Issue(offset, "unsupported ident kind"))
        return name.kind == IDENTIFIER

    def _faulty(self, offset: int, message: str) -> Expr:
        self.issues.append(Issue(offset, message))
        return self.missing(offset)

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _deep(self, node: Expr, children: Sequence[Expr], own: int) -> Expr:
        depths = self._depths
        below = max([depths.get(child.id, 0) for child in children], default=0)
        if below + own:
            depths[node.id] = below + own
        return node
