"""What a person and a program see of an examination."""

from datetime import UTC, datetime

from extender.cli import doctor_output
from extender.cli.doctor_output import Running
from extender.cli.tables import Screen
from extender.review.doctor.problems import Problem
from extender.review.doctor.running import Caller, Process

PROBLEM = Problem("warning", "weight", "a.yaml", "it is 1", "set it to 3")
CALLER = Caller("10.0.0.1", "Go-http-client/1.1", "filter", "names", 3)
SERVE = Process("serve", "0.1.0")
CALLED = Running("http://here", SERVE, [CALLER])


def test_an_examination_without_findings_says_so() -> None:
    assert list(doctor_output.tables_of([], None, [], Screen())) == ["no problems found\n"]


def test_problems_callers_and_what_was_not_checked_are_shown() -> None:
    text = "".join(doctor_output.tables_of([PROBLEM], CALLED, ["rights"], Screen()))

    assert "warning   weight  a.yaml  it is 1. Fix: set it to 3\n" in text
    assert "http://here: leeway serve 0.1.0\n" in text
    assert "10.0.0.1  Go-http-client/1.1  -            filter  names  3      -\n" in text
    assert text.endswith("not checked: rights\n0 errors, 1 warning, 0 info\n")


def test_a_caller_is_data_too() -> None:
    last = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    called = Caller("10.0.0.1", "", "filter", "names", 3, last, "scheduler")
    page = doctor_output.document([PROBLEM], Running("http://here", SERVE, [called]), [])

    assert isinstance(page, dict)
    assert page["summary"] == {"error": 0, "warning": 1, "info": 0}
    assert page["running"] == {
        "address": "http://here",
        "command": "serve",
        "version": "0.1.0",
        "leader": None,
    }
    assert page["callers"] == [
        {
            "remote": "10.0.0.1",
            "userAgent": "",
            "certificate": "scheduler",
            "verb": "filter",
            "mode": "names",
            "calls": 3,
            "last": "2026-01-02T03:04:05.000+00:00",
        }
    ]


def test_a_controller_is_told_from_an_extender() -> None:
    process = Process("controller", "0.1.0", "following other_1")
    text = "".join(doctor_output.tables_of([], Running("http://here", process), [], Screen()))

    assert text == "http://here: leeway controller 0.1.0, following other_1\nno problems found\n"
