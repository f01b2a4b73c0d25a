"""The cached cluster: watch events in, snapshots out.

Everything runs on the event loop, and a request is judged without yielding to it. So a snapshot
is a view of the live stores, and a changed node costs one entry instead of a copy of all nodes.
"""

import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Generic, Protocol, TypeVar

from extender.cluster import resources
from extender.cluster.changes import Changes
from extender.cluster.pending import PendingPods
from extender.cluster.resources import Key, Resource
from extender.framework.columns.node_table import NodeTable
from extender.framework.pods.cohorts import PodInfo
from extender.framework.pods.index import PodIndex
from extender.framework.snapshot import Interner, NodeInfo, Snapshot
from extender.framework.volumes import Volumes
from extender.match.lru import CacheBudget
from extender.model.core_v1 import Node, PendingPod, PlacedPod
from extender.model.nulls import Decoder
from extender.model.storage_v1 import PersistentVolume, PersistentVolumeClaim, StorageClass

MAX_LABEL_SETS: Final = 50_000

_LABELS: Final[Decoder[dict[str, str] | None]] = Decoder(dict[str, str] | None)
_NODES: Final = resources.NODES.name
_ENDED: Final = ("Succeeded", "Failed")

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)


class Store(Protocol[T_contra]):
    """Keeps the objects of one resource."""

    def put(self, key: Key, obj: T_contra) -> None:
        """Add or replace an object."""
        ...

    def remove(self, key: Key) -> None:
        """Remove an object, which may be unknown."""
        ...

    def keys(self) -> Sequence[Key]:
        """The keys of all objects."""
        ...

    def __len__(self) -> int: ...


class Kept(Generic[T]):
    """Base of the stores: the current objects by key."""

    def __init__(self) -> None:
        self._objects: dict[Key, T] = {}

    def keys(self) -> Sequence[Key]:
        """The keys of all objects."""
        return list(self._objects)

    def get(self, key: Key) -> T | None:
        """One object, if the store has it."""
        return self._objects.get(key)

    @property
    def objects(self) -> Mapping[Key, T]:
        """A live, read-only view of the objects."""
        return MappingProxyType(self._objects)

    def __len__(self) -> int:
        return len(self._objects)


class NodeStore(Kept[NodeInfo]):
    """The nodes, and a generation that changes exactly when a verdict may change."""

    def __init__(
        self,
        changes: Changes | None = None,
        on_change: Callable[[Key], None] = lambda _key: None,
    ) -> None:
        super().__init__()
        self._interner = Interner()
        self.table = NodeTable(lasting=True)
        self._changes = changes or Changes()
        self._on_change = on_change

    def put(self, key: Key, obj: Node) -> None:
        """Add or replace a node; a mere heartbeat changes nothing here."""
        new, old = self._interner.node_info(obj), self._objects.get(key)
        if old is None or not new.same_as(old):
            self._objects[key] = new
            self.table.put(new)
            self._changed(key)

    def remove(self, key: Key) -> None:
        """Remove a node."""
        if self._objects.pop(key, None) is not None:
            self.table.remove(key)
            self._changed(key)

    def snapshot(self) -> Snapshot:
        """The nodes only; valid until the event loop runs again."""
        return Snapshot(self.objects, self._changes.of((_NODES,)), table=self.table)

    async def changed(self, since: int, seconds: float) -> bool:
        """Wait until a node changes after a generation; returns whether one did."""
        return await self._changes.wait((_NODES,), since, seconds)

    def _changed(self, key: Key) -> None:
        self._on_change(key)
        self._changes.note(_NODES)


