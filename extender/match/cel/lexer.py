"""Text into tokens, as the lexer that ANTLR generates for cel-go does it."""

import re
from typing import Final

from msgspec import Struct

from extender.match.cel.source import Issue, Source

EOF: Final = "<EOF>"
IDENTIFIER: Final = "IDENTIFIER"
ESC_IDENTIFIER: Final = "ESC_IDENTIFIER"
KEYWORDS: Final = frozenset({"in", "true", "false", "null"})


class Token(Struct, frozen=True, gc=False):
    """A token; `kind` is its own text for signs and keywords, else the name of its rule."""

    kind: str
    text: str
    offset: int


_ESCAPE: Final = (
    r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7]{2}|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
)
# Everything is possessive: a text that has no end must not be searched for one again and again.
_STRING: Final = (
    r'(?:[rR](?:"""(?:(?!""").)*+"""' + r"|'''(?:(?!''').)*+'''" + r'|"[^"\n\r]*+"'
    r"|'[^'\n\r]*+')"
    rf'|"""(?:(?!""")(?:[^\\]|{_ESCAPE}))*+"""' + rf"|'''(?:(?!''')(?:[^\\]|{_ESCAPE}))*+'''"
    rf'|"(?:[^\\"\n\r]|{_ESCAPE})*+"' + rf"|'(?:[^\\'\n\r]|{_ESCAPE})*+')"
)
_EXPONENT: Final = r"[eE][+-]?[0-9]+"
_TOKEN: Final = re.compile(
    r"(?P<HIDDEN>[\t \r\n\f]+|//[^\n]*)"
    rf"|(?P<BYTES>[bB]{_STRING})"
    rf"|(?P<STRING>{_STRING})"
    rf"|(?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:{_EXPONENT})?|[0-9]+{_EXPONENT}|\.[0-9]+(?:{_EXPONENT})?)"
    r"|(?P<NUM_UINT>0x[0-9a-fA-F]+[uU]|[0-9]+[uU])"
    r"|(?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)"
    r"|(?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<ESC_IDENTIFIER>`[A-Za-z0-9_./ -]+`)"
    r"|(?P<SIGN>==|!=|<=|>=|&&|\|\||[\[\]{}().,?:+\-*/%!<>])",
    re.DOTALL,
)
# As far as a token could still have come of it. ANTLR skips that and one character more.
_PARTIAL: Final = re.compile(
    rf"'(?:[^\\'\n\r]|{_ESCAPE})*+(?P<escape>\\(?:[0-3][0-7]?|[xX][0-9a-fA-F]?"
    r"|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})?)?"
    rf'|"(?:[^\\"\n\r]|{_ESCAPE})*+(?:\\(?:[0-3][0-7]?|[xX][0-9a-fA-F]?'
    r"|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})?)?"
    r"|`[A-Za-z0-9_./ -]*|[=&|]|"
)


def tokenize(source: Source) -> tuple[list[Token], list[Issue]]:
    """The tokens, the last of which is EOF, and what could not be read as one."""
    text = source.text
    tokens: list[Token] = []
    issues: list[Issue] = []
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            end = _end_of_unreadable(text, offset)
            bad = text[offset:end]
            issues.append(Issue(offset, f"Syntax error: token recognition error at: '{bad}'"))
            offset = end
            continue
        kind = match.lastgroup or ""
        word = match[0]
        if kind != "HIDDEN":
            if kind == "SIGN" or word in KEYWORDS:
                kind = word
            tokens.append(Token(kind, word, offset))
        offset = match.end()
    tokens.append(Token(EOF, EOF, len(text)))
    return tokens, issues


def _end_of_unreadable(text: str, offset: int) -> int:
    partial = _PARTIAL.match(text, offset)
    end = offset if partial is None else partial.end()
    return min(end + 1, len(text))
