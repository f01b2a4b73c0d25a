"""Guards a listener of aiohttp: it bounds heads and frames, time and room, which aiohttp does not.

A guard stands between the transport and aiohttp. It reads along with llhttp, to know where a head
ends and a body begins, and hands on what is in order. What is not it answers itself.
"""

import asyncio
from typing import Final

import httptools
from aiohttp import web
from aiohttp.typedefs import Handler

from extender.config.schema import Limits
from extender.server.accepting import Leave
from extender.server.bodies import HELD
from extender.server.connection import LINGER_BYTES, LINGER_SECONDS, TIME_CHECK_SECONDS
from extender.server.heads import (
    LONG_FRAMES,
    LONG_HEAD,
    MAX_HEAD_BYTES,
    TEXT,
    answer_head,
    is_framed_well,
    late_head,
    not_http,
)
from extender.server.refusal import Refusal
from extender.server.room import Held, Share

# A client that has closed its half may be gone. This often we say something, to find out.
PROBE_SECONDS: Final = 1.0

_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class Guarded(asyncio.Protocol):
    """One connection of an aiohttp server."""

    def __init__(self, guard: "Guard", inner: web.RequestHandler, leave: Leave) -> None:
        self._guard = guard
        self._inner = inner
        self._leave = leave
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._time = asyncio.get_running_loop().time
        self._since = self._time()
        self._in_head = self._in_body = False
        self._head_bytes = self._header_bytes = 0
        self._pieces = self._frame_bytes = self._size = 0
        self._owed = 0  # requests whose heads are here and whose answers are not
        self._is_last = False  # nothing that comes behind is another request
        self._discards = False
        self._discarded = 0
        self._probes_at: float | None = None
        self._stuck_until: float | None = None
        self._deadline = 0.0

    @property
    def waits_since(self) -> float | None:
        """Since when it has waited for a request; None: it is at work."""
        return None if self._owed else self._since

    def abort(self) -> None:
        """Hang up at once."""
        if self._transport is not None:
            self._transport.abort()

    # What the transport tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        self._transport = transport  # type: ignore[assignment]  # of a stream
        self._guard.connections[self._inner] = self
        self._inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Hand on what came, unless it is too much."""
        if self._discards:
            self._discarded += len(data)
            if self._discarded > LINGER_BYTES and self._transport is not None:
                self._transport.pause_reading()
            return
        unanswered = self._owed - self._in_body  # before what is refused
        if not self._is_last and (refusal := self._refusal_of(data)) is not None:
            self._refuse(refusal, says=not unanswered)
        else:
            self._inner.data_received(data)

    def eof_received(self) -> bool:
        """The client sends no more. It still gets what it has asked for."""
        transport = self._transport
        is_encrypted = transport is None or transport.get_extra_info("sslcontext") is not None
        # Over TLS nobody can close one half only.
        if is_encrypted or self._in_body or self._discards or not self._owed:
            return False
        self._probes_at = self._time() + PROBE_SECONDS
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._leave()
        self._transport = None
        self._guard.connections.pop(self._inner, None)
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not take its answer."""
        self._stuck_until = self._time() + self._guard.limits.body_timeout
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """It does again."""
        self._stuck_until = None
        self._inner.resume_writing()

    # What the parser tells.

    def on_message_begin(self) -> None:
        """The first bytes of a request are there."""
        self._in_head = True
        self._header_bytes = self._pieces = self._frame_bytes = self._size = 0
        self._deadline = self._time() + self._guard.limits.head_timeout

    def on_url(self, url: bytes) -> None:
        """A part of the first line."""
        self._header_bytes += len(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header. What comes behind the body is one, too, and part of its frames."""
        if self._in_head:
            self._header_bytes += len(name) + len(value)

    def on_headers_complete(self) -> None:
        """The head is there: an answer is owed."""
        self._in_head = False
        self._in_body = True
        self._owed += 1

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        self._size += len(body)
        self._pieces += 1

    def on_message_complete(self) -> None:
        """The request is there."""
        self._in_body = False
        self._head_bytes = 0

    def _refusal_of(self, data: bytes) -> Refusal | None:
        in_body, size = self._in_body, self._size
        if not in_body:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._is_last = True
        except httptools.HttpParserError as exc:
            return not_http(exc)
        too_long = self._in_head and self._head_bytes > MAX_HEAD_BYTES
        if too_long or self._header_bytes > MAX_HEAD_BYTES:
            return LONG_HEAD
        if in_body and self._in_body:
            self._frame_bytes += len(data) - (self._size - size)
        if not is_framed_well(self._size, self._pieces, self._frame_bytes):
            return LONG_FRAMES
        return None

    # How it is answered.

    def answered(self, response: web.StreamResponse | None) -> None:
        """A request has its answer."""
        self._owed -= 1
        self._since = self._time()
        if response is not None and (self._probes_at is not None or self._is_last):
            response.force_close()

    def check_time(self, now: float) -> None:
        """Give up on a client that is late, and look whether one is still there."""
        if self._transport is None:
            return
        if self._stuck_until is not None and now >= self._stuck_until:
            self._transport.abort()  # closing would wait for the client to read
        elif self._discards and now >= self._deadline:
            self._transport.close()
        elif self._in_head and not self._owed and not self._discards and now >= self._deadline:
            self._refuse(late_head(self._guard.limits), says=True)
        elif self._probes_at is not None and self._owed and now >= self._probes_at:
            self._probes_at = now + PROBE_SECONDS
            if self._parser.get_http_version() != "1.0":
                self._transport.write(_CONTINUE)

    def _refuse(self, refusal: Refusal, *, says: bool) -> None:
        """Say why, unless another answer has to go before it, and read no more."""
        self._discards = True
        transport = self._transport
        if transport is None:
            return
        self._detach()
        if says:
            text = refusal.sentence.encode() + b"\n"
            head = answer_head(refusal.status, TEXT, len(text), b"Connection: close\r\n")
            transport.write(head + text)
        # Closed at once, the client would not see the answer while it sends.
        self._deadline = self._time() + LINGER_SECONDS
        if transport.can_write_eof():
            transport.write_eof()
        else:
            transport.close()

    def _detach(self) -> None:
        """Have aiohttp see the client go, and leave the transport to us."""
        self._inner.transport = None
        self._inner.connection_lost(None)


class Guard:
    """All connections of one aiohttp server, and their room for bodies."""

    def __init__(self, limits: Limits, room: Share) -> None:
        self.limits = limits
        self.connections: dict[web.RequestHandler, Guarded] = {}
        self._room = room

    def watch(self, app: web.Application) -> None:
        """Know which requests are being answered, and what they hold."""
        app.middlewares.append(self._watched)

    async def watch_time(self) -> None:
        """Give up on clients that are late, now and then."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(TIME_CHECK_SECONDS)
            for connection in tuple(self.connections.values()):
                connection.check_time(loop.time())

    @web.middleware
    async def _watched(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        connection = self.connections.get(request.protocol)
        if connection is None:  # it has gone before its turn came
            raise web.HTTPBadRequest
        response: web.StreamResponse | None = None
        request[HELD] = held = Held(self._room)
        try:
            response = await handler(request)
        except web.HTTPException as exc:
            response = exc
            raise
        finally:
            held.give_back()
            connection.answered(response)
        return response
