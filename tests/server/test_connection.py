"""The scheduler's connections, byte by byte: what may come over one, and what goes back."""

import asyncio
import contextlib
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
import trustme
from prometheus_client import CollectorRegistry

from extender.config.schema import Config, Limits
from extender.match.cel.work import Finished, Work
from extender.metrics import Metrics
from extender.server import connection as server_connection
from extender.server import heads
from extender.server.heads import MAX_HEAD_BYTES
from extender.server.listeners import Server
from tests.admitting import certificate, trusting
from tests.builders import JSON, node_json, pod_json, taint
from tests.serving import (
    ANYWHERE,
    EXPECTING,
    Client,
    Connection,
    FixedSource,
    connected,
    eventually,
    head,
    names_request,
    served,
    whole,
)

PLAIN = node_json("plain")
REFUSING = node_json("gold", taint("sla", "950"))
# Never begun on the event loop: it takes too much work.
COSTLY = "lists.range(10000).all(i, i >= 0) && taint.key == 'sla'"
VERBS = ("filter", "prioritize", "preempt")


def body_of(*names: str, pod: JSON | None = None) -> bytes:
    return msgspec.json.encode(names_request(pod or pod_json(), *names))


BODY = body_of("plain")
# Held: a node that kube-scheduler knows and we do not is about to come.
HELD = body_of("gold", "new")
DEFERRED = body_of("gold", pod=pod_json(annotated_tolerations=[{"expression": COSTLY}]))


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


class LateNews(FixedSource):
    """A cluster of which news may be on its way, for as long as the test wants."""

    def __init__(self, *nodes: JSON) -> None:
        super().__init__(*nodes)
        self.awaited = asyncio.Event()
        self.arrives = asyncio.Event()

    async def changed(self, names: Collection[str], since: int, seconds: float) -> bool:
        assert names
        assert since >= 0
        self.awaited.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.arrives.wait()
        return False


PATIENT = Config(catch_up=30.0)


@contextlib.asynccontextmanager
async def stoppable(
    config: Config | None = None, source: FixedSource | None = None
) -> AsyncIterator[tuple[Client, contextlib.AsyncExitStack]]:
    """A server that goes down when the stack is closed, and a client that outlives it."""
    server = Server(
        replace(config or Config(), listen=ANYWHERE),
        source or FixedSource(PLAIN, REFUSING),
        Metrics(CollectorRegistry()),
    )
    async with aiohttp.ClientSession() as session, contextlib.AsyncExitStack() as stack:
        listening = await stack.enter_async_context(server.running())
        scheduler, ops = (f"{each.scheme}://{each.address}" for each in listening)
        yield Client(session, scheduler, ops), stack


@contextlib.asynccontextmanager
async def speaking(
    config: Config | None = None, *nodes: JSON
) -> AsyncIterator[tuple[Client, Connection]]:
    """A server, and a connection to it."""

    source = FixedSource(*(nodes or (PLAIN, REFUSING)))
    async with served(config, source) as client, connected(client.scheduler) as connection:
        yield client, connection


def names_of(reply_body: bytes) -> list[str]:
    found: list[str] = msgspec.json.decode(reply_body)["NodeNames"]
    return found


async def assert_answers(connection: Connection) -> None:
    await connection.send(whole("filter", BODY))
    reply = await connection.reply()
    assert (reply.status, names_of(reply.body)) == (200, ["plain"])


async def counted(client: Client, series: str) -> float:
    _, page = await client.get("/metrics")
    lines = (line.rsplit(" ", 1) for line in page.splitlines() if line.startswith(series))
    return sum(float(value) for _, value in lines)


FILTERED = 'leeway_requests_total{code="200",mode="names",verb="filter"}'


@pytest.fixture
def working(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, threading.Event]]:
    """When work on expressions has begun, and that it may go on."""
    begun, go_on = threading.Event(), threading.Event()
    do = Work.do

    def slow(work: Work, allowance: int, *more: Any) -> Sequence[Finished]:
        begun.set()
        assert go_on.wait(30)
        return do(work, allowance, *more)

    monkeypatch.setattr(Work, "do", slow)
    yield begun, go_on
    go_on.set()


# Requests, one after the other and all at once.


async def test_a_connection_carries_many_requests() -> None:
    async with speaking() as (_, connection):
        for _ in range(5):
            await assert_answers(connection)


