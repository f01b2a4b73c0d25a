"""`leeway` as a process of its own, as a person starts it."""

import contextlib
import http.client
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from extender import cli

ON_FREE_PORTS = ("--scheduler-listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0")
SCRIPT = str(Path(sys.executable).with_name("leeway"))
KUBECTL_SCRIPT = str(Path(sys.executable).with_name("kubectl-leeway"))
MODULE = (sys.executable, "-m", "extender")


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


def run(
    *arguments: str,
    command: tuple[str, ...] = MODULE,
    given: str = "",
    cwd: Path | None = None,
    **more: str,
) -> Ended:
    """Run a command that ends by itself, without a terminal.

    `given` is its standard input, and `more` goes into its environment.
    """
    ended = subprocess.run(  # noqa: S603 - our own command
        [*command, *arguments],
        capture_output=True,
        text=True,
        check=False,
        input=given,
        cwd=cwd,
        env=environment() | more,
        start_new_session=True,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def run_here(*arguments: str, given: str = "", cwd: Path | None = None) -> Ended:
    """The same in this process, which is much faster; for what needs no process of its own."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.chdir(cwd or Path.cwd()),
        mock.patch("sys.stdin", io.StringIO(given)),
        mock.patch.dict(os.environ, environment(), clear=True),
    ):
        try:
            code = cli.main(arguments)
        except SystemExit as exc:  # of --help and of a wrong command line
            code = int(exc.code or 0)
    return Ended(code, out.getvalue(), err.getvalue())


@dataclass(frozen=True, slots=True)
class Serving:
    """A running `leeway serve`: where it listens, and what it has logged so far."""

    process: subprocess.Popen[str]
    lines: list[str]  # what it printed when it had begun to listen
    log: Path

    @property
    def scheduler(self) -> tuple[str, int]:
        return _address(self.lines[0])

    @property
    def ops(self) -> tuple[str, int]:
        return _address(self.lines[1])

    def ask(self, verb: str, body: object) -> Any:
        """The JSON answer to one verb; anything but 200 fails the test."""
        status, text = _exchange(self.scheduler, "POST", f"/{verb}", json.dumps(body).encode())
        assert status == 200, text
        return json.loads(text)

    def get(self, path: str) -> tuple[int, str]:
        """Status and text of a page of the ops listener."""
        return _exchange(self.ops, "GET", path)

    def connect(self) -> socket.socket:
        """A plain connection to the scheduler listener."""
        return socket.create_connection(self.scheduler)

    def logged(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        """Wait for the end; the exit code."""
        return self.process.wait()

    def stop(self) -> int:
        self.signal(signal.SIGTERM)
        return self.ended()


def until(holds: Callable[[], bool]) -> None:
    """Wait for what another process does in its own time; the test's time-out is the limit."""
    while not holds():
        time.sleep(0.02)


@contextlib.contextmanager
def serving(
    folder: Path, *arguments: str, command: tuple[str, ...] = MODULE, **more: str
) -> Iterator[Serving]:
    """`leeway serve` on free ports; killed on the way out if it still runs."""
    log = folder / "stderr.log"
    with log.open("w") as errors:
        process = subprocess.Popen(  # noqa: S603 - our own command
            [*command, "serve", *ON_FREE_PORTS, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment() | more,
            start_new_session=True,
        )
    with process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline().rstrip("\n") for _ in range(2)]
            assert all(lines), log.read_text()
            yield Serving(process, lines, log)
        finally:
            process.kill()


@contextlib.contextmanager
def controlling(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`leeway controller` without an API server to reach, and the first line that it printed."""
    config = folder / "kubeconfig"
    config.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: it\n"
        "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n"
        "users: [{name: u, user: {token: t}}]\n"
        "contexts: [{name: it, context: {cluster: c, user: u}}]\n",
        encoding="utf-8",
    )
    arguments = ["controller", "--kubeconfig", str(config), "--ops-listen", "127.0.0.1:0"]
    with subprocess.Popen(  # noqa: S603 - our own command
        [*MODULE, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(),
    ) as process:
        try:
            yield process, process.stdout.readline() if process.stdout else ""
        finally:
            process.kill()


def environment() -> dict[str, str]:
    """Ours, without what would make a test find a live cluster: of a pod, or of its user."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("KUBE")}
    return ours | {"HOME": "/nowhere"}


def _exchange(
    address: tuple[str, int], method: str, path: str, body: bytes | None = None
) -> tuple[int, str]:
    with contextlib.closing(http.client.HTTPConnection(*address)) as connection:
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, response.read().decode()


def _address(line: str) -> tuple[str, int]:
    host, port = line.split()[3].rsplit(":", 1)
    return host, int(port)
