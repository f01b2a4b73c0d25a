"""The three requests that a Lease takes, over real HTTP."""

import contextlib
from collections.abc import AsyncIterator

import pytest

from extender.cluster.api import ApiServer
from extender.control.lease import LeaseClient, LeaseSpec
from extender.errors import ApiError, GarbageError
from tests.cluster.apiserver import Body, ScriptedServer, anonymous, scripted

SPEC = LeaseSpec("a", 15, "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.000000Z", 0)
KEY = "leeway/election"


@contextlib.asynccontextmanager
async def client_of_lease() -> AsyncIterator[tuple[ScriptedServer, LeaseClient]]:
    async with scripted() as server:
        client = LeaseClient(ApiServer(anonymous(server)), "leeway", "election")
        try:
            yield server, client
        finally:
            await client.close()


async def test_a_lease_that_is_not_there_is_none() -> None:
    async with client_of_lease() as (_, client):
        assert await client.get() is None


async def test_what_is_created_can_be_read_and_updated() -> None:
    async with client_of_lease() as (server, client):
        created = await client.create(SPEC)
        assert await client.get() == created
        assert created.spec == SPEC
        assert server.objects["leases"][KEY] == {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "election", "namespace": "leeway", "resourceVersion": "101"},
            "spec": {
                "holderIdentity": "a",
                "leaseDurationSeconds": 15,
                "acquireTime": "2026-01-01T00:00:00.000000Z",
                "renewTime": "2026-01-01T00:00:00.000000Z",
                "leaseTransitions": 0,
            },
        }
        updated = await client.update(created, LeaseSpec("", 1))

        assert await client.get() == updated
        assert server.objects["leases"][KEY]["spec"] == {
            "holderIdentity": "",
            "leaseDurationSeconds": 1,
        }


async def test_a_lease_is_created_once() -> None:
    async with client_of_lease() as (_, client):
        await client.create(SPEC)
        with pytest.raises(ApiError) as caught:
            await client.create(SPEC)

        assert caught.value.status == 409


async def test_a_version_is_replaced_once() -> None:
    async with client_of_lease() as (_, client):
        first = await client.create(SPEC)
        await client.update(first, LeaseSpec("b"))
        with pytest.raises(ApiError) as caught:
            await client.update(first, LeaseSpec("c"))

        assert caught.value.status == 409


@pytest.mark.parametrize("body", [b"", b"[]", b'{"metadata":{"resourceVersion":5}}', b"\xff"])
async def test_what_is_no_lease_is_garbage(body: bytes) -> None:
    async with client_of_lease() as (server, client):
        server.on_lease(Body(body))
        with pytest.raises(GarbageError, match="the Lease cannot be decoded"):
            await client.get()
