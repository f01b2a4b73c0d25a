"""One connection of kube-scheduler: HTTP/1.1 in, answers out, without a task for each request.

llhttp reads the bytes (by way of httptools), and a verb is answered inside the callback that
brought its last byte. A call that has to wait, for CEL expressions or for news of the cluster, goes
on in a task, and what the client sends meanwhile waits. docs/adr/0027 has the figures.
"""

import asyncio
import enum
from collections import deque
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final, Protocol

import httptools
from msgspec import Struct

from extender.config.schema import Limits
from extender.server import bodies, room
from extender.server.accepting import Leave
from extender.server.arriving import ArrivingBody
from extender.server.call_log import Peer
from extender.server.heads import (
    LONG_FRAMES,
    LONG_HEAD,
    MAX_HEAD_BYTES,
    TEXT,
    Head,
    answer_head,
    late_head,
    not_http,
)
from extender.server.refusal import Refusal, refusal_of
from extender.server.room import Share
from extender.wire.node_stream import Body, NodeStreamReader

# kube-scheduler keeps an idle connection for 90 s; whoever closes first must not be us.
KEEP_ALIVE_SECONDS: Final = 120.0
# How long what is left of a refused request is read and thrown away, so that the answer arrives.
LINGER_SECONDS: Final = 2.0
# And how much of it; a client that sends more has to read in between.
LINGER_BYTES: Final = 1 << 20
# How late a time-out may be noticed.
TIME_CHECK_SECONDS: Final = 0.1

_JSON: Final = b"application/json"
_CLOSE: Final = b"Connection: close\r\n"
_KEEP: Final = b"Connection: keep-alive\r\n"


class Wait(enum.Enum):
    """What a connection waits for."""

    REQUEST = "request"
    HEAD = "head"
    BODY = "body"


_BROKE_OFF: Final = Refusal(HTTPStatus.BAD_REQUEST, "the body broke off: the client closed")
_NO_UPGRADE: Final = Refusal(HTTPStatus.BAD_REQUEST, "this is HTTP/1.1, and no other protocol")

_NONE: Final = ArrivingBody()  # before its head is there, and once it is whole


class Request(Struct, gc=False):
    """One request as far as it has arrived."""

    method: bytes = b""
    path: str = ""
    keep_alive: bool = True
    http_1_0: bool = False
    user_agent: bytes = b""
    body: Body = b""
    held: int = 0  # so many bytes of the room for bodies
    refusal: Refusal | None = None


class Door(Protocol):
    """Who answers the requests of a connection."""

    limits: Limits
    room: Share
    draining: bool

    def refusal_of(self, method: bytes, path: str) -> Refusal | None:
        """Why a request is refused for its first line."""
        ...

    def node_stream(self) -> NodeStreamReader:
        """Reads a large body while it arrives."""
        ...

    def begin(self) -> None:
        """One more answer is owed."""
        ...

    def finish(self) -> None:
        """It was given, or never will be."""
        ...

    def opened(self, connection: "Connection") -> None:
        """There is one more connection."""
        ...

    def answer(self, connection: "Connection", request: Request) -> "asyncio.Task[None] | None":
        """Answer a request now, or by a task."""
        ...

    def refuse(self, connection: "Connection", request: Request, refusal: Refusal) -> None:
        """Count and log a refusal, and send it."""
        ...

    def closed(self, connection: "Connection") -> None:
        """The connection is no more."""
        ...


