"""Readiness and the list of callers, with a clock that the test holds."""

from datetime import UTC, datetime

from extender import __version__
from extender.server.status import MAX_CALLERS, Callers, Readiness


class Clock:
    """Moves a second at each look."""

    def __init__(self) -> None:
        self.at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()

    def __call__(self) -> float:
        self.at += 1
        return self.at


def test_ready_while_every_check_holds() -> None:
    readiness = Readiness({"one": lambda: (None, ""), "two": lambda: (None, "3 nodes")})

    assert readiness.report() == (True, "[+]one ok\n[+]two ok\n    3 nodes\nreadyz check passed\n")


def test_not_ready_when_one_check_fails() -> None:
    readiness = Readiness({"one": lambda: (None, ""), "two": lambda: ("draining", "ignored")})

    report = "[+]one ok\n[-]two failed: draining\nreadyz check failed\n"
    assert readiness.report() == (False, report)


def test_callers_are_told_newest_first_with_their_count_and_time() -> None:
    callers = Callers(Clock())
    scheduler = ("10.0.0.1", b"kube-scheduler/v1.36.0", "filter", "names", "system:kube-scheduler")
    callers.record(*scheduler)
    callers.record("10.0.0.2", b"curl/8", "filter", "nodes")
    callers.record(*scheduler)

    assert callers.document("no cluster") == {
        "version": __version__,
        "startedAt": "2026-01-02T03:04:06.000+00:00",
        "cluster": "no cluster",
        "callers": [
            {
                "remote": "10.0.0.1",
                "userAgent": "kube-scheduler/v1.36.0",
                "certificate": "system:kube-scheduler",
                "verb": "filter",
                "mode": "names",
                "calls": 2,
                "last": "2026-01-02T03:04:09.000+00:00",
            },
            {
                "remote": "10.0.0.2",
                "userAgent": "curl/8",
                "certificate": None,
                "verb": "filter",
                "mode": "nodes",
                "calls": 1,
                "last": "2026-01-02T03:04:08.000+00:00",
            },
        ],
    }


def test_the_longest_silent_callers_are_forgotten() -> None:
    callers = Callers(Clock())
    for i in range(MAX_CALLERS):
        callers.record(f"10.0.0.{i}", b"agent", "filter", "names")
    callers.record("10.0.0.0", b"agent", "filter", "names")
    callers.record("10.0.1.1", b"agent", "filter", "names")

    told = callers.document("")["callers"]
    assert isinstance(told, list)
    assert len(told) == MAX_CALLERS
    assert [each["remote"] for each in told[:2]] == ["10.0.1.1", "10.0.0.0"]
    assert "10.0.0.1" not in {each["remote"] for each in told}


def test_a_long_user_agent_is_cut() -> None:
    callers = Callers(Clock())
    callers.record("10.0.0.1", b"x" * 10_000, "filter", "names")

    told = callers.document("")["callers"]
    assert isinstance(told, list)
    assert told[0]["userAgent"] == "x" * 200
