"""Processes of a bench that we talk to by lines."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from bench.cluster import JSON


@dataclass
class Child:
    """A process that we talk to by lines."""

    process: "subprocess.Popen[str]"
    reading: IO[str]
    writing: IO[str]

    def line(self) -> str:
        """Its next line."""
        text = self.reading.readline()
        if not text:
            raise SystemExit("a process of the bench ended early")
        return text

    def ask(self, command: str) -> JSON:
        """What it answers to a command."""
        self.writing.write(command + "\n")
        self.writing.flush()
        answer: JSON = json.loads(self.line())
        return answer


@contextlib.contextmanager
def child(*arguments: str) -> Iterator[Child]:
    """One of our own modules in a process of its own, ended on the way out."""
    with subprocess.Popen(  # noqa: S603 - our own modules
        [sys.executable, "-m", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            if process.stdin is None or process.stdout is None:
                raise SystemExit("no pipes")
            yield Child(process, process.stdout, process.stdin)
        finally:
            process.terminate()
