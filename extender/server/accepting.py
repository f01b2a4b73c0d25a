"""Lets clients in at a listener: so many at once, and no more.

asyncio's own servers let everybody in, and do not tell of clients that never finish a TLS
handshake. So we accept ourselves. When a listener is full, whoever has kept it waiting for longest
goes: a client that asks something at once, such as a probe of the kubelet, always gets in.
"""

import asyncio
import contextlib
import logging
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

from extender.config.schema import Address, Limits

log = logging.getLogger("leeway.server")

# More than one flood of clients in one turn: whom the system turns away comes again after a second.
BACKLOG: Final = 1_024
# So many clients are let in in one turn of the event loop, so that others have theirs.
AT_ONCE: Final = 16
# A TLS handshake takes a millisecond, and 300 at once took 300.
HANDSHAKES_AT_ONCE: Final = 4
# Where the system has no more sockets to give, it is not asked again at once.
PAUSE_SECONDS: Final = 0.1

_FULL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Content-Length: %d\r\nRetry-After: 1\r\nConnection: close\r\n\r\n%b"
)
_SENTENCE: Final = b"this listener's part of limits.connections is in use: come again later\n"


class Visitor(Protocol):
    """The protocol of a connection, as far as it matters here."""

    @property
    def waits_since(self) -> float | None:
        """Since when it has waited for its client to ask something; None: it is at work."""
        ...

    def abort(self) -> None:
        """Hang up at once."""
        ...


@dataclass(eq=False, slots=True)
class _Guest:
    """One connection; there is no visitor before the handshake is over."""

    came: float
    visitor: Visitor | None = None
    greeting: "asyncio.Task[None] | None" = field(default=None, repr=False)

    @property
    def waits_since(self) -> float | None:
        return self.came if self.visitor is None else self.visitor.waits_since

    def dismiss(self) -> None:
        if self.visitor is not None:
            self.visitor.abort()
        elif self.greeting is not None:
            self.greeting.cancel()


Leave = Callable[[], None]


class Gate:
    """The door of one listener, with room for so many."""

    def __init__(
        self,
        name: str,
        visitor: Callable[[Leave], asyncio.Protocol],
        *,
        most: int,
        limits: Limits,
        read_bytes: int | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`visitor` makes the protocol of a connection, which says when the connection is lost.

        `read_bytes` is how much the system keeps of what a client sends, and so hands us at once.
        """
        self._name = name
        self._visitor = visitor
        self._most = most
        self._limits = limits
        self._read_bytes = read_bytes
        self._tls = tls
        self._guests: set[_Guest] = set()
        self._listeners: list[socket.socket] = []
        self._is_full = False

    @property
    def guests(self) -> int:
        """How many are connected, or try to."""
        return len(self._guests)

    async def open(self, address: Address) -> Address:
        """Listen; where."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        try:
            for family, _, _, _, where in dict.fromkeys(found):
                listener = socket.create_server(where, family=family, backlog=BACKLOG)
                listener.setblocking(False)
                if self._read_bytes is not None:  # its connections inherit it
                    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._read_bytes)
                self._listeners.append(listener)
        except OSError:
            self.close()
            raise
        for listener in self._listeners:
            loop.add_reader(listener, self._accept, listener)
        host, port = self._listeners[0].getsockname()[:2]
        return Address(host, port)

    def close(self) -> None:
        """Let nobody in any more; whoever is there stays."""
        loop = asyncio.get_running_loop()
        for listener in self._listeners:
            loop.remove_reader(listener)
            listener.close()
        self._listeners.clear()

    def _accept(self, listener: socket.socket) -> None:
        for _ in range(HANDSHAKES_AT_ONCE if self._tls else AT_ONCE):
            try:
                client, _ = listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as exc:
                self._pause(listener, exc)
                return
            self._let_in(client)

    def _pause(self, listener: socket.socket, why: OSError) -> None:
        """The process has too many files open: make room, and look again soon."""
        log.warning("%s listener: cannot accept a connection: %s", self._name, why)
        self._make_room()
        loop = asyncio.get_running_loop()
        loop.remove_reader(listener)
        loop.call_later(PAUSE_SECONDS, self._resume, listener)

    def _resume(self, listener: socket.socket) -> None:
        if listener in self._listeners:
            asyncio.get_running_loop().add_reader(listener, self._accept, listener)

    def _let_in(self, client: socket.socket) -> None:
        client.setblocking(False)
        if len(self._guests) >= self._most:
            self._say_full()
            if not self._make_room():
                self._turn_away(client)
                return
        elif len(self._guests) <= self._most // 2:
            self._is_full = False
        loop = asyncio.get_running_loop()
        guest = _Guest(loop.time())
        self._guests.add(guest)
        guest.greeting = loop.create_task(self._greet(client, guest))

    async def _greet(self, client: socket.socket, guest: _Guest) -> None:
        """Shake hands, and hand the connection over."""
        visitor = self._visitor(partial(self._leave, guest))
        tls = self._tls
        try:
            with contextlib.suppress(OSError):  # of a socket that is none of TCP, or gone
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: visitor,
                client,
                ssl=tls,
                ssl_handshake_timeout=self._limits.head_timeout if tls else None,
                ssl_shutdown_timeout=self._limits.body_timeout if tls else None,
            )
        except OSError as exc:  # ssl.SSLError is one, and a time-out
            self._leave(guest)
            log.debug("%s listener: no connection: %s", self._name, exc)
        except asyncio.CancelledError:
            self._leave(guest)
            raise
        else:
            guest.visitor = visitor  # type: ignore[assignment]  # each of ours is one

    def _leave(self, guest: _Guest) -> None:
        self._guests.discard(guest)

    def _make_room(self) -> bool:
        """Have the one go who has waited for longest; whether there was one."""
        waiting = [(since, guest) for guest in self._guests if (since := guest.waits_since)]
        if not waiting:
            return False
        _, guest = min(waiting, key=lambda each: each[0])
        self._guests.discard(guest)
        guest.dismiss()
        return True

    def _turn_away(self, client: socket.socket) -> None:
        if self._tls is None:
            with contextlib.suppress(OSError):
                client.send(_FULL % (len(_SENTENCE), _SENTENCE))
        client.close()

    def _say_full(self) -> None:
        """Once, until there is room for many again."""
        if not self._is_full:
            log.warning("%s listener: all of its %d connections are in use", self._name, self._most)
        self._is_full = True
