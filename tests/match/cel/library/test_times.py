"""Durations and timestamps are read, printed and reckoned with as Go does it."""

import pytest

from extender.match.cel.library.times import parse_timestamp
from extender.match.cel.values import INT_MAX, INT_MIN, Duration, Timestamp, Value
from tests.match.cel.library.calls import Refused, call, typed

SECOND = 1_000_000_000
HOUR = 3600 * SECOND
NO_DURATION = Refused("type conversion error from 'string' to 'google.protobuf.Duration'")
NO_TIMESTAMP = Refused("type conversion error from 'string' to 'google.protobuf.Timestamp'")
OVERFLOW = Refused("integer overflow")
TIMESTAMP_OVERFLOW = Refused("timestamp overflow")
FIRST = Timestamp(-62_135_596_800 * SECOND)
LAST = Timestamp(253_402_300_799 * SECOND + SECOND - 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("1h30m", HOUR * 3 // 2, id="several units"),
        pytest.param("-1.5s", -SECOND * 3 // 2, id="a fraction below zero"),
        pytest.param("+1ms", 1_000_000, id="a plus sign"),
        pytest.param("1us1\u00b5s1\u03bcs1ns", 3001, id="three ways to write microseconds"),
        pytest.param("0", 0, id="zero needs no unit"),
        pytest.param("-0", 0, id="nor does minus zero"),
        pytest.param("1.s", SECOND, id="no digit behind the point"),
        pytest.param(".5m", 30 * SECOND, id="no digit before the point"),
        pytest.param("0.33333333333333333333h", 1_200_000_000_000, id="more digits than fit"),
        pytest.param("0.9223372036854775809s", 922_337_203, id="a digit more than fits"),
        pytest.param("0." + "0" * 500 + "1h", 0, id="500 zeros behind the point"),
        pytest.param("0" * 500 + "1s", SECOND, id="500 leading zeros"),
        pytest.param("9223372036854775807ns", INT_MAX, id="the longest"),
        pytest.param("-9223372036854775808ns", INT_MIN, id="the longest back"),
        pytest.param("9223372036854775808ns" * 2, 0, id="twice too long wraps around"),
    ],
)
def test_durations_of_texts(text: str, expected: int) -> None:
    assert call("string_to_duration", text) == typed(Duration(expected))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("-", id="a sign alone"),
        pytest.param("1", id="no unit"),
        pytest.param("1d", id="days"),
        pytest.param("1H", id="an upper-case unit"),
        pytest.param(".s", id="no digit"),
        pytest.param("1 s", id="white space"),
        pytest.param("1s ", id="white space behind"),
        pytest.param("--1s", id="two signs"),
        pytest.param("1s-1s", id="a sign within"),
        pytest.param("9223372036854775808ns", id="one too long"),
        pytest.param("10000000000000000000ns", id="as many digits, too long"),
        pytest.param("99999999999999999999ns", id="too many digits"),
        pytest.param("2562048h", id="too many hours"),
        pytest.param("9223372036.9s", id="too long by its fraction"),
        pytest.param("2562047h" * 2, id="too long together"),
    ],
)
def test_texts_that_are_no_duration(text: str) -> None:
    assert call("string_to_duration", text) == typed(NO_DURATION)


