"""The cluster as the watches tell it: events in, snapshots out.

Everything happens on the event loop, and a request is judged without giving it up: so a snapshot
is a view of what is here now, and one changed node costs one entry, not a copy of all.
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import Struct

from extender.cluster.resources import Key
from extender.framework.snapshot import Interner, NodeInfo, Snapshot
from extender.model.core_v1 import Node, PlacedPod

MAX_LABEL_SETS: Final = 50_000

_LABELS: Final = msgspec.json.Decoder(dict[str, str] | None)

T = TypeVar("T")


class PodInfo(Struct, frozen=True, gc=False):
    """A pod on a node, or nominated to one."""

    namespace: str
    name: str
    uid: str
    node_name: str
    nominated_node_name: str
    terminating: bool
    labels: Mapping[str, str]


class NodeStore:
    """The nodes, and a generation that changes exactly when a verdict could."""

    def __init__(self) -> None:
        self._interner = Interner()
        self._nodes: dict[Key, NodeInfo] = {}
        self._generation = 0
        self._waiting: set[asyncio.Future[None]] = set()

    def put(self, key: Key, obj: Node) -> None:
        """Heartbeats change nothing that scheduling reads, and then nothing happens here."""
        new, old = self._interner.node_info(obj), self._nodes.get(key)
        if old is None or not new.same_as(old):
            self._nodes[key] = new
            self._changed()

    def remove(self, key: Key) -> None:
        """The node is gone."""
        if self._nodes.pop(key, None) is not None:
            self._changed()

    def keys(self) -> Sequence[Key]:
        """Every node."""
        return list(self._nodes)

    def snapshot(self, *, current: bool = True) -> Snapshot:
        """The nodes as they are now; holds until the event loop runs again."""
        return Snapshot(MappingProxyType(self._nodes), self._generation, current)

    async def changed(self, since: int, seconds: float) -> bool:
        """Wait until a node has changed since a generation; whether one has."""
        if self._generation == since:
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.add(waiter)
            try:
                async with asyncio.timeout(seconds):
                    await waiter
            except TimeoutError:
                pass
            finally:
                self._waiting.discard(waiter)
        return self._generation != since

    def __len__(self) -> int:
        return len(self._nodes)

    def _changed(self) -> None:
        self._generation += 1
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)


class PodStore:
    """The pods that are on a node or nominated to one; pods of a workload share their labels."""

    def __init__(self) -> None:
        self._pods: dict[Key, PodInfo] = {}
        self._labels: dict[bytes, Mapping[str, str]] = {}

    def put(self, key: Key, obj: PlacedPod) -> None:
        """A pod that waits for a node counts nowhere yet, one that has ended no more."""
        counts = obj.spec.node_name or obj.status.nominated_node_name
        if not counts or obj.status.phase in ("Succeeded", "Failed"):
            self.remove(key)
            return
        meta = obj.metadata
        self._pods[key] = PodInfo(
            namespace=sys.intern(meta.namespace),
            name=meta.name,
            uid=meta.uid,
            node_name=sys.intern(obj.spec.node_name),
            nominated_node_name=sys.intern(obj.status.nominated_node_name),
            terminating=meta.deletion_timestamp is not None,
            labels=self._interned(bytes(meta.labels)),
        )

    def _interned(self, raw: bytes) -> Mapping[str, str]:
        labels = self._labels.get(raw)
        if labels is None:
            if len(self._labels) >= MAX_LABEL_SETS:
                self._labels.clear()  # roll-outs leave sets behind that no pod has any more
            labels = self._labels[raw] = _LABELS.decode(raw) or {}
        return labels

    def remove(self, key: Key) -> None:
        """The pod is gone."""
        self._pods.pop(key, None)

    def keys(self) -> Sequence[Key]:
        """Every pod that counts."""
        return list(self._pods)

    def get(self, key: Key) -> PodInfo | None:
        """One pod, if it counts."""
        return self._pods.get(key)

    def __len__(self) -> int:
        return len(self._pods)


class ObjectStore(Generic[T]):
    """Objects that are kept as they are decoded."""

    def __init__(self) -> None:
        self._objects: dict[Key, T] = {}

    def put(self, key: Key, obj: T) -> None:
        """There is a new object, or a newer one."""
        self._objects[key] = obj

    def remove(self, key: Key) -> None:
        """The object is gone."""
        self._objects.pop(key, None)

    def keys(self) -> Sequence[Key]:
        """Every object."""
        return list(self._objects)

    def get(self, key: Key) -> T | None:
        """One object, if it is known."""
        return self._objects.get(key)

    def __len__(self) -> int:
        return len(self._objects)
