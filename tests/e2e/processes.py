"""ProgramCache as children: started, watched, stopped, killed, started again on the same port."""

import asyncio
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

START_SECONDS = 60.0
STOP_SECONDS = 15.0
_POLL_SECONDS = 0.05
_TAIL_BYTES = 12_000

_handed_out: set[int] = set()


class ProcessError(Exception):
    """A program did not do what it was started for; the text ends with its log."""


def free_port() -> int:
    """A loopback port that nobody listens on, and that was not handed out before."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        if port not in _handed_out:
            _handed_out.add(port)
            return port


class Process:
    """One program. Its log is kept over restarts."""

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        log: Path,
        is_ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self.name = name
        self.log = log
        self._command = [str(part) for part in command]
        self._is_ready = is_ready
        self._child: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] | None = None

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._child is not None and self._child.poll() is None

    def launch(self) -> None:
        """Start it, and do not wait until it is of use."""
        # No proxy may come between processes on loopback.
        environment = {name: to for name, to in os.environ.items() if "proxy" not in name.lower()}
        self._output = self.log.open("ab")
        self._child = subprocess.Popen(  # noqa: S603 - our own commands
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            env=environment,
        )

    async def ready(self, seconds: float = START_SECONDS) -> None:
        """Wait until it is of use."""
        until = time.monotonic() + seconds
        while not await asyncio.to_thread(self._is_ready):
            if not self.running:
                raise ProcessError(f"{self.name} ended at its start\n{self.tail()}")
            if time.monotonic() > until:
                raise ProcessError(f"{self.name} is not ready after {seconds:g} s\n{self.tail()}")
            await asyncio.sleep(_POLL_SECONDS)

    async def start(self) -> None:
        """Start it, and wait until it is of use."""
        self.launch()
        await self.ready()

    async def stop(self) -> int:
        """Ask it to end, insist after a while; its exit code."""
        return await self._end(signal.SIGTERM)

    async def kill(self) -> None:
        """End it without a warning."""
        await self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Stop it as it is, until it is thawed."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on where it was."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        assert self._child is not None, f"{self.name} does not run"
        self._child.send_signal(number)

    async def _end(self, number: signal.Signals) -> int:
        child, output = self._child, self._output
        if child is None or output is None:
            return 0
        child.send_signal(number)
        child.send_signal(signal.SIGCONT)  # who is frozen would not hear it
        try:
            code = await asyncio.to_thread(child.wait, STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            code = await asyncio.to_thread(child.wait)
        output.close()
        self._child = self._output = None
        return code

    def tail(self, since: int = 0) -> str:
        """The end of the log, of what was written past a size."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(since, end - _TAIL_BYTES))
            return file.read().decode(errors="replace")

    def logged(self) -> int:
        """How large the log is by now."""
        return self.log.stat().st_size if self.log.exists() else 0
