"""Starts the listeners, keeps them, and takes them down without losing an answer."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Final

from extender.cluster.source import ClusterSource, Watching
from extender.config.schema import Config
from extender.errors import ConfigError
from extender.match.lru import CacheBudget
from extender.metrics import CacheCollector, Metrics
from extender.server.call_log import CallLog
from extender.server.entrances import Entrances, Listening
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
KEPT_BYTES: Final = 4 << 20


class Server:
    """All listeners over one cluster source."""

    def __init__(
        self,
        config: Config,
        source: ClusterSource,
        metrics: Metrics,
        caches: CacheBudget | None = None,
    ) -> None:
        self._config, self._source = config, source
        self._tls = ReloadingTLS(config.scheduler_tls) if config.scheduler_tls else None
        self._admission_tls = admission_tls(config)
        budget = CacheBudget(config.limits.cache_bytes) if caches is None else caches
        metrics.registry.register(CacheCollector(source.cached))
        metrics.watch_caches(budget)
        self._entrances = Entrances(config.limits)
        callers = Callers()
        profiles = Profiles(config, timed_programs(budget, metrics))
        context = Context(source, profiles, refusals=config.refusals)
        self._cel = context.cel
        self._door = SchedulerDoor(
            context,
            RefusalHold(source, config.catch_up),
            CallLog(profiles, metrics, callers),
            config.limits,
            self._entrances.room,
        )
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
            config=config,
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
            stack.callback(self._door.close)
            await stack.enter_async_context(self._entrances.closing())
            listening = await self._listen()
            tls = watch_tls(self._tls, self._admission_tls)
            tasks = [tls, self._door.watch_time(), *self._entrances.watch_time()]
            tasks += [self._nudges.run()] if self._nudges else []
            for task in tasks:
                stack.callback(asyncio.create_task(task).cancel)
            yield listening
            await self._drain()

    async def _listen(self) -> list[Listening]:
        """Open every listener."""
        listen, entrances = self._config.listen, self._entrances
        listening = [
            await entrances.open("scheduler", self._door.connect, listen.scheduler, self._tls),
            await entrances.serve("ops", self._ops, listen.ops, None),
        ]
        if listen.admission is not None:
            app, tls = self._admission.app(), self._admission_tls
            listening.append(await entrances.serve("admission", app, listen.admission, tls))
        return listening

    async def _drain(self) -> None:
        self._admission.draining = True
        self._entrances.close("scheduler", "admission")
        self._door.drain()
        seconds = self._config.limits.drain_timeout
        doors = self._door, self._admission
        await asyncio.gather(*(door.wait_idle(seconds) for door in doors))

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


async def watch_tls(*watched: ReloadingTLS | None) -> None:
    """Follow changed certificates, for ever."""
    while True:
        await asyncio.sleep(TLS_CHECK_SECONDS)
        for tls in watched:
            if tls is not None:
                tls.reload_if_changed()


def _keep_freed_memory() -> None:
    """Have the chunks of large bodies be made of the memory of those before.

    glibc returns what is freed to the kernel, and to get it back page by page takes longer than
    to fill it. How much it keeps follows from the largest block that was ever freed: see
    M_MMAP_THRESHOLD in mallopt(3). This block is never written to, so that it takes no memory.
    """
    bytearray(KEPT_BYTES)


def admission_tls(config: Config) -> ReloadingTLS | None:
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
