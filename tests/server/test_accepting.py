"""Who is let in at a listener, and who goes when it is full."""

import asyncio
import contextlib
import errno
import logging
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
import trustme

from extender.config.schema import Address, Config, Limits
from extender.server.accepting import Gate, Leave
from extender.server.tls import ReloadingTLS
from tests.admitting import certificate, review
from tests.builders import pod_json
from tests.listening import LISTENERS, POSTED, Listeners, listening
from tests.serving import EXPECTING, Connection, connected, eventually, head, names_request, whole

# The scheduler's listener has room for 8, the others for 4.
FEW = Config(limits=Limits(connections=16))
ROOM = {"scheduler": 8, "ops": 4, "admission": 4}
BODIES = {
    "scheduler": msgspec.json.encode(names_request(pod_json(), "plain")),
    "ops": msgspec.json.encode({"pod": pod_json()}),
    "admission": msgspec.json.encode(review(pod_json())),
}


async def assert_served(connection: Connection, name: str) -> None:
    await connection.send(whole(POSTED[name], BODIES[name]))
    assert (await connection.reply()).status == 200


@contextlib.asynccontextmanager
async def many(listeners: Listeners, name: str, count: int) -> AsyncIterator[list[Connection]]:
    async with contextlib.AsyncExitStack() as stack:
        yield [await stack.enter_async_context(listeners.connected(name)) for _ in range(count)]


@pytest.mark.parametrize("name", LISTENERS)
async def test_who_has_waited_for_longest_goes_for_somebody_new(name: str, tmp_path: Path) -> None:
    async with (
        listening(tmp_path, FEW) as listeners,
        many(listeners, name, ROOM[name]) as standing,
    ):
        for connection in standing:
            await assert_served(connection, name)
        await assert_served(standing[0], name)  # now another one has waited for longest
        async with listeners.connected(name) as newcomer:
            await assert_served(newcomer, name)
            assert await standing[1].closed()
            for connection in (standing[0], *standing[2:]):
                await assert_served(connection, name)


@pytest.mark.parametrize("name", LISTENERS)
async def test_a_head_that_is_under_way_is_waited_for_like_any_other(
    name: str, tmp_path: Path
) -> None:
    async with (
        listening(tmp_path, FEW) as listeners,
        many(listeners, name, ROOM[name]) as standing,
    ):
        for connection in standing:
            await connection.send(b"GET /livez HTTP/1.1\r\n")
        async with listeners.connected(name) as newcomer:
            await assert_served(newcomer, name)
        assert await standing[0].closed()


async def test_who_is_at_work_stays_and_somebody_new_is_sent_away(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "leeway.server")
    body = BODIES["scheduler"]
    async with (
        listening(tmp_path, FEW) as listeners,
        many(listeners, "scheduler", ROOM["scheduler"]) as standing,
    ):
        for connection in standing:
            await connection.send(head("filter", f"Content-Length: {len(body)}", EXPECTING))
            await connection.begun()
        replies = []
        for _ in range(3):
            async with listeners.connected("scheduler") as newcomer:
                replies.append(await newcomer.reply())
                assert await newcomer.closed()
        for connection in standing:
            await connection.send(body)
            assert (await connection.reply()).status == 200

    sentence = b"this listener's part of limits.connections is in use: come again later\n"
    for reply in replies:
        assert (reply.status, reply.headers["retry-after"], reply.body) == (503, "1", sentence)
    said = "scheduler listener: all of its 8 connections are in use"
    assert [record.getMessage() for record in caplog.records].count(said) == 1


async def test_over_tls_somebody_new_is_sent_away_without_a_word(tmp_path: Path) -> None:
    name = "admission"
    async with listening(tmp_path, FEW) as listeners, many(listeners, name, ROOM[name]) as standing:
        for connection in standing:
            await connection.send(head(POSTED[name], "Content-Length: 100", EXPECTING))
            await connection.begun()
        with pytest.raises(ConnectionError):
            async with listeners.connected(name):
                pass


async def test_a_full_listener_leaves_room_at_the_others(tmp_path: Path) -> None:
    async with contextlib.AsyncExitStack() as stack:
        listeners = await stack.enter_async_context(listening(tmp_path, FEW))
        for name in ("ops", "admission"):
            for connection in await stack.enter_async_context(many(listeners, name, ROOM[name])):
                await connection.send(head(POSTED[name], "Content-Length: 100", EXPECTING))
                await connection.begun()
        for connection in await stack.enter_async_context(
            many(listeners, "scheduler", ROOM["scheduler"])
        ):
            await assert_served(connection, "scheduler")


