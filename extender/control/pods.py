"""The pods with rules, as the watch tells of them. Of all others nothing is kept."""

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final, Protocol

from msgspec import Raw, Struct
from msgspec.structs import replace

from extender.cluster.resources import Key, SievedResource
from extender.model.core_v1 import LivePod

# What the annotations of all pods may take together, equal texts counted once.
MAX_BYTES: Final = 1 << 26
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


class RuledPods:
    """A store of the pods with rules, by key, with those that wait and those of each node."""

    def __init__(self, prefix: str, *, max_bytes: int = MAX_BYTES) -> None:
        self._prefix = prefix
        self.listener: Listener | None = None
        self._left = max_bytes
        self._texts: Counter[str] = Counter()
        self._pods: dict[Key, LivePod] = {}
        self._pending: dict[Key, None] = {}
        self._by_node: dict[str, dict[Key, None]] = {}
        self.dropped = 0  # pods whose annotations did not fit

    def __len__(self) -> int:
        return len(self._pods)

    def keys(self) -> Sequence[Key]:
        """The keys of all pods."""
        return list(self._pods)

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
        """A pod came, or changed."""
        old = self._pods.get(key)
        if not isinstance(obj, LivePod):
            if old is not None and self.listener is not None:
                self.listener.pod_freed(old)
            self.remove(key)
            return
        if old is not None and _is_older(obj, old):
            return
        new = self._slim(obj)
        if old is not None:
            self._forget(key, old)
        if not self._fits(new):
            self.dropped += 1
            if self.listener is not None:
                self.listener.pod_gone(key)
            return
        self._keep(key, new)
        if self.listener is not None and not (old is not None and _is_same(new, old)):
            self.listener.pod_changed(key)

    def remove(self, key: Key) -> None:
        """A pod is gone."""
        old = self._pods.get(key)
        if old is not None:
            self._forget(key, old)
            if self.listener is not None:
                self.listener.pod_gone(key)

    def _keep(self, key: Key, new: LivePod) -> None:
        self._texts.update(self._ours(new))
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
        for text in self._ours(old):
            self._texts[text] -= 1
            if not self._texts[text]:
                del self._texts[text]
                self._left += len(text)

    def _fits(self, pod: LivePod) -> bool:
        size = sum(len(text) for text in self._ours(pod) if text not in self._texts)
        if size > self._left:
            return False
        self._left -= size
        return True

    def _ours(self, pod: LivePod) -> Iterable[str]:
        return {
            text
            for name, text in (pod.metadata.annotations or {}).items()
            if name.startswith(self._prefix)
        }

    def _slim(self, pod: LivePod) -> LivePod:
        """The pod without the texts of others' annotations; that there are any matters to a patch.

        The bytes of the tolerations are copied: they would keep the whole line of the watch alive.
        """
        kept = {
            sys.intern(name): sys.intern(text) if name.startswith(self._prefix) else ""
            for name, text in (pod.metadata.annotations or {}).items()
        }
        meta = replace(pod.metadata, annotations=kept or None)
        tolerations = Raw(bytes(pod.spec.tolerations))
        return replace(pod, metadata=meta, spec=replace(pod.spec, tolerations=tolerations))


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
