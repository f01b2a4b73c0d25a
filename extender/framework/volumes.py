"""The volumes, claims and storage classes of the cluster, by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from extender.model.storage_v1 import PersistentVolume, PersistentVolumeClaim, StorageClass


@dataclass(frozen=True, slots=True)
class Volumes:
    """What is known of storage; claims by `namespace/name`."""

    volumes: Mapping[str, PersistentVolume] = field(default_factory=dict)
    claims: Mapping[str, PersistentVolumeClaim] = field(default_factory=dict)
    classes: Mapping[str, StorageClass] = field(default_factory=dict)

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        """A claim, if it is known."""
        return self.claims.get(f"{namespace}/{name}" if namespace else name)
