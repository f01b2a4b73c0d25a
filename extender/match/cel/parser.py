"""Tokens into an AST, by the grammar and within the limits of cel-go."""

from collections.abc import Generator
from typing import Final, TypeVar

from extender.match.cel import grammar
from extender.match.cel.ast import Expr, FieldInit, MapEntry
from extender.match.cel.builder import RESERVED, Builder
from extender.match.cel.grammar import Kinds
from extender.match.cel.lexer import EOF, IDENTIFIER, NUM_FLOAT, NUM_INT, Token, tokenize
from extender.match.cel.recovery import TokenStream
from extender.match.cel.source import NOWHERE, HaltError, Issue, IssuesError, Source

MAX_DEPTH: Final = 250

# How many rules for relations and for sums an operator of that precedence opens.
_NESTS: Final = {1: (1, 0), 2: (0, 1), 3: (0, 1)}

_T = TypeVar("_T")
# A rule that may ask for a nested expression. These are run one above the other on a list, since
# Python's own stack is too short for all that cel-go accepts.
_Nested = Generator["_Nested", Expr, Expr]
_Rule = Generator[_Nested, Expr, _T]


def parse(source: Source) -> Expr:
    """The AST of an expression; raises IssuesError."""
    stream, builder = TokenStream(*tokenize(source)), Builder()
    try:
        root = _Parser(stream, builder).run()
    except HaltError as halt:
        raise IssuesError([*stream.issues, halt.issue]) from None
    if stream.issues or builder.issues:
        raise IssuesError([*stream.issues, *builder.issues])
    return root


class _Chain:
    """The terms of `&&` or `||` that are read so far."""

    __slots__ = ("_function", "_operators", "_terms")

    def __init__(self, function: str) -> None:
        self._function: Final = function
        self._terms: list[Expr] = []
        self._operators: list[Token] = []

    def add(self, term: Expr, operator: Token) -> None:
        self._terms.append(term)
        self._operators.append(operator)

    def close(self, builder: Builder, last: Expr) -> Expr:
        if not self._terms:
            return last
        tree = builder.balanced(self._function, [*self._terms, last], self._operators)
        self._terms, self._operators = [], []
        return tree


