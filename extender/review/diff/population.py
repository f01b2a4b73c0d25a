"""The pods of a cluster, by the workload that they belong to."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from extender.model.core_v1 import LivePod, Pod
from extender.review import daemons
from extender.review.scan.objects import (
    Ref,
    Scanned,
    ScannedPod,
    ScannedVolume,
    owner_of,
    ref_of,
)

DAEMON_SET: Final = "DaemonSet"
_MAX_OWNERS: Final = 8
_HASH: Final = "pod-template-hash"


@dataclass(frozen=True, slots=True)
class Member:
    """A pod, or the pod that a workload without pods would have."""

    ref: Ref
    workload: Ref
    pod: Pod
    node: str = ""  # empty: it waits, or does not exist yet
    live: LivePod | None = None  # None: it does not exist yet

    @property
    def is_daemon(self) -> bool:
        """Whether its node is chosen by the DaemonSet controller."""
        return self.workload.kind == DAEMON_SET and bool(self.node)


@dataclass(slots=True)
class Population:
    """Collects pods and workloads one by one."""

    pods: dict[Ref, ScannedPod] = field(default_factory=dict)
    templates: dict[Ref, Pod] = field(default_factory=dict)
    owners: dict[Ref, Ref] = field(default_factory=dict)

    def add(self, kind: str, obj: Scanned) -> None:
        """Add an object, or replace it if it comes again."""
        ref = ref_of(kind, obj.metadata)
        if isinstance(obj, ScannedVolume) or (isinstance(obj, ScannedPod) and obj.ended):
            return
        owner = owner_of(obj.metadata)
        if owner is not None:
            self.owners[ref] = owner
        if isinstance(obj, ScannedPod):
            self.pods[ref] = obj
            above = _deployment_of(obj, owner)
            if owner is not None and above is not None:
                self.owners.setdefault(owner, above)
        else:
            pod = obj.template()
            self.templates[ref] = daemons.with_tolerations(pod) if kind == DAEMON_SET else pod

    def root(self, ref: Ref) -> Ref:
        """The topmost owner, such as the Deployment of a ReplicaSet's pod."""
        for _ in range(_MAX_OWNERS):  # bounded: references may form a cycle
            ref = self.owners.get(ref, ref)
        return ref

    def members(self) -> Iterator[Member]:
        """Every pod that has not ended, and one for each workload that has none."""
        peopled = set()
        for ref, obj in self.pods.items():
            root = self.root(ref)
            peopled.add(root)
            yield Member(ref, root, obj.template(), obj.spec.node_name, obj.live())
        for ref, pod in self.templates.items():
            if ref not in self.owners and ref not in peopled:
                yield Member(ref, ref, pod)


def _deployment_of(pod: ScannedPod, owner: Ref | None) -> Ref | None:
    """The Deployment of a pod, by its name alone: not everybody lists ReplicaSets."""
    suffix = "-" + (pod.metadata.labels or {}).get(_HASH, "")
    if owner is None or owner.kind != "ReplicaSet" or suffix == "-":
        return None
    name = owner.name.removesuffix(suffix)
    return None if name == owner.name else Ref("Deployment", owner.namespace, name)
