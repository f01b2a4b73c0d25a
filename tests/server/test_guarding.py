"""Heads, frames, halves and time on every listener, byte by byte."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest
import uvloop
from aiohttp import web

from extender.config.schema import Config, Limits
from extender.server import connection as server_connection
from extender.server import guarding
from extender.server.connection import Connection as SchedulerConnection
from extender.server.guarding import Guarded
from extender.server.heads import MAX_HEAD_BYTES
from tests.admitting import review
from tests.builders import node_json, pod_json
from tests.listening import LISTENERS, POSTED, listening
from tests.serving import (
    EXPECTING,
    Connection,
    FixedSource,
    connected,
    eventually,
    head,
    names_request,
    served,
    served_in_thread,
    whole,
)

BODIES = {
    "scheduler": msgspec.json.encode(names_request(pod_json(), "plain")),
    "ops": msgspec.json.encode({"pod": pod_json()}),
    "admission": msgspec.json.encode(review(pod_json())),
}
STRANGERS = ("ops", "admission")
SOON = Config(limits=Limits(head_timeout=0.05))
CHUNKED = "Transfer-Encoding: chunked"
LIVEZ = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"


def chunk(data: bytes, extension: bytes = b"") -> bytes:
    return b"%x%b\r\n%b\r\n" % (len(data), extension, data)


# --- Heads -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LISTENERS)
async def test_a_head_that_does_not_end_is_given_up(name: str, tmp_path: Path) -> None:
    async with listening(tmp_path, SOON) as listeners, listeners.connected(name) as connection:
        await connection.send(b"GET /livez HTTP/1.1\r\nHost:")
        reply = await connection.reply()
        closed = await connection.closed()

    assert reply.status == 408
    assert reply.body == b"the head did not arrive within limits.headTimeout of 0.05 s\n"
    assert closed


@pytest.mark.parametrize("name", STRANGERS)
async def test_an_idle_connection_outlives_the_time_of_a_head(name: str, tmp_path: Path) -> None:
    async with listening(tmp_path, SOON) as listeners, listeners.connected(name) as connection:
        for _ in range(2):
            await asyncio.sleep(0.3)
            await connection.send(whole(POSTED[name], BODIES[name]))
            assert (await connection.reply()).status == 200


@pytest.mark.parametrize("name", STRANGERS)
@pytest.mark.parametrize("lines", [1, 40], ids=["in one line", "in many"])
@pytest.mark.parametrize("end", [b"\r\n", b""], ids=["whole", "without an end"])
async def test_a_long_head_is_refused(name: str, lines: int, end: bytes, tmp_path: Path) -> None:
    line = b"X: " + b"x" * (MAX_HEAD_BYTES // lines) + b"\r\n"
    async with listening(tmp_path) as listeners, listeners.connected(name) as connection:
        await connection.send(b"GET /livez HTTP/1.1\r\n" + line * lines + end)
        reply = await connection.reply()
        closed = await connection.closed()

    assert (reply.status, reply.body) == (431, b"the head is larger than 16384 bytes\n")
    assert closed


@pytest.mark.parametrize("name", STRANGERS)
async def test_a_head_of_almost_the_limit_is_read(name: str, tmp_path: Path) -> None:
    fillers = [f"X-{number}: {'x' * 1_000}" for number in range(15)]
    length = f"Content-Length: {len(BODIES[name])}"
    async with listening(tmp_path) as listeners, listeners.connected(name) as connection:
        await connection.send(head(POSTED[name], *fillers, length) + BODIES[name])
        reply = await connection.reply()

    assert reply.status == 200


@pytest.mark.parametrize("name", LISTENERS)
async def test_what_is_no_http_is_told_so(name: str, tmp_path: Path) -> None:
    async with listening(tmp_path) as listeners, listeners.connected(name) as connection:
        await connection.send(b"\x16\x03\x01\x00\xff nonsense\r\n\r\n")
        reply = await connection.reply()

    assert reply.status == 400
    assert reply.body.startswith(b"the request is not HTTP: ")


async def test_requests_behind_each_other_are_answered_in_order(tmp_path: Path) -> None:
    async with listening(tmp_path) as listeners, listeners.connected("ops") as connection:
        await connection.send(LIVEZ + whole("explain", BODIES["ops"]) + LIVEZ)
        replies = [await connection.reply() for _ in range(3)]

    assert [reply.status for reply in replies] == [200, 200, 200]
    assert [reply.body == b"ok" for reply in replies] == [True, False, True]


async def test_a_request_for_another_protocol_is_answered_in_this_one(tmp_path: Path) -> None:
    upgrade = LIVEZ.replace(b"Host", b"Connection: Upgrade\r\nUpgrade: h2c\r\nHost")
    async with listening(tmp_path) as listeners, listeners.connected("ops") as connection:
        await connection.send(upgrade + b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        reply = await connection.reply()
        closed = await connection.closed()

    assert (reply.status, reply.body) == (200, b"ok")
    assert closed


async def test_what_is_wrong_behind_a_request_does_not_go_before_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()
    monkeypatch.setattr("extender.server.listeners.ops_app", slow_app(asked, go_on))
    async with served() as client, connected(client.ops) as connection:
        await connection.send(LIVEZ)
        await asked.wait()
        await connection.send(b"\x00nonsense\r\n\r\n")
        assert await connection.closed()
        go_on.set()


# --- Frames ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LISTENERS)
@pytest.mark.parametrize(
    "frames",
    [
        pytest.param(b"1;" + b"x" * (1 << 20), id="an extension of a megabyte"),
        pytest.param(b"0" * (1 << 20), id="a megabyte of zeros"),
        pytest.param(chunk(b" ", b";" + b"x" * 1_000) * 1_000, id="many extensions"),
        pytest.param(b"0\r\n" + b"X: y\r\n" * 100_000, id="many trailers"),
        pytest.param(b"0\r\nX: " + b"x" * (1 << 20), id="a long trailer"),
        pytest.param(chunk(b"  ") * 100_000, id="tiny chunks"),
    ],
)
async def test_frames_that_are_more_than_the_body_are_refused(
    name: str, frames: bytes, tmp_path: Path
) -> None:
    async with listening(tmp_path) as listeners:
        async with listeners.connected(name) as connection:
            await connection.send(head(POSTED[name], CHUNKED, EXPECTING))
            await connection.begun()
            with contextlib.suppress(ConnectionError):
                await connection.send(frames)
            reply = await connection.reply()
        async with listeners.connected(name) as connection:
            await connection.send(whole(POSTED[name], BODIES[name]))
            assert (await connection.reply()).status == 200

    assert reply.status == 400
    assert reply.body == b"the body comes in too many small chunks, or with too much between them\n"
    assert reply.headers["connection"] == "close"


@pytest.mark.parametrize("name", LISTENERS)
async def test_a_body_in_small_chunks_with_extensions_and_trailers_is_read(
    name: str, tmp_path: Path
) -> None:
    body = BODIES[name]
    pieces = b"".join(chunk(body[at : at + 1], b";a=b") for at in range(len(body)))
    async with listening(tmp_path) as listeners, listeners.connected(name) as connection:
        for _ in range(2):
            await connection.send(head(POSTED[name], CHUNKED))
            await connection.send(pieces + b"0\r\nX-Checked: yes\r\n\r\n")
            assert (await connection.reply()).status == 200


@pytest.mark.parametrize("name", LISTENERS)
async def test_a_large_body_in_ordinary_chunks_is_read(name: str, tmp_path: Path) -> None:
    body = BODIES[name][:-1] + b" " * 200_000 + BODIES[name][-1:]
    pieces = b"".join(chunk(body[at : at + 1_000]) for at in range(0, len(body), 1_000))
    async with listening(tmp_path) as listeners, listeners.connected(name) as connection:
        await connection.send(head(POSTED[name], CHUNKED) + pieces + chunk(b""))
        reply = await connection.reply()

    assert reply.status == 200


# --- Clients that close one half ---------------------------------------------------------------


def slow_app(asked: asyncio.Event, go_on: asyncio.Event) -> object:
    """Makes an ops listener whose answer comes when the test wants it."""

    async def livez(_request: web.Request) -> web.Response:
        asked.set()
        await go_on.wait()
        return web.Response(text="at last")

    def made(*_args: object, **_more: object) -> web.Application:
        app = web.Application()
        app.router.add_get("/livez", livez)
        return app

    return made


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event]:
    asked, go_on = asyncio.Event(), asyncio.Event()
    monkeypatch.setattr("extender.server.listeners.ops_app", slow_app(asked, go_on))
    return asked, go_on


@pytest.mark.parametrize("version", ["1.1", "1.0"])
async def test_a_half_closed_client_gets_its_answer(
    version: str, slow: tuple[asyncio.Event, asyncio.Event]
) -> None:
    asked, go_on = slow
    async with served() as client, connected(client.ops) as connection:
        await connection.send(LIVEZ.replace(b"1.1", version.encode()))
        await asked.wait()
        connection.writer.write_eof()
        await asyncio.sleep(0.3)
        go_on.set()
        reply = await connection.reply()
        closed = await connection.closed()

    assert (reply.status, reply.body) == (200, b"at last")
    assert closed


async def test_a_long_wait_of_a_half_closed_client_is_told_to_go_on(
    slow: tuple[asyncio.Event, asyncio.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarding, "PROBE_SECONDS", 0.01)
    asked, go_on = slow
    async with served() as client, connected(client.ops) as connection:
        await connection.send(LIVEZ)
        await asked.wait()
        connection.writer.write_eof()
        await connection.begun()
        await connection.begun()
        go_on.set()
        answer = await connection.reader.read()

    assert answer.replace(b"HTTP/1.1 100 Continue\r\n\r\n", b"").startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.endswith(b"at last")


def noted_losses(monkeypatch: pytest.MonkeyPatch, kind: type[asyncio.Protocol]) -> list[object]:
    """The connections of a kind that were lost, from now on."""
    lost: list[object] = []
    connection_lost = kind.connection_lost

    def noted(protocol: asyncio.Protocol, exc: Exception | None) -> None:
        lost.append(protocol)
        connection_lost(protocol, exc)

    monkeypatch.setattr(kind, "connection_lost", noted)
    return lost


async def test_a_client_that_is_gone_is_not_taken_for_one_that_closed_a_half(
    slow: tuple[asyncio.Event, asyncio.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarding, "PROBE_SECONDS", 0.01)
    lost = noted_losses(monkeypatch, Guarded)
    asked, go_on = slow
    async with served() as client:
        async with connected(client.ops) as connection:
            await connection.send(LIVEZ)
            await asked.wait()

        async def is_lost() -> bool:
            return bool(lost)

        await eventually(is_lost)
        go_on.set()


def half_closed(url: str, request: bytes) -> bytes:
    """Everything that comes back to a client that sends, closes its half, and waits."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port or 0), timeout=30) as client:
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(1 << 16), b""))


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def urls(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """A server on either event loop."""
    config = Config(explain=True)
    source = FixedSource(node_json("plain"))
    with served_in_thread(config, source, loop=request.param) as addresses:
        yield {"scheduler": addresses.scheduler, "ops": addresses.ops}


@pytest.mark.parametrize(
    ("name", "request_bytes"),
    [
        pytest.param("scheduler", whole("filter", BODIES["scheduler"]), id="filter"),
        pytest.param(
            "scheduler",
            whole("filter", BODIES["scheduler"][:-1] + b" " * (3 << 20) + b"}"),
            id="a large body",
        ),
        pytest.param("ops", LIVEZ, id="livez"),
        pytest.param("ops", LIVEZ.replace(b"livez", b"metrics"), id="metrics"),
        pytest.param("ops", LIVEZ.replace(b"livez", b"nowhere"), id="what is not there"),
        pytest.param("ops", whole("explain", BODIES["ops"]), id="explain"),
    ],
)
def test_a_half_closed_client_gets_its_answer_on_either_loop(
    name: str, request_bytes: bytes, urls: dict[str, str]
) -> None:
    for _ in range(5):
        answer = half_closed(urls[name], request_bytes)
        assert answer.startswith(
            b"HTTP/1.1 404" if b"nowhere" in request_bytes else b"HTTP/1.1 200"
        )


def test_a_body_that_broke_off_has_no_answer_to_wait_for(urls: dict[str, str]) -> None:
    answer = half_closed(urls["ops"], whole("explain", BODIES["ops"])[:-1])

    assert b" 200 " not in answer


# --- Clients that do not read ------------------------------------------------------------------


async def forever(connection: Connection, data: bytes) -> None:
    while True:
        await connection.send(data)


@pytest.mark.parametrize("name", ["scheduler", "ops"])
async def test_a_client_that_never_takes_its_answers_is_given_up(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config(limits=Limits(body_timeout=0.3))
    # Its answer has a reason for each of the names.
    names = [f"n-{each:05}" for each in range(20_000)]
    body = msgspec.json.encode(names_request(pod_json(), "plain", *names))
    asked = {"scheduler": whole("filter", body), "ops": LIVEZ.replace(b"livez", b"metrics")}[name]
    lost = noted_losses(monkeypatch, Guarded if name == "ops" else SchedulerConnection)
    async with served(config, FixedSource(node_json("plain"))) as client:
        url = {"scheduler": client.scheduler, "ops": client.ops}[name]
        async with connected(url) as connection:
            connection.writer.transport.pause_reading()  # type: ignore[attr-defined]
            connection.writer.write(asked * (2_000 if name == "ops" else 20))

            async def is_lost() -> bool:
                return bool(lost)

            await eventually(is_lost)


@pytest.mark.parametrize("name", ["scheduler", "ops"])
async def test_of_what_is_refused_no_more_is_read_than_the_answer_needs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = Guarded if name == "ops" else SchedulerConnection
    read: list[int] = []
    data_received = kind.data_received

    def counted(protocol: Guarded | SchedulerConnection, data: bytes) -> None:
        read.append(len(data))
        data_received(protocol, data)  # type: ignore[arg-type]

    monkeypatch.setattr(kind, "data_received", counted)
    monkeypatch.setattr(server_connection, "LINGER_SECONDS", 0.3)
    monkeypatch.setattr(guarding, "LINGER_SECONDS", 0.3)
    async with listening(tmp_path) as listeners, listeners.connected(name) as connection:
        await connection.send(b"nonsense\r\n\r\n")
        assert (await connection.reply()).status == 400
        with pytest.raises(ConnectionError):
            await forever(connection, b"x" * (1 << 20))

    assert sum(read) < 2 * server_connection.LINGER_BYTES