class _Parser:
    """Recursive descent; operators by precedence."""

    def __init__(self, stream: TokenStream, builder: Builder) -> None:
        self._stream: Final = stream
        self._builder: Final = builder
        # How many rules of ANTLR's kind are open: operands of relations and of arithmetic nest.
        self._relations = 0
        self._sums = 0

    def run(self) -> Expr:
        """The expression that is the whole of the input."""
        self._stream.peek(0)  # reports what is unreadable before it
        root = _run(self._expression(grammar.END))
        self._stream.match(EOF, "start", grammar.END)
        if self._stream.failed:
            self._stream.recover()
        if self._builder.depth(root) > MAX_DEPTH:
            raise HaltError(Issue(NOWHERE, "max recursion depth exceeded"))
        return root

    def _expression(self, follow: Kinds) -> _Nested:
        stream, builder = self._stream, self._builder
        stream.contexts.append(follow)
        result = yield from self._disjunction(grammar.CONDITION)
        if stream.kind == "?":
            question = stream.take()
            then = yield from self._disjunction(grammar.CHOICE)
            stream.match(":", "conditional", grammar.EXPRESSION)
            if stream.failed:
                stream.recover()
                otherwise = builder.missing()
            else:
                otherwise = yield self._expression(follow)
            result = builder.operator(question, "_?_:_", result, then, otherwise)
        stream.contexts.pop()
        return result

    def _disjunction(self, follow: Kinds) -> _Rule[Expr]:
        stream, builder = self._stream, self._builder
        stream.contexts.append(follow)
        self._count(+1, +1)
        ors, ands = _Chain("_||_"), _Chain("_&&_")
        pending: list[tuple[int, str, Token, Expr]] = []
        while True:
            operand = yield from self._unary()
            precedence, function = grammar.BINARY.get(stream.kind, (0, ""))
            while pending and pending[-1][0] >= precedence:
                operand = self._reduce(*pending.pop(), operand)
            if precedence:
                self._count(*_NESTS[precedence])
                pending.append((precedence, function, stream.take(), operand))
            elif stream.kind == "&&":
                ands.add(operand, stream.take())
            else:
                operand = ands.close(builder, operand)
                if stream.kind != "||":
                    break
                ors.add(operand, stream.take())
        self._count(-1, -1)
        stream.contexts.pop()
        return ors.close(builder, operand)

    def _reduce(
        self, precedence: int, function: str, operator: Token, left: Expr, right: Expr
    ) -> Expr:
        relations, sums = _NESTS[precedence]
        self._count(-relations, -sums)
        return self._builder.operator(operator, function, left, right)

    def _count(self, relations: int, sums: int) -> None:
        self._relations += relations
        self._sums += sums
        _limit(max(self._relations, self._sums))

    def _unary(self) -> _Rule[Expr]:
        stream = self._stream
        start = stream.token.offset
        stream.require(grammar.EXPRESSION, "unary")
        if stream.failed:
            operand = self._builder.missing(start)
        elif stream.kind == "!" or (
            stream.kind == "-" and stream.peek().kind not in (NUM_INT, NUM_FLOAT)
        ):
            operand = yield from self._negated(stream.token)
        else:
            operand = yield from self._member()
        if stream.failed:
            stream.recover()
        return operand

    def _negated(self, first: Token) -> _Rule[Expr]:
        stream, builder = self._stream, self._builder
        expected = grammar.EXPRESSION if first.kind == "!" else grammar.MEMBER
        times = 0
        while stream.kind == first.kind:
            if stream.kind == "-" and stream.peek().kind not in grammar.MEMBER:
                stream.no_alternative("minus" if times else "unary")
                return builder.missing()
            stream.take()
            times += 1
            stream.resync(expected)
        if first.kind == "-":
            stream.require(expected, "minus")
        operand = builder.missing() if stream.failed else (yield from self._member())
        return builder.negation(first, operand) if times % 2 else operand

    def _member(self) -> _Rule[Expr]:
        stream = self._stream
        operand = yield from self._primary()
        while stream.kind in grammar.SUFFIX and not stream.failed:
            suffix = self._dotted if stream.kind == "." else self._indexed
            operand = yield from suffix(operand)
        if stream.failed:
            stream.recover()
        return operand

    def _dotted(self, operand: Expr) -> _Rule[Expr]:
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

    def _arguments(self, follow: Kinds, state: str) -> _Rule[list[Expr]]:
        stream = self._stream
        args: list[Expr] = []
        stream.sync(grammar.EXPRESSION | {")"}, state)
        if not stream.failed and stream.kind in grammar.EXPRESSION:
            args.append((yield self._expression(follow)))
            while stream.accept(","):
                args.append((yield self._expression(follow)))
        self._close(")", f"{state} )")
        return args

    def _indexed(self, operand: Expr) -> _Rule[Expr]:
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

    def _primary(self) -> _Rule[Expr]:
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

    def _list(self) -> _Rule[Expr]:
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
        """Takes a comma unless it is the last thing in a list."""
        stream = self._stream
        return stream.kind == "," and stream.peek().kind in kinds and stream.accept(",")

    def _end(self, kind: str, state: str) -> None:
        self._stream.sync(frozenset({",", kind}), f"{state} end")
        self._stream.accept(",")
        self._close(kind, f"{state} {kind}")

    def _map(self) -> _Rule[Expr]:
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

    def _named(self) -> _Rule[Expr]:
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

    def _message(self, name: str) -> _Rule[Expr]:
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


def _run(outermost: _Nested) -> Expr:
    waiting: list[_Nested] = []
    current = outermost
    answer: Expr | None = None
    while True:
        try:
            nested = next(current) if answer is None else current.send(answer)
        except StopIteration as stop:
            result: Expr = stop.value
            if not waiting:
                return result
            current, answer = waiting.pop(), result
        else:
            waiting.append(current)
            _limit(len(waiting) + 1)
            current, answer = nested, None


def _limit(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise HaltError(Issue(NOWHERE, f"expression recursion limit exceeded: {MAX_DEPTH}"))
