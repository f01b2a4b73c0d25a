"""The volumes, claims and storage classes of the cluster, by name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from extender.model.core_v1 import Pod
from extender.model.storage_v1 import PersistentVolume, PersistentVolumeClaim, StorageClass

BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"


@dataclass(frozen=True, slots=True)
class Volumes:
    """What is known of storage; claims by `namespace/name`."""

    volumes: Mapping[str, PersistentVolume] = field(default_factory=dict)
    claims: Mapping[str, PersistentVolumeClaim] = field(default_factory=dict)
    classes: Mapping[str, StorageClass] = field(default_factory=dict)

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        """A claim, if it is known."""
        return self.claims.get(f"{namespace}/{name}" if namespace else name)

    def has_unbound(self, pod: Pod) -> bool:
        """Whether a volume of the pod is still to be bound, which takes its time."""
        namespace = pod.metadata.namespace if pod.metadata else ""
        claims = (self.claim(namespace, name) for name, _ in claims_of(pod))
        return any(claim is None or not is_bound(claim) for claim in claims)


def claims_of(pod: Pod) -> Iterator[tuple[str, bool]]:
    """The names of the pod's claims in order, and whether each is made for the pod."""
    name = pod.metadata.name if pod.metadata else ""
    for volume in (pod.spec.volumes if pod.spec else None) or ():
        if volume.persistent_volume_claim is not None:
            yield volume.persistent_volume_claim.claim_name, False
        elif volume.ephemeral is not None:
            yield f"{name}-{volume.name}", True


def is_bound(claim: PersistentVolumeClaim) -> bool:
    """Whether binding is finished; neither the phase nor the annotation's value says so."""
    return bool(claim.spec.volume_name) and BIND_COMPLETED in (claim.metadata.annotations or {})
