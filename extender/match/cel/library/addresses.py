"""Parses IP addresses as Go's net/netip does, with its error texts."""

import re
from typing import Final, NoReturn

from msgspec import Struct

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.quoting import quoted

_TELLING: Final = re.compile("[.:%]")
_GROUP: Final = re.compile("[0-9a-fA-F]{0,5}")
_GROUPS: Final = 8


class Address(Struct, frozen=True, gc=False):
    """An address of 32 or 128 bits."""

    number: int
    bits: int
    zone: str = ""


def parse_address(text: str) -> Address:
    """The address that a text says."""
    telling = _TELLING.search(text)
    if telling is None:
        _refuse(text, "unable to parse IP")
    if telling[0] == "%":
        _refuse(text, "missing IPv6 address")
    if telling[0] == ":":
        return _parse_v6(text)
    return Address(_parse_octets(text, text), 32)


def _refuse(text: str, reason: str, at: str = "") -> NoReturn:
    place = f" (at {quoted(at)})" if at else ""
    raise EvaluationError(f"ParseAddr({quoted(text)}): {reason}{place}")


def _parse_octets(text: str, octets: str) -> int:
    """The number of `1.2.3.4`, which is the whole text or its end."""
    number = value = dots = digits = 0
    for index, char in enumerate(octets):
        if char in "0123456789":
            if digits == 1 and value == 0:
                _refuse(text, "IPv4 field has octet with leading zero")
            value, digits = value * 10 + int(char), digits + 1
            if value > 255:
                _refuse(text, "IPv4 field has value >255")
        elif char == ".":
            if not digits or index == len(octets) - 1:
                _refuse(text, "IPv4 field must have at least one digit", octets[index:])
            if dots == 3:
                _refuse(text, "IPv4 address too long")
            number, value, digits, dots = number << 8 | value, 0, 0, dots + 1
        else:
            _refuse(text, "unexpected character", octets[index:])
    if dots < 3:
        _refuse(text, "IPv4 address too short")
    return number << 8 | value


def _parse_v6(text: str) -> Address:
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        _refuse(text, "zone must be a non-empty string")
    groups: list[int] = []
    gap: int | None = None  # where `::` is
    if rest.startswith("::"):
        gap, rest = 0, rest[2:]
    while rest and len(groups) < _GROUPS:
        found, rest = _take_groups(text, rest, len(groups), has_gap=gap is not None)
        groups += found
        if rest.startswith(":"):
            if gap is not None:
                _refuse(text, "multiple :: in address", rest)
            gap, rest = len(groups), rest[1:]
    if rest:
        _refuse(text, "trailing garbage after address", rest)
    return Address(_join_groups(text, groups, gap), 128, zone)


def _take_groups(text: str, rest: str, count: int, *, has_gap: bool) -> tuple[list[int], str]:
    """The next group, or the two of an embedded IPv4, and the rest behind its colon."""
    digits = _GROUP.match(rest)[0]  # type: ignore[index]
    if len(digits) > 4:
        _refuse(text, "each group must have 4 or less digits", rest)
    if not digits:
        _refuse(text, "each colon-separated field must have at least one digit", rest)
    behind = rest[len(digits) :]
    if behind.startswith("."):
        if not has_gap and count != 6:
            reason = "embedded IPv4 address must replace the final 2 fields of the address"
            _refuse(text, reason, rest)
        if count > 6:
            reason = "too many hex fields to fit an embedded IPv4 at the end of the address"
            _refuse(text, reason, rest)
        number = _parse_octets(text, rest)
        return [number >> 16, number & 0xFFFF], ""
    if behind and behind[0] != ":":
        _refuse(text, "unexpected character, want colon", behind)
    if behind == ":":
        _refuse(text, "colon must be followed by more characters", behind)
    return [int(digits, 16)], behind[1:]


def _join_groups(text: str, groups: list[int], gap: int | None) -> int:
    missing = _GROUPS - len(groups)
    if missing and gap is None:
        _refuse(text, "address string too short")
    if gap is not None:
        if not missing:
            _refuse(text, "the :: must expand to at least one field of zeros")
        groups[gap:gap] = [0] * missing
    number = 0
    for group in groups:
        number = number << 16 | group
    return number