async def test_requests_that_come_at_once_are_answered_in_their_order() -> None:
    bodies = [body_of("plain"), body_of("gold"), body_of("gold", "plain"), body_of()]
    async with speaking() as (_, connection):
        await connection.send(b"".join(whole("filter", body) for body in bodies))
        replies = [await connection.reply() for _ in bodies]

    assert [names_of(reply.body) for reply in replies] == [["plain"], [], ["plain"], []]
    assert {reply.status for reply in replies} == {200}


async def test_answers_and_refusals_keep_the_order_of_the_requests() -> None:
    get = b"GET /filter HTTP/1.1\r\nHost: extender\r\n\r\n"
    lost = b"GET /nowhere HTTP/1.1\r\nHost: extender\r\n\r\n"
    requests = whole("filter", BODY), get, whole("filter", b"{"), lost, whole("filter", BODY)
    async with speaking() as (_, connection):
        await connection.send(b"".join(requests))
        statuses = [(await connection.reply()).status for _ in requests]

    assert statuses == [200, 405, 400, 404, 200]


async def test_what_comes_while_a_call_is_deferred_waits_for_it(
    working: tuple[threading.Event, threading.Event],
) -> None:
    begun, go_on = working
    async with speaking() as (client, connection), connected(client.scheduler) as other:
        await connection.send(whole("filter", DEFERRED) + whole("filter", BODY))
        await asyncio.to_thread(begun.wait, 30)
        await connection.send(whole("filter", body_of("gold")))
        await assert_answers(other)
        assert await counted(client, FILTERED) == 1  # nobody works ahead
        go_on.set()
        replies = [await connection.reply() for _ in range(3)]

    assert [names_of(reply.body) for reply in replies] == [["gold"], ["plain"], []]


async def test_what_comes_while_an_answer_is_held_waits_for_it() -> None:
    source = LateNews(PLAIN, REFUSING)
    async with served(PATIENT, source) as client, connected(client.scheduler) as connection:
        await connection.send(whole("filter", HELD) + whole("filter", BODY))
        await source.awaited.wait()
        await connection.send(whole("prioritize", BODY))
        assert await counted(client, FILTERED) == 0
        source.arrives.set()
        replies = [await connection.reply() for _ in range(3)]

    assert [names_of(reply.body) for reply in replies[:2]] == [[], ["plain"]]
    assert replies[2].body == b"[]"


async def test_half_a_request_behind_a_held_one_has_all_its_time() -> None:
    source = LateNews(PLAIN, REFUSING)
    config = replace(PATIENT, limits=Limits(body_timeout=0.05, head_timeout=0.05))
    second = whole("filter", BODY)
    async with served(config, source) as client, connected(client.scheduler) as connection:
        await connection.send(whole("filter", HELD) + second[:-9])
        await source.awaited.wait()
        await connection.send(second[-9:])
        await asyncio.sleep(0.2)  # nobody reads it meanwhile, and that is none of its faults
        source.arrives.set()
        replies = [await connection.reply() for _ in range(2)]

    assert [reply.status for reply in replies] == [200, 200]
    assert names_of(replies[1].body) == ["plain"]


# Heads and bodies in pieces.


@pytest.mark.parametrize("size", [1, 3, 50])
async def test_a_request_may_come_in_any_pieces(size: int) -> None:
    request = whole("filter", BODY)
    async with speaking() as (_, connection):
        for _ in range(2):
            for i in range(0, len(request), size):
                await connection.send(request[i : i + size])
                await asyncio.sleep(0)
            reply = await connection.reply()

            assert (reply.status, names_of(reply.body)) == (200, ["plain"])


@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_a_body_may_come_in_chunks(size: int) -> None:
    pieces = [BODY[i : i + size] for i in range(0, len(BODY), size)]
    trailer = b"0\r\nX-Trailer: yes\r\n\r\n"
    async with speaking() as (_, connection):
        await connection.send(head("filter", "Transfer-Encoding: chunked"))
        for piece in pieces:
            await connection.send(chunk(piece))
        await connection.send(trailer)
        reply = await connection.reply()
        await assert_answers(connection)

    assert (reply.status, names_of(reply.body)) == (200, ["plain"])


