"""Starts the listeners, keeps them, and takes them down without losing an answer."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from aiohttp import web

from extender.cluster.source import ClusterSource, Watching
from extender.config.schema import Address, Config
from extender.errors import ConfigError
from extender.match.lru import CacheBudget
from extender.metrics import CacheCollector, Metrics
from extender.server.call_log import CallLog
from extender.server.connection import KEEP_ALIVE_SECONDS, LINGER_SECONDS
from extender.server.explain import ExplainDoor
from extender.server.hold import RefusalHold
from extender.server.nudges import Nudges
from extender.server.ops import ops_app
from extender.server.scheduler import SchedulerDoor
from extender.server.status import Callers, Readiness
from extender.server.tls import ReloadingTLS
from extender.server.webhook import AdmissionDoor
from extender.verbs.cel_budget import CelBudget, timed_programs
from extender.verbs.context import Context
from extender.verbs.profiles import Profiles

log = logging.getLogger("leeway.server")

TLS_CHECK_SECONDS: Final = 1.0
BACKLOG: Final = 128
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

    def __init__(
        self,
        config: Config,
        source: ClusterSource,
        metrics: Metrics,
        caches: CacheBudget | None = None,
    ) -> None:
        self._config = config
        self._source = source
        self._tls = ReloadingTLS(config.scheduler_tls) if config.scheduler_tls else None
        self._admission_tls = _admission_tls(config)
        budget = CacheBudget(config.limits.cache_bytes) if caches is None else caches
        metrics.registry.register(CacheCollector(source.cached))
        metrics.watch_caches(budget)
        callers = Callers()
        profiles = Profiles(config, timed_programs(budget, metrics))
        context = Context(source, profiles, refusals=config.refusals)
        self._cel = context.cel
        self._door = SchedulerDoor(
            context,
            RefusalHold(source, config.catch_up),
            CallLog(profiles, metrics, callers),
            config.limits,
        )
        self._scheduler: asyncio.Server | None = None
        self._runner: web.AppRunner | None = None
        # A thread of its own: what is to be admitted must not hold up what is to be placed.
        self._compiling = CelBudget(profiles.settings)
        self._admission = AdmissionDoor(
            profiles.settings, self._compiling, limits=config.limits, metrics=metrics
        )
        self._nudges = _nudges(context, source, metrics, config)
        self._explain = ExplainDoor(config, source) if config.explain else None
        self._ops = ops_app(
            self._readiness(),
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
            stack.enter_context(self._cel.running())
            stack.enter_context(self._compiling.running())
            if self._explain is not None:
                stack.enter_context(self._explain.running())
            await stack.enter_async_context(self._source.running())
            listening = await self._listen(stack)
            tasks = [self._watch_tls(), self._door.watch_time()]
            tasks += [self._nudges.run()] if self._nudges else []
            for task in tasks:
                stack.callback(asyncio.create_task(task).cancel)
            yield listening
            await self._drain()

    async def _listen(self, stack: contextlib.AsyncExitStack) -> list[Listening]:
        """Open every listener."""
        listen = self._config.listen
        ops = _runner(self._ops)
        stack.push_async_callback(ops.cleanup)
        listening = [
            await self._listen_to_scheduler(stack, listen.scheduler),
            await _listen("ops", ops, listen.ops, None),
        ]
        if listen.admission is not None:
            self._runner = _runner(self._admission.app())
            stack.push_async_callback(self._runner.cleanup)
            listening.append(
                await _listen("admission", self._runner, listen.admission, self._admission_tls)
            )
        return listening

    async def _listen_to_scheduler(
        self, stack: contextlib.AsyncExitStack, address: Address
    ) -> Listening:
        context = self._tls.context if self._tls else None
        loop = asyncio.get_running_loop()
        try:
            self._scheduler = await loop.create_server(
                self._door.connect, address.host, address.port, ssl=context, backlog=BACKLOG
            )
        except OSError as exc:
            raise _cannot_listen("scheduler", address, exc) from exc
        stack.callback(self._door.close)
        stack.callback(self._scheduler.close)  # also where another listener cannot listen
        host, port = self._scheduler.sockets[0].getsockname()[:2]
        return Listening("scheduler", Address(host, port), "https" if context else "http")

    async def _drain(self) -> None:
        self._admission.draining = True
        if self._scheduler is not None:
            self._scheduler.close()
        self._door.drain()
        if self._runner is not None:
            for site in list(self._runner.sites):
                await site.stop()
        seconds = self._config.limits.drain_timeout
        doors = self._door, self._admission
        await asyncio.gather(*(door.wait_idle(seconds) for door in doors))

    async def _watch_tls(self) -> None:
        while True:
            await asyncio.sleep(TLS_CHECK_SECONDS)
            for tls in (self._tls, self._admission_tls):
                if tls is not None:
                    tls.reload_if_changed()

    def _readiness(self) -> Readiness:
        checks = {"cluster": self._check_cluster, "shutdown": self._check_shutdown}
        if self._nudges is not None:
            checks["nudges"] = self._check_nudges
        return Readiness(checks)

    def _check_cluster(self) -> tuple[str | None, str]:
        state = self._source.state()
        return state.problem, state.remark

    def _check_nudges(self) -> tuple[str | None, str]:
        return None, self._nudges.remark() if self._nudges else ""

    def _check_shutdown(self) -> tuple[str | None, str]:
        return ("draining", "") if self._door.draining else (None, "")


def _nudges(
    context: Context, source: ClusterSource, metrics: Metrics, config: Config
) -> Nudges | None:
    """Looks after waiting pods where changes are seen."""
    if context.waiting is None or not isinstance(source, Watching):
        return None
    metrics.waiting_pods.set_function(context.waiting.__len__)
    per_second = config.nudges_per_second
    return Nudges(context, source, context.waiting, metrics, per_second=per_second)


def _keep_freed_memory() -> None:
    """Have the chunks of large bodies be made of the memory of those before.

    glibc returns what is freed to the kernel, and to get it back page by page takes longer than
    to fill it. How much it keeps follows from the largest block that was ever freed: see
    M_MMAP_THRESHOLD in mallopt(3). This block is never written to, so that it takes no memory.
    """
    bytearray(KEPT_BYTES)


def _runner(app: web.Application) -> web.AppRunner:
    return web.AppRunner(
        app,
        handle_signals=False,
        handler_cancellation=True,  # who has gone needs no answer
        shutdown_timeout=CLOSE_SECONDS,
        **_connections(),
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
        raise _cannot_listen(name, address, exc) from exc
    host, port = runner.addresses[0][:2]
    return Listening(name, Address(host, port), "https" if context else "http")


def _cannot_listen(name: str, address: Address, exc: OSError) -> ConfigError:
    why = os.strerror(exc.errno or 0)
    return ConfigError([f"listen.{name}: cannot listen on {address}: {why}"])
