"""The limits of a body: its size, its time, its encoding."""

import asyncio
import gzip
import time
import zlib
from unittest.mock import Mock

import msgspec
import pytest
from aiohttp import StreamReader, web
from aiohttp.test_utils import make_mocked_request

from extender.config.schema import Config, Limits
from extender.errors import RequestTimeoutError
from extender.server import bodies, heads
from extender.server.room import Held, Share
from tests.builders import node_json, pod_json
from tests.serving import (
    EXPECTING,
    Client,
    FixedSource,
    connected,
    eventually,
    head,
    names_request,
    served,
)

PLAIN = node_json("plain")
BODY = msgspec.json.encode(names_request(pod_json(), "plain"))
VERBS = ("filter", "prioritize", "preempt")
SMALL = Config(limits=Limits(request_bytes=len(BODY)))
TOO_LARGE = f"the body is larger than limits.requestBytes of {len(BODY)}\n".encode()


@pytest.fixture(autouse=True, params=[heads.LARGE_BODY, 1], ids=["small", "large"])
def _large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What counts as large, and is looked at while it arrives."""
    monkeypatch.setattr(heads, "LARGE_BODY", request.param)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


async def assert_serves(client: Client) -> None:
    status, text = await client.post("filter", BODY)
    assert status == 200
    assert msgspec.json.decode(text)["NodeNames"] == ["plain"]


async def test_a_body_of_exactly_the_limit_is_read() -> None:
    async with served(SMALL, FixedSource(PLAIN)) as client:
        status, _ = await client.post("filter", BODY)

    assert status == 200


async def test_a_body_in_chunks_is_read_whole() -> None:
    async with (
        served(SMALL, FixedSource(PLAIN)) as client,
        connected(client.scheduler) as client_side,
    ):
        await client_side.send(head("filter", "Transfer-Encoding: chunked"))
        for i in range(0, len(BODY), 7):
            await client_side.send(chunk(BODY[i : i + 7]))
        await client_side.send(chunk(b""))
        reply = await client_side.reply()

    assert reply.status == 200
    assert msgspec.json.decode(reply.body)["NodeNames"] == ["plain"]


@pytest.mark.parametrize("verb", VERBS)
async def test_a_declared_length_over_the_limit_is_refused_before_the_body_comes(
    verb: str,
) -> None:
    async with served(SMALL, FixedSource(PLAIN)) as client:
        async with connected(client.scheduler) as client_side:
            await client_side.send(head(verb, f"Content-Length: {len(BODY) + 1}"))
            reply = await client_side.reply()
        await assert_serves(client)

    assert (reply.status, reply.body) == (413, TOO_LARGE)


@pytest.mark.parametrize("verb", VERBS)
async def test_chunks_over_the_limit_are_refused_while_they_arrive(verb: str) -> None:
    async with served(SMALL, FixedSource(PLAIN)) as client:
        async with connected(client.scheduler) as client_side:
            await client_side.send(head(verb, "Transfer-Encoding: chunked") + chunk(BODY))
            await client_side.send(chunk(b" "))  # and no end
            reply = await client_side.reply()
        await assert_serves(client)

    assert (reply.status, reply.body) == (413, TOO_LARGE)


@pytest.mark.parametrize("verb", VERBS)
async def test_chunks_over_the_limit_are_refused_when_all_came_at_once(verb: str) -> None:
    chunks = chunk(BODY) + chunk(b" ") + chunk(b"")
    async with (
        served(SMALL, FixedSource(PLAIN)) as client,
        connected(client.scheduler) as client_side,
    ):
        await client_side.send(head(verb, "Transfer-Encoding: chunked") + chunks)
        reply = await client_side.reply()
        closed = await client_side.closed()

    assert (reply.status, reply.body) == (413, TOO_LARGE)
    assert closed


async def test_the_answer_arrives_though_the_client_goes_on_sending() -> None:
    async with (
        served(SMALL, FixedSource(PLAIN)) as client,
        connected(client.scheduler) as client_side,
    ):
        await client_side.send(head("filter", f"Content-Length: {1 << 20}"))
        await client_side.send(b" " * (1 << 20))
        reply = await client_side.reply()
        closed = await client_side.closed()

    assert reply.status == 413
    assert reply.headers["connection"] == "close"
    assert closed


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param(("Content-Encoding: gzip",), id="gzip"),
        pytest.param(("Content-Encoding: deflate",), id="deflate"),
        pytest.param(("Content-Encoding: br",), id="brotli"),
        pytest.param(("content-encoding: GZIP",), id="whatever the letter case"),
        pytest.param(("Content-Encoding: identity, gzip",), id="one of several"),
        pytest.param(("Content-Encoding: identity", "Content-Encoding: gzip"), id="on two lines"),
        pytest.param(("Content-Encoding: nonsense",), id="one that does not exist"),
    ],
)
@pytest.mark.parametrize("verb", VERBS)
async def test_an_encoded_body_is_refused_unread(verb: str, headers: tuple[str, ...]) -> None:
    config = Config(limits=Limits(body_timeout=1.0))
    async with served(config, FixedSource(PLAIN)) as client:
        async with connected(client.scheduler) as client_side:
            await client_side.send(head(verb, "Content-Length: 1000", *headers))
            reply = await client_side.reply()
        await assert_serves(client)

    assert reply.status == 415
    assert reply.body.startswith(b"Content-Encoding ")
    assert reply.body.count(b"\n") == 1


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        pytest.param("gzip", gzip.compress(BODY), id="gzip"),
        pytest.param("deflate", zlib.compress(BODY), id="deflate"),
    ],
)
async def test_a_compressed_body_that_came_whole_is_not_unpacked(
    encoding: str, body: bytes
) -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        status, text = await client.post("filter", body, headers={"Content-Encoding": encoding})

    assert status == 415
    assert text == f"Content-Encoding '{encoding}' is not supported: send the body as it is\n"


async def test_identity_is_no_encoding() -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        status, _ = await client.post("filter", BODY, headers={"Content-Encoding": "Identity"})

    assert status == 200


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "start",
    [
        pytest.param(head("{verb}", "Content-Length: 100") + b"{", id="a declared length"),
        pytest.param(
            head("{verb}", "Transfer-Encoding: chunked") + chunk(b"{"), id="chunks without an end"
        ),
    ],
)
async def test_a_body_that_does_not_arrive_in_time(verb: str, start: bytes) -> None:
    config = Config(limits=Limits(body_timeout=0.05))
    async with served(config, FixedSource(PLAIN)) as client:
        async with connected(client.scheduler) as client_side:
            await client_side.send(start.replace(b"{verb}", verb.encode()))
            reply = await client_side.reply()
        await assert_serves(client)

    assert reply.status == 408
    assert reply.body == b"the body did not arrive within limits.bodyTimeout of 0.05 s\n"
    assert reply.headers["connection"] == "close"


def asking(arriving: StreamReader) -> web.Request:
    request = make_mocked_request("POST", "/filter", payload=arriving)
    request[bodies.HELD] = Held(Share(1_000))
    return request


async def test_who_reads_too_long_is_not_left_cancelled() -> None:
    arriving = StreamReader(Mock(), 1_024, loop=asyncio.get_running_loop())
    with pytest.raises(RequestTimeoutError):
        await bodies.read(asking(arriving), Limits(body_timeout=0.01))

    task = asyncio.current_task()
    assert task is not None
    assert not task.cancelling()
    await asyncio.sleep(0)


@pytest.mark.parametrize("late", [False, True])
async def test_who_is_told_to_stop_stops(*, late: bool) -> None:
    loop = asyncio.get_running_loop()
    arriving = StreamReader(Mock(), 1_024, loop=loop)
    limits = Limits(body_timeout=0.001 if late else 60.0)
    reading = asyncio.create_task(bodies.read(asking(arriving), limits))
    await asyncio.sleep(0)
    loop.call_later(0.001, reading.cancel)
    time.sleep(0.003)  # noqa: ASYNC251 - so that the time is up in the same turn of the loop

    with pytest.raises(asyncio.CancelledError):
        await reading


async def test_a_deadline_ends_with_the_wait() -> None:
    loop = asyncio.get_running_loop()
    arriving = StreamReader(Mock(), 1_024, loop=loop)
    loop.call_soon(arriving.feed_data, b"{}")
    loop.call_soon(arriving.feed_eof)

    assert await bodies.read(asking(arriving), Limits(body_timeout=0.01)) == b"{}"
    await asyncio.sleep(0.02)


async def test_a_slow_body_does_not_hold_up_others() -> None:
    async with (
        served(source=FixedSource(PLAIN)) as client,
        connected(client.scheduler) as slow,
    ):
        await slow.send(head("filter", f"Content-Length: {len(BODY)}") + BODY[:10])
        for _ in range(3):
            await assert_serves(client)
        await slow.send(BODY[10:])
        reply = await slow.reply()

    assert reply.status == 200


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(
            head("filter", "Content-Length: 100", EXPECTING) + b"{",
            id="in the middle of its length",
        ),
        pytest.param(
            head("filter", "Transfer-Encoding: chunked", EXPECTING) + chunk(b"{"),
            id="between chunks",
        ),
    ],
)
async def test_a_client_that_goes_away_in_the_middle(start: bytes) -> None:
    async with served(source=FixedSource(PLAIN)) as client:

        async def counted() -> bool:
            _, page = await client.get("/metrics")
            return 'leeway_requests_total{code="400"' in page

        async with connected(client.scheduler) as client_side:
            await client_side.send(start)
            await client_side.begun()
        await assert_serves(client)
        # It is over and counted: nobody waits for the rest.
        await eventually(counted)


async def test_broken_chunks_are_a_bad_request() -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        async with connected(client.scheduler) as client_side:
            await client_side.send(head("filter", "Transfer-Encoding: chunked") + chunk(b"{"))
            await client_side.send(b"zz\r\n")
            reply = await client_side.reply()
        await assert_serves(client)

    assert reply.status == 400
