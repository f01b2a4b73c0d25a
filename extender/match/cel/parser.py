"""Tokens into an AST, by the grammar and within the limits of cel-go."""

from collections.abc import Generator
from typing import Final, NoReturn

from extender.match.cel.ast import (
    Call,
    Constant,
    Expr,
    FieldInit,
    Ident,
    ListExpr,
    MapEntry,
    MapExpr,
    Select,
    StructExpr,
)
from extender.match.cel.lexer import EOF, IDENTIFIER, Token, tokenize
from extender.match.cel.literals import (
    LiteralError,
    bytes_value,
    double_value,
    int_value,
    string_value,
    uint_value,
)
from extender.match.cel.macros import Factory, MacroError, expand
from extender.match.cel.source import NOWHERE, Issue, IssuesError, Source

MAX_DEPTH: Final = 250
_BINARY: Final = {
    "==": (1, "_==_"),
    "!=": (1, "_!=_"),
    "<": (1, "_<_"),
    "<=": (1, "_<=_"),
    ">": (1, "_>_"),
    ">=": (1, "_>=_"),
    "in": (1, "@in"),
    "+": (2, "_+_"),
    "-": (2, "_-_"),
    "*": (3, "_*_"),
    "/": (3, "_/_"),
    "%": (3, "_%_"),
}
_RESERVED: Final = frozenset(
    "as break const continue else for function if import let loop package namespace return var"
    " void while".split()
)

_Steps = Generator["_Steps", Expr, Expr]


def parse(source: Source) -> Expr:
    """The AST of an expression; raises IssuesError."""
    tokens, issues = tokenize(source)
    return _Parser(tokens, issues).run()


