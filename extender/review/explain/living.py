"""What the API server lets somebody change: by its validation, and of a pod that lives."""

from msgspec.structs import replace

from extender.framework.interface import Settings
from extender.model.core_v1 import ObjectMeta, Pod, PodSpec, Toleration
from extender.model.workloads import RuledMeta, RuledPod, RuledPodSpec
from extender.native.settings import CONDITION_TAINTS
from extender.review import validation


def is_system(toleration: Toleration) -> bool:
    """Whether the system adds such a toleration to pods.

    Admission adds those of not-ready and unreachable, the DaemonSet controller those of all
    conditions.
    """
    exists = toleration.operator == "Exists" and not toleration.value
    return exists and toleration.key in CONDITION_TAINTS


def without_system(pod: Pod) -> Pod:
    """The pod as the template of its owner has it, as far as it shows."""
    spec = pod.spec or PodSpec()
    kept = tuple(each for each in spec.tolerations or () if not is_system(each))
    return replace(pod, spec=replace(spec, tolerations=kept or None))


def may_become(before: Pod, after: Pod) -> bool:
    """Whether a pod that lives may be changed so.

    v1.36 pkg/apis/core/validation: ValidatePodUpdate. Annotations may change, tolerations may be
    added. Everything else that we change is fixed.
    """
    old, new = before.spec or PodSpec(), after.spec or PodSpec()
    added = replace(new, tolerations=old.tolerations)
    kept = frozenset(new.tolerations or ())
    return added == old and all(each in kept for each in old.tolerations or ())


def is_valid(before: Pod, after: Pod, settings: Settings) -> bool:
    """Whether the API server and our webhook accept what changed."""
    return not validation.check(_ruled(after), _ruled(before), settings).errors


def _ruled(pod: Pod) -> RuledPod:
    meta, spec = pod.metadata or ObjectMeta(), pod.spec or PodSpec()
    return RuledPod(
        RuledMeta(meta.name, meta.namespace, meta.annotations),
        RuledPodSpec(spec.affinity, spec.tolerations),
    )
