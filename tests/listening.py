"""A real server with all three listeners, and raw connections to each."""

import contextlib
import functools
import ssl
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path

import aiohttp
import trustme
from prometheus_client import CollectorRegistry

from extender.config.schema import Config
from extender.metrics import Metrics
from extender.server.listeners import Server
from tests.admitting import certificate, trusting
from tests.builders import node_json
from tests.serving import ANYWHERE, Connection, FixedSource, connected

ADMISSION_PATH = "admission/validate"
# What is asked of a listener by POST.
POSTED = {"scheduler": "filter", "ops": "explain", "admission": ADMISSION_PATH}
LISTENERS = tuple(POSTED)


@dataclass(frozen=True, slots=True)
class Listeners:
    """Where they are."""

    urls: dict[str, str]
    metrics: Metrics
    tls: ssl.SSLContext
    session: aiohttp.ClientSession

    def connected(self, name: str) -> AbstractAsyncContextManager[Connection]:
        """A connection to one of them."""
        return connected(self.urls[name], self.tls if name == "admission" else None)

    async def is_live(self) -> bool:
        """Whether the ops listener answers somebody new."""
        async with self.session.get(f"{self.urls['ops']}/livez") as response:
            return response.status == 200

    def counted(self, verb: str, code: int) -> float:
        """How many calls were counted so, in all modes."""
        found = [
            sample.value
            for family in self.metrics.registry.collect()
            for sample in family.samples
            if sample.name == "leeway_requests_total"
            and (sample.labels["verb"], sample.labels["code"]) == (verb, str(code))
        ]
        return sum(found)


@functools.cache
def _authority() -> trustme.CA:
    return trustme.CA()  # which takes a while


@contextlib.asynccontextmanager
async def listening(folder: Path, config: Config | None = None) -> AsyncIterator[Listeners]:
    """Serve in this process, with everything on that can be asked."""
    authority = _authority()
    config = replace(
        config or Config(),
        listen=replace(ANYWHERE, admission=ANYWHERE.scheduler),
        admission_tls=certificate(folder, authority),
        explain=True,
    )
    metrics = Metrics(CollectorRegistry())
    server = Server(config, FixedSource(node_json("plain")), metrics)
    # Each request of the session is one of somebody new.
    connector = aiohttp.TCPConnector(force_close=True)
    async with (
        server.running() as found,
        aiohttp.ClientSession(connector=connector) as session,
    ):
        urls = {each.name: f"{each.scheme}://{each.address}" for each in found}
        yield Listeners(urls, metrics, trusting(authority), session)
