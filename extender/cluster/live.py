"""A cluster source that watches an API server."""

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
from extender.cluster.pending import PendingPods
from extender.cluster.pod_status import Condition, PodStatusWriter
from extender.cluster.reflector import Reflector
from extender.cluster.resources import Key
from extender.cluster.source import State
from extender.errors import NotSyncedError
from extender.framework.snapshot import Snapshot
from extender.match.lru import CacheBudget
from extender.metrics import CachedResource

log = logging.getLogger("leeway.cluster")

# Even an idle server sends a bookmark every minute.
DEGRADED_SECONDS: Final = 90.0
_CURRENT: Final = attrgetter("current")


class LiveSource:
    """Watches the given resources; there is no snapshot before all of them are listed."""

    def __init__(
        self,
        api: ApiServer,
        names: Collection[str],
        *,
        max_staleness: float | None = None,
        caches: CacheBudget | None = None,
        pending: PendingPods | None = None,
        on_restart: Callable[[str, str], None] = lambda _resource, _reason: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.pending = PendingPods() if pending is None else pending
        self.cache = ClusterCache(reserves=True, caches=caches, pending=self.pending)
        self._writer = PodStatusWriter(api)
        self._max_staleness = max_staleness
        self._clock = clock
        self._listed = False  # stays True once set
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
            await self._writer.close()

    def snapshot(self) -> Snapshot:
        """The cluster as it is cached now."""
        if not self._listed:
            missing = [each.name for each in self._reflectors if not each.synced.is_set()]
            if missing:
                raise NotSyncedError(f"cache not synced: {', '.join(missing)} not listed yet")
            self._listed = True
        self.cache.index.advance(self._clock())
        current = all(map(_CURRENT, self._reflectors))
        return self.cache.snapshot(current=current, pods=self._pods, volumes=self._volumes)

    @property
    def activity(self) -> int:
        """Grows with everything seen that makes kube-scheduler ask again about refused pods."""
        return self.cache.changes.activity

    async def changed(self, names: Collection[str], since: int, seconds: float) -> bool:
        """Wait until one of these resources changes after a generation; returns whether one did."""
        return await self.cache.changes.wait(names, since, seconds)

    async def write_condition(self, key: Key, uid: str, condition: Condition) -> None:
        """Set a condition of a pod; PodGoneError if it is gone, ApiError if it cannot be set."""
        await self._writer.write(key, uid, condition)

    def state(self) -> State:
        """Not ready until everything is listed; a lost API server is only a remark.

        A restart would lose the cache and gain nothing, so a lost connection makes us unready
        only after `maxStaleness`.
        """
        problems: list[str] = []
        remarks: list[str] = []
        for each in self._reflectors:
            age = each.age()
            if not each.synced.is_set():
                problems.append(f"{each.name} not listed yet")
            elif age is not None and self._max_staleness and age > self._max_staleness:
                problems.append(f"{each.name}: no contact with the API server for {age:.0f} s")
            elif age is not None and age > DEGRADED_SECONDS:
                remarks.append(
                    f"degraded, {each.name}: no contact with the API server for {age:.0f} s"
                )
            else:
                remarks.append(f"{each.objects} {each.name}")
        return State("; ".join(problems) or None, "; ".join(remarks))

    def cached(self) -> Sequence[CachedResource]:
        """The figures of each resource, for the metrics."""
        return [
            CachedResource(each.name, each.objects, each.synced.is_set(), each.age())
            for each in self._reflectors
        ]

    def reload(self) -> None:
        """Does nothing: a watch keeps itself up to date."""

    async def _settle(self) -> None:
        for each in self._reflectors:
            await each.synced.wait()
        # The listed objects stay, so the collector need not visit them again. A collection before
        # would free almost nothing and stop the event loop for 40 ms just when we are ready.
        gc.freeze()
        log.info("cluster listed: %s", self.state().remark)
