"""The log: one line per record on standard error, as text or JSON."""

import json
import logging
import sys
from datetime import UTC, datetime
from functools import lru_cache

from extender.cli import escapes
from extender.config.schema import Logging


class _Formatter(logging.Formatter):
    """Time, level, logger, message and the record's `fields`."""

    def _parts(self, record: logging.LogRecord) -> dict[str, object]:
        second, millisecond = divmod(int(record.created * 1_000), 1_000)
        parts: dict[str, object] = {
            "time": f"{_second(second)}.{millisecond:03}+00:00",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        parts |= getattr(record, "fields", {})
        if record.exc_info:
            parts["exception"] = self.formatException(record.exc_info)
        return parts


class TextFormatter(_Formatter):
    """For a person: `time level logger message key=value ...`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, followed by a traceback if there is one."""
        parts = self._parts(record)
        exception = parts.pop("exception", None)
        head = " ".join(str(parts.pop(key)) for key in ("time", "level", "logger"))
        message = escapes.line(str(parts.pop("message")))
        fields = "".join(f" {key}={_word(value)}" for key, value in parts.items())
        trace = f"\n{escapes.lines(str(exception))}" if exception else ""
        return f"{head} {message}{fields}{trace}"


class JSONFormatter(_Formatter):
    """For a log collector: one JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        return escapes.json_text(self._parts(record))


def set_up(config: Logging) -> None:
    """Log to standard error; verbosity 1 adds Leeway's debug records."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JSONFormatter() if config.format == "json" else TextFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    level = logging.DEBUG if config.verbosity else logging.INFO
    logging.getLogger("leeway").setLevel(level)
    # aiohttp answers garbage with 400, and would also log a traceback for it.
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
    # The formatters do not show these; do not look them up for every record.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.raiseExceptions = False  # a closed standard error must not break an answer


@lru_cache(maxsize=1)
def _second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _word(value: object) -> str:
    text = str(value)
    if isinstance(value, int | float):
        return text
    plain = text and text.isprintable() and not any(char in text for char in ' "=')
    return text if plain else json.dumps(text, ensure_ascii=True)
