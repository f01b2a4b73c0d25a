"""The token stream of the parser, with ANTLR's error recovery.

The errors that cel-go lists depend on how ANTLR recovers from the first one, so this follows its
strategy: delete one token, insert one, or skip to one that may follow.
"""

from collections import deque
from collections.abc import Sequence
from typing import Final

from extender.match.cel.syntax.grammar import Kinds
from extender.match.cel.syntax.lexer import (
    BYTES,
    EOF,
    ESC_IDENTIFIER,
    IDENTIFIER,
    NUM_FLOAT,
    NUM_INT,
    NUM_UINT,
    STRING,
    Token,
)
from extender.match.cel.syntax.source import MAX_ISSUES, NOWHERE, HaltError, Issue

MAX_ATTEMPTS: Final = 30
MAX_SKIPPED: Final = 256

_NAMED: Final = (NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER, ESC_IDENTIFIER)
# All tokens that can be expected, in the order in which ANTLR lists them.
_ORDER: Final = (
    *(EOF, "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "true", "false", "null"),
    *_NAMED,
)


class TokenStream:
    """A cursor over the tokens that reports mismatches and recovers from them.

    After a fault `failed` names the place in the grammar where it was met: then nothing matches
    until the rule at hand ends with `recover`.
    """

    __slots__ = (
        "_at",
        "_attempts",
        "_fault_at",
        "_fault_states",
        "_recovering",
        "_tokens",
        "_unreadable",
        "contexts",
        "failed",
        "issues",
        "kind",
        "token",
    )

    def __init__(self, tokens: Sequence[Token], unreadable: Sequence[Issue]) -> None:
        self._tokens: Final = (*tokens, tokens[-1])  # at EOF there is still one to peek at
        # The lexer's issues are reported when the next token is read.
        self._unreadable: Final = deque(unreadable)
        self._at = 0
        self._recovering = False  # errors before the next match are follow-ups, and not reported
        self._attempts = 0
        self._fault_at = -1
        self._fault_states: Final[set[str]] = set()
        self.contexts: Final[list[Kinds]] = []  # what may follow each open rule
        self.failed = ""
        self.issues: Final[list[Issue]] = []
        self.token = tokens[0]
        self.kind = self.token.kind

    def peek(self, distance: int = 1) -> Token:
        """A token ahead: 0 is the next. Before it there must be no EOF."""
        token = self._tokens[self._at + distance]
        while self._unreadable and self._unreadable[0].offset < token.offset:
            self._add(self._unreadable.popleft())
        return token

    def take(self) -> Token:
        """The next token, which is known to fit."""
        token = self.token
        self._recovering = False
        self._consume()
        return token

    def accept(self, kind: str) -> bool:
        """Takes the next token if it is of that kind."""
        if self.failed or self.kind != kind:
            return False
        self.take()
        return True

    def match(self, kind: str, state: str, after: Kinds) -> Token | None:
        """Takes a token of that kind; `after` is what may come next."""
        if self.failed:
            return None
        if self.kind == kind:
            return self.take()
        self._count_attempt()
        expected = frozenset({kind})
        if self._delete(expected):
            return self.take()
        if self.kind in after:
            self._report(f"missing {_display(expected)} at {_quoted(self.token.text)}")
            return Token(kind, f"<missing {_display(expected)}>", self.token.offset)
        self.mismatch(expected, state)
        return None

    def sync(self, expected: Kinds, state: str) -> None:
        """Looks whether one of several things comes next."""
        if self.failed or self._recovering or self.kind in expected:
            return
        if not self._delete(expected):
            self.mismatch(expected, state)

    def require(self, expected: Kinds, state: str) -> None:
        """As sync, where there is no way on without one of them."""
        self.sync(expected, state)
        if not self.failed and self.kind not in expected:
            self.mismatch(expected, state)

    def resync(self, expected: Kinds) -> None:
        """Skips, inside of a loop, up to what may come next or follow any of the open rules."""
        if self._recovering or self.kind in expected:
            return
        self._report(f"extraneous input {_quoted(self.token.text)} expecting {_display(expected)}")
        stop = expected.union(*self.contexts)
        while self.kind != EOF and self.kind not in stop:
            self._consume()

    def mismatch(self, expected: Kinds, state: str) -> None:
        """Nothing of what was expected comes next."""
        found = _quoted(self.token.text)
        self._fail(f"mismatched input {found} expecting {_display(expected)}", self.token, state)

    def no_alternative(self, state: str) -> None:
        """The next token would do, the one after it does not."""
        start, found = self.token, self.peek()
        text = start.text + found.before + ("" if found.kind == EOF else found.text)
        if text[1:] in ("true", "false", "null"):
            message = f"mismatched input '{found.text}' expecting IDENTIFIER"
        else:
            message = f"no viable alternative at input {_quoted(text)}"
        self._fail(message, found, state)

    def recover(self, follow: Kinds = frozenset()) -> None:
        """Ends the rule at hand: skips up to what may follow it or any rule that is open."""
        self._count_attempt()
        budget = MAX_SKIPPED
        # The same fault at the same place again: skip a token at least, or this goes on forever.
        if self._fault_at == self._at and self.failed in self._fault_states:
            self._consume()
            budget -= 1
        self._fault_at = self._at
        self._fault_states.add(self.failed)
        self.failed = ""
        stop = follow.union(*self.contexts)
        while self.kind != EOF and self.kind not in stop:
            if not budget:
                text = f"error recovery token lookahead limit exceeded: {MAX_SKIPPED}"
                raise HaltError(Issue(NOWHERE, text))
            self._consume()
            budget -= 1

    def _consume(self) -> None:
        if self.kind != EOF:
            self._at += 1
            self.token = self.peek(0)
            self.kind = self.token.kind

    def _delete(self, expected: Kinds) -> bool:
        if self.peek().kind not in expected:
            return False
        self._report(f"extraneous input {_quoted(self.token.text)} expecting {_display(expected)}")
        self.take()
        return True

    def _fail(self, message: str, token: Token, state: str) -> None:
        self.failed = state
        self._report(message, token)

    def _report(self, message: str, token: Token | None = None) -> None:
        if self._recovering:
            return
        self._recovering = True
        self._fault_at = -1
        self._fault_states.clear()
        offset = (token or self.token).offset
        self._add(Issue(offset, f"Syntax error: {message}"))

    def _add(self, issue: Issue) -> None:
        if len(self.issues) == MAX_ISSUES:
            raise HaltError(
                Issue(issue.offset, f"Syntax error: More than {MAX_ISSUES} syntax errors")
            )
        self.issues.append(issue)

    def _count_attempt(self) -> None:
        if self._attempts == MAX_ATTEMPTS:
            text = f"Syntax error: error recovery attempt limit exceeded: {MAX_ATTEMPTS}"
            raise HaltError(Issue(self.token.offset, text))
        self._attempts += 1


def _display(kinds: Kinds) -> str:
    ordered = [kind for kind in _ORDER if kind in kinds]
    names = [kind if kind in (EOF, *_NAMED) else f"'{kind}'" for kind in ordered]
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r") + "'"
