"""Starts the listeners, keeps them, and takes them down without losing an answer."""

import asyncio
import contextlib
import logging
import os
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from aiohttp import web

from extender.cluster.source import ClusterSource
from extender.config.schema import Address, Config
from extender.errors import ConfigError
from extender.metrics import CacheCollector, Metrics
from extender.server.catch_up import CatchUp
from extender.server.expressions import timed_programs
from extender.server.ops import ops_app
from extender.server.profiles import Profiles
from extender.server.scheduler import SchedulerDoor
from extender.server.status import Callers, Readiness
from extender.server.tls import ReloadingTLS
from extender.server.verbs import Verbs

log = logging.getLogger("leeway.server")

# kube-scheduler keeps an idle connection for 90 s; whoever closes first must not be us.
KEEP_ALIVE_SECONDS: Final = 120.0
# How long what is left of a refused body is read and thrown away, so that the answer arrives.
LINGER_SECONDS: Final = 2.0
TLS_CHECK_SECONDS: Final = 1.0
CLOSE_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Listening:
    """A listener that listens, and where."""

    name: str
    address: Address
    scheme: str

    def __str__(self) -> str:
        return f"{self.name} listening on {self.address} ({self.scheme})"


class Server:
    """All listeners over one cluster source."""

    def __init__(self, config: Config, source: ClusterSource, metrics: Metrics) -> None:
        self._config = config
        self._source = source
        self._tls = ReloadingTLS(config.scheduler_tls) if config.scheduler_tls else None
        metrics.registry.register(CacheCollector(source.cached))
        callers = Callers()
        profiles = Profiles(config, timed_programs(config.limits.cel_cache_entries, metrics))
        verbs = Verbs(source, profiles)
        self._expressions = verbs.expressions
        self._door = SchedulerDoor(
            verbs,
            profiles,
            CatchUp(source, config.catch_up),
            limits=config.limits,
            metrics=metrics,
            callers=callers,
        )
        readiness = Readiness({"cluster": self._check_cluster, "shutdown": self._check_shutdown})
        self._ops = ops_app(readiness, registry=metrics.registry, callers=callers, source=source)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[list[Listening]]:
        """Listen; on the way out become unready, finish what has begun, and close."""
        context = self._tls.context if self._tls else None
        listen = self._config.listen
        scheduler_runner = _runner(self._door.app())
        ops_runner = _runner(self._ops)
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(self._expressions.running())
            await stack.enter_async_context(self._source.running())
            stack.push_async_callback(ops_runner.cleanup)
            stack.push_async_callback(scheduler_runner.cleanup)
            listening = [
                await _listen("scheduler", scheduler_runner, listen.scheduler, context),
                await _listen("ops", ops_runner, listen.ops, None),
            ]
            watcher = asyncio.create_task(self._watch_tls())
            stack.callback(watcher.cancel)
            yield listening
            self._door.draining = True
            for site in list(scheduler_runner.sites):
                await site.stop()
            await self._door.wait_idle(self._config.limits.drain_timeout)

    async def _watch_tls(self) -> None:
        while self._tls is not None:
            await asyncio.sleep(TLS_CHECK_SECONDS)
            self._tls.reload_if_changed()

    def _check_cluster(self) -> tuple[str | None, str]:
        state = self._source.state()
        return state.problem, state.remark

    def _check_shutdown(self) -> tuple[str | None, str]:
        return ("draining", "") if self._door.draining else (None, "")


def _runner(app: web.Application) -> web.AppRunner:
    return web.AppRunner(
        app,
        access_log=None,
        auto_decompress=False,  # a small body could unpack to gigabytes
        handle_signals=False,
        keepalive_timeout=KEEP_ALIVE_SECONDS,
        lingering_time=LINGER_SECONDS,
        shutdown_timeout=CLOSE_SECONDS,
    )


async def _listen(
    name: str, runner: web.AppRunner, address: Address, context: ssl.SSLContext | None
) -> Listening:
    await runner.setup()
    site = web.TCPSite(runner, address.host, address.port, ssl_context=context)
    try:
        await site.start()
    except OSError as exc:
        raise ConfigError(
            [f"listen.{name}: cannot listen on {address}: {os.strerror(exc.errno or 0)}"]
        ) from exc
    host, port = runner.addresses[0][:2]
    return Listening(name, Address(host, port), "https" if context else "http")
