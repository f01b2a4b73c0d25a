"""Splits text into tokens, as cel-go's ANTLR lexer does."""

import re
from typing import Final

from msgspec import Struct

from extender.match.cel.syntax.source import Issue, Source

EOF: Final = "<EOF>"
IDENTIFIER: Final = "IDENTIFIER"
ESC_IDENTIFIER: Final = "ESC_IDENTIFIER"
NUM_FLOAT: Final = "NUM_FLOAT"
NUM_INT: Final = "NUM_INT"
NUM_UINT: Final = "NUM_UINT"
STRING: Final = "STRING"
BYTES: Final = "BYTES"

_WORDS: Final = frozenset({"in", "true", "false", "null"})


class Token(Struct, frozen=True, gc=False):
    """A token; `kind` is its own text for signs and keywords, else the name of its rule."""

    kind: str
    text: str
    offset: int
    before: str = ""  # white space and comments between the last token and this one


_HEX: Final = "[0-9a-fA-F]"
_ESCAPE: Final = (
    rf"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7]{{2}}|[xX]{_HEX}{{2}}|u{_HEX}{{4}}|U{_HEX}{{8}})"
)
_HALF_ESCAPE: Final = rf"\\(?:[0-3][0-7]?|[xX]{_HEX}?|u{_HEX}{{0,3}}|U{_HEX}{{0,7}})?"
# Possessive bodies: without a closing quote, a shorter body cannot match either.
_DOUBLE: Final = rf'"(?:[^\\"\n\r]|{_ESCAPE})*+'
_SINGLE: Final = rf"'(?:[^\\'\n\r]|{_ESCAPE})*+"
_STRING: Final = "|".join(
    (
        r'[rR]"""(?:(?!""").)*+"""',
        r"[rR]'''(?:(?!''').)*+'''",
        r'[rR]"[^"\n\r]*+"',
        r"[rR]'[^'\n\r]*+'",
        rf'"""(?:(?!""")(?:[^\\]|{_ESCAPE}))*+"""',
        rf"'''(?:(?!''')(?:[^\\]|{_ESCAPE}))*+'''",
        _DOUBLE + '"',
        _SINGLE + "'",
    )
)
_EXPONENT: Final = r"[eE][+-]?[0-9]+"
_TOKEN: Final = re.compile(
    r"(?P<HIDDEN>[\t \r\n\f]+|//[^\n]*)"
    rf"|(?P<BYTES>[bB](?:{_STRING}))"
    rf"|(?P<STRING>{_STRING})"
    rf"|(?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:{_EXPONENT})?|[0-9]+{_EXPONENT}|\.[0-9]+(?:{_EXPONENT})?)"
    rf"|(?P<NUM_UINT>0x{_HEX}+[uU]|[0-9]+[uU])"
    rf"|(?P<NUM_INT>0x{_HEX}+|[0-9]+)"
    r"|(?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<ESC_IDENTIFIER>`[A-Za-z0-9_./ -]+`)"
    r"|(?P<SIGN>==|!=|<=|>=|&&|\|\||[\[\]{}().,?:+\-*/%!<>])",
    re.DOTALL,
)
# The longest prefix of a token. ANTLR drops it and one more character.
_UNREADABLE: Final = re.compile(
    rf"(?:{_DOUBLE}(?:{_HALF_ESCAPE})?|{_SINGLE}(?:{_HALF_ESCAPE})?|`[A-Za-z0-9_./ -]*|[=&|]|).?",
    re.DOTALL,
)


def tokenize(source: Source) -> tuple[list[Token], list[Issue]]:
    """The tokens, ending in EOF, and an issue for each text that is no token."""
    text = source.text
    tokens: list[Token] = []
    issues: list[Issue] = []
    hidden = ""
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            unreadable = _UNREADABLE.match(text, offset)
            bad = unreadable[0] if unreadable else ""
            issues.append(Issue(offset, f"Syntax error: token recognition error at: '{bad}'"))
            offset += len(bad)
            continue
        kind, word = match.lastgroup or "", match[0]
        if kind == "HIDDEN":
            hidden += word
        else:
            if kind == "SIGN" or word in _WORDS:
                kind = word
            tokens.append(Token(kind, word, offset, hidden))
            hidden = ""
        offset = match.end()
    tokens.append(Token(EOF, EOF, offset, hidden))
    return tokens, issues
