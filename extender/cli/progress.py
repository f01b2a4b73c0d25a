"""A progress bar on a terminal; prints nothing in a pipe."""

import time
from collections.abc import Callable
from typing import Final, TextIO

_CELLS: Final = 30
_SECONDS: Final = 0.1
_CLEAR: Final = "\r\x1b[K"


class Progress:
    """One line that is redrawn, and erased at the end."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream if stream.isatty() else None
        self._clock = clock
        self._label = ""
        self._done = self._total = 0
        self._drawn = 0.0

    def begin(self, label: str, total: int = 0) -> None:
        """Start a new bar; a total of 0 is unknown."""
        self._label, self._done, self._total = label, 0, total
        self._draw(at_once=True)

    def advance(self, count: int = 1, remaining: int | None = None) -> None:
        """Add to the count, with an estimate of what remains."""
        self._done += count
        if remaining is not None:
            self._total = self._done + remaining
        self._draw(at_once=False)

    def end(self) -> None:
        """Erase the bar."""
        if self._stream is not None:
            self._stream.write(_CLEAR)
            self._stream.flush()

    def _draw(self, *, at_once: bool) -> None:
        if self._stream is None or (not at_once and self._clock() - self._drawn < _SECONDS):
            return
        self._drawn = self._clock()
        total = max(self._total, self._done)
        full = _CELLS * self._done // total if self._total else 0
        bar = "#" * full + "." * (_CELLS - full)
        count = f"{self._done}/{total}" if self._total else str(self._done)
        self._stream.write(f"{_CLEAR}{self._label:<24} [{bar}] {count}")
        self._stream.flush()