class Connection(asyncio.Protocol):
    """Reads requests one after the other, and writes their answers in this order."""

    def __init__(self, door: Door, loop: asyncio.AbstractEventLoop, leave: Leave) -> None:
        self._door = door
        self._leave = leave
        self._loop = loop
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self.peer = Peer()
        self._queue: deque[Request] = deque()  # requests that have arrived
        self._answering: Request | None = None  # the request that was first
        self._task: asyncio.Task[None] | None = None  # answers it
        self._reading: Request | None = None  # whose head is there and whose body is not
        self._owed = 0
        self._discards = False  # nothing more is read on this connection
        self._discarded = 0
        self._half_closed = False
        self._writes = True
        self._stuck_until = 0.0
        self._waits_for = Wait.REQUEST
        self._since = loop.time()
        self._deadline = self._since + KEEP_ALIVE_SECONDS
        self._head_bytes = 0
        self.on_message_begin()
        self._in_head = False

    # What the transport tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        self._transport = transport  # type: ignore[assignment]  # of a stream
        self.peer = Peer.of(transport)
        self._door.opened(self)

    def data_received(self, data: bytes) -> None:
        """Take what came, and answer what is complete."""
        if self._discards:
            self._discard(len(data))
            return
        if self._reading is None:
            self._head_bytes += len(data)
        elif self._body.reader is not None:
            data = self._take_large(data)
        reading, size = self._reading, self._body.size
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._queue[-1].refusal = _NO_UPGRADE  # the parser ends the request before it tells
            self._discards = True
        except httptools.HttpParserError as exc:
            self._spoil(not_http(exc))
        if self._in_head and self._head_bytes > MAX_HEAD_BYTES:
            self._spoil(LONG_HEAD)
        if reading is not None and reading is self._reading:
            frame_bytes = len(data) - (self._body.size - size)
            if not self._body.is_framed_well(frame_bytes):
                self._refuse_reading(LONG_FRAMES)
        self._advance()

    def eof_received(self) -> bool:
        """The client sends no more. It still gets what it has asked for."""
        self._half_closed = True
        if self._reading is not None:
            self._refuse_reading(_BROKE_OFF)
        self._discards = True
        self._advance()
        # Over TLS nobody can close one half only.
        return self.is_busy and not self.peer.is_encrypted

    def connection_lost(self, _exc: Exception | None) -> None:
        """The client is gone."""
        self._leave()
        self._discards = True
        self._transport = None
        self._forget()
        self._door.closed(self)

    def pause_writing(self) -> None:
        """The client does not take its answers: do nothing more for it, and take no more."""
        self._writes = False
        self._stuck_until = self._loop.time() + self._door.limits.body_timeout
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        """It does again."""
        self._writes = True
        self._resume_reading()
        self._advance()

    # What the parser tells.

    def on_message_begin(self) -> None:
        """The first bytes of a request are there."""
        self._in_head = True
        self._head = Head()
        self._body = _NONE

    def on_url(self, url: bytes) -> None:
        """A part of the first line."""
        self._head.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header. What comes behind the body is one, too, and does not matter."""
        if self._in_head:
            self._head.add(name, value)

    def on_headers_complete(self) -> None:
        """The head is there: a request has begun, and may be refused already."""
        self._in_head = False
        if self._discards:
            return
        method = self._parser.get_method()
        head = self._head
        path = head.url.partition(b"?")[0].decode(errors="replace")
        version = self._parser.get_http_version()
        self._reading = request = Request(
            method,
            path,
            http_1_0=version == "1.0",
            user_agent=head.user_agent,
        )
        self._begin()
        request.refusal = (
            self._door.refusal_of(method, path)
            or head.refusal(version, self._door.limits)
            or self._refusal_to_hold(request, head.length)
        )
        if request.refusal is not None:
            if head.has_body:
                self._complete(request)
                self._discards = True  # what is left of the body is not another request
            return
        reader = self._door.node_stream() if head.is_large else None
        self._body = ArrivingBody(is_chunked=head.is_chunked, reader=reader)
        if head.expect and not self._queue and self._task is None:
            self._write((b"HTTP/1.1 100 Continue\r\n\r\n",))

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        request, arriving = self._reading, self._body
        if request is None:
            return
        if arriving.size + len(body) > self._door.limits.request_bytes:
            self._refuse_reading(refusal_of(bodies.too_large(self._door.limits)))
        elif arriving.is_chunked and (refusal := self._refusal_to_hold(request, len(body))):
            self._refuse_reading(refusal)
        else:
            arriving.feed(body)
            if arriving.is_chunked and not arriving.is_framed_well():
                self._refuse_reading(LONG_FRAMES)

    def _take_large(self, data: bytes) -> bytes:
        """Take what belongs to a large body of known length; the rest is the parser's again.

        The parser would copy every byte of it: 1 ms of the 5 that ten megabytes take.
        """
        left = self._head.length - self._body.size
        self.on_body(data if len(data) <= left else data[:left])
        if self._body.size == self._head.length:
            keep_alive = self._parser.should_keep_alive()
            self._parser = httptools.HttpRequestParser(self)  # the old one waits for the body
            self._complete_reading(keep_alive=keep_alive)
        return data[left:]

    def on_message_complete(self) -> None:
        """The request is there."""
        self._complete_reading(keep_alive=self._parser.should_keep_alive())

    def _complete_reading(self, *, keep_alive: bool) -> None:
        self._head_bytes = 0  # of the next one
        request = self._reading
        if request is None:
            return
        request.body = self._body.end()
        request.keep_alive = keep_alive
        self._complete(request)

    # How requests are answered.

    @property
    def is_busy(self) -> bool:
        """Whether a request has begun that is not answered yet."""
        return self._reading is not None or self._task is not None or bool(self._queue)

    @property
    def waits_since(self) -> float | None:
        """Since when it has waited for its client to ask something; None: it is at work."""
        return None if self.is_busy else self._since

    def send(
        self,
        request: Request,
        pieces: Sequence[bytes],
        *,
        status: HTTPStatus = HTTPStatus.OK,
        content_type: bytes = _JSON,
        headers: bytes = b"",
    ) -> None:
        """Write an answer; the pieces are not copied on their way."""
        # Where no more is read, those that were read before still get their answers.
        goes_on = not self._discards or bool(self._queue)
        keeps = request.keep_alive and goes_on and not self._door.draining
        if not keeps:
            headers += _CLOSE
        elif request.http_1_0:
            headers += _KEEP
        head = answer_head(status, content_type, sum(map(len, pieces)), headers)
        self._write((head,) if request.method == b"HEAD" else (head, *pieces))
        self._give_back(request)
        self._finish()
        if not keeps:
            self._linger()

    def send_sentence(self, request: Request, refusal: Refusal) -> None:
        """An answer that is no answer: a status and one sentence."""
        text = refusal.sentence.encode(errors="replace") + b"\n"
        self.send(
            request,
            (text,),
            status=refusal.status,
            content_type=TEXT,
            headers=refusal.headers,
        )

    def finish_task(self) -> None:
        """The task has answered: whatever came meanwhile has its turn."""
        self._task = None
        if self._answering is not None:
            self._give_back(self._answering)  # also if the task broke
        self._resume_reading()
        self._advance()

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Hang up at once."""
        if self._transport is not None:
            self._transport.abort()

    def _advance(self) -> None:
        """Answer requests that have arrived, as long as nobody has to wait."""
        while self._queue and self._task is None and self._writes and self._transport is not None:
            request = self._queue.popleft()
            if request.refusal is not None:
                self._door.refuse(self, request, request.refusal)
                continue
            self._answering = request
            self._task = self._door.answer(self, request)
            if self._task is not None:
                self._transport.pause_reading()
        self._watch()

    def _resume_reading(self) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        if self._writes and self._task is None:
            self._transport.resume_reading()

    def _begin(self) -> None:
        self._owed += 1
        self._door.begin()

    def _finish(self) -> None:
        if self._owed:
            self._owed -= 1
            self._door.finish()

    def _forget(self) -> None:
        for request in (*self._queue, self._reading):
            if request is not None:
                self._give_back(request)
        self._queue.clear()
        self._reading = None
        self._body = _NONE
        while self._owed:
            self._finish()

    def _complete(self, request: Request) -> None:
        self._reading = None
        self._body = _NONE
        self._queue.append(request)

    def _refusal_to_hold(self, request: Request, count: int) -> Refusal | None:
        """Hold room for so many bytes, or say that there is none."""
        is_small = not self._head.is_large and not self._head.is_chunked
        if not self._door.room.take(count, is_small=is_small):
            return refusal_of(room.no_room(self._door.limits))
        request.held += count
        return None

    def _give_back(self, request: Request) -> None:
        """It has its answer, or gets none: its body is let go, and not only counted as if."""
        self._door.room.give_back(request.held)
        request.held = 0
        request.body = b""

    def _refuse_reading(self, refusal: Refusal) -> None:
        """Refuse the request whose body is arriving."""
        if self._reading is not None:
            self._reading.refusal = refusal
            self._give_back(self._reading)
            self._complete(self._reading)
            self._discards = True

    def _spoil(self, refusal: Refusal) -> None:
        """What arrives is no request: say so, and read no more."""
        if self._discards:
            return
        self._in_head = False
        if self._reading is None:
            self._reading = Request()
            self._begin()
        self._reading.refusal = refusal
        self._complete(self._reading)
        self._discards = True

    # Time.

    def _watch(self) -> None:
        """Note what the connection waits for now, and until when.

        A timer for each request would cost 10 us; the door looks at all connections now and then.
        """
        if self._discards:
            return
        before = self._waits_for
        reads = self._task is None  # if nothing is read meanwhile, nobody can be late
        if reads and self._reading is not None:
            self._waits_for, seconds = Wait.BODY, self._door.limits.body_timeout
        elif reads and self._in_head:
            self._waits_for, seconds = Wait.HEAD, self._door.limits.head_timeout
        else:
            self._waits_for, seconds = Wait.REQUEST, KEEP_ALIVE_SECONDS
        if self._waits_for is not before or self._waits_for is Wait.REQUEST:
            self._since = self._loop.time()
            self._deadline = self._since + seconds

    def check_time(self, now: float) -> None:
        """Give up on a client that is late."""
        if not self._writes and now >= self._stuck_until:
            self.abort()  # closing would wait for the client to read
        if now < self._deadline:
            return
        limits = self._door.limits
        if self._discards:
            self.close()
        elif self._waits_for is Wait.BODY:
            self._refuse_reading(refusal_of(bodies.late(limits)))
        elif self._waits_for is Wait.HEAD:
            self._spoil(late_head(limits))
        elif not self.is_busy:
            self.close()
        self._advance()

    def _linger(self) -> None:
        """Close when the client has read the answer, or after a while."""
        self._discards = True
        self._forget()  # a client sends again what came behind the last answer
        self._deadline = self._loop.time() + LINGER_SECONDS
        transport = self._transport
        if transport is None:
            return
        if transport.can_write_eof() and not self._half_closed:
            transport.write_eof()
        else:
            transport.close()

    def _discard(self, count: int) -> None:
        self._discarded += count
        if self._discarded > LINGER_BYTES and self._transport is not None:
            self._transport.pause_reading()

    def _write(self, pieces: Sequence[bytes]) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.writelines(pieces)
