"""A real server on free loopback ports, and real clients for it."""

import asyncio
import contextlib
import queue
import ssl
import threading
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Sequence,
)
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import msgspec
from prometheus_client import CollectorRegistry

from extender.cluster.cache import ClusterCache
from extender.cluster.resources import key_of
from extender.cluster.source import ClusterSource, NoSource, State
from extender.config.schema import Address, Config, Listen
from extender.framework.snapshot import Snapshot, snapshot_of
from extender.metrics import CachedResource, Metrics
from extender.model.core_v1 import Node
from extender.server.listeners import Server
from tests.builders import JSON

# A request with this header is told when the server begins to work on it.
EXPECTING = "Expect: 100-continue"
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


class ShiftingSource(FixedSource):
    """A cluster that becomes another one when it is told to."""

    def show(self, *nodes: JSON) -> None:
        self._snapshot = snapshot_of(msgspec.convert(node, Node) for node in nodes)


class WholeCluster(FixedSource):
    """A cluster of nodes and everything else, which becomes another one when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.become()

    def become(self, **objects: Iterable[JSON]) -> None:
        """Objects by the name of their resource."""
        cache = ClusterCache()
        for resource, store in cache.stores():
            for obj in objects.get(resource.name, ()):
                page = {"metadata": {}, "items": [obj]}
                for decoded in resource.decode_page(msgspec.json.encode(page)).items or ():
                    store.put(key_of(decoded.metadata), decoded)
        self._snapshot = cache.snapshot()


class BrokenSource(FixedSource):
    """A cluster source that raises whatever it is given, until it is mended."""

    def __init__(self, fault: Exception, *nodes: JSON) -> None:
        super().__init__(*nodes)
        self.fault: Exception | None = fault

    def snapshot(self) -> Snapshot:
        if self.fault is not None:
            raise self.fault
        return super().snapshot()


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer as it came over the wire; the names of headers in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Connection:
    """One TCP connection that sends exactly the bytes it is told to, well-formed or not."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self) -> Reply:
        """The next answer; it must say how long it is."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = await self.reader.readexactly(int(headers["content-length"]))
        return Reply(int(status.split()[1]), headers, body)

    async def begun(self) -> None:
        """Wait until the server works on a request that came with EXPECTING."""
        assert await self.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"

    async def closed(self) -> bool:
        """Wait for the other side to close; whether it did so without another byte."""
        with contextlib.suppress(ConnectionResetError):
            return await self.reader.read() == b""
        return True


@contextlib.asynccontextmanager
async def connected(url: str, tls: ssl.SSLContext | None = None) -> AsyncIterator[Connection]:
    """A connection to a listener, closed on the way out."""
    parts = urlsplit(url)
    name = parts.hostname if tls else None
    reader, writer = await asyncio.open_connection(
        parts.hostname, parts.port, ssl=tls, server_hostname=name
    )
    try:
        yield Connection(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait for what the server does in its own time; the test's time-out is the limit."""
    while not await holds():  # noqa: ASYNC110 - there is no event to wait for from outside
        await asyncio.sleep(0.01)


def head(verb: str, *headers: str) -> bytes:
    """The start of a POST, up to its body."""
    lines = (f"POST /{verb} HTTP/1.1", "Host: extender", *headers, "", "")
    return "\r\n".join(lines).encode()


def whole(verb: str, body: bytes) -> bytes:
    """A complete POST."""
    return head(verb, f"Content-Length: {len(body)}") + body


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
    config = replace(config or Config(), listen=ANYWHERE, refusals="always")
    server = Server(config, source or NoSource(), Metrics(CollectorRegistry()))
    async with server.running() as listening, aiohttp.ClientSession() as session:
        scheduler, ops = (f"{each.scheme}://{each.address}" for each in listening)
        yield Client(session, scheduler, ops)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a server in another thread listens."""

    scheduler: str
    ops: str


@contextlib.contextmanager
def served_in_thread(
    config: Config | None = None,
    source: ClusterSource | None = None,
    *,
    loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
) -> Iterator[Addresses]:
    """Serve on a loop of its own, for a test that blocks."""
    config = replace(config or Config(), listen=ANYWHERE, refusals="always")
    server = Server(config, source or NoSource(), Metrics(CollectorRegistry()))
    listens: queue.SimpleQueue[tuple[Addresses, Callable[[], object]]] = queue.SimpleQueue()

    async def serve() -> None:
        stop = asyncio.Event()
        running = asyncio.get_running_loop()
        async with server.running() as listening:
            scheduler, ops = (f"{each.scheme}://{each.address}" for each in listening)
            listens.put((Addresses(scheduler, ops), lambda: running.call_soon_threadsafe(stop.set)))
            await stop.wait()

    def run() -> None:
        with asyncio.Runner(loop_factory=loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run)
    thread.start()
    addresses, stop = listens.get()
    try:
        yield addresses
    finally:
        stop()
        thread.join()


def names_request(pod: JSON, *names: str) -> JSON:
    """A request as kube-scheduler sends it with `nodeCacheCapable: true`."""
    return {"Pod": pod, "Nodes": None, "NodeNames": list(names)}


def nodes_request(pod: JSON, *nodes: JSON) -> JSON:
    """A request as kube-scheduler sends it with `nodeCacheCapable: false`."""
    return {"Pod": pod, "Nodes": {"metadata": {}, "items": list(nodes)}, "NodeNames": None}


def lean(scores: Iterable[tuple[str, int]]) -> list[JSON]:
    """What prioritize answers to these scores: only differences, and nobody at the bottom."""
    pairs = list(scores)
    lowest = min((score for _, score in pairs), default=0)
    return [{"Host": name, "Score": score - lowest} for name, score in pairs if score > lowest]
