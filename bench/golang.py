"""The Go programs of the bench: built once, and cached outside of the repository.

`go_client` calls extenders with kube-scheduler's own code. `go_extender` judges as Leeway does.
Without Go, or without the modules that they need, they are not measured: `build` says why.
"""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from bench.asks import Ask
from bench.processes import Child

FOLDER: Final = Path(__file__).parent
SOURCES: Final = ("*.go", "go.mod", "go.sum")


class NoGoError(Exception):
    """A program cannot be built; the text is one sentence."""


def build(name: str) -> Path:
    """The program of that folder; built if need be, which takes a minute or two."""
    module = FOLDER / name
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    program = cache / "leeway" / "bench" / _digest(module) / name
    if program.is_file():
        return program
    if shutil.which("go") is None:
        raise NoGoError(f"{name} cannot be built: go is not installed")
    print(f"building {name}: a minute or two", file=sys.stderr)
    program.parent.mkdir(parents=True, exist_ok=True)
    # Beside the program, so that it appears complete or not at all.
    with tempfile.TemporaryDirectory(dir=program.parent) as scratch:
        made = Path(scratch) / name
        done = subprocess.run(  # noqa: S603 - fixed arguments
            ["go", "build", "-trimpath", "-buildvcs=false", "-o", made, "."],  # noqa: S607 - whichever go is installed
            cwd=module,
            env=os.environ | {"CGO_ENABLED": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            last = (done.stderr.strip() or "no output").splitlines()[-1]
            raise NoGoError(f"{name} cannot be built: go build says: {last}")
        made.replace(program)
    return program


def _digest(module: Path) -> str:
    """What the program is made of."""
    files = sorted(file for pattern in SOURCES for file in module.glob(pattern))
    content = b"".join(file.read_bytes() for file in files)
    return hashlib.sha256(content).hexdigest()[:16]


@dataclass(slots=True)
class GoClient:
    """kube-scheduler's own client, in a process of its own."""

    _writing: IO[bytes]
    _reading: IO[bytes]

    def call(self, server: Child, ask: Ask) -> tuple[float, bytes | None]:
        """Seconds that HTTPExtender took for the call; it does not tell the answer."""
        head = json.dumps({"URL": f"http://{server.addresses[0]}", "Verb": ask.verb}).encode()
        self._writing.write(b'%b,"Args":%b}\n' % (head[:-1], ask.body))
        self._writing.flush()
        line = self._reading.readline()
        if not line:
            raise SystemExit("kube-scheduler's client ended early: its error stands above")
        return float(json.loads(line)["Seconds"]), None


@contextlib.contextmanager
def client() -> Iterator[GoClient]:
    """Started; ended on the way out. Raises NoGoError where it cannot be built."""
    with subprocess.Popen(  # noqa: S603 - our own program
        [build("go_client")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise SystemExit("no pipes")
        try:
            yield GoClient(process.stdin, process.stdout)
        finally:
            process.stdin.close()
