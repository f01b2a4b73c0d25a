"""The rules of the grammar that bind tighter than operators: names, calls, literals, brackets."""

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import Final, TypeVar

from extender.match.cel.syntax import grammar
from extender.match.cel.syntax.ast import Expr, FieldInit, MapEntry
from extender.match.cel.syntax.builder import RESERVED, Builder
from extender.match.cel.syntax.grammar import Kinds
from extender.match.cel.syntax.lexer import IDENTIFIER, NUM_FLOAT, NUM_INT, Token
from extender.match.cel.syntax.recovery import TokenStream

_T = TypeVar("_T")
# A rule yields to ask for a nested expression. The generators are kept on a list, because Python's
# stack is too short for what cel-go accepts.
Nested = Generator["Nested", Expr, Expr]
Rule = Generator[Nested, Expr, _T]


class PrimaryParser(ABC):
    """Parses an operand. After a failure a rule goes on without effect until it can recover."""

    def __init__(self, stream: TokenStream, builder: Builder) -> None:
        self._stream: Final = stream
        self._builder: Final = builder

    @abstractmethod
    def _expression(self, follow: Kinds) -> Nested:
        """A whole expression; `follow` is what may come after it."""

    def _member(self) -> Rule[Expr]:
        operand = yield from self._primary()
        return (yield from self._suffixes(operand))

    def _suffixes(self, operand: Expr) -> Rule[Expr]:
        stream = self._stream
        while stream.kind in grammar.SUFFIX and not stream.failed:
            suffix = self._dotted if stream.kind == "." else self._indexed
            operand = yield from suffix(operand)
        if stream.failed:
            stream.recover()
        return operand

    def _dotted(self, operand: Expr) -> Rule[Expr]:
        stream, builder = self._stream, self._builder
        if stream.peek().kind not in grammar.FIELD:
            stream.no_alternative("member")
            return operand
        dot = stream.take()
        if stream.kind == IDENTIFIER and stream.peek().kind == "(":
            name, paren = stream.take(), stream.take()
            args = yield from self._arguments(grammar.METHOD, "method")
            return builder.call(name.text, paren, args, operand)
        optional = stream.accept("?")
        field = self._field_name(grammar.SUFFIX)
        return builder.select(dot, operand, field, optional=optional)

    def _field_name(self, follow: Kinds) -> Token:
        stream = self._stream
        start = stream.token.offset
        stream.require(grammar.NAME, "name")
        if stream.failed:
            stream.recover(follow)
            return Token("", "", start)
        name = stream.take()
        return Token(name.kind, name.text, start)

    def _arguments(self, follow: Kinds, state: str) -> Rule[list[Expr]]:
        stream = self._stream
        args: list[Expr] = []
        stream.sync(grammar.EXPRESSION | {")"}, state)
        if not stream.failed and stream.kind in grammar.EXPRESSION:
            args.append((yield self._expression(follow)))
            while stream.accept(","):
                args.append((yield self._expression(follow)))
        self._close(")", f"{state} )")
        return args

    def _indexed(self, operand: Expr) -> Rule[Expr]:
        stream, builder = self._stream, self._builder
        bracket = stream.take()
        stream.sync(grammar.ELEMENT, "index")
        function = "_[?_]" if stream.accept("?") else "_[_]"
        index = builder.missing() if stream.failed else (yield self._expression(grammar.INDEX))
        self._close("]", "index ]")
        return builder.operator(bracket, function, operand, index)

    def _close(self, kind: str, state: str) -> None:
        stream = self._stream
        follow, outer = stream.contexts[-1], stream.contexts[-2]
        after = grammar.SUFFIX | follow
        stream.match(kind, state, after | outer if "?" in follow else after)

    def _primary(self) -> Rule[Expr]:
        stream = self._stream
        match stream.kind:
            case "(":
                stream.take()
                operand = yield self._expression(grammar.NESTED)
                self._close(")", "nested )")
            case "[":
                operand = yield from self._list()
            case "{":
                operand = yield from self._map()
            case "." | "IDENTIFIER":
                operand = yield from self._named()
            case _:
                operand = self._constant()
        if stream.failed:
            stream.recover(grammar.SUFFIX)
        return operand

    def _constant(self) -> Expr:
        stream, builder = self._stream, self._builder
        sign: Token | None = None
        if stream.kind == "-":
            if stream.peek().kind not in (NUM_INT, NUM_FLOAT):
                stream.no_alternative("primary")
                return builder.missing()
            sign = stream.take()
        if stream.kind in grammar.CONSTANTS:
            return builder.constant(stream.take(), sign)
        stream.mismatch(grammar.MEMBER, "primary")
        return builder.missing()

    def _list(self) -> Rule[Expr]:
        stream = self._stream
        bracket = stream.take()
        elements: list[Expr] = []
        optional: list[int] = []
        stream.sync(grammar.ELEMENT | {",", "]"}, "list")
        more = stream.kind in grammar.ELEMENT and not stream.failed
        while more:
            if stream.accept("?"):
                optional.append(len(elements))
            elements.append((yield self._expression(grammar.LIST)))
            more = self._another(grammar.ELEMENT)
        self._end("]", "list")
        return self._builder.list(bracket, elements, optional)

    def _another(self, kinds: Kinds) -> bool:
        """Take a comma, unless it is a trailing one."""
        stream = self._stream
        return stream.kind == "," and stream.peek().kind in kinds and stream.accept(",")

    def _end(self, kind: str, state: str) -> None:
        self._stream.sync(frozenset({",", kind}), f"{state} end")
        self._stream.accept(",")
        self._close(kind, f"{state} {kind}")

    def _map(self) -> Rule[Expr]:
        stream, builder = self._stream, self._builder
        brace = stream.take()
        entries: list[MapEntry] = []
        stream.sync(grammar.ELEMENT | {",", "}"}, "map")
        more = stream.kind in grammar.ELEMENT and not stream.failed
        stream.contexts.append(grammar.MAP)
        while more:
            optional = stream.accept("?")
            known = len(builder.issues)
            key = yield self._expression(grammar.KEY)
            colon = stream.match(":", "next :" if entries else "first :", grammar.EXPRESSION)
            if colon is None:
                del builder.issues[known:]  # cel-go never looks at a key without a colon
                stream.recover()
                break
            value = yield self._expression(grammar.MAP)
            entries.append(builder.entry(colon, key, value, optional=optional))
            more = self._another(grammar.ELEMENT)
        stream.contexts.pop()
        self._end("}", "map")
        return builder.map(brace, entries)

    def _named(self) -> Rule[Expr]:
        stream, builder = self._stream, self._builder
        dot: Token | None = None
        if stream.kind == ".":
            if stream.peek().kind != IDENTIFIER:
                stream.no_alternative("primary")
                return builder.missing()
            dot = stream.take()
        if self._is_message():
            return (yield from self._message("." if dot else ""))
        name = stream.take()
        if stream.kind != "(":
            return builder.ident(name, dot)
        paren = stream.take()
        known = len(builder.issues)
        args = yield from self._arguments(grammar.FUNCTION, "function")
        if name.text in RESERVED:
            del builder.issues[known:]  # nor at the arguments of a reserved word
            return builder.reserved(name, dot)
        return builder.call("." + name.text if dot else name.text, paren, args)

    def _is_message(self) -> bool:
        stream = self._stream
        end = 1
        while stream.peek(end).kind == "." and stream.peek(end + 1).kind == IDENTIFIER:
            end += 2
        return stream.peek(end).kind == "{"

    def _message(self, name: str) -> Rule[Expr]:
        stream, builder = self._stream, self._builder
        while stream.kind != "{":
            name += stream.take().text
        brace = stream.take()
        fields: list[FieldInit] = []
        stream.sync(grammar.FIELD | {",", "}"}, "message")
        more = stream.kind in grammar.FIELD and not stream.failed
        stream.contexts.append(grammar.MAP)
        start = stream.token.offset
        state = "first field"
        while more:
            optional = stream.accept("?")
            field = self._field_name(grammar.KEY)
            colon = stream.match(":", state, grammar.EXPRESSION)
            if colon is None:
                stream.recover()
                break
            plain = builder.is_plain(field, start)
            known = len(builder.issues)
            value = yield self._expression(grammar.MAP)
            if not plain:
                del builder.issues[known:]  # nor at the value of a field that has no name
            fields.append(builder.field(field, colon, value, optional=optional))
            more, state = self._another(grammar.FIELD), "next field"
        stream.contexts.pop()
        self._end("}", "message")
        return builder.struct(name, brace, fields)
