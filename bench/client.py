"""Asks as kube-scheduler does: one call after the other over one kept connection.

A raw socket, because what the client costs is in the time of every call, of Leeway and of the
floor alike, and would make the two look more alike than they are.
"""

import socket
import time
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

# Go's client hands its first 4 KB to the kernel by themselves, head included.
FIRST_WRITE: Final = 4_096
HEAD: Final = (
    b"POST %b HTTP/1.1\r\nHost: %b\r\nUser-Agent: Go-http-client/1.1\r\nContent-Length: %d\r\n"
    b"Content-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n"
)
LENGTH: Final = b"content-length: "
BUFFER_BYTES: Final = 1 << 25
TIME_OUT_SECONDS: Final = 120.0


@dataclass(slots=True)
class Connection:
    """One kept connection."""

    address: str
    _socket: socket.socket = field(init=False)
    _buffer: memoryview = field(init=False)

    def __post_init__(self) -> None:
        host, port = self.address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), timeout=TIME_OUT_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = memoryview(bytearray(BUFFER_BYTES))

    def post(self, path: str, body: bytes) -> tuple[float, memoryview]:
        """Seconds from the first byte out to the last byte in, and the body of the answer.

        The answer is overwritten by the next one. Everything but 200 ends the bench.
        """
        seconds, status, answer = self.exchange(path, body)
        if status != 200:
            raise SystemExit(f"{path}: {status}: {bytes(answer[:500])!r}")
        return seconds, answer

    def exchange(self, path: str, body: bytes) -> tuple[float, int, memoryview]:
        """The same, with the status of the answer, whichever it is."""
        message = HEAD % (path.encode(), self.address.encode(), len(body)) + body
        rest = memoryview(message)[FIRST_WRITE:]
        since = perf_counter()
        self._socket.sendall(message[:FIRST_WRITE])
        if rest:
            self._socket.sendall(rest)
        start, end = self._receive()
        seconds = perf_counter() - since
        status = int(bytes(self._buffer[9:12]))  # after "HTTP/1.1 "
        return seconds, status, self._buffer[start:end]

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _receive(self) -> tuple[int, int]:
        """Where the body begins and ends in the buffer."""
        got = start = 0
        while not start:
            got += self._read(got)
            head = bytes(self._buffer[: min(got, 1_000)])
            start = head.find(b"\r\n\r\n") + 4 if b"\r\n\r\n" in head else 0
        head = head[:start].lower()
        at = head.index(LENGTH) + len(LENGTH)
        end = start + int(head[at : head.index(b"\r", at)])
        while got < end:
            got += self._read(got)
        return start, end

    def _read(self, got: int) -> int:
        count = self._socket.recv_into(self._buffer[got:])
        if not count:
            raise SystemExit(f"{self.address} hung up")
        return count


def cpu_seconds(pid: int) -> float:
    """What a process has computed so far, in all of its threads."""
    # The clock of another process: clock_getcpuclockid(3), which Python does not have.
    return time.clock_gettime((~pid << 3) | 2)
