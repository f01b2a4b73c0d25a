"""The processes of a bench: Leeway as it is shipped, the floor, an API server for Leeway to watch.

Each is a process of its own, so that what one costs is not counted as another's.
"""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

from bench.client import Connection, cpu_seconds
from bench.cluster import MIXED

READY_SECONDS: Final = 120.0
LISTEN: Final = ("--scheduler-listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0")


@dataclass(slots=True)
class Child:
    """A server, where it listens, and a connection to it as soon as one is needed."""

    pid: int
    addresses: list[str]
    _connection: Connection | None = field(default=None, init=False)
    _control: HTTPConnection | None = field(default=None, init=False)

    @property
    def connection(self) -> Connection:
        """The one connection of a scheduler."""
        if self._connection is None:
            self._connection = Connection(self.addresses[0])
        return self._connection

    def put(self, path: str, body: bytes) -> None:
        """Hand something over, on a connection of its own."""
        if self._control is None:
            self._control = HTTPConnection(self.addresses[0], timeout=120)
        self._control.request("PUT", path, body)
        response = self._control.getresponse()
        response.read()
        if response.status != 204:
            raise SystemExit(f"PUT {path}: {response.status}")

    def cpu(self) -> float:
        """CPU seconds so far."""
        return cpu_seconds(self.pid)

    def rss(self) -> float:
        """Memory, in MB."""
        return self._memory("VmRSS")

    def peak(self) -> float:
        """The most memory that it ever had, in MB."""
        return self._memory("VmHWM")

    def _memory(self, what: str) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith(f"{what}:"))
        return int(line.split()[1]) / 1_024

    def hang_up(self) -> None:
        """Close the connection."""
        for connection in (self._connection, self._control):
            if connection is not None:
                connection.close()


@contextlib.contextmanager
def child(*command: str, listeners: int = 1) -> Iterator[Child]:
    """One of our modules, once it says that it listens; ended on the way out."""
    with started([sys.executable, "-m", *command], listeners) as made:
        yield made


@contextlib.contextmanager
def started(argv: Sequence[str], listeners: int = 1) -> Iterator[Child]:
    """A server, once it says where it listens; ended on the way out."""
    with subprocess.Popen(  # noqa: S603 - our own modules
        argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        made = Child(process.pid, [])
        try:
            for _ in range(listeners):
                line = process.stdout.readline() if process.stdout else ""
                if " listening on " not in line:
                    raise SystemExit(f"{' '.join(argv)} did not start: {line!r}")
                made.addresses.append(line.split(" listening on ")[1].split()[0])
            yield made
        finally:
            made.hang_up()
            process.terminate()


def floor() -> contextlib.AbstractContextManager[Child]:
    """The floor."""
    return child("bench.floor")


@contextlib.contextmanager
def leeway(*flags: str) -> Iterator[Child]:
    """`leeway serve`, once it is ready; its log is thrown away."""
    with child("extender", "serve", *LISTEN, *flags, listeners=2) as made:
        wait_until_ready(made.addresses[1])
        yield made


@contextlib.contextmanager
def controller(folder: Path, api: Child) -> Iterator[Child]:
    """`leeway controller` without an election, once all is listed; its log is thrown away."""
    flags = (f"--kubeconfig={kubeconfig(folder, api)}", "--ops-listen=127.0.0.1:0")
    with child("extender", "controller", *flags, "--leader-elect=false") as made:
        wait_until_ready(made.addresses[0])
        yield made


def wait_until_ready(ops: str) -> None:
    """Wait until the ops listener says that it is of use."""
    until = time.monotonic() + READY_SECONDS
    while not is_ready(ops):
        if time.monotonic() > until:
            raise SystemExit("Leeway does not become ready")
        time.sleep(0.05)


def is_ready(ops: str) -> bool:
    """Whether the ops listener says so."""
    with contextlib.closing(HTTPConnection(ops, timeout=10)) as connection:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200


def apiserver(
    nodes: int, *, pods: int = 0, taint_sets: int = MIXED, seed: int = 1
) -> contextlib.AbstractContextManager[Child]:
    """A cluster of that size."""
    sizes = {"nodes": nodes, "pods": pods, "taint-sets": taint_sets, "seed": seed}
    return child("bench.apiserver", *(f"--{name}={value}" for name, value in sizes.items()))


@contextlib.contextmanager
def watching(folder: Path, api: Child) -> Iterator[Child]:
    """Leeway, watching an API server, all of it listed."""
    with leeway("--kubeconfig", str(kubeconfig(folder, api))) as made:
        yield made


def kubeconfig(folder: Path, api: Child) -> Path:
    """A kubeconfig for an API server that asks nobody who they are."""
    file = folder / f"kubeconfig-{api.pid}"
    named = {"name": "bench"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [named | {"cluster": {"server": f"http://{api.addresses[0]}"}}],
        "users": [named | {"user": {}}],
        "contexts": [named | {"context": {"cluster": "bench", "user": "bench"}}],
        "current-context": "bench",
    }
    file.write_text(json.dumps(config), encoding="utf-8")
    return file
