"""A real server on free loopback ports, and a real client for it."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import aiohttp
import msgspec
from prometheus_client import CollectorRegistry

from extender.cluster.source import ClusterSource, NoSource, State
from extender.config.schema import Address, Config, Listen
from extender.framework.snapshot import Snapshot, snapshot_of
from extender.metrics import CachedResource, Metrics
from extender.model.core_v1 import Node
from extender.server.serving import Server
from tests.builders import JSON

ANYWHERE = Listen(scheduler=Address("127.0.0.1", 0), ops=Address("127.0.0.1", 0))


class FixedSource:
    """A cluster of given nodes."""

    def __init__(self, *nodes: JSON) -> None:
        self._snapshot = snapshot_of(msgspec.convert(node, Node) for node in nodes)

    def snapshot(self) -> Snapshot:
        return self._snapshot

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        yield

    def state(self) -> State:
        return State(None, "fixed nodes")

    def cached(self) -> Sequence[CachedResource]:
        return [CachedResource("nodes", len(self._snapshot.nodes), synced=True, age=None)]

    def reload(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Client:
    """Speaks to both listeners of a running server."""

    session: aiohttp.ClientSession
    scheduler: str
    ops: str

    async def ask(self, verb: str, body: Any) -> Any:
        """The JSON answer to one verb; anything but 200 fails the test."""
        async with self.session.post(f"{self.scheduler}/{verb}", json=body) as response:
            text = await response.text()
            assert response.status == 200, text
            return msgspec.json.decode(text)

    async def post(self, verb: str, body: bytes, **more: Any) -> tuple[int, str]:
        """Status and text of the answer to raw bytes."""
        url = f"{self.scheduler}/{verb}"
        async with self.session.post(url, data=body, **more) as response:
            return response.status, await response.text()

    async def get(self, path: str) -> tuple[int, str]:
        """Status and text of a page of the ops listener."""
        async with self.session.get(f"{self.ops}{path}") as response:
            return response.status, await response.text()


@contextlib.asynccontextmanager
async def served(
    config: Config | None = None, source: ClusterSource | None = None
) -> AsyncIterator[Client]:
    """Serve in this process, and hand out a client."""
    config = replace(config or Config(), listen=ANYWHERE)
    server = Server(config, source or NoSource(), Metrics(CollectorRegistry()))
    async with server.running() as listening, aiohttp.ClientSession() as session:
        scheduler, ops = (f"{each.scheme}://{each.address}" for each in listening)
        yield Client(session, scheduler, ops)


def names_request(pod: JSON, *names: str) -> JSON:
    """A request as kube-scheduler sends it with `nodeCacheCapable: true`."""
    return {"Pod": pod, "Nodes": None, "NodeNames": list(names)}


def nodes_request(pod: JSON, *nodes: JSON) -> JSON:
    """A request as kube-scheduler sends it with `nodeCacheCapable: false`."""
    return {"Pod": pod, "Nodes": {"metadata": {}, "items": list(nodes)}, "NodeNames": None}