@pytest.mark.parametrize("large", [1, 1 << 20])
@pytest.mark.parametrize("framing", ["length", "chunks"])
async def test_a_large_body_of_whole_nodes_is_read_while_it_arrives(
    monkeypatch: pytest.MonkeyPatch, large: int, framing: str
) -> None:
    monkeypatch.setattr(heads, "LARGE_BODY", large)
    items = b",".join(b'{"metadata":{"name":"n%d"},"x":"%s"}' % (i, b"y" * 999) for i in range(200))
    body = b'{"Pod":{},"Nodes":{"metadata":{},"items":[%b]},"NodeNames":null}' % items
    async with speaking() as (_, connection):
        for _ in range(3):
            if framing == "length":
                await connection.send(whole("filter", body))
            else:
                await connection.send(head("filter", "Transfer-Encoding: chunked"))
                await connection.send(chunk(body[:1_000]) + chunk(body[1_000:]) + chunk(b""))
            reply = await connection.reply()

            assert reply.body.startswith(b'{"Nodes":{"items":[%b]},' % items)


@pytest.mark.parametrize("size", [60, 500, 1_000_000])
async def test_what_comes_behind_a_large_body_is_another_request(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(heads, "LARGE_BODY", 1)
    request = whole("filter", BODY) + whole("prioritize", BODY) + whole("nothing", b"{}")
    async with speaking() as (_, connection):
        for i in range(0, len(request), size):
            await connection.send(request[i : i + size])
            await asyncio.sleep(0)
        replies = [await connection.reply() for _ in range(3)]

    assert [reply.status for reply in replies] == [200, 200, 404]
    assert names_of(replies[0].body) == ["plain"]


async def test_a_client_that_expects_it_is_told_to_go_on() -> None:
    async with speaking() as (_, connection):
        await connection.send(head("filter", f"Content-Length: {len(BODY)}", EXPECTING))
        await connection.begun()
        await connection.send(BODY)
        reply = await connection.reply()

    assert names_of(reply.body) == ["plain"]


async def test_a_client_behind_another_of_its_requests_is_not_told_to_go_on_too_early(
    working: tuple[threading.Event, threading.Event],
) -> None:
    """What stands before an answer would be read as the answer."""
    begun, go_on = working
    async with speaking() as (_, connection):
        await connection.send(whole("filter", DEFERRED))
        await asyncio.to_thread(begun.wait, 30)
        await connection.send(head("filter", f"Content-Length: {len(BODY)}", EXPECTING) + BODY)
        go_on.set()
        first = await connection.reply()
        line = await connection.reader.readuntil(b"\r\n\r\n")

    assert names_of(first.body) == ["gold"]
    assert line.startswith((b"HTTP/1.1 100 ", b"HTTP/1.1 200 "))


async def test_nothing_else_can_be_expected() -> None:
    async with speaking() as (client, connection):
        await connection.send(head("filter", "Content-Length: 100", "Expect: a-miracle"))
        reply = await connection.reply()
        assert await connection.closed()
        async with connected(client.scheduler) as other:
            await assert_answers(other)

    assert (reply.status, reply.body) == (417, b"only 100-continue can be expected\n")


# Versions, methods, paths.


def old_style(*headers: str) -> bytes:
    lines = ("POST /filter HTTP/1.0", f"Content-Length: {len(BODY)}", *headers, "", "")
    return "\r\n".join(lines).encode() + BODY


async def test_http_1_0_is_answered_and_closed() -> None:
    async with speaking() as (_, connection):
        await connection.send(old_style())
        reply = await connection.reply()
        closed = await connection.closed()

    assert (reply.status, names_of(reply.body)) == (200, ["plain"])
    assert reply.headers["connection"] == "close"
    assert closed


async def test_http_1_0_is_kept_alive_where_it_asks_for_it() -> None:
    async with speaking() as (_, connection):
        for _ in range(2):
            await connection.send(old_style("Connection: keep-alive"))
            reply = await connection.reply()

            assert (reply.status, reply.headers["connection"]) == (200, "keep-alive")


async def test_a_client_that_wants_to_close_is_closed() -> None:
    async with speaking() as (_, connection):
        await connection.send(
            head("filter", f"Content-Length: {len(BODY)}", "Connection: close") + BODY
        )
        reply = await connection.reply()
        closed = await connection.closed()

    assert (reply.status, reply.headers["connection"]) == (200, "close")
    assert closed


async def test_what_comes_behind_the_last_request_is_not_answered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    last = head("filter", f"Content-Length: {len(BODY)}", "Connection: close") + BODY
    async with speaking() as (client, connection):
        await connection.send(last + whole("filter", BODY))
        reply = await connection.reply()
        closed = await connection.closed()
        async with connected(client.scheduler) as other:
            await assert_answers(other)

    assert reply.status == 200
    assert closed
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("method", ["HEAD", "GET", "PUT", "DELETE", "OPTIONS", "PATCH"])
@pytest.mark.parametrize("verb", VERBS)
async def test_a_verb_takes_only_post(verb: str, method: str) -> None:
    request = f"{method} /{verb} HTTP/1.1\r\nHost: extender\r\n\r\n".encode()
    async with speaking() as (_, connection):
        await connection.send(request)
        answer = (await connection.reader.readuntil(b"\r\n\r\n")).decode()
        if method != "HEAD":  # which has no body, whatever length it tells
            assert await connection.reader.readline() == b"405: Method Not Allowed\n"
        await assert_answers(connection)

    assert answer.startswith("HTTP/1.1 405 Method Not Allowed\r\n")
    assert "\r\nAllow: POST\r\n" in answer


@pytest.mark.parametrize("path", ["/", "/filter/", "/Filter", "/metrics", "/livez", "/%66ilter"])
async def test_any_other_path_is_not_found(path: str) -> None:
    async with speaking() as (_, connection):
        await connection.send(f"GET {path} HTTP/1.1\r\nHost: extender\r\n\r\n".encode())
        reply = await connection.reply()
        await assert_answers(connection)

    assert (reply.status, reply.body) == (404, b"404: Not Found\n")


async def test_a_body_for_a_path_that_is_not_found_is_no_request() -> None:
    async with speaking() as (client, connection):
        await connection.send(whole("nowhere", whole("filter", BODY)))
        reply = await connection.reply()
        closed = await connection.closed()

        assert (reply.status, reply.headers["connection"], closed) == (404, "close", True)
        assert await counted(client, FILTERED) == 0


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        pytest.param(b"\x16\x03\x01\x02\x00\x01", b"the request is not HTTP: ", id="TLS"),
        pytest.param(b"filter\r\n\r\n", b"the request is not HTTP: ", id="one word"),
        pytest.param(b"POST /filter\r\n\r\n", b"the request is not HTTP: ", id="no version"),
        pytest.param(
            b"POST /filter HTTP/1.1\r\nHost extender\r\n\r\n",
            b"the request is not HTTP: ",
            id="a header without a colon",
        ),
        pytest.param(
            b"POST /filter HTTP/1.1\r\nContent-Length: ten\r\n\r\n",
            b"the request is not HTTP: ",
            id="a length in words",
        ),
        pytest.param(
            b"POST /filter HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            b"the request is not HTTP: ",
            id="two lengths",
        ),
        pytest.param(
            b"POST /filter HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"the request is not HTTP: ",
            id="a length and chunks",
        ),
        pytest.param(
            b"POST /filter HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
            b"the request is not HTTP: ",
            id="a length that no machine can hold",
        ),
        pytest.param(
            head("filter", "Transfer-Encoding: chunked") + b"zz\r\n",
            b"the request is not HTTP: ",
            id="a chunk of no length",
        ),
        pytest.param(
            head("filter", "Upgrade: h2c", "Connection: Upgrade"),
            b"this is HTTP/1.1, and no other protocol",
            id="an upgrade",
        ),
        pytest.param(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"the request is not HTTP: ", id="HTTP/2"
        ),
    ],
)
async def test_what_is_not_http_gets_one_sentence(
    raw: bytes, says: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with speaking() as (client, connection):
        await connection.send(raw)
        reply = await connection.reply()
        closed = await connection.closed()
        async with connected(client.scheduler) as other:
            await assert_answers(other)

    assert (reply.status, reply.headers["connection"]) == (400, "close")
    assert reply.body.startswith(says)
    assert reply.body.count(b"\n") == 1
    assert closed
    assert "Traceback" not in caplog.text
    assert not any(record.exc_info for record in caplog.records)


async def test_a_good_request_before_a_bad_one_is_answered() -> None:
    async with speaking() as (_, connection):
        await connection.send(whole("filter", BODY) + b"nonsense\r\n\r\n")
        replies = [await connection.reply() for _ in range(2)]
        closed = await connection.closed()

    assert [reply.status for reply in replies] == [200, 400]
    assert "connection" not in replies[0].headers or replies[0].headers["connection"] == "close"
    assert closed


# Limits.


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(b"POST /filter HTTP/1.1\r\nX-Long: ", id="a long header"),
        pytest.param(b"POST /filter?", id="a long path"),
    ],
)
async def test_a_head_over_16_kib_is_refused(start: bytes) -> None:
    async with speaking() as (client, connection):
        await connection.send(start)
        for _ in range(MAX_HEAD_BYTES // 1_000 + 2):
            await connection.send(b"x" * 1_000)
        reply = await connection.reply()
        async with connected(client.scheduler) as other:
            await assert_answers(other)

    assert (reply.status, reply.headers["connection"]) == (431, "close")
    assert reply.body == b"the head is larger than 16384 bytes\n"


async def test_a_head_over_16_kib_is_refused_though_it_comes_at_once() -> None:
    long = f"X-Long: {'x' * 2 * MAX_HEAD_BYTES}"
    async with speaking() as (_, connection):
        await connection.send(head("filter", f"Content-Length: {len(BODY)}", long) + BODY)
        reply = await connection.reply()

    assert reply.status == 431


async def test_the_head_behind_a_long_body_is_not_taken_for_long() -> None:
    long = whole("filter", BODY + b" " * 2 * MAX_HEAD_BYTES)
    second = whole("filter", BODY)
    async with speaking() as (_, connection):
        await connection.send(long + second[:20])
        first = await connection.reply()
        await connection.send(second[20:])
        reply = await connection.reply()

    assert (first.status, reply.status) == (200, 200)


SMALL = Config(limits=Limits(request_bytes=len(BODY)))
TOO_LARGE = f"the body is larger than limits.requestBytes of {len(BODY)}\n".encode()


async def test_a_body_of_exactly_the_limit_is_read() -> None:
    async with speaking(SMALL) as (_, connection):
        await assert_answers(connection)


async def test_a_declared_length_over_the_limit_is_refused_before_the_body_comes() -> None:
    async with speaking(SMALL) as (client, connection):
        await connection.send(head("filter", f"Content-Length: {len(BODY) + 1}"))
        reply = await connection.reply()
        assert await counted(client, 'leeway_requests_total{code="413"') == 1

    assert (reply.status, reply.body) == (413, TOO_LARGE)
    assert reply.headers["connection"] == "close"


async def test_a_client_that_asks_first_is_not_told_to_send_too_much() -> None:
    async with speaking(SMALL) as (_, connection):
        await connection.send(head("filter", f"Content-Length: {len(BODY) + 1}", EXPECTING))
        reply = await connection.reply()

    assert reply.status == 413


async def test_chunks_over_the_limit_are_refused_as_they_arrive() -> None:
    async with speaking(SMALL) as (_, connection):
        await connection.send(head("filter", "Transfer-Encoding: chunked") + chunk(BODY))
        await connection.send(chunk(b" "))  # and no end
        reply = await connection.reply()

    assert (reply.status, reply.body) == (413, TOO_LARGE)
    assert reply.headers["connection"] == "close"


async def test_chunks_over_the_limit_are_refused_when_all_came_at_once() -> None:
    chunks = chunk(BODY) + chunk(b" ") + chunk(b"")
    async with speaking(SMALL) as (client, connection):
        await connection.send(head("filter", "Transfer-Encoding: chunked") + chunks)
        reply = await connection.reply()
        assert await connection.closed()
        async with connected(client.scheduler) as other:
            await assert_answers(other)

    assert (reply.status, reply.body) == (413, TOO_LARGE)


@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "TLS"])
async def test_the_answer_arrives_though_the_client_goes_on_sending(
    tmp_path: Path, *, encrypted: bool
) -> None:
    authority = trustme.CA()
    files = certificate(tmp_path, authority) if encrypted else None
    tls = trusting(authority) if encrypted else None
    config = replace(SMALL, scheduler_tls=files)
    async with (
        served(config, FixedSource(PLAIN)) as client,
        connected(client.scheduler, tls) as connection,
    ):
        await connection.send(head("filter", f"Content-Length: {4 << 20}"))
        for _ in range(4):
            with contextlib.suppress(ConnectionError):
                await connection.send(b" " * (1 << 20))
        reply = await connection.reply()

    assert (reply.status, reply.headers["connection"]) == (413, "close")


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param(("Content-Encoding: gzip",), id="gzip"),
        pytest.param(("content-encoding: GZIP",), id="whatever the letter case"),
        pytest.param(("Content-Encoding: identity, gzip",), id="one of several"),
        pytest.param(("Content-Encoding: identity", "Content-Encoding: gzip"), id="on two lines"),
        pytest.param(("Content-Encoding: \xff",), id="bytes that are no text"),
    ],
)
async def test_an_encoded_body_is_refused_unread(headers: tuple[str, ...]) -> None:
    lines = ("POST /filter HTTP/1.1", "Content-Length: 1000", *headers, "", "")
    async with speaking() as (_, connection):
        await connection.send("\r\n".join(lines).encode("latin-1"))
        reply = await connection.reply()

    assert reply.status == 415
    assert reply.body.startswith(b"Content-Encoding ")
    assert reply.body.endswith(b" is not supported: send the body as it is\n")