class _Parser:
    """Recursive descent, whose nested expressions are generators on a stack of their own."""

    def __init__(self, tokens: list[Token], issues: list[Issue]) -> None:
        self._tokens: Final = tokens
        self._issues: Final = issues
        self._at = 0
        self._token = tokens[0]
        self._last_id = 0
        self._heights: Final[dict[int, int]] = {}

    def run(self) -> Expr:
        stack = [self._expression()]
        result: Expr | None = None
        while stack:
            try:
                if result is None:
                    nested = next(stack[-1])
                else:
                    nested = stack[-1].send(result)
                stack.append(nested)
                result = None
                if len(stack) > MAX_DEPTH:
                    self._fail(NOWHERE, f"expression recursion limit exceeded: {MAX_DEPTH}")
            except StopIteration as stop:
                stack.pop()
                result = stop.value
        assert result is not None
        self._match(EOF)
        if self._issues:
            raise IssuesError(self._issues)
        if self._heights.get(result.id, 0) > MAX_DEPTH:
            self._fail(NOWHERE, "max recursion depth exceeded")
        return result

    def _fail(self, offset: int, message: str) -> NoReturn:
        raise IssuesError([*self._issues, Issue(offset, message)])

    def _unexpected(self, expecting: str) -> NoReturn:
        token = self._token
        self._fail(
            token.offset, f"Syntax error: mismatched input '{token.text}' expecting {expecting}"
        )

    def _advance(self) -> Token:
        token = self._token
        self._at += 1
        self._token = self._tokens[self._at]
        return token

    def _match(self, kind: str) -> Token:
        if self._token.kind != kind:
            self._unexpected(f"'{kind}'" if kind not in (EOF, IDENTIFIER) else kind)
        return self._token if kind == EOF else self._advance()

    def _accept(self, kind: str) -> bool:
        if self._token.kind != kind:
            return False
        self._advance()
        return True

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _counted(self, node: Expr, *children: Expr) -> Expr:
        self._heights[node.id] = 1 + max(self._heights.get(child.id, 0) for child in children)
        return node

    def _uncounted(self, node: Expr, *children: Expr) -> Expr:
        if children:
            self._heights[node.id] = max(self._heights.get(child.id, 0) for child in children)
        return node

    def _expression(self) -> _Steps:
        condition = yield from self._disjunction()
        if self._token.kind != "?":
            return condition
        operator = self._advance()
        then = yield from self._disjunction()
        self._match(":")
        otherwise = yield self._expression()
        node = Call(self._next_id(), operator.offset, "_?_:_", (condition, then, otherwise))
        return self._counted(node, condition, then, otherwise)

    def _disjunction(self) -> _Steps:
        ors, ands = _Chain("_||_"), _Chain("_&&_")
        pending: list[tuple[int, str, Token, Expr]] = []
        while True:
            operand = yield from self._unary()
            precedence, function = _BINARY.get(self._token.kind, (0, ""))
            while pending and pending[-1][0] >= precedence:
                _, waiting, token, left = pending.pop()
                node = Call(self._next_id(), token.offset, waiting, (left, operand))
                operand = self._counted(node, left, operand)
            if precedence:
                pending.append((precedence, function, self._advance(), operand))
            elif self._token.kind == "&&":
                ands.add(operand, self._advance())
            else:
                operand = ands.close(self, operand)
                if self._token.kind != "||":
                    return ors.close(self, operand)
                ors.add(operand, self._advance())

    def balanced(self, function: str, terms: list[Expr], operators: list[Token]) -> Expr:
        if not operators:
            return terms[0]
        middle = len(operators) // 2
        left = self.balanced(function, terms[: middle + 1], operators[:middle])
        right = self.balanced(function, terms[middle + 1 :], operators[middle + 1 :])
        node = Call(self._next_id(), operators[middle].offset, function, (left, right))
        return self._uncounted(node, left, right)

    def _unary(self) -> _Steps:
        kind = self._token.kind
        if kind not in ("!", "-"):
            return (yield from self._member())
        if kind == "-" and self._tokens[self._at + 1].kind in ("NUM_INT", "NUM_FLOAT"):
            return (yield from self._member())
        first = self._token
        negations = 0
        while self._accept(kind):
            negations += 1
        operand = yield from self._member()
        if negations % 2 == 0:
            return operand
        node = Call(self._next_id(), first.offset, "!_" if kind == "!" else "-_", (operand,))
        return self._uncounted(node, operand)

    def _member(self) -> _Steps:
        operand = yield from self._primary()
        while True:
            if self._token.kind == ".":
                dot = self._advance()
                optional = self._accept("?")
                name = self._match(IDENTIFIER)
                if optional:
                    field = Constant(self._next_id(), name.offset, name.text, "string")
                    node: Expr = Call(self._next_id(), dot.offset, "_?._", (operand, field))
                    operand = self._counted(node, operand)
                elif self._token.kind == "(":
                    operand = yield from self._call(name.text, operand)
                else:
                    node = Select(self._next_id(), dot.offset, operand, name.text)
                    operand = self._counted(node, operand)
            elif self._token.kind == "[":
                bracket = self._advance()
                function = "_[?_]" if self._accept("?") else "_[_]"
                index = yield self._expression()
                self._match("]")
                node = Call(self._next_id(), bracket.offset, function, (operand, index))
                operand = self._counted(node, operand, index)
            else:
                return operand

    def _call(self, function: str, target: Expr | None) -> _Steps:
        paren = self._match("(")
        args: list[Expr] = []
        if self._token.kind != ")":
            args.append((yield self._expression()))
            while self._accept(","):
                args.append((yield self._expression()))
        self._match(")")
        make = Factory(self._next_id, paren.offset)
        try:
            node = expand(make, function, target, tuple(args))
        except MacroError as error:
            self._issues.append(Issue(error.offset, error.message))
            node = make.ident("")
        if node is None:
            node = Call(self._next_id(), paren.offset, function, tuple(args), target)
        if target is None:
            return self._uncounted(node, *args)
        return self._counted(node, target, *args)

    def _primary(self) -> _Steps:
        kind = self._token.kind
        if kind == "(":
            self._advance()
            nested = yield self._expression()
            self._match(")")
            return nested
        if kind == "[":
            return (yield from self._list())
        if kind == "{":
            return (yield from self._map())
        if kind in (".", IDENTIFIER):
            return (yield from self._name())
        return self._constant()

    def _list(self) -> _Steps:
        bracket = self._advance()
        elements: list[Expr] = []
        optional: list[int] = []
        while self._token.kind not in ("]", ","):
            if self._accept("?"):
                optional.append(len(elements))
            elements.append((yield self._expression()))
            if self._token.kind != "," or self._tokens[self._at + 1].kind == "]":
                break
            self._advance()
        self._accept(",")
        self._match("]")
        node = ListExpr(self._next_id(), bracket.offset, tuple(elements), frozenset(optional))
        return self._uncounted(node, *elements)

    def _map(self) -> _Steps:
        brace = self._advance()
        entries: list[MapEntry] = []
        while self._token.kind not in ("}", ","):
            optional = self._accept("?")
            key = yield self._expression()
            colon = self._match(":")
            value = yield self._expression()
            entries.append(MapEntry(self._next_id(), colon.offset, key, value, optional))
            if self._token.kind != "," or self._tokens[self._at + 1].kind == "}":
                break
            self._advance()
        self._accept(",")
        self._match("}")
        node = MapExpr(self._next_id(), brace.offset, tuple(entries))
        children = [child for entry in entries for child in (entry.key, entry.value)]
        return self._uncounted(node, *children)

    def _name(self) -> _Steps:
        dot = "." if self._accept(".") else ""
        start = self._at
        first = self._match(IDENTIFIER)
        message = self._message_name(dot, start)
        if message:
            return (yield from self._struct(message))
        if first.text in _RESERVED:
            place = first.offset - len(dot)
            self._issues.append(Issue(place, f"reserved identifier: {first.text}"))
        if self._token.kind == "(":
            return (yield from self._call(dot + first.text, None))
        return Ident(self._next_id(), first.offset, dot + first.text)

    def _message_name(self, dot: str, start: int) -> str:
        end = start + 1
        tokens = self._tokens
        while tokens[end].kind == "." and tokens[end + 1].kind == IDENTIFIER:
            end += 2
        if tokens[end].kind != "{":
            return ""
        self._at, self._token = end, tokens[end]
        return dot + "".join(token.text for token in tokens[start:end])

    def _struct(self, name: str) -> _Steps:
        brace = self._advance()
        fields: list[FieldInit] = []
        while self._token.kind not in ("}", ","):
            optional = self._accept("?")
            field = self._match(IDENTIFIER)
            colon = self._match(":")
            value = yield self._expression()
            fields.append(FieldInit(self._next_id(), colon.offset, field.text, value, optional))
            if self._token.kind != "," or self._tokens[self._at + 1].kind == "}":
                break
            self._advance()
        self._accept(",")
        self._match("}")
        node = StructExpr(self._next_id(), brace.offset, name, tuple(fields))
        return self._uncounted(node, *(field.value for field in fields))

    def _constant(self) -> Expr:
        start = self._token
        sign = "-" if self._accept("-") else ""
        token = self._token
        try:
            match token.kind:
                case "NUM_INT":
                    node = Constant(
                        self._next_id(), start.offset, int_value(sign + token.text), "int"
                    )
                case "NUM_FLOAT":
                    value = double_value(sign + token.text)
                    node = Constant(self._next_id(), start.offset, value, "double")
                case "NUM_UINT":
                    node = Constant(self._next_id(), start.offset, uint_value(token.text), "uint")
                case "STRING":
                    node = Constant(
                        self._next_id(), start.offset, string_value(token.text), "string"
                    )
                case "BYTES":
                    node = Constant(self._next_id(), start.offset, bytes_value(token.text), "bytes")
                case "true" | "false":
                    node = Constant(self._next_id(), start.offset, token.kind == "true", "bool")
                case "null":
                    node = Constant(self._next_id(), start.offset, None, "null")
                case _:
                    self._unexpected(
                        "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT,"
                        " NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
                    )
        except LiteralError as error:
            self._issues.append(Issue(start.offset, str(error)))
            node = Constant(self._next_id(), start.offset, None, "null")
        self._advance()
        return node


class _Chain:
    """Terms of one logical operator, which become a balanced tree."""

    def __init__(self, function: str) -> None:
        self._function: Final = function
        self._terms: list[Expr] = []
        self._operators: list[Token] = []

    def add(self, term: Expr, operator: Token) -> None:
        self._terms.append(term)
        self._operators.append(operator)

    def close(self, parser: _Parser, last: Expr) -> Expr:
        tree = parser.balanced(self._function, [*self._terms, last], self._operators)
        self._terms, self._operators = [], []
        return tree
