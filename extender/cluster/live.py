"""The cluster of an API server, watched."""

import asyncio
import contextlib
import gc
import logging
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from operator import attrgetter
from typing import Final

from extender.cluster import resources
from extender.cluster.api import ApiServer
from extender.cluster.cache import ClusterCache
from extender.cluster.reflector import Reflector
from extender.cluster.source import State
from extender.errors import NotSyncedError
from extender.framework.snapshot import Snapshot
from extender.metrics import CachedResource

log = logging.getLogger("leeway.cluster")

# A quiet server still sends a bookmark every minute.
DEGRADED_SECONDS: Final = 90.0
_CURRENT: Final = attrgetter("current")


class LiveSource:
    """Watches the resources that are asked for; nothing is answered before all were listed."""

    def __init__(
        self,
        api: ApiServer,
        names: Collection[str],
        *,
        max_staleness: float | None = None,
        on_restart: Callable[[str, str], None] = lambda _resource, _reason: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.cache = ClusterCache(reserves=True)
        self._max_staleness = max_staleness
        self._clock = clock
        self._listed = False  # once for all
        self._pods = resources.PODS.name in names
        self._volumes = resources.PERSISTENT_VOLUMES.name in names
        self._reflectors = [
            Reflector(resource, api, store, on_restart=on_restart, clock=clock)
            for resource, store in self.cache.stores()
            if resource.name in names
        ]

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Watch while the context lasts."""
        tasks = [asyncio.create_task(reflector.run()) for reflector in self._reflectors]
        tasks.append(asyncio.create_task(self._settle()))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def snapshot(self) -> Snapshot:
        """The cluster as it is known now."""
        if not self._listed:
            missing = [each.name for each in self._reflectors if not each.synced.is_set()]
            if missing:
                raise NotSyncedError(f"cache not synced: {', '.join(missing)} not listed yet")
            self._listed = True
        self.cache.index.advance(self._clock())
        current = all(map(_CURRENT, self._reflectors))
        return self.cache.snapshot(current=current, pods=self._pods, volumes=self._volumes)

    async def changed(self, names: Collection[str], since: int, seconds: float) -> bool:
        """Wait until one of these resources has changed since a generation; whether one has."""
        return await self.cache.changes.wait(names, since, seconds)

    def state(self) -> State:
        """Not ready before everything was listed; a lost API server is only a remark.

        Restarting would lose the cache and gain nothing, so being cut off makes us unready
        only past `maxStaleness`.
        """
        problems: list[str] = []
        remarks: list[str] = []
        for each in self._reflectors:
            age = each.age()
            if not each.synced.is_set():
                problems.append(f"{each.name} not listed yet")
            elif age is not None and self._max_staleness and age > self._max_staleness:
                problems.append(f"{each.name} not heard of for {age:.0f} s")
            elif age is not None and age > DEGRADED_SECONDS:
                remarks.append(f"degraded, {each.name} not heard of for {age:.0f} s")
            else:
                remarks.append(f"{each.objects} {each.name}")
        return State("; ".join(problems) or None, "; ".join(remarks))

    def cached(self) -> Sequence[CachedResource]:
        """What the metrics say of each resource."""
        return [
            CachedResource(each.name, each.objects, each.synced.is_set(), each.age())
            for each in self._reflectors
        ]

    def reload(self) -> None:
        """Nothing to read again: a watch is never behind its source for long."""

    async def _settle(self) -> None:
        for each in self._reflectors:
            await each.synced.wait()
        # What was listed stays: the collector need not look at it ever again. Collecting first
        # would find next to nothing, and stop the event loop for 40 ms now that we are ready.
        gc.freeze()
        log.info("cluster listed: %s", self.state().remark)
