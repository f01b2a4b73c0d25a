"""Durations as Go writes them; what an extender can have wrong is in test_examining."""

import pytest

from extender.review.doctor import extenders


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5s", 5.0),
        ("1m30s", 90.0),
        ("1.5h", 5400.0),
        ("500ms", 0.5),
        ("0", 0.0),
        (5_000_000_000, 5.0),
        ("5", None),
        ("five", None),
        ("5s!", None),
        ("", None),
        (None, None),
    ],
)
def test_a_duration(text: str | int | None, expected: float | None) -> None:
    assert extenders.seconds(text) == expected
