"""The values of literals: numbers within CEL's limits, unescaped strings and bytes."""

import math
import re
from typing import Final

_SIMPLE: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    '"': '"',
    "'": "'",
    "\\": "\\",
    "?": "?",
    "`": "`",
}
_ESCAPE: Final = re.compile(r"\\(?:[0-3]..|[xX]..|u.{4}|U.{8}|.)")


class LiteralError(ValueError):
    """A literal that names no value; its text is what cel-go says."""


def int_value(text: str) -> int:
    """An int64, decimal or hexadecimal, with an optional sign."""
    value = _integer(text)
    if not -(2**63) <= value < 2**63:
        raise LiteralError("invalid int literal")
    return value


def uint_value(text: str) -> int:
    """A uint64, from a text with its suffix."""
    value = _integer(text[:-1])
    if value >= 2**64:
        raise LiteralError("invalid uint literal")
    return value


def _integer(text: str) -> int:
    hexadecimal = "0x" in text
    digits = text.removeprefix("-").removeprefix("0x").lstrip("0")
    # Python refuses to convert thousands of digits, and the number would be too large anyway.
    value = int(digits or "0", 16 if hexadecimal else 10) if len(digits) <= 20 else 2**64
    return -value if text.startswith("-") else value


def double_value(text: str) -> float:
    """A finite double."""
    value = float(text)
    if math.isinf(value):
        raise LiteralError("invalid double literal")
    return value


def string_value(text: str) -> str:
    """A string, from a text with its quotes."""
    body, raw = _body(text)
    return body if raw else _ESCAPE.sub(_unescape, body)


def bytes_value(text: str) -> bytes:
    """Bytes, from a text with prefix and quotes: an escape is one byte, all else is UTF-8."""
    body, raw = _body(text[1:])
    if raw:
        return body.encode(errors="surrogatepass")
    value = bytearray()
    end = 0
    for match in _ESCAPE.finditer(body):
        if match[0][1] in "uU":
            raise LiteralError("unable to unescape string")
        value += body[end : match.start()].encode(errors="surrogatepass")
        value.append(ord(_unescape(match)))
        end = match.end()
    value += body[end:].encode(errors="surrogatepass")
    return bytes(value)


def _body(text: str) -> tuple[str, bool]:
    raw = text[0] in "rR"
    quoted = text[1:] if raw else text
    quotes = 3 if quoted.startswith(('"""', "'''")) else 1
    body = quoted[quotes:-quotes]
    return body.replace("\r\n", "\n").replace("\r", "\n"), raw


def _unescape(match: re.Match[str]) -> str:
    escape = match[0][1:]
    if escape in _SIMPLE:
        return _SIMPLE[escape]
    code = int(escape, 8) if escape.isdecimal() else int(escape[1:], 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise LiteralError("invalid unicode code point")
    return chr(code)
