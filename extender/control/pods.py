"""The pods with rules, as the watch tells of them. Of all others nothing is kept."""

import sys
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, Protocol, TypeVar

from msgspec import Raw, Struct
from msgspec.structs import replace

from extender.cluster.resources import Key, SievedResource
from extender.model.core_v1 import LivePod

# What annotations and tolerations may take together, equal ones of a namespace counted once: of
# all pods, and of those of one namespace. Nobody can use up what all others need.
MAX_BYTES: Final = 1 << 27
MAX_SHARE: Final = 1 << 25
_MIRROR: Final = "kubernetes.io/config.mirror"
_OTHERS: Final = "others"

T = TypeVar("T", str, bytes)

_OPERATORS: Final = ("Gt", "Lt", "SemverGt", "SemverLt", "SemverEq")


class StubMeta(Struct, frozen=True, gc=False, rename="camel"):
    """Who a pod without rules is."""

    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class Stub(Struct, frozen=True, gc=False):
    """A pod without rules."""

    metadata: StubMeta


def pods_resource(prefix: str) -> SievedResource[LivePod | Stub]:
    """All pods, of which only those with our annotations or operators are read."""
    operators = (f'"operator":"{name}"' for name in _OPERATORS)
    texts = (prefix, '"expression":"', *operators)
    return SievedResource(
        "pods",
        "/api/v1/pods",
        LivePod,
        stub=Stub,
        texts=[text.encode() for text in texts],
        params={"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"},
    )


class Listener(Protocol):
    """Whoever wants to know what happens to pods."""

    def pod_changed(self, key: Key) -> None:
        """A pod came, or changed."""
        ...

    def pod_gone(self, key: Key) -> None:
        """A pod is gone, or is not looked after any more."""
        ...

    def pod_freed(self, old: LivePod) -> None:
        """A pod has no rules any more."""
        ...

    def pod_dropped(self, pod: LivePod) -> None:
        """There is no room for a pod: it is not looked after."""
        ...