@pytest.mark.parametrize("encoding", ["identity", "Identity", "", "identity,"])
async def test_identity_is_no_encoding(encoding: str) -> None:
    async with speaking() as (_, connection):
        length = f"Content-Length: {len(BODY)}"
        await connection.send(head("filter", length, f"Content-Encoding: {encoding}") + BODY)
        reply = await connection.reply()

    assert reply.status == 200


# Time.


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(head("filter", "Content-Length: 100") + b"{", id="a declared length"),
        pytest.param(
            head("filter", "Transfer-Encoding: chunked") + chunk(b"{"), id="chunks without an end"
        ),
    ],
)
async def test_a_body_that_does_not_arrive_in_time(start: bytes) -> None:
    async with speaking(Config(limits=Limits(body_timeout=0.05))) as (client, connection):
        await connection.send(start)
        reply = await connection.reply()
        async with connected(client.scheduler) as other:
            await assert_answers(other)

    assert (reply.status, reply.headers["connection"]) == (408, "close")
    assert reply.body == b"the body did not arrive within limits.bodyTimeout of 0.05 s\n"


@pytest.mark.parametrize("start", [b"P", b"POST /filter HTTP/1.1\r\nHost: e", b"\r\nPOST"])
@pytest.mark.parametrize("before", [0, 1], ids=["the first request", "a later one"])
async def test_a_head_that_does_not_arrive_in_time(start: bytes, before: int) -> None:
    async with speaking(Config(limits=Limits(head_timeout=0.05))) as (client, connection):
        for _ in range(before):
            await assert_answers(connection)
        await connection.send(start)
        reply = await connection.reply()
        closed = await connection.closed()
        async with connected(client.scheduler) as other:
            await assert_answers(other)

    assert (reply.status, closed) == (408, True)
    assert reply.body == b"the head did not arrive within limits.headTimeout of 0.05 s\n"


