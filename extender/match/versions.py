"""Tolerant semantic versions, as Kubernetes' own parser accepts and orders them.

The parser mirrors blang/semver v4 `ParseTolerant`, including its error texts, which admission
shows. The `semver` package only holds the result: its own parser is strict, and `order` compares.
"""

import functools
import re
from typing import Final

from semver import Version

from extender.errors import VersionError

# Unicode White_Space, which Go trims; str.strip() would also take U+001C to U+001F.
_WHITE_SPACE: Final = (
    "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
# Nearly all versions look like this; any number with this many digits fits in a uint64.
_PLAIN: Final = re.compile(r"(0|[1-9][0-9]{0,18})\.(0|[1-9][0-9]{0,18})\.(0|[1-9][0-9]{0,18})")
_DIGITS: Final = re.compile(r"[0-9]*")
_IDENTIFIER: Final = re.compile(r"[0-9A-Za-z-]*")
_UINT64_MAX: Final = (1 << 64) - 1
_UINT64_MAX_DIGITS: Final = 20
# A label value has no more characters. With these bounds the table of `order` takes 1 MB at most.
_REMEMBERED_LENGTH: Final = 63
_REMEMBERED: Final = 1_024
Order = tuple[int, int, int, bool, tuple[tuple[int, int, str], ...]]
_GO_ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}


def parse(text: str) -> Version | None:
    """The version that `text` says, or None."""
    try:
        return parse_tolerant(text)
    except VersionError:
        return None


def parse_tolerant(text: str) -> Version:
    """The parsed version; VersionError with the message of the Go parser if it is none."""
    parts = text.strip(_WHITE_SPACE).removeprefix("v").split(".", 2)
    parts = [_without_leading_zeros(part) for part in parts]
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise VersionError("Short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    major = _number("major", parts[0])
    minor = _number("minor", parts[1])
    rest, plus, build = parts[2].partition("+")
    patch, minus, prerelease = rest.partition("-")
    return Version(
        major,
        minor,
        _number("patch", patch),
        _checked_prerelease(prerelease) if minus else None,
        _checked_build(build) if plus else None,
    )


def version_problem(text: str) -> str | None:
    """The error of the Go parser; None if `text` is a version."""
    try:
        parse_tolerant(text)
    except VersionError as exc:
        return str(exc)
    return None


def go_quote(text: str) -> str:
    """`text` as Go's %q prints it."""
    return '"' + "".join(_go_character(char) for char in text) + '"'


def order(text: str) -> Order | None:
    """What orders the version that `text` says among others; None if it says none.

    Nodes repeat few values, and a version that is not plain takes 5 us to read.
    """
    return _order_remembered(text) if len(text) <= _REMEMBERED_LENGTH else _order(text)


def _order(text: str) -> Order | None:
    plain = _PLAIN.fullmatch(text)
    if plain is not None:  # the fast path takes a fifth of the time
        major, minor, patch = plain.groups()
        return int(major), int(minor), int(patch), True, ()
    version = parse(text)
    if version is None:
        return None
    # A release sorts after its pre-releases. Within a pre-release numbers sort before words,
    # and a prefix before the longer one. Build metadata is ignored.
    parts = version.prerelease.split(".") if version.prerelease is not None else ()
    words = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts)
    return version.major, version.minor, version.patch, not parts, words


_order_remembered = functools.lru_cache(maxsize=_REMEMBERED)(_order)


def _without_leading_zeros(part: str) -> str:
    # Go counts bytes: a non-ASCII character is longer than one.
    if len(part) < 2 and part.isascii():
        return part
    stripped = part.lstrip("0")
    return stripped if stripped[:1] in set("123456789") else "0" + stripped


def _number(name: str, text: str) -> int:
    if not _DIGITS.fullmatch(text):
        raise VersionError(f"Invalid character(s) found in {name} number {go_quote(text)}")
    return _uint64(text)  # leading zeros are gone already


def _uint64(text: str) -> int:
    if not text:
        raise VersionError(f"strconv.ParseUint: parsing {go_quote(text)}: invalid syntax")
    number = int(text) if len(text) <= _UINT64_MAX_DIGITS else _UINT64_MAX + 1
    if number > _UINT64_MAX:
        raise VersionError(f"strconv.ParseUint: parsing {go_quote(text)}: value out of range")
    return number


def _checked_prerelease(text: str) -> str:
    for part in text.split("."):
        if not part:
            raise VersionError("Prerelease is empty")
        if _DIGITS.fullmatch(part):
            if len(part) > 1 and part[0] == "0":
                raise VersionError(
                    "Numeric PreRelease version must not contain leading zeroes " + go_quote(part)
                )
            _uint64(part)
        elif not _IDENTIFIER.fullmatch(part):
            raise VersionError(f"Invalid character(s) found in prerelease {go_quote(part)}")
    return text


def _checked_build(text: str) -> str:
    for part in text.split("."):
        if not part:
            raise VersionError("Build meta data is empty")
        if not _IDENTIFIER.fullmatch(part):
            raise VersionError(f"Invalid character(s) found in build meta data {go_quote(part)}")
    return text


def _go_character(char: str) -> str:
    if char in _GO_ESCAPES:
        return _GO_ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
