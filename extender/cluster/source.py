"""What the server asks for the cluster: a snapshot now, or a fault that says why there is none."""

import contextlib
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from extender.cluster import manifests
from extender.cluster.cache import ClusterCache
from extender.errors import NoClusterError
from extender.framework.snapshot import Snapshot
from extender.metrics import CachedResource


@dataclass(frozen=True, slots=True)
class State:
    """How a source fares: why it is not ready, or None; and a remark for a person."""

    problem: str | None
    remark: str


class ClusterSource(Protocol):
    """Where snapshots come from."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keep the source up to date while the context lasts."""
        ...

    def snapshot(self) -> Snapshot:
        """The cluster as it is known now; NotSyncedError while it is not."""
        ...

    def state(self) -> State:
        """Whether the source can be relied on."""
        ...

    def cached(self) -> Sequence[CachedResource]:
        """What the metrics say of each resource."""
        ...

    def reload(self) -> None:
        """Read again what can be read again; a fault keeps what was known."""
        ...


@runtime_checkable
class Watching(Protocol):
    """A source that hears of changes a little later than they happen."""

    async def changed(self, names: Collection[str], since: int, seconds: float) -> bool:
        """Wait until one of these resources has changed since a generation; whether one has."""
        ...


class NoSource:
    """No cluster at all: only requests that carry whole nodes can be answered."""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Nothing to keep."""
        yield

    def snapshot(self) -> Snapshot:
        """Always a fault."""
        raise NoClusterError(
            "no cluster source: node names cannot be resolved; start leeway serve with"
            " --kubeconfig or --cluster, or set nodeCacheCapable: false"
        )

    def state(self) -> State:
        """What works and what does not."""
        return State(
            None,
            "no cluster source, only whole-node requests are answered;"
            " VolumeBinding and PodTopologySpread stand aside",
        )

    def cached(self) -> Sequence[CachedResource]:
        """Nothing."""
        return ()

    def reload(self) -> None:
        """Nothing to read."""


class FileSource:
    """A cluster out of manifest files, replaced as a whole when they are read again.

    Nobody is ever seen to arrive in it, so nothing is reserved for pods in flight.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = tuple(paths)
        self._cache = ClusterCache()
        self._snapshot = self._cache.snapshot(generation=0)
        self.reload()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Nothing to keep: files are read again on demand."""
        yield

    def snapshot(self) -> Snapshot:
        """The files as they were read last."""
        return self._snapshot

    def state(self) -> State:
        """How many objects the files hold."""
        others = (f", {each.objects} {each.resource}" for each in self.cached()[1:] if each.objects)
        text = f"{len(self._cache.nodes)} nodes{''.join(others)} from {', '.join(self._paths)}"
        return State(None, text)

    def cached(self) -> Sequence[CachedResource]:
        """What the files hold."""
        return [
            CachedResource(resource.name, len(store), synced=True, age=None)
            for resource, store in self._cache.stores()
        ]

    def reload(self) -> None:
        """Read the files again, as one swap; ManifestError keeps the old cluster."""
        cache = ClusterCache()
        manifests.load(self._paths, cache)
        self._cache = cache
        self._snapshot = cache.snapshot(generation=self._snapshot.generation + 1)
