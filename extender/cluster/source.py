"""What the server asks for the cluster: a snapshot now, or a fault that says why there is none."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from extender.cluster import manifests
from extender.errors import NoClusterError
from extender.framework.snapshot import Snapshot, snapshot_of
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

    async def changed(self, since: int, seconds: float) -> bool:
        """Wait until the snapshot differs from that of a generation; whether it does."""
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
        return State(None, "no cluster source, only whole-node requests are answered")

    def cached(self) -> Sequence[CachedResource]:
        """Nothing."""
        return ()

    def reload(self) -> None:
        """Nothing to read."""


class FileSource:
    """Nodes out of manifest files, replaced as a whole when they are read again."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = tuple(paths)
        self._snapshot = Snapshot()
        self.reload()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Nothing to keep: files are read again on demand."""
        yield

    def snapshot(self) -> Snapshot:
        """The files as they were read last."""
        return self._snapshot

    def state(self) -> State:
        """How many nodes the files hold."""
        return State(None, f"{len(self._snapshot.nodes)} nodes from {', '.join(self._paths)}")

    def cached(self) -> Sequence[CachedResource]:
        """The nodes."""
        return [CachedResource("nodes", len(self._snapshot.nodes), synced=True, age=None)]

    def reload(self) -> None:
        """Read the files again, as one swap; ManifestError keeps the old cluster."""
        nodes = manifests.load_nodes(self._paths)
        self._snapshot = snapshot_of(nodes, generation=self._snapshot.generation + 1)