class PodStore(Kept[PodInfo]):
    """The pods that are bound or nominated to a node; equal label sets are shared."""

    def __init__(
        self,
        index: PodIndex | None = None,
        pending: PendingPods | None = None,
        on_move: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__()
        self._labels: dict[bytes, Mapping[str, str]] = {}
        self._index = index or PodIndex({})
        self._pending = pending
        self._on_move = on_move  # a pod came to a node, or left one

    def put(self, key: Key, obj: PlacedPod) -> None:
        """Add or replace a pod; a pending or finished pod counts on no node and is not kept."""
        meta = obj.metadata
        if self._pending is not None:
            if isinstance(obj, PendingPod) and obj.status.phase not in _ENDED:
                self._pending.put(key, obj)
            else:
                self._pending.remove(key)
        if obj.status.phase in _ENDED:
            self._forget(key)
            self._index.gone(key, meta.uid)
            return
        if not obj.spec.node_name and not obj.status.nominated_node_name:
            self._forget(key)
            return
        old = self._objects.get(key)
        new = self._objects[key] = PodInfo(
            namespace=sys.intern(meta.namespace),
            name=meta.name,
            uid=meta.uid,
            node_name=sys.intern(obj.spec.node_name),
            nominated_node_name=sys.intern(obj.status.nominated_node_name),
            terminating=meta.deletion_timestamp is not None,
            labels=self._interned(bytes(meta.labels)),
            priority=obj.spec.priority or 0,
        )
        self._index.put(new, old)
        if new.node_name and (old is None or not old.node_name):
            self._on_move()

    def _interned(self, raw: bytes) -> Mapping[str, str]:
        labels = self._labels.get(raw)
        if labels is None:
            if len(self._labels) >= MAX_LABEL_SETS:
                self._labels.clear()  # rollouts leave label sets behind that no pod has any more
            labels = self._labels[raw] = _LABELS.decode(raw) or {}
        return labels

    def remove(self, key: Key) -> None:
        """Remove a pod."""
        if self._pending is not None:
            self._pending.remove(key)
        old = self._forget(key)
        self._index.gone(key, old.uid if old else "")

    def _forget(self, key: Key) -> PodInfo | None:
        """Stop counting a pod; it may still be in flight."""
        old = self._objects.pop(key, None)
        if old is not None:
            self._index.remove(old)
            self._on_move()
        return old


class ObjectStore(Kept[T]):
    """Keeps objects as they are decoded."""

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self._on_change = on_change

    def put(self, key: Key, obj: T) -> None:
        """Add or replace an object."""
        self._objects[key] = obj
        self._on_change()

    def remove(self, key: Key) -> None:
        """Remove an object."""
        if self._objects.pop(key, None) is not None:
            self._on_change()


class ClusterCache:
    """All stores of one cluster; with `reserves`, pods in flight are counted, too."""

    def __init__(
        self,
        *,
        reserves: bool = False,
        caches: CacheBudget | None = None,
        pending: PendingPods | None = None,
    ) -> None:
        self.changes = changes = Changes()
        self.nodes = NodeStore(changes, on_change=lambda key: self.index.node_changed(key))
        self.index = PodIndex(
            self.nodes.objects,
            reserves=reserves,
            on_change=lambda: changes.note(resources.PODS.name),
            caches=caches,
        )
        self.pods = PodStore(self.index, pending, on_move=changes.stir)
        self.volumes: ObjectStore[PersistentVolume] = ObjectStore(
            lambda: changes.note(resources.PERSISTENT_VOLUMES.name)
        )
        self.claims: ObjectStore[PersistentVolumeClaim] = ObjectStore(
            lambda: changes.note(resources.PERSISTENT_VOLUME_CLAIMS.name)
        )
        self.classes: ObjectStore[StorageClass] = ObjectStore(
            lambda: changes.note(resources.STORAGE_CLASSES.name)
        )
        self._volumes = Volumes(self.volumes.objects, self.claims.objects, self.classes.objects)
        self._view: Hashable = None
        self._snapshot = Snapshot()

    def stores(self) -> Sequence[tuple[Resource[Any], Store[Any]]]:
        """Each resource with its store."""
        return (
            (resources.NODES, self.nodes),
            (resources.PODS, self.pods),
            (resources.PERSISTENT_VOLUMES, self.volumes),
            (resources.PERSISTENT_VOLUME_CLAIMS, self.claims),
            (resources.STORAGE_CLASSES, self.classes),
        )

    def snapshot(
        self,
        *,
        current: bool = True,
        pods: bool = True,
        volumes: bool = True,
        generation: int | None = None,
    ) -> Snapshot:
        """The cluster as it is now; valid until the event loop runs again.

        Leave pods or volumes out if they are not watched.
        """
        view = self.nodes.table.version, generation, current, pods, volumes
        if view != self._view:  # everything else in a snapshot is a live view
            self._view = view
            self._snapshot = Snapshot(
                nodes=self.nodes.objects,
                generation=self.changes.of((_NODES,)) if generation is None else generation,
                current=current,
                pods=self.index if pods else None,
                volumes=self._volumes if volumes else None,
                generations=self.changes.generations,
                table=self.nodes.table,
            )
        return self._snapshot
