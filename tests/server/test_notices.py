import logging

import pytest

from extender.match.findings import Finding
from extender.server.notices import Notices

BROKEN = Finding("toleration", "cel", "", "taint.kye", problem="undefined field 'kye'")
FAILS = Finding("taint", "cel", "sla", "high", "int(taint.value) > 900", "type conversion error")
NUMBER = Finding("taint", "integer", "sla", "high")


@pytest.fixture
def notices(caplog: pytest.LogCaptureFixture) -> Notices:
    caplog.set_level(logging.INFO, logger="leeway")
    return Notices()


def fields(caplog: pytest.LogCaptureFixture) -> list[dict[str, str]]:
    return [record.__dict__["fields"] for record in caplog.records]


def test_a_broken_expression_is_told_once(
    notices: Notices, caplog: pytest.LogCaptureFixture
) -> None:
    notices.log([BROKEN, NUMBER])
    notices.log([BROKEN])

    assert fields(caplog) == [{"expression": "taint.kye", "problem": "undefined field 'kye'"}]
    assert caplog.records[0].levelname == "WARNING"


def test_an_expression_that_fails_for_many_taints_is_told_once_with_one_of_them(
    notices: Notices, caplog: pytest.LogCaptureFixture
) -> None:
    other = Finding("taint", "cel", "sla", "low", FAILS.expression, FAILS.problem)
    notices.log([FAILS])
    notices.log([other, FAILS])

    assert fields(caplog) == [
        {
            "expression": "int(taint.value) > 900",
            "problem": "type conversion error",
            "taint": "sla=high",
        }
    ]


def test_a_long_expression_is_cut(notices: Notices, caplog: pytest.LogCaptureFixture) -> None:
    notices.log([Finding("toleration", "cel", "", "x" * 10_000, problem="y" * 10_000)])

    assert all(len(value) < 500 for value in fields(caplog)[0].values())


def test_the_memory_of_what_was_told_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
    notices = Notices(max_remembered=2)
    for text in ("a", "b", "c", "c", "a"):
        notices.log([Finding("toleration", "cel", "", text)])

    assert [each["expression"] for each in fields(caplog)] == ["a", "b", "c", "a"]


def test_everything_is_told_at_debug_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="leeway")
    notices = Notices()
    notices.log([NUMBER])
    notices.log([NUMBER])

    assert [record.levelname for record in caplog.records] == ["DEBUG", "DEBUG"]
    assert fields(caplog)[0]["value"] == "high"
