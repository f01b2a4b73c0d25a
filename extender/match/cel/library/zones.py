"""Time zones: fixed offsets, and the names of the tz database.

The database is the `tzdata` package, never the machine's own, so that every machine answers alike.
A name must be in its list of zones before a file is opened.
"""

import functools
import re
from datetime import UTC, datetime, timedelta
from importlib import resources
from typing import Final
from zoneinfo import ZoneInfo

from extender.match import integers
from extender.match.cel.faults import EvaluationError
from extender.match.versions import go_quote

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS: Final = re.compile(r"[+-]?[0-9]+")
# 400 years are a whole number of weeks, so every rule of a zone repeats after them.
_CYCLE: Final = 146_097 * 86_400
_SECOND_YEAR: Final = -62_104_060_800
_LAST_YEAR: Final = 253_370_764_800
_MINUTE: Final = 60_000_000_000
_SECOND: Final = 1_000_000_000


def offset_at(zone: str, seconds: int) -> int:
    """Seconds east of UTC in a zone, at a time given in seconds since the epoch."""
    hours, colon, minutes = zone.partition(":")
    if colon:
        return _fixed_offset(hours, minutes)
    if zone in ("", "UTC", "Local"):
        return 0
    # Python's datetime has the years 1 to 9999 only, after conversion too.
    if seconds < _SECOND_YEAR:
        seconds += _CYCLE * -((seconds - _SECOND_YEAR) // _CYCLE)
    elif seconds >= _LAST_YEAR:
        seconds -= _CYCLE * ((seconds - _LAST_YEAR) // _CYCLE + 1)
    local = (_EPOCH + timedelta(seconds=seconds)).astimezone(_zone(zone))
    return (local.utcoffset() or timedelta()) // timedelta(seconds=1)


def _fixed_offset(hours: str, minutes: str) -> int:
    sign = -1 if hours.startswith("-") else 1
    # Upstream counts in 64 bits, which may overflow, and then in a double.
    nanoseconds = (_number(hours) * 60 + sign * _number(minutes)) * _MINUTE
    nanoseconds = (nanoseconds + (1 << 63)) % (1 << 64) - (1 << 63)
    whole = abs(nanoseconds) // _SECOND
    seconds = int(whole + abs(nanoseconds) % _SECOND / 1e9)
    return seconds if nanoseconds >= 0 else -seconds


def _number(text: str) -> int:
    number = integers.signed(text)
    if number is None:
        fault = "value out of range" if _DIGITS.fullmatch(text) else "invalid syntax"
        raise EvaluationError(f"strconv.Atoi: parsing {go_quote(text)}: {fault}")
    return number


def _zone(name: str) -> ZoneInfo:
    if ".." in name or name.startswith(("/", "\\")):
        raise EvaluationError("time: invalid location name")
    if name not in _names():
        raise EvaluationError(f"unknown time zone {name}")
    return _load(name)


@functools.cache
def _names() -> frozenset[str]:
    return frozenset((resources.files("tzdata") / "zones").read_text().split())


@functools.cache
def _load(name: str) -> ZoneInfo:
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)
