"""Objects as a scan reads them: what makes pods, whose it is, and how far a pod has come."""

from dataclasses import dataclass
from typing import Final

from msgspec import Struct, field

from extender.cluster.resources import Resource
from extender.model.core_v1 import ObjectMeta, Pod, PodSpec
from extender.model.storage_v1 import VolumeNodeAffinity


class Owner(Struct, frozen=True, gc=False):
    """Who an object belongs to."""

    kind: str = ""
    name: str = ""
    controller: bool | None = None


class ScannedMeta(Struct, frozen=True, gc=False, rename="camel"):
    """Who an object is, and whose."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[Owner, ...] | None = None


class SchedulingGate(Struct, frozen=True, gc=False):
    """Something that a pod waits for before it is scheduled at all."""

    name: str = ""


class ScannedPodSpec(PodSpec, frozen=True, gc=False, rename="camel"):
    """What a pod asks of a node, and whether it has one."""

    node_name: str = ""
    scheduling_gates: tuple[SchedulingGate, ...] | None = None


class PodStatus(Struct, frozen=True, gc=False):
    """How far a pod has come."""

    phase: str = ""


class ScannedPod(Struct, frozen=True, gc=False):
    """A pod."""

    metadata: ScannedMeta = field(default_factory=ScannedMeta)
    spec: ScannedPodSpec = field(default_factory=ScannedPodSpec)
    status: PodStatus = field(default_factory=PodStatus)

    @property
    def ended(self) -> bool:
        """Whether it will never run again."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def waits(self) -> bool:
        """Whether it waits for a scheduler."""
        return not (
            self.ended
            or self.spec.node_name
            or self.spec.scheduling_gates
            or self.metadata.deletion_timestamp
        )

    def template(self) -> Pod:
        """The pod as schedulers read it."""
        meta = self.metadata
        return Pod(
            ObjectMeta(
                meta.name,
                meta.namespace,
                meta.uid,
                labels=meta.labels,
                annotations=meta.annotations,
            ),
            self.spec,
        )


class TemplateSpec(Struct, frozen=True, gc=False):
    """A specification with a template of pods in it."""

    template: Pod = field(default_factory=Pod)


class ScannedWorkload(Struct, frozen=True, gc=False):
    """What makes pods."""

    metadata: ScannedMeta = field(default_factory=ScannedMeta)
    spec: TemplateSpec = field(default_factory=TemplateSpec)

    def template(self) -> Pod:
        """The pods that it makes, with names to be read by a person."""
        return _named(self.spec.template, self.metadata)


class CronJobSpec(Struct, frozen=True, gc=False, rename="camel"):
    """A specification with a template of jobs in it."""

    job_template: ScannedWorkload = field(default_factory=ScannedWorkload)


class ScannedCronJob(Struct, frozen=True, gc=False):
    """What makes jobs."""

    metadata: ScannedMeta = field(default_factory=ScannedMeta)
    spec: CronJobSpec = field(default_factory=CronJobSpec)

    def template(self) -> Pod:
        """The pods that its jobs make."""
        return _named(self.spec.job_template.spec.template, self.metadata)


class ClaimReference(Struct, frozen=True, gc=False):
    """The claim that a volume is kept for."""

    name: str = ""


class ScannedVolumeSpec(Struct, frozen=True, gc=False, rename="camel"):
    """Where a volume can be used, and for whom it is."""

    node_affinity: VolumeNodeAffinity | None = None
    storage_class_name: str = ""
    claim_ref: ClaimReference | None = None


class ScannedVolume(Struct, frozen=True, gc=False):
    """A PersistentVolume."""

    metadata: ScannedMeta = field(default_factory=ScannedMeta)
    spec: ScannedVolumeSpec = field(default_factory=ScannedVolumeSpec)


Scanned = ScannedPod | ScannedWorkload | ScannedCronJob | ScannedVolume

SHAPES: Final[dict[str, type[Scanned]]] = {
    "Deployment": ScannedWorkload,
    "StatefulSet": ScannedWorkload,
    "DaemonSet": ScannedWorkload,
    "ReplicaSet": ScannedWorkload,
    "Job": ScannedWorkload,
    "CronJob": ScannedCronJob,
    "PersistentVolume": ScannedVolume,
    "Pod": ScannedPod,
}
# Owners before what they own, so that most of the list is not looked at twice.
RESOURCES: Final[dict[str, Resource[Scanned]]] = {
    kind: Resource(path.rpartition("/")[2], path, SHAPES[kind])
    for kind, path in {
        "Deployment": "/apis/apps/v1/deployments",
        "StatefulSet": "/apis/apps/v1/statefulsets",
        "DaemonSet": "/apis/apps/v1/daemonsets",
        "ReplicaSet": "/apis/apps/v1/replicasets",
        "Job": "/apis/batch/v1/jobs",
        "CronJob": "/apis/batch/v1/cronjobs",
        "PersistentVolume": "/api/v1/persistentvolumes",
        "Pod": "/api/v1/pods",
    }.items()
}


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """An object by its kind, namespace and name."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {place}{self.name}"


def ref_of(kind: str, meta: ScannedMeta) -> Ref:
    """Who an object is."""
    return Ref(kind, meta.namespace, meta.name)


def owner_of(meta: ScannedMeta) -> Ref | None:
    """Who controls an object."""
    for owner in meta.owner_references or ():
        if owner.controller and owner.kind != "Node":  # a static pod belongs to its node
            return Ref(owner.kind, meta.namespace, owner.name)
    return None


def _named(template: Pod, owner: ScannedMeta) -> Pod:
    meta = template.metadata
    return Pod(
        ObjectMeta(
            owner.name,
            owner.namespace,
            labels=meta.labels if meta else None,
            annotations=meta.annotations if meta else None,
        ),
        template.spec,
    )
