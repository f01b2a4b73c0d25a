"""Volumes, claims and storage classes, only the fields that scheduling reads."""

from msgspec import Struct, field

from extender.model.core_v1 import NodeSelector


class VolumeNodeAffinity(Struct, frozen=True, gc=False):
    """Which nodes can reach a volume."""

    required: NodeSelector | None = None


class OwnerReference(Struct, frozen=True, gc=False):
    """The owner of an object."""

    uid: str = ""
    controller: bool | None = None


class VolumeMeta(Struct, frozen=True, gc=False, rename="camel"):
    """Metadata of a volume, a claim or a class."""

    name: str = ""
    namespace: str = ""
    resource_version: str = ""
    deletion_timestamp: str | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None


class PersistentVolumeSpec(Struct, frozen=True, gc=False, rename="camel"):
    """Where a volume can be used."""

    node_affinity: VolumeNodeAffinity | None = None


class PersistentVolume(Struct, frozen=True, gc=False):
    """A volume."""

    metadata: VolumeMeta
    spec: PersistentVolumeSpec = field(default_factory=PersistentVolumeSpec)


class PersistentVolumeClaimSpec(Struct, frozen=True, gc=False, rename="camel"):
    """The class that a claim asks for, and the volume that it is bound to."""

    volume_name: str = ""
    storage_class_name: str | None = None


class PersistentVolumeClaimStatus(Struct, frozen=True, gc=False):
    """The phase of a claim."""

    phase: str = ""


class PersistentVolumeClaim(Struct, frozen=True, gc=False):
    """A claim for a volume."""

    metadata: VolumeMeta
    spec: PersistentVolumeClaimSpec = field(default_factory=PersistentVolumeClaimSpec)
    status: PersistentVolumeClaimStatus = field(default_factory=PersistentVolumeClaimStatus)


class StorageClass(Struct, frozen=True, gc=False, rename="camel"):
    """When volumes of a class are bound."""

    metadata: VolumeMeta
    volume_binding_mode: str | None = None
