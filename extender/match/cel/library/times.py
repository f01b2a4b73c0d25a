"""Durations and timestamps, by the rules of Go's time package."""

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.charges import PARSED
from extender.match.cel.library.functions import Draft, Function, function, overload
from extender.match.cel.library.zones import offset_at
from extender.match.cel.values import INT_MAX, INT_MIN, Duration, Timestamp, as_int

_SECOND: Final = 1_000_000_000
_MINUTE: Final = 60 * _SECOND
_HOUR: Final = 60 * _MINUTE
_UNITS: Final[Mapping[str, int]] = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # U+00B5
    "\u03bcs": 1_000,
    "ms": 1_000_000,
    "s": _SECOND,
    "m": _MINUTE,
    "h": _HOUR,
}
_PART: Final = re.compile(r"(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?([^.0-9]+)")
_UINT64: Final = 1 << 64
_MAX_MAGNITUDE: Final = 1 << 63
_MAX_DIGITS: Final = 19
_MAX_SCALE: Final = 400  # ten to this power is infinite

# Go accepts an hour of one digit, and a comma for the point.
_TIMESTAMP: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
_EPOCH: Final = date(1970, 1, 1)
_DAY: Final = 86_400
_CYCLE_YEARS: Final = 400
_CYCLE_DAYS: Final = 146_097
_FIRST_SECOND: Final = -62_135_596_800
_LAST_SECOND: Final = 253_402_300_799
# Go's calendar begins in March of the year -292,277,022,400, later than its seconds.
_CALENDAR_START: Final = _FIRST_SECOND - (292_277_022_400 // 400 * _CYCLE_DAYS + 306) * _DAY


def _refused(target: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from 'string' to 'google.protobuf.{target}'")


def parse_duration(text: str) -> Duration:
    """A duration such as `1h30m` or `-1.5s`."""
    unsigned = text[1:] if text.startswith(("+", "-")) else text
    if unsigned == "0":
        return Duration(0)
    total = position = 0
    while (part := _PART.match(unsigned, position)) is not None:
        total = (
            total + _magnitude(*part.group(1, 2, 3))
        ) % _UINT64  # wraps: twice the maximum is 0
        if total > _MAX_MAGNITUDE:
            raise _refused("Duration")
        position = part.end()
    nanoseconds = -total if text.startswith("-") else total
    if not unsigned or position < len(unsigned) or nanoseconds > INT_MAX:
        raise _refused("Duration")
    return Duration(nanoseconds)


def _magnitude(whole: str, fraction: str | None, unit: str) -> int:
    digits, nanoseconds = whole.lstrip("0"), _UNITS.get(unit)
    if nanoseconds is None or len(digits) > _MAX_DIGITS:
        raise _refused("Duration")
    total = int(digits or "0")
    if total > _MAX_MAGNITUDE // nanoseconds:
        raise _refused("Duration")
    total = total * nanoseconds + _fraction_of(nanoseconds, fraction or "")
    if total > _MAX_MAGNITUDE:
        raise _refused("Duration")
    return total


def _fraction_of(nanoseconds: int, digits: str) -> int:
    """A decimal fraction of a unit, with the rounding of upstream's doubles."""
    zeros = len(digits) - len(digits.lstrip("0"))
    taken = digits[: zeros + _MAX_DIGITS]
    if int(taken[zeros:] or "0") > _MAX_MAGNITUDE:
        taken = taken[:-1]
    scale = 1.0
    for _ in taken[:_MAX_SCALE]:
        scale *= 10
    return int(float(taken[zeros:] or "0") * (nanoseconds / scale))


def duration_text(duration: Duration) -> str:
    """Seconds, as short as a double can be written."""
    seconds = _in_units(duration, _SECOND)
    return f"{Decimal(repr(seconds)):f}".removesuffix(".0") + "s"


def _in_units(duration: Duration, unit: int) -> float:
    whole, rest = divmod(abs(duration), unit)
    amount = whole + rest / unit
    return amount if duration >= 0 else -amount


def _milliseconds(duration: Duration) -> int:
    amount = abs(duration) // 1_000_000
    return amount if duration >= 0 else -amount


def parse_timestamp(text: str) -> Timestamp:
    """A timestamp such as `2026-01-31T23:59:59.5+01:00`."""
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        raise _refused("Timestamp")
    year, month, day, hour, minute, second = map(int, found.group(1, 2, 3, 4, 5, 6))
    sign, hours, minutes = found.group(8, 9, 10)
    offset = int(hours or "0") * 3600 + int(minutes or "0") * 60
    if hour > 23 or max(minute, second) > 59 or int(hours or "0") > 24 or int(minutes or "0") > 60:
        raise _refused("Timestamp")
    if sign == "-":
        offset = -offset
    seconds = _days(year, month, day) * _DAY + hour * 3600 + minute * 60 + second - offset
    fraction = (found.group(7) or "")[:9].ljust(9, "0")
    return _timestamp(seconds * _SECOND + int(fraction), offset)


def _days(year: int, month: int, day: int) -> int:
    """Days since the epoch; Python has no year 0, upstream has."""
    cycle, year = divmod(year - _EPOCH.year, _CYCLE_YEARS)
    try:
        return (date(_EPOCH.year + year, month, day) - _EPOCH).days + cycle * _CYCLE_DAYS
    except ValueError:
        raise _refused("Timestamp") from None


def _timestamp(nanoseconds: int, offset: int = 0) -> Timestamp:
    if not _FIRST_SECOND <= nanoseconds // _SECOND <= _LAST_SECOND:
        raise EvaluationError("timestamp overflow")
    timestamp = Timestamp(nanoseconds)
    if offset:
        timestamp.offset = offset
    return timestamp


def duration_of(seconds: int, nanos: int) -> Duration:
    """The value of a Duration message, the nearest one if it is out of range."""
    whole = seconds * _SECOND
    if not INT_MIN <= whole <= INT_MAX:
        nanos = 0
    return Duration(min(max(whole + nanos, INT_MIN), INT_MAX))


def timestamp_of(seconds: int, nanos: int) -> Timestamp:
    """The value of a Timestamp message, in any year.

    Go counts seconds from year 1 in 64 bits, which overflow. So the last 2,000 years come before
    all others, but their calendar is right.
    """
    seconds += nanos // _SECOND
    seconds = _signed(seconds - _FIRST_SECOND) + _FIRST_SECOND
    return Timestamp(seconds * _SECOND + nanos % _SECOND)


def _signed(number: int) -> int:
    """The number, as 64 bits hold it."""
    return (number + _MAX_MAGNITUDE) % _UINT64 - _MAX_MAGNITUDE


def timestamp_text(timestamp: Timestamp) -> str:
    """RFC 3339, in the offset that the timestamp came with."""
    local = _Local(timestamp, timestamp.offset)
    rest = local.nanosecond
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    minutes = abs(timestamp.offset) // 60
    sign = "-" if timestamp.offset < 0 else "+"
    zone = f"{sign}{minutes // 60:02d}:{minutes % 60:02d}" if timestamp.offset else "Z"
    year = f"{'-' if local.year < 0 else ''}{abs(local.year):04d}"
    return f"{year}-{local.date:%m-%d}T{local.clock()}{fraction}{zone}"


class _Local:
    """A timestamp on the calendar and the clock of an offset, in any year."""

    __slots__ = ("date", "nanosecond", "second_of_day", "year")

    def __init__(self, timestamp: Timestamp, offset: int) -> None:
        self.nanosecond = timestamp % _SECOND
        seconds = to_seconds(timestamp) + offset
        seconds = (seconds - _CALENDAR_START) % _UINT64 + _CALENDAR_START
        days, self.second_of_day = divmod(seconds, _DAY)
        cycle, days = divmod(days, _CYCLE_DAYS)
        self.date = _EPOCH + timedelta(days=days)
        self.year = self.date.year + cycle * _CYCLE_YEARS

    def clock(self) -> str:
        return str(timedelta(seconds=self.second_of_day)).rjust(8, "0")


_FIELDS: Final[Mapping[str, Callable[[_Local], int]]] = {
    "year": lambda local: local.year,
    "month": lambda local: local.date.month - 1,
    "day_of_year": lambda local: local.date.timetuple().tm_yday - 1,
    "day_of_month": lambda local: local.date.day - 1,
    "day_of_month_1_based": lambda local: local.date.day,
    "day_of_week": lambda local: local.date.isoweekday() % 7,
    "hours": lambda local: local.second_of_day // 3600,
    "minutes": lambda local: local.second_of_day // 60 % 60,
    "seconds": lambda local: local.second_of_day % 60,
    "milliseconds": lambda local: local.nanosecond // 1_000_000,
}


def _field(read: Callable[[_Local], int]) -> Callable[[Timestamp], int]:
    return lambda timestamp: read(_Local(timestamp, 0))


def _field_in_zone(read: Callable[[_Local], int]) -> Callable[[Timestamp, str], int]:
    def field(timestamp: Timestamp, zone: str) -> int:
        return read(_Local(timestamp, offset_at(zone, to_seconds(timestamp))))

    return field


def _id_in_zone(name: str) -> str:
    # Upstream's own spelling.
    return "timestamp_to_seconds_tz" if name == "seconds" else f"timestamp_to_{name}_with_tz"


def add_duration(timestamp: Timestamp, duration: int) -> Timestamp:
    """The timestamp so much later, with its offset."""
    as_int(to_seconds(timestamp) + (timestamp % _SECOND + duration) // _SECOND)
    return _timestamp(timestamp + duration, timestamp.offset)


def subtract_duration(timestamp: Timestamp, duration: Duration) -> Timestamp:
    """The timestamp so much earlier, with its offset."""
    return add_duration(timestamp, as_int(-duration))


def time_between(a: Timestamp, b: Timestamp) -> Duration:
    """`a - b`."""
    # The whole seconds alone must fit as well.
    whole = as_int((to_seconds(a) - to_seconds(b)) * _SECOND)
    return Duration(as_int(whole + a % _SECOND - b % _SECOND))


def from_seconds(seconds: int) -> Timestamp:
    """The timestamp so many seconds after the epoch."""
    return _timestamp(seconds * _SECOND)


def to_seconds(timestamp: Timestamp) -> int:
    """Whole seconds since the epoch."""
    return _signed(timestamp // _SECOND)


_ACCESSORS: Final[Mapping[str, str]] = {
    "getDate": "day_of_month_1_based",
    "getDayOfMonth": "day_of_month",
    "getDayOfWeek": "day_of_week",
    "getDayOfYear": "day_of_year",
    "getFullYear": "year",
    "getHours": "hours",
    "getMilliseconds": "milliseconds",
    "getMinutes": "minutes",
    "getMonth": "month",
    "getSeconds": "seconds",
}
_DURATION_FIELDS: Final[Mapping[str, Callable[[Duration], int]]] = {
    "hours": lambda duration: int(_in_units(duration, _HOUR)),
    "minutes": lambda duration: int(_in_units(duration, _MINUTE)),
    "seconds": lambda duration: int(_in_units(duration, _SECOND)),
    "milliseconds": _milliseconds,
}


def _of_duration(what: str) -> tuple[Draft, ...]:
    read = _DURATION_FIELDS.get(what)
    if read is None:
        return ()
    return (overload(f"duration_to_{what}", "duration.() -> int", read),)


FUNCTIONS: Final[tuple[Function, ...]] = (
    *(
        function(
            name,
            overload(f"timestamp_to_{what}", "timestamp.() -> int", _field(_FIELDS[what])),
            overload(
                _id_in_zone(what),
                "timestamp.(string) -> int",
                _field_in_zone(_FIELDS[what]),
                work=PARSED,
            ),
            *_of_duration(what),
        )
        for name, what in _ACCESSORS.items()
    ),
)
