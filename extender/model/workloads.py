"""Objects that carry rules: pods, workloads with a pod template, volumes and device claims.

Only the fields with rules. Unlike `core_v1` nothing else is decoded, so any other field may have
any shape.
"""

from typing import Final

from msgspec import Struct, field

from extender.model.core_v1 import Affinity, Toleration
from extender.model.metadata import RuledMeta as RuledMeta
from extender.model.resource_v1 import Claim, ClaimTemplate
from extender.model.storage_v1 import VolumeNodeAffinity


class RuledPodSpec(Struct, frozen=True, gc=False, rename="camel"):
    """The rules of a pod."""

    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = None


class RuledPod(Struct, frozen=True, gc=False):
    """A pod, or the template of one."""

    metadata: RuledMeta | None = None
    spec: RuledPodSpec | None = None


class TemplateSpec(Struct, frozen=True, gc=False):
    """A spec with a pod template."""

    template: RuledPod | None = None


class Workload(Struct, frozen=True, gc=False):
    """A Deployment, a Job or another workload with a pod template."""

    metadata: RuledMeta | None = None
    spec: TemplateSpec | None = None


class CronJobSpec(Struct, frozen=True, gc=False, rename="camel"):
    """A spec with a job template."""

    job_template: Workload | None = None


class CronJob(Struct, frozen=True, gc=False):
    """A CronJob."""

    metadata: RuledMeta | None = None
    spec: CronJobSpec | None = None


class RuledVolumeSpec(Struct, frozen=True, gc=False, rename="camel"):
    """The rule of a volume."""

    node_affinity: VolumeNodeAffinity | None = None


class RuledVolume(Struct, frozen=True, gc=False):
    """A PersistentVolume."""

    metadata: RuledMeta | None = None
    spec: RuledVolumeSpec = field(default_factory=RuledVolumeSpec)


Ruled = RuledPod | Workload | CronJob | RuledVolume | Claim | ClaimTemplate

# By group and kind.
KINDS: Final[dict[tuple[str, str], type[Ruled]]] = {
    ("", "Pod"): RuledPod,
    ("", "PersistentVolume"): RuledVolume,
    ("apps", "Deployment"): Workload,
    ("apps", "StatefulSet"): Workload,
    ("apps", "DaemonSet"): Workload,
    ("apps", "ReplicaSet"): Workload,
    ("batch", "Job"): Workload,
    ("batch", "CronJob"): CronJob,
    ("resource.k8s.io", "ResourceClaim"): Claim,
    ("resource.k8s.io", "ResourceClaimTemplate"): ClaimTemplate,
}
