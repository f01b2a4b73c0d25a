"""Integers as Kubernetes reads them: two spellings, both int64, neither Python's `int()`."""

import re
from typing import Final

from extender.match.versions import go_quote

_CANONICAL: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")
# So many digits are an int64, whatever they are.
_SURE_DIGITS: Final = 18
_SIGNED: Final = re.compile(r"[+-]?[0-9]+")
_SIGNED_MAX_TEXT: Final = 64
_INT64_MIN: Final = -(1 << 63)
_INT64_MAX: Final = (1 << 63) - 1
_UINT64_MAX: Final = (1 << 64) - 1


def canonical(text: str) -> int | None:
    """What `Gt` and `Lt` tolerations take: no sign but minus, no leading zero, ASCII digits."""
    # Next to all values are few digits, which is found out in half the time.
    if text.isdecimal() and text.isascii() and text[0] != "0" and len(text) <= _SURE_DIGITS:
        return int(text)
    return _within_int64(int(text)) if _CANONICAL.fullmatch(text) else None


def signed(text: str) -> int | None:
    """What node affinity's `Gt` and `Lt` take: Go's ParseInt(text, 10, 64)."""
    if text.isdecimal() and text.isascii() and len(text) <= _SURE_DIGITS:
        return int(text)
    if not _SIGNED.fullmatch(text):
        return None
    if len(text) > _SIGNED_MAX_TEXT:  # int() of a long text is quadratic; zeros may still lead
        sign = text[0] if text[0] in "+-" else ""
        text = sign + (text[len(sign) :].lstrip("0") or "0")
    return _within_int64(int(text)) if len(text) <= _SIGNED_MAX_TEXT else None


def parse_int_problem(text: str) -> str | None:
    """Why Go's ParseInt(text, 10, 64) fails, in its words; None if it does not."""
    negative = text.startswith("-")
    digits = text[1:] if text[:1] in ("+", "-") else text
    number = 0
    for char in digits:
        # What follows a number that is too large is not read.
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
