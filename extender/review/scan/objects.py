"""The objects of a scan: pods, workloads and volumes, with owners and phases."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec import Raw, Struct, field

from extender.cluster.resources import Resource
from extender.match import annotations
from extender.model.core_v1 import (
    LivePod,
    LivePodMeta,
    LivePodSpec,
    LivePodStatus,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodSpec,
)
from extender.model.storage_v1 import VolumeNodeAffinity
from extender.model.workloads import (
    CronJob,
    Ruled,
    RuledMeta,
    RuledPod,
    RuledPodSpec,
    RuledVolume,
    RuledVolumeSpec,
    Workload,
)
from extender.model.workloads import CronJobSpec as RuledCronJobSpec
from extender.model.workloads import TemplateSpec as RuledTemplateSpec


class ScannedMeta(Struct, frozen=True, gc=False, rename="camel"):
    """Metadata of an object, with its owners."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None


class SchedulingGate(Struct, frozen=True, gc=False):
    """A scheduling gate of a pod."""

    name: str = ""


class ScannedPodSpec(PodSpec, frozen=True, gc=False, rename="camel"):
    """The spec of a pod, with its node and scheduling gates."""

    node_name: str = ""
    scheduling_gates: tuple[SchedulingGate, ...] | None = None


class PodStatus(Struct, frozen=True, gc=False):
    """The phase of a pod."""

    phase: str = ""


class ScannedPod(Struct, frozen=True, gc=False):
    """A pod."""

    metadata: ScannedMeta = field(default_factory=ScannedMeta)
    spec: ScannedPodSpec = field(default_factory=ScannedPodSpec)
    status: PodStatus = field(default_factory=PodStatus)

    @property
    def ended(self) -> bool:
        """Whether it has finished."""
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
        """The pod as a scheduler reads it."""
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

    def live(self) -> LivePod:
        """The pod as compile mode reads it."""
        meta, spec = self.metadata, self.spec
        return LivePod(
            LivePodMeta(
                meta.name,
                meta.namespace,
                meta.uid,
                meta.resource_version,
                meta.deletion_timestamp,
                meta.annotations,
                meta.owner_references,
            ),
            LivePodSpec(
                spec.node_name, spec.scheduler_name, Raw(msgspec.json.encode(spec.tolerations))
            ),
            LivePodStatus(self.status.phase),
        )


class TemplateSpec(Struct, frozen=True, gc=False):
    """A spec with a pod template."""

    template: Pod = field(default_factory=Pod)


class ScannedWorkload(Struct, frozen=True, gc=False):
    """A workload with a pod template."""

    metadata: ScannedMeta = field(default_factory=ScannedMeta)
    spec: TemplateSpec = field(default_factory=TemplateSpec)

    def template(self) -> Pod:
        """A pod from its template, with the workload's name."""
        return _named(self.spec.template, self.metadata)


class CronJobSpec(Struct, frozen=True, gc=False, rename="camel"):
    """A spec with a job template."""

    job_template: ScannedWorkload = field(default_factory=ScannedWorkload)


class ScannedCronJob(Struct, frozen=True, gc=False):
    """A CronJob."""

    metadata: ScannedMeta = field(default_factory=ScannedMeta)
    spec: CronJobSpec = field(default_factory=CronJobSpec)

    def template(self) -> Pod:
        """A pod of its jobs, with the CronJob's name."""
        return _named(self.spec.job_template.spec.template, self.metadata)


class ClaimReference(Struct, frozen=True, gc=False):
    """The claim that a volume is bound to or reserved for."""

    name: str = ""


class ScannedVolumeSpec(Struct, frozen=True, gc=False, rename="camel"):
    """Node affinity, class and claim of a volume."""

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
# Owners come before what they own.
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


# The Deployment controller puts it on ReplicaSets and their pods.
_HASH_LABEL: Final = "pod-template-hash"


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """An object by its kind, namespace and name."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {place}{self.name}"


def ruled_of(obj: Scanned, prefix: str) -> Ruled:
    """The object as the webhook reads it, without what has nothing to do with rules."""
    match obj:
        case ScannedPod():
            return _ruled_pod(obj.template(), prefix)
        case ScannedWorkload():
            return _ruled_workload(obj, prefix)
        case ScannedCronJob():
            job = _ruled_workload(obj.spec.job_template, prefix)
            return CronJob(_ruled_meta(obj.metadata, prefix), RuledCronJobSpec(job))
        case ScannedVolume():
            spec = RuledVolumeSpec(obj.spec.node_affinity)
            return RuledVolume(_ruled_meta(obj.metadata, prefix), spec)


def _ruled_workload(obj: ScannedWorkload, prefix: str) -> Workload:
    template = _ruled_pod(obj.spec.template, prefix)
    return Workload(_ruled_meta(obj.metadata, prefix), RuledTemplateSpec(template))


def _ruled_pod(pod: Pod, prefix: str) -> RuledPod:
    spec = RuledPodSpec(pod.spec.affinity, pod.spec.tolerations) if pod.spec else None
    return RuledPod(_ruled_meta(pod.metadata, prefix), spec)


def _ruled_meta(meta: ObjectMeta | ScannedMeta | None, prefix: str) -> RuledMeta:
    """The annotations that look like rules: the others are many, and long."""
    written = (meta.annotations if meta else None) or {}
    return RuledMeta(
        annotations={
            name: text
            for name, text in written.items()
            if name.startswith(prefix) or name.rpartition("/")[2] in annotations.NAMES
        }
    )


def deployment_of(replicas: Ref, labels: Mapping[str, str] | None) -> Ref | None:
    """The Deployment of a ReplicaSet that is only named: the hash in its name is on its pods."""
    digest = (labels or {}).get(_HASH_LABEL, "")
    name = replicas.name.removesuffix(f"-{digest}")
    if replicas.kind != "ReplicaSet" or not digest or name == replicas.name:
        return None
    return Ref("Deployment", replicas.namespace, name)


def cron_job_of(job: Ref) -> Ref | None:
    """The CronJob that a Job may be of, by its name: the CronJob's, and a time in minutes."""
    name, _, minutes = job.name.rpartition("-")
    if job.kind != "Job" or not minutes.isdecimal():
        return None
    return Ref("CronJob", job.namespace, name)


def ref_of(kind: str, meta: ScannedMeta) -> Ref:
    """The reference of an object."""
    return Ref(kind, meta.namespace, meta.name)


def owner_of(meta: ScannedMeta) -> Ref | None:
    """The controller of an object."""
    for owner in meta.owner_references or ():
        if owner.controller and owner.kind != "Node":  # the owner of a static pod is its node
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
