"""Translates escapes and classes of Go's regular expressions to RE2's dialect."""

import re
from collections.abc import Mapping
from string import hexdigits
from typing import Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library import unicode_groups

_OCTAL: Final = re.compile(r"\\(0[0-7]{0,2}|[1-7][0-7]{1,2})")
_CONTROLS: Final[Mapping[str, int]] = dict(zip("afnrtv", (7, 12, 10, 13, 9, 11), strict=True))
_PERL: Final = re.compile(r"\\[dDsSwW]")
_POSIX: Final = frozenset(
    f"[:{sign}{name}:]"
    for sign in ("", "^")
    for name in (
        *("alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print"),
        *("punct", "space", "upper", "word", "xdigit"),
    )
)
_MAX_CODE_POINT: Final = 0x10FFFF
# Some groups are said in 12 KiB of ranges; in one class, only once.
_LONG: Final = 100
_FIRST_RANGE: Final = re.compile(r"[^-]+-[^}]+}")


def refused(fault: str, part: str) -> EvaluationError:
    """The error of Go's parser."""
    return EvaluationError(f"error parsing regexp: {fault}: `{part}`")


def escape(text: str, start: int) -> tuple[int, int]:
    """The code point that an escape stands for, and where the escape ends."""
    follower = text[start + 1 : start + 2]
    if not follower:
        raise refused("trailing backslash at end of expression", "")
    if (octal := _OCTAL.match(text, start)) is not None:
        return int(octal.group(1), 8), octal.end()
    if follower == "x":
        return _hexadecimal(text, start)
    if follower in _CONTROLS:
        return _CONTROLS[follower], start + 2
    if follower.isascii() and not follower.isalnum():
        return ord(follower), start + 2
    raise refused("invalid escape sequence", text[start : start + 2])


def _hexadecimal(text: str, start: int) -> tuple[int, int]:
    if text.startswith("{", start + 2):
        return _hexadecimal_in_braces(text, start)
    digits = text[start + 2 : start + 4]
    if len(digits) < 2 or not set(hexdigits).issuperset(digits):
        raise refused("invalid escape sequence", text[start : start + 4])
    return int(digits, 16), start + 4


def _hexadecimal_in_braces(text: str, start: int) -> tuple[int, int]:
    first = at = start + 3
    code = 0
    while at < len(text) and text[at] in hexdigits and code <= _MAX_CODE_POINT:
        code = code * 16 + int(text[at], 16)
        at += 1
    if code > _MAX_CODE_POINT:
        raise refused("invalid escape sequence", text[start:at])
    if at == first or not text.startswith("}", at):
        raise refused("invalid escape sequence", text[start : at + 1])
    return code, at + 1


def unicode_group(text: str, start: int) -> tuple[str, int]:
    r"""A group such as `\pL` or `\p{Greek}` on its own, and where it ends."""
    name, negative, end = _group_name(text, start)
    said = unicode_groups.alone(name, negative=negative)
    if said is None:
        raise refused("invalid character class range", text[start:end])
    return said, end


def _group_name(text: str, start: int) -> tuple[str, bool, int]:
    negative = text[start + 1] == "P"
    if text.startswith("{", start + 2):
        end = text.find("}", start) + 1
        if not end:
            raise refused("invalid character class range", text[start:])
        name = text[start + 3 : end - 1]
    else:
        end = min(start + 3, len(text))
        name = text[start + 2 : end]
    if name.startswith("^"):
        return name[1:], not negative, end
    return name, negative, end


def bracket(text: str, start: int, *, fold: bool) -> tuple[str, int]:
    """A class in brackets: in RE2's dialect, and where it ends."""
    at = start + 2 if text.startswith("^", start + 1) else start + 1
    said = [text[start:at]]
    first = at
    while at == first or not text.startswith("]", at):
        if at >= len(text):
            raise refused("missing closing ]", text[start:])
        if text.startswith((r"\p", r"\P"), at):
            member, at = _group_in_class(text, at, fold=fold)
            if len(member) > _LONG and member in said:
                member = _FIRST_RANGE.match(member)[0]  # type: ignore[index]  # it has many
        else:
            end = _named_class(text, at) or _range(text, at)
            member, at = text[at:end], end
        said.append(member)
    return "".join(said) + "]", at + 1


def _group_in_class(text: str, start: int, *, fold: bool) -> tuple[str, int]:
    name, negative, end = _group_name(text, start)
    said = unicode_groups.member(name, negative=negative, fold=fold)
    if said is None:
        raise refused("invalid character class range", text[start:end])
    return said, end


def _named_class(text: str, start: int) -> int:
    r"""Where `[:alpha:]` or `\d` ends; 0 if it is neither."""
    if (perl := _PERL.match(text, start)) is not None:
        return perl.end()
    end = text.find(":]", start + 2) if text.startswith("[:", start) else -1
    if end < 0:
        return 0
    if text[start : end + 2] not in _POSIX:
        raise refused("invalid character class range", text[start : end + 2])
    return end + 2


def _range(text: str, start: int) -> int:
    """Where a character or a range of characters ends."""
    low, end = _character(text, start)
    if not text.startswith("-", end) or text[end + 1 : end + 2] in ("", "]"):
        return end
    high, end = _character(text, end + 1)
    if high < low:
        raise refused("invalid character class range", text[start:end])
    return end


def _character(text: str, start: int) -> tuple[int, int]:
    return escape(text, start) if text[start] == "\\" else (ord(text[start]), start + 1)
