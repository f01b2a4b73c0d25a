"""What strangers on the network can do to a running extender: memory, and what a neighbour notices.

Run with `python -m bench.floods`. Each flood opens many connections to one listener and sends what
nobody should: heads without an end, large bodies, endless frames. Meanwhile a neighbour, in a
process of its own, filters an ordinary pod a hundred times a second, and must always be answered.
"""

import argparse
import asyncio
import contextlib
import json
import resource
import ssl
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench import lines, processes
from bench.cluster import name_of
from bench.processes import Child
from extender.config.schema import Limits

NODES: Final = 100
QUIET_SECONDS: Final = 1.0
ANSWER_SECONDS: Final = 12.0
MIB: Final = 1 << 20
# Beyond limits.inFlightBytes, and on a loaded machine.
GROWTH_GOAL_MB: Final = 100.0
WAIT_GOAL_MS: Final = 250.0

SCHEDULER, OPS, ADMISSION = range(3)
_POST: Final = "POST {path} HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n"
_LINE: Final = b"X-Filler: " + b"x" * 8_000 + b"\r\n"


@dataclass(frozen=True, slots=True)
class Flood:
    """So many clients, each of which sends a start and then a piece again and again."""

    name: str
    listener: int
    clients: int
    start: bytes
    piece: bytes = b""
    pieces: int = 0
    shakes_hands: bool = True  # where the listener speaks TLS


def _post(path: str, header: str) -> bytes:
    return _POST.format(path=path, header=header).encode()


def _length(path: str, count: int) -> bytes:
    return _post(path, f"Content-Length: {count}")


def _chunked(path: str) -> bytes:
    return _post(path, "Transfer-Encoding: chunked")


def floods() -> list[Flood]:
    """All of them."""
    # No JSON, so that nothing but the room for it is measured.
    filler = b"x" * (64 * 1024)
    framed = b"10000\r\n" + filler + b"\r\n"
    validate = "/admission/validate"
    return [
        Flood("heads without an end, ops", OPS, 600, b"GET /livez HTTP/1.1\r\n", _LINE, 190),
        Flood("heads without an end, admission", ADMISSION, 300, b"GET / HTTP/1.1\r\n", _LINE, 190),
        Flood("heads without an end, scheduler", SCHEDULER, 600, b"GET / HTTP/1.1\r\n", _LINE, 190),
        Flood("bodies of 16 MiB", ADMISSION, 60, _length(validate, 16 * MIB), filler, 256),
        Flood("bodies of 8 MiB", ADMISSION, 60, _length(validate, 8 * MIB), filler, 128),
        Flood("bodies of 8 MiB in chunks", ADMISSION, 60, _chunked(validate), framed, 128),
        Flood("bodies of 100 MiB", SCHEDULER, 8, _length("/filter", 100 * MIB), filler, 1_600),
        Flood("bodies of 100 MiB in chunks", SCHEDULER, 8, _chunked("/filter"), framed, 1_600),
        Flood(
            "chunks of two bytes", SCHEDULER, 8, _chunked("/filter"), b"2\r\n  \r\n" * 9_000, 400
        ),
        Flood("an endless extension", SCHEDULER, 20, _chunked("/filter") + b"1;", filler, 160),
        Flood(
            "an endless extension, admission",
            ADMISSION,
            20,
            _chunked(validate) + b"1;",
            filler,
            160,
        ),
        Flood("bodies that nobody asked for, ops", OPS, 300, _length("/livez", MIB), filler, 16),
        Flood("connections that say nothing, ops", OPS, 1_500, b""),
        Flood("connections that say nothing, scheduler", SCHEDULER, 1_500, b""),
        Flood("handshakes that never end", ADMISSION, 400, b"", shakes_hands=False),
    ]