async def test_a_head_that_drips_does_not_get_more_time() -> None:
    async with speaking(Config(limits=Limits(head_timeout=0.1))) as (_, connection):
        answer = asyncio.create_task(connection.reply())
        for byte in head("filter", f"X-Slow: {'x' * 200}"):
            if answer.done():
                break
            with contextlib.suppress(ConnectionError):
                await connection.send(bytes([byte]))
            await asyncio.sleep(0.005)

        assert (await answer).status == 408


async def test_idle_connections_outlive_both_time_outs() -> None:
    limits = Limits(head_timeout=0.02, body_timeout=0.02)
    async with speaking(Config(limits=limits)) as (_, connection):
        await asyncio.sleep(0.1)
        await assert_answers(connection)
        await asyncio.sleep(0.1)
        await assert_answers(connection)


def test_idle_connections_outlive_those_of_kube_schedulers_client() -> None:
    assert server_connection.KEEP_ALIVE_SECONDS > 90


@pytest.mark.parametrize("requests", [0, 2])
async def test_a_connection_is_closed_when_it_was_idle_for_long(
    monkeypatch: pytest.MonkeyPatch, requests: int
) -> None:
    monkeypatch.setattr(server_connection, "KEEP_ALIVE_SECONDS", 0.2)
    async with speaking() as (_, connection):
        for _ in range(requests):
            await assert_answers(connection)

        assert await connection.closed()


