"""The log as text and as JSON."""

import io
import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from extender.cli import logs
from extender.config.schema import Logging


@pytest.fixture(autouse=True)
def _untouched() -> Iterator[None]:
    """Put the root logger back as it was."""
    root, ours = logging.getLogger(), logging.getLogger("leeway")
    before = (root.handlers[:], root.level, ours.level, logging.raiseExceptions)
    yield
    root.handlers[:], root.level, ours.level, logging.raiseExceptions = before


def record(message: str, *, fault: Exception | None = None, **fields: object) -> logging.LogRecord:
    made = logging.LogRecord("leeway.test", logging.INFO, "file.py", 1, message, None, None)
    made.created = 1767323045.678
    made.exc_info = (type(fault), fault, fault.__traceback__) if fault else None
    if fields:
        made.__dict__["fields"] = fields
    return made


def text(made: logging.LogRecord) -> str:
    return logs.TextFormatter().format(made)


def parsed(made: logging.LogRecord) -> Any:
    line = logs.JSONFormatter().format(made)
    assert "\n" not in line
    return json.loads(line)


HEAD = "2026-01-02T03:04:05.678+00:00 info leeway.test "


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(record("filter"), "filter", id="a message alone"),
        pytest.param(
            record("filter", pod="a/b", nodes=3, ms=0.5),
            "filter pod=a/b nodes=3 ms=0.5",
            id="fields",
        ),
        pytest.param(record("x", a="two words"), 'x a="two words"', id="a space is quoted"),
        pytest.param(record("x", a=""), 'x a=""', id="nothing is quoted"),
        pytest.param(record("x", a="k=v"), 'x a="k=v"', id="an equals sign is quoted"),
        pytest.param(record("x", a='q"'), 'x a="q\\""', id="a quote is quoted"),
        pytest.param(
            record("x", a="one\ntwo\x1b[0m"),
            'x a="one\\ntwo\\u001b[0m"',
            id="what would forge a line or move the cursor is escaped",
        ),
        pytest.param(record("x", a="é"), "x a=é", id="letters are left alone"),
    ],
)
def test_text_is_one_line_of_words(made: logging.LogRecord, expected: str) -> None:
    assert text(made) == HEAD + expected


def test_json_is_one_object_a_line() -> None:
    assert parsed(record("filter", pod="a/b\n", nodes=3, where=OSError("x"))) == {
        "time": "2026-01-02T03:04:05.678+00:00",
        "level": "info",
        "logger": "leeway.test",
        "message": "filter",
        "pod": "a/b\n",
        "nodes": 3,
        "where": "x",
    }


def fault() -> Exception:
    with pytest.raises(RuntimeError) as caught:
        raise RuntimeError("broken")
    return caught.value


def test_a_traceback_follows_the_line_of_text() -> None:
    first, *rest = text(record("internal fault", fault=fault(), verb="filter")).splitlines()

    assert first == HEAD + "internal fault verb=filter"
    assert rest[0] == "Traceback (most recent call last):"
    # Indented, so that no line of it looks like a record of its own.
    assert rest[-1] == "  RuntimeError: broken"


def test_a_traceback_is_a_field_of_json() -> None:
    made = parsed(record("internal fault", fault=fault(), verb="filter"))

    assert made["verb"] == "filter"
    assert made["exception"].startswith("Traceback (most recent call last):")


@pytest.mark.parametrize(
    ("verbosity", "ours", "others"),
    [
        pytest.param(0, ["info", "warning"], ["warning"], id="quiet"),
        pytest.param(1, ["debug", "info", "warning"], ["warning"], id="verbose"),
    ],
)
def test_what_is_logged(
    monkeypatch: pytest.MonkeyPatch, verbosity: int, ours: list[str], others: list[str]
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    logs.set_up(Logging("json", verbosity))
    for name in ("leeway.scheduler", "asyncio", "aiohttp.server"):
        for level in ("debug", "info", "warning"):
            getattr(logging.getLogger(name), level)("said")

    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["level"] for line in lines if line["logger"] == "leeway.scheduler"] == ours
    assert [line["level"] for line in lines if line["logger"] == "asyncio"] == others
    assert not [line for line in lines if line["logger"] == "aiohttp.server"]


def test_text_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    logs.set_up(Logging())
    logging.getLogger("leeway").info("said")

    assert stream.getvalue().endswith(" info leeway said\n")


def test_a_log_that_is_gone_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    logs.set_up(Logging())
    stream.close()
    complaints = io.StringIO()
    monkeypatch.setattr(sys, "stderr", complaints)

    logging.getLogger("leeway").info("said to nobody")

    assert complaints.getvalue() == ""  # where logging would print a traceback of its own