@dataclass(slots=True)
class Attack:
    """One flood against one listener."""

    flood: Flood
    address: str
    tls: ssl.SSLContext | None = None

    async def run(self) -> Counter[str]:
        """What came back: the statuses, and how many connections ended without one."""
        found = await asyncio.gather(*(self._one() for _ in range(self.flood.clients)))
        return Counter(found)

    async def _one(self) -> str:
        host, port = self.address.rsplit(":", 1)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                reader, writer = await asyncio.open_connection(host, int(port), ssl=self.tls)
        except OSError:  # a time-out is one
            return "not connected"
        try:
            sending = asyncio.create_task(self._send(writer))
            async with asyncio.timeout(ANSWER_SECONDS):
                line = await reader.readline()
            sending.cancel()
            return line.split()[1].decode() if line else "closed"
        except TimeoutError:
            return "open"
        except OSError:
            return "closed"
        finally:
            writer.transport.abort()

    async def _send(self, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            writer.write(self.flood.start)
            for _ in range(self.flood.pieces):
                if writer.is_closing():
                    return
                writer.write(self.flood.piece)
                await writer.drain()


def measure(
    server: Child, neighbour: lines.Child, flood: Flood, tls: ssl.SSLContext
) -> dict[str, Any]:
    """One flood: memory in MB, the neighbour's waits in ms."""
    before = server.rss()
    reset_peak(server)
    neighbour.ask("look")
    encrypted = flood.listener == ADMISSION and flood.shakes_hands
    attack = Attack(flood, server.addresses[flood.listener], tls if encrypted else None)
    answers = asyncio.run(attack.run())
    waits = neighbour.ask("look")
    peak = server.peak()
    time.sleep(QUIET_SECONDS)
    return {
        "flood": flood.name,
        "clients": flood.clients,
        "answers": dict(answers),
        "grown": round(peak - before, 1),
        "kept": round(server.rss() - before, 1),
        "wait": waits["max"],
    }


def reset_peak(server: Child) -> None:
    """Have the peak of memory be that of from now on, where the system lets us."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{server.pid}/clear_refs").write_text("5", encoding="ascii")


@contextlib.contextmanager
def flooded(folder: Path, *flags: str) -> Iterator[tuple[Child, lines.Child, ssl.SSLContext]]:
    """`leeway serve` with all three listeners, its neighbour, and trust in its certificate."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    cluster, certs = folder / "nodes.json", folder / "certs"
    nodes = [{"kind": "Node", "metadata": {"name": name_of(each)}} for each in range(NODES)]
    cluster.write_text(json.dumps({"kind": "NodeList", "items": nodes}), encoding="utf-8")
    argv = [sys.executable, "-m", "extender", "certs", "--out", str(certs)]
    subprocess.run(argv, check=True, capture_output=True)  # noqa: S603 - our own module
    listen = (*processes.LISTEN, "--admission-listen", "127.0.0.1:0")
    tls = ("--admission-tls-cert-file", str(certs / "tls.crt"))
    key = ("--admission-tls-private-key-file", str(certs / "tls.key"))
    serve = ("extender", "serve", *listen, *tls, *key, "--cluster", str(cluster), *flags)
    trust = ssl.create_default_context(cafile=str(certs / "ca.crt"))
    trust.check_hostname = False
    with ExitStack() as stack:
        server = stack.enter_context(processes.child(*serve, listeners=3))
        neighbour = stack.enter_context(
            lines.child("bench.neighbour", server.addresses[SCHEDULER], str(NODES))
        )
        time.sleep(QUIET_SECONDS)
        yield server, neighbour, trust


def text(found: Sequence[dict[str, Any]]) -> str:
    """A table."""
    said = [f"{'flood':<44}{'clients':>8}{'grown':>10}{'kept':>10}{'wait':>10}  answers"]
    said += [
        f"{each['flood']:<44}{each['clients']:>8}{each['grown']:>7.0f} MB{each['kept']:>7.0f} MB"
        f"{each['wait']:>7.0f} ms  {each['answers']}"
        for each in found
    ]
    return "\n".join(said)


def main() -> int:
    """Try every flood and print a table; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.floods", description=__doc__)
    parser.add_argument("--only", default="", help="floods whose name has this in it")
    options = parser.parse_args()
    print(text([]))
    with tempfile.TemporaryDirectory() as name, flooded(Path(name)) as (server, neighbour, tls):
        found = []
        for flood in floods():
            if options.only in flood.name:
                found.append(measure(server, neighbour, flood, tls))
                print(text(found[-1:]).splitlines()[-1], flush=True)
    goal = Limits().in_flight_bytes / MIB + GROWTH_GOAL_MB
    good = all(each["grown"] <= goal and each["wait"] <= WAIT_GOAL_MS for each in found)
    print(f"goals: {goal:.0f} MB, {WAIT_GOAL_MS:.0f} ms: {'met' if good else 'missed'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
