"""Cluster sources: each gives a snapshot, or raises why there is none."""

import contextlib
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from extender.cluster import manifests
from extender.cluster.cache import ClusterCache
from extender.cluster.pending import PendingPods
from extender.cluster.pod_status import Condition
from extender.cluster.resources import Key
from extender.errors import NoClusterError
from extender.framework.snapshot import Snapshot
from extender.match.lru import CacheBudget
from extender.metrics import CachedResource


@dataclass(frozen=True, slots=True)
class State:
    """The state of a source: why it is not ready (None: it is), and a remark for a person."""

    problem: str | None
    remark: str


class ClusterSource(Protocol):
    """Gives snapshots of a cluster."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keep the source up to date while the context lasts."""
        ...

    def snapshot(self) -> Snapshot:
        """The cluster as it is known now; NotSyncedError if it is not listed yet."""
        ...

    def state(self) -> State:
        """Whether the source is ready."""
        ...

    def cached(self) -> Sequence[CachedResource]:
        """The figures of each resource, for the metrics."""
        ...

    def reload(self) -> None:
        """Read files again; after an error the old content stays."""
        ...


@runtime_checkable
class Changing(Protocol):
    """A source that learns of changes with a delay."""

    async def changed(self, names: Collection[str], since: int, seconds: float) -> bool:
        """Wait until one of these resources changes after a generation; returns whether one did."""
        ...


@runtime_checkable
class Watching(Changing, Protocol):
    """One that also knows who waits for a change, and can wake them."""

    @property
    def pending(self) -> PendingPods:
        """The pods that wait for a node."""
        ...

    @property
    def activity(self) -> int:
        """Grows with everything seen that makes kube-scheduler ask again about refused pods."""
        ...

    def snapshot(self) -> Snapshot:
        """The cluster as it is known now; NotSyncedError if it is not listed yet."""
        ...

    async def write_condition(self, key: Key, uid: str, condition: Condition) -> None:
        """Set a condition of a pod; PodGoneError if it is gone, ApiError if it cannot be set."""
        ...


class NoSource:
    """No cluster: only requests with whole nodes can be answered."""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Nothing to do."""
        yield

    def snapshot(self) -> Snapshot:
        """Always raises NoClusterError."""
        raise NoClusterError(
            "no cluster source: node names cannot be resolved; start leeway serve with"
            " --kubeconfig or --cluster, or set nodeCacheCapable: false"
        )

    def state(self) -> State:
        """Always ready; the remark says what does not work."""
        return State(
            None,
            "no cluster source, only whole-node requests are answered;"
            " VolumeBinding and PodTopologySpread are skipped",
        )

    def cached(self) -> Sequence[CachedResource]:
        """Nothing is cached."""
        return ()

    def reload(self) -> None:
        """Nothing to read."""


class FileSource:
    """A cluster from manifest files; a reload replaces it as a whole.

    Pods never arrive in it, so pods in flight are not counted.
    """

    def __init__(
        self,
        paths: Sequence[str],
        *,
        caches: CacheBudget | None = None,
        tell: manifests.Tell = manifests.log.warning,
    ) -> None:
        self._tell = tell  # about files that are not manifests
        self._paths = tuple(paths)
        self._caches = CacheBudget() if caches is None else caches
        self._cache = ClusterCache(caches=self._caches)
        self._snapshot = self._cache.snapshot(generation=0)
        self.reload()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Nothing to do: `reload` reads the files again."""
        yield

    def snapshot(self) -> Snapshot:
        """The cluster as of the last reload."""
        return self._snapshot

    def state(self) -> State:
        """Always ready; the remark counts the objects in the files."""
        others = (f", {each.objects} {each.resource}" for each in self.cached()[1:] if each.objects)
        text = f"{len(self._cache.nodes)} nodes{''.join(others)} from {', '.join(self._paths)}"
        return State(None, text)

    def cached(self) -> Sequence[CachedResource]:
        """The objects in the files, by resource."""
        return [
            CachedResource(resource.name, len(store), synced=True, age=None)
            for resource, store in self._cache.stores()
        ]

    def reload(self) -> None:
        """Read the files again, as one swap; ManifestError keeps the old cluster."""
        cache = ClusterCache(caches=self._caches)
        manifests.load(self._paths, cache, self._tell)
        self._cache.index.close()
        self._cache = cache
        self._snapshot = cache.snapshot(generation=self._snapshot.generation + 1)
