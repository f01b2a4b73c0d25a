"""Offsets of time zones, by fixed offset and by name."""

import pytest

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.zones import offset_at

WINTER_2024 = 1_704_067_200
SUMMER_2024 = 1_719_792_000
FIRST = -62_135_596_800
LAST = 253_402_300_799
HOUR = 3600


@pytest.mark.parametrize(
    ("zone", "seconds", "expected"),
    [
        pytest.param("", WINTER_2024, 0, id="no name"),
        pytest.param("UTC", WINTER_2024, 0, id="UTC"),
        pytest.param("Local", WINTER_2024, 0, id="the machine's own is UTC"),
        pytest.param("Europe/Berlin", WINTER_2024, HOUR, id="Berlin in winter"),
        pytest.param("Europe/Berlin", SUMMER_2024, 2 * HOUR, id="Berlin in summer"),
        pytest.param("America/Argentina/Ushuaia", WINTER_2024, -3 * HOUR, id="three parts"),
        pytest.param("Australia/Sydney", LAST, 11 * HOUR, id="summer at the end of time"),
        pytest.param("America/New_York", FIRST, -17_762, id="the sun at the beginning of time"),
        pytest.param("+05:30", 0, 5 * HOUR + 1800, id="an offset"),
        pytest.param("-02:00", 0, -2 * HOUR, id="an offset to the west"),
        pytest.param("-00:30", 0, -1800, id="half an hour to the west"),
        pytest.param("05:30", 0, 5 * HOUR + 1800, id="no sign"),
        pytest.param("1:-30", 0, 1800, id="a sign in the middle"),
        pytest.param("99:99", 0, 99 * HOUR + 99 * 60, id="more than a day"),
        # (2^63 - 1) hours wrap around to -1 hour in 64 bits.
        pytest.param("9223372036854775807:0", 0, -HOUR, id="more than 64 bits"),
        pytest.param("-9223372036854775808:0", 0, 0, id="exactly 64 bits"),
    ],
)
def test_offset(zone: str, seconds: int, expected: int) -> None:
    assert offset_at(zone, seconds) == expected


@pytest.mark.parametrize(
    ("zone", "fault"),
    [
        pytest.param("Nowhere", "unknown time zone Nowhere", id="no such zone"),
        pytest.param("europe/berlin", "unknown time zone europe/berlin", id="lower case"),
        pytest.param("Europe", "unknown time zone Europe", id="a continent"),
        pytest.param("a\x00b", "unknown time zone a\x00b", id="a NUL"),
        pytest.param("../../etc/passwd", "time: invalid location name", id="a way out"),
        pytest.param("/etc/passwd", "time: invalid location name", id="an absolute path"),
        pytest.param("\\Europe", "time: invalid location name", id="a backslash"),
        pytest.param(":30", 'strconv.Atoi: parsing "": invalid syntax', id="no hours"),
        pytest.param("1:\n", 'strconv.Atoi: parsing "\\n": invalid syntax', id="no minutes"),
        pytest.param(
            "9223372036854775808:0",
            'strconv.Atoi: parsing "9223372036854775808": value out of range',
            id="too many hours",
        ),
    ],
)
def test_no_offset(zone: str, fault: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        offset_at(zone, WINTER_2024)

    assert str(raised.value) == fault
