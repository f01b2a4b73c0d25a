"""Integers as Kubernetes parses them: two formats, both int64, neither equal to `int()`."""

import re
from typing import Final

from extender.match.versions import go_quote

_CANONICAL: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")
# Any number with this many digits fits in an int64.
_SURE_DIGITS: Final = 18
_SIGNED: Final = re.compile(r"[+-]?[0-9]+")
_SIGNED_MAX_TEXT: Final = 64
_INT64_MIN: Final = -(1 << 63)
_INT64_MAX: Final = (1 << 63) - 1
_UINT64_MAX: Final = (1 << 64) - 1


def canonical(text: str) -> int | None:
    """For `Gt` and `Lt` tolerations: ASCII digits, no leading zero, no sign but a minus."""
    # Nearly all values are a few digits; this check takes half the time.
    if text.isdecimal() and text.isascii() and text[0] != "0" and len(text) <= _SURE_DIGITS:
        return int(text)
    return _within_int64(int(text)) if _CANONICAL.fullmatch(text) else None


def signed(text: str) -> int | None:
    """For `Gt` and `Lt` of node affinity: Go's ParseInt(text, 10, 64)."""
    if text.isdecimal() and text.isascii() and len(text) <= _SURE_DIGITS:
        return int(text)
    if not _SIGNED.fullmatch(text):
        return None
    if len(text) > _SIGNED_MAX_TEXT:  # int() of long texts is quadratic: drop zeros
        sign = text[0] if text[0] in "+-" else ""
        text = sign + (text[len(sign) :].lstrip("0") or "0")
    return _within_int64(int(text)) if len(text) <= _SIGNED_MAX_TEXT else None


def parse_int_problem(text: str) -> str | None:
    """The error of Go's ParseInt(text, 10, 64); None if there is none."""
    negative = text.startswith("-")
    digits = text[1:] if text[:1] in ("+", "-") else text
    number = 0
    for char in digits:
        # Go stops reading at a number that is too large.
        if char not in "0123456789" or number > _UINT64_MAX:
            break
        number = number * 10 + int(char)
    else:
        if digits and number <= _INT64_MAX + negative:
            return None
    too_large = number > _UINT64_MAX or (digits.isascii() and digits.isdigit())
    why = "value out of range" if too_large else "invalid syntax"
    return f"strconv.ParseInt: parsing {go_quote(text)}: {why}"


def _within_int64(number: int) -> int | None:
    return number if _INT64_MIN <= number <= _INT64_MAX else None
