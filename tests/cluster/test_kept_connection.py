"""One connection for many requests."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from extender.cluster.api import ApiServer, Connection
from extender.cluster.kept_connection import CONNECTION_SECONDS, KeptConnection
from extender.errors import ApiError
from tests.cluster.apiserver import (
    Answer,
    Clock,
    Held,
    ScriptedServer,
    anonymous,
    eventually,
    scripted,
)

NODES = "/api/v1/nodes"


@contextlib.asynccontextmanager
async def kept(clock: Clock) -> AsyncIterator[tuple[ScriptedServer, KeptConnection]]:
    async with scripted() as server:
        connection = KeptConnection(ApiServer(anonymous(server)), clock=clock)
        try:
            yield server, connection
        finally:
            await connection.close()


async def asked(connection: KeptConnection) -> Connection:
    """The connection that a request took."""
    async with connection.use() as used:
        await used.get(NODES, {})
        return used


async def test_a_connection_serves_for_a_minute() -> None:
    clock = Clock()
    async with kept(clock) as (_, connection):
        first = await asked(connection)
        clock.now += CONNECTION_SECONDS
        assert await asked(connection) is first
        clock.now += 1

        assert await asked(connection) is not first


@pytest.mark.parametrize("status", [502, 503, 401])
async def test_a_fault_hangs_up(status: int) -> None:
    async with kept(Clock()) as (server, connection):
        first = await asked(connection)
        server.on_list("nodes", Answer(status))
        with pytest.raises(ApiError, match=f"HTTP {status}"):
            await asked(connection)

        assert await asked(connection) is not first


@pytest.mark.parametrize("status", [404, 409, 422, 429, 500])
async def test_a_refusal_does_not(status: int) -> None:
    async with kept(Clock()) as (server, connection):
        first = await asked(connection)
        server.on_list("nodes", Answer(status))
        with pytest.raises(ApiError, match=f"HTTP {status}"):
            await asked(connection)

        assert await asked(connection) is first


async def test_who_hung_up_can_ask_again() -> None:
    async with kept(Clock()) as (_, connection):
        first = await asked(connection)
        await connection.close()

        assert await asked(connection) is not first


async def test_a_fault_of_one_request_does_not_cut_off_another() -> None:
    async with kept(Clock()) as (server, connection):
        answer = asyncio.Event()
        server.on_list("nodes", Held(answer), Answer(503))
        slow = asyncio.create_task(asked(connection))
        await eventually(lambda: len(server.asked) == 1)
        with pytest.raises(ApiError, match="HTTP 503"):
            await asked(connection)
        answer.set()

        assert await slow is not await asked(connection)