@pytest.mark.parametrize(
    ("overload", "nanoseconds", "expected"),
    [
        pytest.param("duration_to_string", HOUR, "3600s", id="whole seconds"),
        pytest.param("duration_to_string", -SECOND * 3 // 2, "-1.5s", id="a fraction"),
        pytest.param("duration_to_string", 1, "0.000000001s", id="the shortest"),
        pytest.param("duration_to_string", INT_MAX, "9223372036.854776s", id="rounded"),
        pytest.param("duration_to_int64", SECOND, SECOND, id="as an int"),
        pytest.param("duration_to_hours", HOUR * 3 // 2, 1, id="hours"),
        pytest.param("duration_to_hours", 2_500_000 * HOUR - 1, 2_500_000, id="hours, rounded"),
        pytest.param("duration_to_minutes", -HOUR * 3 // 2, -90, id="minutes"),
        pytest.param("duration_to_seconds", SECOND * 3 // 2, 1, id="seconds"),
        pytest.param("duration_to_milliseconds", SECOND * 3 // 2, 1500, id="milliseconds"),
        pytest.param("duration_to_milliseconds", -1_999_999, -1, id="milliseconds below zero"),
    ],
)
def test_fields_of_durations(overload: str, nanoseconds: int, expected: Value) -> None:
    assert call(overload, Duration(nanoseconds)) == typed(expected)


def test_an_int_is_no_duration() -> None:
    assert call("int64_to_duration", 1) == typed(
        Refused("type conversion error from 'int' to 'google.protobuf.Duration'")
    )


@pytest.mark.parametrize(
    ("text", "nanoseconds", "printed"),
    [
        pytest.param("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z", id="the epoch"),
        pytest.param(
            "2024-02-29T23:59:59.5+05:30",
            1_709_231_399_500_000_000,
            "2024-02-29T23:59:59.5+05:30",
            id="offset and fraction",
        ),
        pytest.param(
            "1969-12-31T16:00:00-08:00", 0, "1969-12-31T16:00:00-08:00", id="an offset to the west"
        ),
        pytest.param("1970-01-01T00:00:00+00:00", 0, "1970-01-01T00:00:00Z", id="no offset"),
        pytest.param("1970-01-01T0:00:00Z", 0, "1970-01-01T00:00:00Z", id="an hour of one digit"),
        pytest.param(
            "1970-01-01T00:00:00,000000001999Z", 1, "1970-01-01T00:00:00.000000001Z", id="a comma"
        ),
        pytest.param(
            "1970-01-02T01:00:00+24:60", 0, "1970-01-02T01:00:00+25:00", id="the largest offset"
        ),
        pytest.param("0001-01-01T00:00:00Z", FIRST, "0001-01-01T00:00:00Z", id="the first"),
        pytest.param(
            "9999-12-31T23:59:59.999999999Z", LAST, "9999-12-31T23:59:59.999999999Z", id="the last"
        ),
        pytest.param(
            "0000-12-31T23:30:00-01:00",
            FIRST + HOUR // 2,
            "0000-12-31T23:30:00-01:00",
            id="year 0 by its offset",
        ),
    ],
)
def test_timestamps_of_texts(text: str, nanoseconds: int, printed: str) -> None:
    assert call("string_to_timestamp", text) == typed(Timestamp(nanoseconds))
    assert call("timestamp_to_string", parse_timestamp(text)) == typed(printed)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param("", NO_TIMESTAMP, id="nothing"),
        pytest.param("2024-01-01", NO_TIMESTAMP, id="a date"),
        pytest.param("2024-01-01T00:00:00", NO_TIMESTAMP, id="no zone"),
        pytest.param("2024-01-01t00:00:00Z", NO_TIMESTAMP, id="a lower-case t"),
        pytest.param("2024-01-01T00:00:00z", NO_TIMESTAMP, id="a lower-case z"),
        pytest.param("2024-01-01T00:00:00.Z", NO_TIMESTAMP, id="a point without digits"),
        pytest.param("2024-01-01T24:00:00Z", NO_TIMESTAMP, id="hour 24"),
        pytest.param("2024-01-01T00:60:00Z", NO_TIMESTAMP, id="minute 60"),
        pytest.param("2016-12-31T23:59:60Z", NO_TIMESTAMP, id="a leap second"),
        pytest.param("2023-02-29T00:00:00Z", NO_TIMESTAMP, id="no leap year"),
        pytest.param("2024-13-01T00:00:00Z", NO_TIMESTAMP, id="month 13"),
        pytest.param("2024-01-01T00:00:00+25:00", NO_TIMESTAMP, id="an offset of 25 hours"),
        pytest.param("2024-01-01T00:00:00+00:61", NO_TIMESTAMP, id="an offset of 61 minutes"),
        pytest.param("2024-01-01T00:00:00Z ", NO_TIMESTAMP, id="white space behind"),
        pytest.param("0000-02-29T00:00:00Z", TIMESTAMP_OVERFLOW, id="year 0"),
        pytest.param("0001-01-01T00:00:00+00:01", TIMESTAMP_OVERFLOW, id="before the first"),
        pytest.param("9999-12-31T23:59:59-00:01", TIMESTAMP_OVERFLOW, id="after the last"),
    ],
)
def test_texts_that_are_no_timestamp(text: str, fault: Refused) -> None:
    assert call("string_to_timestamp", text) == typed(fault)


@pytest.mark.parametrize(
    ("overload", "arguments", "expected"),
    [
        pytest.param("int64_to_timestamp", (5,), Timestamp(5 * SECOND), id="of seconds"),
        pytest.param("int64_to_timestamp", (253_402_300_800,), TIMESTAMP_OVERFLOW, id="too late"),
        pytest.param("timestamp_to_int64", (Timestamp(-1),), -1, id="to seconds, downwards"),
        pytest.param(
            "add_duration_duration", (Duration(1), Duration(2)), Duration(3), id="two durations"
        ),
        pytest.param(
            "add_duration_duration", (Duration(INT_MAX), Duration(1)), OVERFLOW, id="too long"
        ),
        pytest.param(
            "subtract_duration_duration", (Duration(1), Duration(2)), Duration(-1), id="less"
        ),
        pytest.param(
            "add_timestamp_duration", (Timestamp(1), Duration(2)), Timestamp(3), id="later"
        ),
        pytest.param(
            "add_duration_timestamp", (Duration(2), Timestamp(1)), Timestamp(3), id="later, too"
        ),
        pytest.param(
            "add_timestamp_duration", (LAST, Duration(1)), TIMESTAMP_OVERFLOW, id="after the end"
        ),
        pytest.param(
            "subtract_timestamp_duration", (Timestamp(3), Duration(2)), Timestamp(1), id="earlier"
        ),
        pytest.param(
            "subtract_timestamp_duration", (FIRST, Duration(INT_MIN)), OVERFLOW, id="no opposite"
        ),
        pytest.param(
            "subtract_timestamp_timestamp", (Timestamp(3), Timestamp(5)), Duration(-2), id="between"
        ),
        pytest.param("subtract_timestamp_timestamp", (LAST, FIRST), OVERFLOW, id="too far"),
        pytest.param(
            "subtract_timestamp_timestamp",
            (Timestamp(9_223_372_037 * SECOND), Timestamp(SECOND // 2)),
            OVERFLOW,
            id="too far in whole seconds",
        ),
    ],
)
def test_reckoning(overload: str, arguments: tuple[Value, ...], expected: Value) -> None:
    assert call(overload, *arguments) == typed(expected)


def test_the_offset_is_kept_when_time_is_added() -> None:
    _, later = call(
        "add_timestamp_duration", parse_timestamp("9999-12-31T23:30:00+01:00"), Duration(HOUR)
    )

    assert call("timestamp_to_string", later) == typed("10000-01-01T00:30:00+01:00")


@pytest.mark.parametrize(
    ("field", "in_utc", "in_kolkata"),
    [
        pytest.param("year", 2023, 2024, id="year"),
        pytest.param("month", 11, 0, id="month, from 0"),
        pytest.param("day_of_year", 364, 0, id="day of the year, from 0"),
        pytest.param("day_of_month", 30, 0, id="day of the month, from 0"),
        pytest.param("day_of_month_1_based", 31, 1, id="day of the month, from 1"),
        pytest.param("day_of_week", 0, 1, id="day of the week, from Sunday"),
        pytest.param("hours", 20, 1, id="hours"),
        pytest.param("minutes", 15, 45, id="minutes"),
        pytest.param("seconds", 30, 30, id="seconds"),
        pytest.param("milliseconds", 123, 123, id="milliseconds"),
    ],
)
def test_fields_of_timestamps(field: str, in_utc: int, in_kolkata: int) -> None:
    timestamp = parse_timestamp("2023-12-31T12:15:30.1234-08:00")
    in_zone = "timestamp_to_seconds_tz" if field == "seconds" else f"timestamp_to_{field}_with_tz"

    assert call(f"timestamp_to_{field}", timestamp) == typed(in_utc)
    assert call(in_zone, timestamp, "Asia/Kolkata") == typed(in_kolkata)


@pytest.mark.parametrize(
    ("timestamp", "zone", "year"),
    [
        pytest.param(LAST, "+01:00", 10_000, id="after the last year"),
        pytest.param(FIRST, "-01:00", 0, id="before the first year"),
        pytest.param(FIRST, "-87600:00", -9, id="long before the first year"),
        pytest.param(LAST, "Asia/Tokyo", 10_000, id="after the last year in Tokyo"),
        pytest.param(FIRST, "America/New_York", 0, id="before the first year in New York"),
    ],
)
def test_years_that_python_does_not_have(timestamp: Timestamp, zone: str, year: int) -> None:
    assert call("timestamp_to_year_with_tz", timestamp, zone) == typed(year)