async def test_a_connection_is_not_idle_while_its_answer_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_connection, "KEEP_ALIVE_SECONDS", 0.02)
    source = LateNews(REFUSING)
    async with served(PATIENT, source) as client, connected(client.scheduler) as connection:
        await connection.send(whole("filter", HELD))
        await source.awaited.wait()
        await asyncio.sleep(0.1)
        source.arrives.set()

        assert (await connection.reply()).status == 200


# Clients that hang up, wholly or by half.


async def test_a_client_that_has_closed_its_half_gets_its_answers() -> None:
    async with speaking() as (_, connection):
        await connection.send(whole("filter", BODY) * 3)
        connection.writer.write_eof()
        replies = [await connection.reply() for _ in range(3)]
        closed = await connection.closed()

    assert [reply.status for reply in replies] == [200] * 3
    assert closed


async def test_a_client_that_has_closed_its_half_gets_a_held_answer() -> None:
    source = LateNews(REFUSING)
    async with served(PATIENT, source) as client, connected(client.scheduler) as connection:
        await connection.send(whole("filter", HELD))
        connection.writer.write_eof()
        await source.awaited.wait()
        source.arrives.set()
        reply = await connection.reply()
        closed = await connection.closed()

    assert (reply.status, names_of(reply.body)) == (200, [])
    assert closed


