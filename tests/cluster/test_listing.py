"""A list, page by page."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from extender.cluster import listing, resources
from extender.cluster.api import ApiServer, Connection
from extender.errors import ApiForbiddenError, ApiGoneError
from tests.builders import node_json
from tests.cluster.apiserver import Answer, ScriptedServer, anonymous, scripted


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[ScriptedServer, Connection]]:
    async with scripted() as server, ApiServer(anonymous(server)).connect() as connection:
        server.put("nodes", *(node_json(f"n{i}") for i in range(5)))
        yield server, connection


async def names(connection: Connection) -> list[str]:
    found = []
    async for body, page in listing.pages(connection, resources.NODES):
        assert resources.NODES.decode_page(body) == page
        found += [item.metadata.name for item in page.items or ()]
    return found


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "PAGE", 2)


async def test_every_page_comes_once() -> None:
    async with connected() as (server, connection):
        assert await names(connection) == ["n0", "n1", "n2", "n3", "n4"]
        assert [asked.params["limit"] for asked in server.asked] == ["2", "2", "2"]


async def test_a_list_that_became_too_old_begins_anew() -> None:
    async with connected() as (server, connection):
        server.on_list("nodes", None, Answer(410))

        assert await names(connection) == ["n0", "n1", "n0", "n1", "n2", "n3", "n4"]


async def test_a_list_that_is_always_too_old_is_a_fault() -> None:
    async with connected() as (server, connection):
        server.on_list("nodes", *[Answer(410)] * 3)
        with pytest.raises(ApiGoneError):
            await names(connection)


async def test_what_may_not_be_listed() -> None:
    async with connected() as (server, connection):
        server.on_list("nodes", Answer(403, "no"))
        with pytest.raises(ApiForbiddenError, match="no"):
            await names(connection)
