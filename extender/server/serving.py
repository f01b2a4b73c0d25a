"""Starts the listeners, keeps them, and takes them down without losing an answer."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from aiohttp import web

from extender.cluster.source import ClusterSource
from extender.config.schema import Address, Config
from extender.errors import ConfigError
from extender.match.lru import CacheBudget
from extender.metrics import CacheCollector, Metrics
from extender.server.catch_up import CatchUp
from extender.server.explain_door import ExplainDoor
from extender.server.expressions import Expressions, timed_programs
from extender.server.ops import ops_app
from extender.server.profiles import Profiles
from extender.server.scheduler import SchedulerDoor
from extender.server.status import Callers, Readiness
from extender.server.tls import ReloadingTLS
from extender.server.verbs import Verbs
from extender.server.webhook import AdmissionDoor

log = logging.getLogger("leeway.server")

# kube-scheduler keeps an idle connection for 90 s; whoever closes first must not be us.
KEEP_ALIVE_SECONDS: Final = 120.0
# How long what is left of a refused body is read and thrown away, so that the answer arrives.
LINGER_SECONDS: Final = 2.0
TLS_CHECK_SECONDS: Final = 1.0
CLOSE_SECONDS: Final = 2.0
KEPT_BYTES: Final = 4 << 20


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
        self._admission_tls = _admission_tls(config)
        metrics.registry.register(CacheCollector(source.cached))
        callers = Callers()
        profiles = Profiles(config, timed_programs(CacheBudget(config.limits.cache_bytes), metrics))
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
        # A thread of its own: what is to be admitted must not hold up what is to be placed.
        self._compiling = Expressions(profiles.settings)
        self._admission = AdmissionDoor(
            profiles.settings, self._compiling, limits=config.limits, metrics=metrics
        )
        readiness = Readiness({"cluster": self._check_cluster, "shutdown": self._check_shutdown})
        self._explain = ExplainDoor(config, source) if config.explain else None
        self._ops = ops_app(
            readiness,
            registry=metrics.registry,
            callers=callers,
            source=source,
            explain=self._explain.handle if self._explain else None,
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[list[Listening]]:
        """Listen; on the way out become unready, finish what has begun, and close."""
        _keep_freed_memory()
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(self._expressions.running())
            stack.enter_context(self._compiling.running())
            if self._explain is not None:
                stack.enter_context(self._explain.running())
            await stack.enter_async_context(self._source.running())
            runners, listening = await self._listen(stack)
            watcher = asyncio.create_task(self._watch_tls())
            stack.callback(watcher.cancel)
            yield listening
            await self._drain(runners)

    async def _listen(
        self, stack: contextlib.AsyncExitStack
    ) -> tuple[list[web.BaseRunner], list[Listening]]:
        """Open every listener; the runners of those that are to be drained."""
        listen = self._config.listen
        scheduler = web.ServerRunner(
            web.Server(self._door.handle, **_connections()), shutdown_timeout=CLOSE_SECONDS
        )
        ops = _runner(self._ops)
        runners: list[web.BaseRunner] = [scheduler]
        listening = []
        stack.push_async_callback(ops.cleanup)
        stack.push_async_callback(scheduler.cleanup)
        listening += [
            await _listen("scheduler", scheduler, listen.scheduler, self._tls),
            await _listen("ops", ops, listen.ops, None),
        ]
        if listen.admission is not None:
            admission = _runner(self._admission.app())
            stack.push_async_callback(admission.cleanup)
            runners.append(admission)
            listening.append(
                await _listen("admission", admission, listen.admission, self._admission_tls)
            )
        return runners, listening

    async def _drain(self, runners: list[web.BaseRunner]) -> None:
        doors = (self._door, self._admission)
        for door in doors:
            door.draining = True
        for runner in runners:
            for site in list(runner.sites):
                await site.stop()
        seconds = self._config.limits.drain_timeout
        await asyncio.gather(*(door.wait_idle(seconds) for door in doors))

    async def _watch_tls(self) -> None:
        while True:
            await asyncio.sleep(TLS_CHECK_SECONDS)
            for tls in (self._tls, self._admission_tls):
                if tls is not None:
                    tls.reload_if_changed()

    def _check_cluster(self) -> tuple[str | None, str]:
        state = self._source.state()
        return state.problem, state.remark

    def _check_shutdown(self) -> tuple[str | None, str]:
        return ("draining", "") if self._door.draining else (None, "")


def _keep_freed_memory() -> None:
    """Have the chunks of large bodies be made of the memory of those before.

    glibc returns what is freed to the kernel, and to get it back page by page takes longer than
    to fill it. How much it keeps follows from the largest block that was ever freed: see
    M_MMAP_THRESHOLD in mallopt(3). This block is never written to, so that it takes no memory.
    """
    bytearray(KEPT_BYTES)


def _runner(app: web.Application) -> web.AppRunner:
    return web.AppRunner(
        app, handle_signals=False, shutdown_timeout=CLOSE_SECONDS, **_connections()
    )


def _connections() -> Mapping[str, Any]:
    return {
        "access_log": None,
        "auto_decompress": False,  # a small body could unpack to gigabytes
        "keepalive_timeout": KEEP_ALIVE_SECONDS,
        "lingering_time": LINGER_SECONDS,
    }


def _admission_tls(config: Config) -> ReloadingTLS | None:
    """The certificate of the admission listener: its own, or the scheduler listener's."""
    if config.listen.admission is None:
        return None
    files = config.admission_tls or config.scheduler_tls
    if files is None:
        raise ConfigError(
            [
                "listen.admission: needs a certificate, as the API server calls webhooks over TLS"
                " only: give tls.admission.certFile and tls.admission.keyFile"
            ]
        )
    # Who may call the scheduler's verbs says nothing about the API server.
    return ReloadingTLS(replace(files, client_ca_file=None))


async def _listen(
    name: str, runner: web.BaseRunner, address: Address, tls: ReloadingTLS | None
) -> Listening:
    await runner.setup()
    context = tls.context if tls else None
    site = web.TCPSite(runner, address.host, address.port, ssl_context=context)
    try:
        await site.start()
    except OSError as exc:
        raise ConfigError(
            [f"listen.{name}: cannot listen on {address}: {os.strerror(exc.errno or 0)}"]
        ) from exc
    host, port = runner.addresses[0][:2]
    return Listening(name, Address(host, port), "https" if context else "http")