async def test_a_client_that_closes_its_half_in_the_middle_of_a_body_is_told() -> None:
    async with speaking() as (_, connection):
        await connection.send(head("filter", "Content-Length: 100") + b"{")
        connection.writer.write_eof()
        reply = await connection.reply()
        closed = await connection.closed()

    assert (reply.status, reply.body) == (400, b"the body broke off: the client closed\n")
    assert closed


@pytest.mark.parametrize("sent", [b"", b"POST /fil"], ids=["nothing", "half a head"])
async def test_a_client_that_closes_its_half_before_a_request_is_closed(sent: bytes) -> None:
    async with speaking() as (_, connection):
        await connection.send(sent)
        connection.writer.write_eof()

        assert await connection.closed()


def hang_up(connection: Connection) -> None:
    """As a client that crashes: with a reset."""
    sock: socket.socket = connection.writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    connection.writer.transport.abort()


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(head("filter", "Content-Length: 9", EXPECTING) + b"{", id="of a length"),
        pytest.param(
            head("filter", "Transfer-Encoding: chunked", EXPECTING) + chunk(b"{"), id="of chunks"
        ),
    ],
)
async def test_nothing_is_owed_to_a_client_that_disappears_in_the_middle_of_a_body(
    start: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with stoppable() as (client, stack):
        async with connected(client.scheduler) as connection:
            await connection.send(start)
            await connection.begun()
            hang_up(connection)
        await stack.aclose()  # which waits for every answer that is owed

    assert "gave up" not in caplog.text
    assert "Traceback" not in caplog.text


async def test_nothing_is_owed_to_a_client_that_disappears_while_its_answer_is_held(
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = LateNews(PLAIN, REFUSING)
    async with stoppable(PATIENT, source) as (client, stack):
        async with connected(client.scheduler) as connection:
            await connection.send(whole("filter", HELD) + whole("filter", BODY))
            await source.awaited.wait()
            hang_up(connection)
        async with connected(client.scheduler) as other:
            await assert_answers(other)
        source.arrives.set()
        await stack.aclose()

    assert "gave up" not in caplog.text
    assert "Traceback" not in caplog.text
    assert not any(record.exc_info for record in caplog.records)


async def test_nothing_is_owed_to_a_client_that_disappears_while_its_call_is_deferred(
    working: tuple[threading.Event, threading.Event], caplog: pytest.LogCaptureFixture
) -> None:
    begun, go_on = working
    async with stoppable() as (client, stack):
        async with connected(client.scheduler) as connection:
            await connection.send(whole("filter", DEFERRED) + whole("filter", BODY))
            await asyncio.to_thread(begun.wait, 30)
            hang_up(connection)
        async with connected(client.scheduler) as other:
            await assert_answers(other)
        go_on.set()
        await stack.aclose()

    assert "gave up" not in caplog.text
    assert not any(record.exc_info for record in caplog.records)


async def test_a_client_that_does_not_read_is_not_worked_for_ahead() -> None:
    many = [f"n{i:05}" for i in range(5_000)]
    nodes = [node_json(name) for name in many]
    request, calls = whole("filter", body_of(*many)), 300
    async with served(source=FixedSource(*nodes)) as client, connected(client.scheduler) as slow:
        sending = asyncio.create_task(slow.send(request * calls))
        before = -1.0
        while before != (before := await counted(client, FILTERED)):  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.2)
        assert before < calls
        assert not sending.done()  # nor is more read than can be answered
        replies = [await slow.reply() for _ in range(calls)]
        await sending

    assert {len(names_of(reply.body)) for reply in replies} == {len(many)}


# Going down.


async def unready(client: Client) -> bool:
    return (await client.get("/readyz"))[0] == 503


async def test_going_down_closes_what_is_idle_and_finishes_what_has_begun() -> None:
    source = LateNews(PLAIN, REFUSING)
    async with (
        stoppable(PATIENT, source) as (client, stack),
        connected(client.scheduler) as idle,
        connected(client.scheduler) as new,
        connected(client.scheduler) as sending,
        connected(client.scheduler) as held,
    ):
        await assert_answers(idle)
        await sending.send(head("filter", f"Content-Length: {len(BODY)}", EXPECTING))
        await sending.begun()
        await held.send(whole("filter", HELD))
        await source.awaited.wait()
        down = asyncio.create_task(stack.aclose())
        await eventually(lambda: unready(client))
        assert await idle.closed()
        assert await new.closed()
        assert not down.done()
        await sending.send(BODY)
        sent = await sending.reply()
        source.arrives.set()
        replies = [sent, await held.reply()]
        closed = [await sending.closed(), await held.closed()]
        await down

    assert [(reply.status, reply.headers["connection"]) for reply in replies] == [
        (200, "close"),
        (200, "close"),
    ]
    assert [names_of(reply.body) for reply in replies] == [["plain"], []]
    assert closed == [True, True]


async def test_going_down_the_first_of_many_answers_is_the_last(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It says so, and what comes behind it may be sent again elsewhere."""
    source = LateNews(PLAIN, REFUSING)
    async with (
        stoppable(PATIENT, source) as (client, stack),
        connected(client.scheduler) as busy,
    ):
        await busy.send(whole("filter", HELD) + whole("filter", BODY) * 2)
        await source.awaited.wait()
        down = asyncio.create_task(stack.aclose())
        await eventually(lambda: unready(client))
        source.arrives.set()
        reply = await busy.reply()
        closed = await busy.closed()
        await down

    assert (reply.status, reply.headers["connection"], closed) == (200, "close", True)
    assert not any(record.exc_info for record in caplog.records)
    assert "gave up" not in caplog.text


# TLS.


@contextlib.asynccontextmanager
async def encrypted(
    folder: Path, config: Config | None = None, source: FixedSource | None = None
) -> AsyncIterator[tuple[Client, ssl.SSLContext]]:
    """A server that speaks TLS, and what its clients have to trust."""
    authority = trustme.CA()
    config = replace(config or Config(), scheduler_tls=certificate(folder, authority))
    async with served(config, source or FixedSource(PLAIN, REFUSING)) as client:
        yield client, trusting(authority)


async def test_requests_at_once_over_tls(tmp_path: Path) -> None:
    async with (
        encrypted(tmp_path) as (client, tls),
        connected(client.scheduler, tls) as connection,
    ):
        await connection.send(whole("filter", BODY) * 3)
        replies = [await connection.reply() for _ in range(3)]

    assert [names_of(reply.body) for reply in replies] == [["plain"]] * 3


async def test_refusals_over_tls_arrive(tmp_path: Path) -> None:
    limits = Config(limits=Limits(body_timeout=0.05))
    async with encrypted(tmp_path, limits) as (client, tls):
        replies = []
        for start in (
            head("filter", "Content-Length: 100") + b"{",
            head("filter", "Content-Length: 9", "Content-Encoding: gzip"),
            b"nonsense\r\n\r\n",
        ):
            async with connected(client.scheduler, tls) as connection:
                await connection.send(start)
                replies.append(await connection.reply())
                assert await connection.closed()

    assert [reply.status for reply in replies] == [408, 415, 400]


async def test_a_client_that_disappears_over_tls_is_owed_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = LateNews(PLAIN, REFUSING)
    async with encrypted(tmp_path, PATIENT, source) as (client, tls):
        async with connected(client.scheduler, tls) as connection:
            await connection.send(whole("filter", HELD))
            await source.awaited.wait()
            hang_up(connection)
        source.arrives.set()
        async with connected(client.scheduler, tls) as other:
            await assert_answers(other)

    assert "gave up" not in caplog.text
    assert not any(record.exc_info for record in caplog.records)
