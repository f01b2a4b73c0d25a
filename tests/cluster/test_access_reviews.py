"""Single questions, put to the scripted server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from extender.cluster import access_reviews
from extender.cluster.access_reviews import Access
from extender.cluster.api import ApiServer, Connection
from extender.errors import ApiError, GarbageError
from tests.cluster.apiserver import ScriptedServer, anonymous, scripted


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[ScriptedServer, Connection]]:
    async with scripted() as server, ApiServer(anonymous(server)).connect() as connection:
        yield server, connection


@pytest.mark.parametrize(("minor", "expected"), [("36", (1, 36)), ("31+", (1, 31))])
async def test_the_version_of_the_server(minor: str, expected: tuple[int, int]) -> None:
    async with connected() as (server, connection):
        server.minor = minor

        assert await access_reviews.server_version(connection) == expected


async def test_a_server_without_a_version() -> None:
    async with connected() as (server, connection):
        server.minor = ""
        with pytest.raises(GarbageError, match="has no version"):
            await access_reviews.server_version(connection)


async def test_the_data_of_a_config_map() -> None:
    async with connected() as (server, connection):
        server.config_maps["leeway/conf"] = {"a.yaml": "kind: A"}

        assert await access_reviews.config_map(connection, "leeway", "conf") == {
            "a.yaml": "kind: A"
        }
        with pytest.raises(ApiError, match=r"HTTP 404: .*leeway/other not found"):
            await access_reviews.config_map(connection, "leeway", "other")


async def test_a_name_cannot_lead_elsewhere() -> None:
    async with connected() as (_, connection):
        with pytest.raises(ApiError, match="HTTP 404"):
            await access_reviews.config_map(connection, "..", "../../nodes?x=")


async def test_what_somebody_may_do() -> None:
    access = Access("list", "storageclasses", "storage.k8s.io", name="fast")
    async with connected() as (server, connection):
        server.forbidden = {("list storageclasses", "jane")}

        assert await access_reviews.is_allowed(connection, access)
        assert not await access_reviews.is_allowed(connection, access, "jane")
        assert server.reviews[0]["spec"] == {
            "resourceAttributes": {
                "verb": "list",
                "group": "storage.k8s.io",
                "resource": "storageclasses",
                "namespace": "",
                "name": "fast",
                "subresource": "",
            }
        }


@pytest.mark.parametrize(
    ("access", "text"),
    [
        (Access("list", "nodes"), "list nodes"),
        (Access("get", "leases", "c.k8s.io", "ns", "x"), "get leases.c.k8s.io x in ns"),
        (Access("create", "pods", subresource="binding"), "create pods/binding"),
    ],
)
def test_an_access_reads_like_a_sentence(access: Access, text: str) -> None:
    assert str(access) == text