async def test_a_place_is_free_again_when_its_client_goes(tmp_path: Path) -> None:
    async with listening(tmp_path, FEW) as listeners:
        for _ in range(3):
            async with many(listeners, "ops", ROOM["ops"]) as standing:
                for connection in standing:
                    await connection.send(head("explain", "Content-Length: 100", EXPECTING))
                    await connection.begun()
            await eventually(listeners.is_live)


async def test_handshakes_that_never_end_keep_nobody_out(tmp_path: Path) -> None:
    async with listening(tmp_path, FEW) as listeners, contextlib.AsyncExitStack() as stack:
        url = listeners.urls["admission"]
        silent = [await stack.enter_async_context(connected(url)) for _ in range(20)]
        async with listeners.connected("admission") as newcomer:
            await assert_served(newcomer, "admission")
            for connection in silent[:16]:
                assert await connection.closed()


async def test_a_handshake_has_the_time_of_a_head(tmp_path: Path) -> None:
    config = Config(limits=Limits(head_timeout=0.05))
    async with (
        listening(tmp_path, config) as listeners,
        connected(listeners.urls["admission"]) as silent,
        connected(listeners.urls["admission"]) as wrong,
    ):
        await wrong.send(b"GET / HTTP/1.1\r\n\r\n")
        assert await silent.closed()
        await wrong.closed()  # after an alert, or without
        async with listeners.connected("admission") as newcomer:
            await assert_served(newcomer, "admission")


# --- A gate by itself --------------------------------------------------------------------------


class Echo(asyncio.Protocol):
    """Waits for ever, and says nothing."""

    def __init__(self, leave: Leave) -> None:
        self._leave = leave
        self.waits_since: float | None = 1.0
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def connection_lost(self, _exc: Exception | None) -> None:
        self._leave()

    def abort(self) -> None:
        assert self.transport is not None
        self.transport.abort()


async def test_a_handshake_that_fails_leaves_its_place(tmp_path: Path) -> None:
    tls = ReloadingTLS(certificate(tmp_path, trustme.CA()))
    gate = Gate("test", Echo, most=9, limits=Limits(head_timeout=0.05), tls=tls.context)
    where = await gate.open(Address("127.0.0.1", 0))
    try:
        async with connected(f"http://{where}") as silent, connected(f"http://{where}") as wrong:
            await eventually_guests(gate, 2)
            await wrong.send(b"GET / HTTP/1.1\r\n\r\n")
            await eventually_guests(gate, 0)
            assert await silent.closed()
    finally:
        gate.close()


async def test_every_address_of_a_name_is_listened_on() -> None:
    gate = Gate("test", Echo, most=2, limits=Limits())
    where = await gate.open(Address("localhost", 0))
    try:
        async with connected(f"http://{where}"):
            await eventually_guests(gate, 1)
    finally:
        gate.close()


async def test_a_port_that_is_taken_leaves_nothing_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        gate = Gate("test", Echo, most=2, limits=Limits())
        with pytest.raises(OSError, match="in use"):
            await gate.open(Address("127.0.0.1", taken.getsockname()[1]))


async def test_without_files_to_open_it_makes_room_and_tries_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gate = Gate("test", Echo, most=10, limits=Limits())
    where = await gate.open(Address("127.0.0.1", 0))
    accept = socket.socket.accept
    tries = 0

    def failing(listener: socket.socket) -> object:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise OSError(errno.EMFILE, "Too many open files")
        return accept(listener)

    try:
        async with connected(f"http://{where}") as standing:
            await eventually_guests(gate, 1)
            monkeypatch.setattr(socket.socket, "accept", failing)
            async with connected(f"http://{where}"):
                assert await standing.closed()
                await eventually_guests(gate, 1)
    finally:
        gate.close()

    assert (
        "test listener: cannot accept a connection: [Errno 24] Too many open files" in caplog.text
    )


async def test_closed_while_it_pauses_it_stays_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extender.server.accepting.PAUSE_SECONDS", 0.01)
    gate = Gate("test", Echo, most=10, limits=Limits())
    where = await gate.open(Address("127.0.0.1", 0))
    failed = asyncio.Event()

    def failing(_listener: socket.socket) -> object:
        failed.set()
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(socket.socket, "accept", failing)
    async with connected(f"http://{where}"):
        await failed.wait()
        gate.close()
        await asyncio.sleep(0.05)

    with pytest.raises(ConnectionError):
        async with connected(f"http://{where}"):
            pass


async def eventually_guests(gate: Gate, count: int) -> None:
    async def holds() -> bool:
        return gate.guests == count

    await eventually(holds)
