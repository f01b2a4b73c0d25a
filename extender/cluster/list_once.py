"""Lists a cluster once, for a command that needs no watch."""

import asyncio
from collections.abc import Collection
from typing import Any
from urllib.parse import quote

from extender.cluster import listing, resources
from extender.cluster.api import ApiServer, Connection
from extender.cluster.cache import ClusterCache, Store
from extender.cluster.resources import Resource, key_of
from extender.framework.snapshot import Snapshot


async def snapshot(api: ApiServer, names: Collection[str]) -> Snapshot:
    """A snapshot of these resources; ApiError if one of them cannot be listed."""
    cache = ClusterCache()
    async with api.connect() as connection:
        await asyncio.gather(
            *(
                _fill(store, connection, resource)
                for resource, store in cache.stores()
                if resource.name in names
            )
        )
    return cache.snapshot(
        pods=resources.PODS.name in names,
        volumes=resources.PERSISTENT_VOLUMES.name in names,
    )


async def one(api: ApiServer, resource: str, namespace: str, name: str) -> bytes:
    """One object of a namespaced resource, given by the path of its list; as JSON."""
    folder, _, plural = resource.rpartition("/")
    place = f"namespaces/{quote(namespace, safe='')}/{plural}/{quote(name, safe='')}"
    async with api.connect() as connection:
        return await connection.get(f"{folder}/{place}", {})


async def _fill(store: Store[Any], connection: Connection, resource: Resource[Any]) -> None:
    async for _, page in listing.pages(connection, resource):
        for obj in page.items or ():
            store.put(key_of(obj.metadata), obj)