class RuledPods:
    """A store of the pods with rules, by key, with those that wait and those of each node."""

    def __init__(
        self, prefix: str, *, max_bytes: int = MAX_BYTES, max_share: int = MAX_SHARE
    ) -> None:
        self._prefix = prefix
        self.listener: Listener | None = None
        self._left = max_bytes
        self._max_share = max_share
        self._texts: dict[str, _Texts] = {}  # by namespace
        self._pods: dict[Key, LivePod] = {}
        self._pending: dict[Key, None] = {}
        self._by_node: dict[str, dict[Key, None]] = {}
        self._dropped: set[Key] = set()
        self._ahead: set[Key] = set()  # known from the answer to a patch, not yet from the watch

    def __len__(self) -> int:
        return len(self._pods)

    @property
    def dropped(self) -> int:
        """How many pods there is no room for."""
        return len(self._dropped)

    def keys(self) -> Sequence[Key]:
        """The keys of all pods, also of those that there is no room for."""
        return [*self._pods, *self._dropped]

    def get(self, key: Key) -> LivePod | None:
        """One pod, if it has rules."""
        return self._pods.get(key)

    @property
    def pending(self) -> Collection[Key]:
        """Those that wait for a node, the longest waiting first."""
        return self._pending.keys()

    def on(self, node: str) -> Collection[Key]:
        """Those of a node."""
        return self._by_node.get(node, {}).keys()

    def put(self, key: Key, obj: LivePod | Stub) -> None:
        """A pod came, or changed, as the watch tells it.

        Only a pod that was patched may be known better. After etcd was restored from a backup, a
        new list has older versions, and they are what is true.
        """
        old = self._pods.get(key)
        if not isinstance(obj, LivePod):
            if old is not None and self.listener is not None:
                self.listener.pod_freed(old)
            self.remove(key)
            return
        if old is not None and key in self._ahead and _is_older(obj, old):
            return
        self._ahead.discard(key)
        self._replace(key, obj, old)

    def put_patched(self, key: Key, pod: LivePod) -> None:
        """A known pod as the answer to a patch tells it; the watch may be behind, or ahead."""
        old = self._pods[key]
        if not _is_older(pod, old):
            self._replace(key, pod, old)
            self._ahead.add(key)

    def _replace(self, key: Key, obj: LivePod, old: LivePod | None) -> None:
        if old is not None:
            self._forget(key, old)
        self._dropped.discard(key)
        new = self._slim(obj)
        if not self._fits(new):
            self._drop(key, new)
            return
        self._keep(key, new)
        if self.listener is not None and not (old is not None and _is_same(new, old)):
            self.listener.pod_changed(key)

    def remove(self, key: Key) -> None:
        """A pod is gone."""
        self._dropped.discard(key)
        self._ahead.discard(key)
        old = self._pods.get(key)
        if old is not None:
            self._forget(key, old)
            if self.listener is not None:
                self.listener.pod_gone(key)

    def _drop(self, key: Key, new: LivePod) -> None:
        self._dropped.add(key)
        if self.listener is not None:
            self.listener.pod_gone(key)
            self.listener.pod_dropped(new)

    def _keep(self, key: Key, new: LivePod) -> None:
        texts = self._texts.setdefault(new.metadata.namespace, _Texts())
        for text in self._ours(new):
            self._left -= texts.add(text)
        self._pods[key] = new
        if new.spec.node_name:
            self._by_node.setdefault(new.spec.node_name, {})[key] = None
        else:
            self._pending[key] = None

    def _forget(self, key: Key, old: LivePod) -> None:
        del self._pods[key]
        self._pending.pop(key, None)
        node = self._by_node.get(old.spec.node_name)
        if node is not None:
            node.pop(key, None)
            if not node:
                del self._by_node[old.spec.node_name]
        texts = self._texts[old.metadata.namespace]
        for text in self._ours(old):
            self._left += texts.remove(text)
        if not texts.bytes:
            del self._texts[old.metadata.namespace]

    def _fits(self, pod: LivePod) -> bool:
        texts = self._texts.get(pod.metadata.namespace) or _Texts()
        size = sum(map(texts.size, self._ours(pod)))
        return size <= min(self._left, self._max_share - texts.bytes)

    def _ours(self, pod: LivePod) -> Iterable[str | bytes]:
        annotations = (pod.metadata.annotations or {}).items()
        texts = {text for name, text in annotations if name.startswith(self._prefix)}
        return {*texts, bytes(pod.spec.tolerations)}

    def _slim(self, pod: LivePod) -> LivePod:
        """The pod without others' annotations; that there are any matters to a patch.

        The pods of a workload share their texts. The bytes of the tolerations are copied: they
        would keep the whole line of the watch alive.
        """
        known = self._texts.get(pod.metadata.namespace) or _Texts()
        kept = {
            name: known.same(text)
            for name, text in (pod.metadata.annotations or {}).items()
            if name.startswith(self._prefix) or name == _MIRROR
        }
        if pod.metadata.annotations and not kept:
            kept[_OTHERS] = ""
        meta = replace(pod.metadata, annotations=kept or None)
        tolerations = Raw(known.same(bytes(pod.spec.tolerations)))
        return replace(pod, metadata=meta, spec=replace(pod.spec, tolerations=tolerations))


class _Texts:
    """Annotations and tolerations of a namespace: equal ones are kept once, and counted once."""

    __slots__ = ("_kept", "bytes")

    def __init__(self) -> None:
        self._kept: dict[str | bytes, tuple[Any, int]] = {}  # not `sys.intern`, which may keep all
        self.bytes = 0

    def same(self, text: T) -> T:
        """The text that is kept already, if there is an equal one."""
        return self._kept.get(text, (text, 0))[0]  # type: ignore[no-any-return]  # as it was kept

    def size(self, text: str | bytes) -> int:
        """How many bytes more it takes to keep a text."""
        return 0 if text in self._kept else sys.getsizeof(text)

    def add(self, text: str | bytes) -> int:
        """Keep a text once more; how many bytes that takes."""
        size = self.size(text)
        first, count = self._kept.get(text, (text, 0))
        self._kept[text] = first, count + 1
        self.bytes += size
        return size

    def remove(self, text: str | bytes) -> int:
        """Keep a text once less; how many bytes that frees."""
        first, count = self._kept.pop(text)
        if count > 1:
            self._kept[text] = first, count - 1
            return 0
        size = self.size(text)
        self.bytes -= size
        return size


def _is_same(new: LivePod, old: LivePod) -> bool:
    """Whether two states of a pod differ in nothing that matters, such as in their status."""
    version = replace(old.metadata, resource_version=new.metadata.resource_version)
    return (new.metadata, new.spec, new.status) == (version, old.spec, old.status)


def _is_older(new: LivePod, old: LivePod) -> bool:
    """Whether the watch tells what the response to a patch has told better already."""
    if new.metadata.uid != old.metadata.uid:
        return False
    versions = new.metadata.resource_version, old.metadata.resource_version
    if not all(each.isascii() and each.isdigit() for each in versions):
        return False
    return int(versions[0]) < int(versions[1])
