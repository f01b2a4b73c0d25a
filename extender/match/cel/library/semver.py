"""Semantic versions: the strict parser of blang/semver v4, and the `normalize` option."""

import re
import struct
from typing import ClassVar, Final

from msgspec import Struct

from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.library.charges import BY_FIRST, PARSED
from extender.match.cel.library.estimates import traversal
from extender.match.cel.library.functions import Function, function, overload
from extender.match.cel.library.quoting import quoted
from extender.match.cel.values import COST_LIMIT_EXCEEDED, INT_MAX, UINT_MAX

# Nearly every version looks like this; all its numbers are below 2^64.
_RELEASE: Final = re.compile(r"(0|[1-9][0-9]{0,18})\.(0|[1-9][0-9]{0,18})\.(0|[1-9][0-9]{0,18})")
_RELEASE_ORDER: Final = struct.Struct(">QQQB").pack
_LAST: Final = 0xFF
_DIGITS: Final = re.compile(r"[0-9]*")
_IDENTIFIER: Final = re.compile(r"[0-9A-Za-z-]*")
_UINT_DIGITS: Final = 20
_WORD: Final = 8
# Twice the longest expression. A comparison costs 1 for any length, so the length is bounded.
_MAX_LENGTH: Final = 20_000


class Semver(Struct, frozen=True, gc=False):
    """A version; `order` sorts as versions do, so it is all that is compared."""

    type_name: ClassVar[str] = "kubernetes.Semver"

    major: int
    minor: int
    patch: int
    order: bytes


def parse(text: str) -> Semver:
    """The version that a text says; build metadata is checked and forgotten."""
    if release := _RELEASE.fullmatch(text):
        major, minor, patch = map(int, release.groups())
        return Semver(major, minor, patch, _RELEASE_ORDER(major, minor, patch, _LAST))
    if len(text) > _MAX_LENGTH:
        raise CostLimitError(COST_LIMIT_EXCEEDED)
    if not text:
        raise EvaluationError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise EvaluationError("No Major.Minor.Patch elements found")
    major, minor = _number("Major", parts[0]), _number("Minor", parts[1])
    rest, plus, build = parts[2].partition("+")
    patch_text, minus, prerelease = rest.partition("-")
    patch = _number("Patch", patch_text)
    order = b"".join(number.to_bytes(_WORD) for number in (major, minor, patch))
    order += _prerelease_order(prerelease.split(".")) if minus else bytes([_LAST])
    if plus:
        _check_build(build.split("."))
    return Semver(major, minor, patch, order)


def _parse_normalized(text: str) -> Semver:
    parts = [_without_leading_zeros(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise EvaluationError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return parse(".".join(parts))


def _without_leading_zeros(part: str) -> str:
    # Go counts bytes: one character beyond ASCII is longer than one.
    if len(part) < 2 and part.isascii():
        return part
    stripped = part.lstrip("0")
    return stripped if stripped[:1] in set("123456789") else "0" + stripped


def _number(name: str, text: str) -> int:
    if not _DIGITS.fullmatch(text):
        raise EvaluationError(f"Invalid character(s) found in {name.lower()} number {quoted(text)}")
    if len(text) > 1 and text[0] == "0":
        raise EvaluationError(f"{name} number must not contain leading zeroes {quoted(text)}")
    return _uint64(text)


def _uint64(digits: str) -> int:
    if not digits:
        raise EvaluationError('strconv.ParseUint: parsing "": invalid syntax')
    number = int(digits) if len(digits) <= _UINT_DIGITS else UINT_MAX + 1
    if number > UINT_MAX:
        raise EvaluationError(f'strconv.ParseUint: parsing "{digits}": value out of range')
    return number


def _prerelease_order(parts: list[str]) -> bytes:
    return b"".join(map(_part_order, parts)) + b"\x00"


def _part_order(part: str) -> bytes:
    if not part:
        raise EvaluationError("Prerelease is empty")
    if _DIGITS.fullmatch(part):
        if len(part) > 1 and part[0] == "0":
            raise EvaluationError(
                f"Numeric PreRelease version must not contain leading zeroes {quoted(part)}"
            )
        return b"\x01" + _uint64(part).to_bytes(_WORD)
    if not _IDENTIFIER.fullmatch(part):
        raise EvaluationError(f"Invalid character(s) found in prerelease {quoted(part)}")
    return b"\x02" + part.encode() + b"\x00"


def _check_build(parts: list[str]) -> None:
    for part in parts:
        if not part:
            raise EvaluationError("Build meta data is empty")
        if not _IDENTIFIER.fullmatch(part):
            raise EvaluationError(f"Invalid character(s) found in build meta data {quoted(part)}")


def _parse_as(text: str, normalize: bool) -> Semver:
    return _parse_normalized(text) if normalize else parse(text)


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _parse_as(text, normalize)
    except EvaluationError:
        return False
    return True


def _compare(a: Semver, b: Semver) -> int:
    return (a.order > b.order) - (a.order < b.order)


def _wrapped(number: int) -> int:
    # Go's conversion from uint64 to int64 wraps.
    return number if number <= INT_MAX else number - UINT_MAX - 1


FUNCTIONS: Final[tuple[Function, ...]] = (
    function(
        "semver",
        overload("string_to_semver", "(string) -> semver", parse),
        overload("string_bool_to_semver", "(string, bool) -> semver", _parse_as),
        estimate=traversal(),
        charge=BY_FIRST,
        work=PARSED,
    ),
    function(
        "isSemver",
        overload("is_semver_string", "(string) -> bool", _is_semver),
        overload("is_semver_string_bool", "(string, bool) -> bool", _is_semver),
        estimate=traversal(),
        charge=BY_FIRST,
        work=PARSED,
    ),
    function(
        "isGreaterThan",
        overload(
            "semver_is_greater_than", "semver.(semver) -> bool", lambda a, b: a.order > b.order
        ),
    ),
    function(
        "isLessThan",
        overload("semver_is_less_than", "semver.(semver) -> bool", lambda a, b: a.order < b.order),
    ),
    function("compareTo", overload("semver_compare_to", "semver.(semver) -> int", _compare)),
    function("major", overload("semver_major", "semver.() -> int", lambda it: _wrapped(it.major))),
    function("minor", overload("semver_minor", "semver.() -> int", lambda it: _wrapped(it.minor))),
    function("patch", overload("semver_patch", "semver.() -> int", lambda it: _wrapped(it.patch))),
)
