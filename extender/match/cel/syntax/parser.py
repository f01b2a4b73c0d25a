"""Parses tokens into an AST, with the grammar and the limits of cel-go."""

from typing import Final

from extender.match.cel.syntax import grammar
from extender.match.cel.syntax.ast import Expr
from extender.match.cel.syntax.builder import Builder
from extender.match.cel.syntax.grammar import Kinds
from extender.match.cel.syntax.lexer import EOF, NUM_FLOAT, NUM_INT, Token, tokenize
from extender.match.cel.syntax.primary import Nested, PrimaryParser, Rule
from extender.match.cel.syntax.recovery import TokenStream
from extender.match.cel.syntax.source import NOWHERE, HaltError, Issue, IssuesError, Source

MAX_DEPTH: Final = 250

# The number of relation and calc rules that an operator of each precedence opens.
_NESTS: Final = {1: (1, 0), 2: (0, 1), 3: (0, 1)}


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


class _Parser(PrimaryParser):
    """Recursive descent; operators by precedence."""

    def __init__(self, stream: TokenStream, builder: Builder) -> None:
        super().__init__(stream, builder)
        # cel-go counts two of its limits in open ANTLR rules.
        self._relations = 0
        self._sums = 0

    def run(self) -> Expr:
        """Parse the whole input."""
        self._stream.peek(0)  # reports unreadable text before it
        root = _run(self._expression(grammar.END))
        self._stream.match(EOF, "start", grammar.END)
        if self._stream.failed:
            self._stream.recover()
        if self._builder.depth(root) > MAX_DEPTH:
            raise HaltError(Issue(NOWHERE, "max recursion depth exceeded"))
        return root

    def _expression(self, follow: Kinds) -> Nested:
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

    def _disjunction(self, follow: Kinds) -> Rule[Expr]:
        stream, builder = self._stream, self._builder
        stream.contexts.append(follow)
        self._count(1, 1)
        ors: list[tuple[Expr, Token]] = []
        ands: list[tuple[Expr, Token]] = []
        pending: list[tuple[int, str, Token, Expr]] = []
        while True:
            operand = yield from self._operand()
            precedence, function = grammar.BINARY.get(stream.kind, (0, ""))
            while pending and pending[-1][0] >= precedence:
                operand = self._reduce(*pending.pop(), operand)
            if precedence:
                self._count(*_NESTS[precedence])
                pending.append((precedence, function, stream.take(), operand))
            elif stream.kind == "&&":
                ands.append((operand, stream.take()))
            else:
                operand = builder.balanced("_&&_", ands, operand)
                if stream.kind != "||":
                    break
                ors.append((operand, stream.take()))
                ands.clear()
        self._count(-1, -1)
        stream.contexts.pop()
        return builder.balanced("_||_", ors, operand)

    def _reduce(
        self, precedence: int, function: str, operator: Token, left: Expr, right: Expr
    ) -> Expr:
        relations, sums = _NESTS[precedence]
        self._count(-relations, -sums)
        return self._builder.operator(operator, function, left, right)

    def _count(self, relations: int, sums: int) -> None:
        self._relations += relations
        self._sums += sums
        if self._relations > MAX_DEPTH or self._sums > MAX_DEPTH:
            raise _too_deep()

    def _operand(self) -> Rule[Expr]:
        if self._stream.kind not in grammar.CONSTANTS:
            return (yield from self._unary())
        # Most operands are just constants, which need none of the rules in between.
        operand = self._builder.constant(self._stream.take(), None)
        if self._stream.kind in grammar.SUFFIX:
            operand = yield from self._suffixes(operand)
        return operand

    def _unary(self) -> Rule[Expr]:
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

    def _negated(self, first: Token) -> Rule[Expr]:
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


def _run(outermost: Nested) -> Expr:
    waiting: list[Nested] = []
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
            if len(waiting) == MAX_DEPTH:
                raise _too_deep()
            current, answer = nested, None


def _too_deep() -> HaltError:
    return HaltError(Issue(NOWHERE, f"expression recursion limit exceeded: {MAX_DEPTH}"))
