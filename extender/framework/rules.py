"""The rules of one pod, gathered from the native fields and from the carrier annotations.

Raises AnnotationError where an annotation cannot be read; a plugin turns that into a refusal.
"""

from dataclasses import dataclass

from extender.framework.interface import Settings
from extender.match import carriers, taints
from extender.match.findings import Finding, Noticed
from extender.match.taints import Tolerations
from extender.model.core_v1 import NodeAffinity, Pod


@dataclass(frozen=True, slots=True)
class PodTolerations:
    """Both lists of a pod, apart, because NoExecute taints tell them apart."""

    native: Tolerations
    annotated: Tolerations
    findings: frozenset[Finding]

    def joined(self) -> Tolerations:
        """Both as one list."""
        return self.native.joined(self.annotated)


def pod_tolerations(pod: Pod, settings: Settings) -> PodTolerations:
    """The tolerations of a pod, compiled."""
    noticed: Noticed = set()
    native = (pod.spec.tolerations if pod.spec else None) or ()
    annotated = carriers.tolerations(
        pod.metadata.annotations if pod.metadata else None,
        settings.annotation_prefix,
        settings.annotation_bytes,
    )
    return PodTolerations(
        taints.compile_tolerations(native, settings.gates, noticed),
        taints.compile_tolerations(annotated, settings.gates, noticed),
        frozenset(noticed),
    )


def annotated_affinity(pod: Pod, settings: Settings) -> NodeAffinity | None:
    """The node affinity of the annotation."""
    return carriers.node_affinity(
        pod.metadata.annotations if pod.metadata else None,
        settings.annotation_prefix,
        settings.annotation_bytes,
    )


def native_affinity(pod: Pod) -> NodeAffinity | None:
    """The node affinity of `spec.affinity`."""
    affinity = pod.spec.affinity if pod.spec else None
    return affinity.node_affinity if affinity else None
