"""The rules of one pod, gathered from the native fields and from the carrier annotations.

Raises AnnotationError where an annotation cannot be read; a plugin turns that into a refusal.
"""

from collections.abc import Hashable, Iterable
from itertools import chain
from typing import Literal

from msgspec import Struct

from extender.framework.interface import Settings
from extender.match import annotations, taints
from extender.match.findings import Finding, Noticed
from extender.match.lru import weight_of
from extender.match.taints import NO_EXECUTE, Tolerations
from extender.model.core_v1 import NodeAffinity, Pod, Taint, Toleration


class Refusal(Struct, frozen=True, gc=False):
    """A taint that keeps a pod away, and whether the annotation alone tolerates it."""

    taint: Taint
    annotation_only: bool


class PodTolerations(Struct, frozen=True, gc=False):
    """Both lists of a pod, apart, because NoExecute taints tell them apart; and as one list."""

    native: Tolerations
    annotated: Tolerations
    joined: Tolerations
    findings: frozenset[Finding]

    @property
    def size(self) -> int:
        """How many look-ups one taint takes, however many tolerations there are."""
        return self.joined.lookups

    def first_refusal(
        self, hard: Iterable[Taint], no_execute: Literal["narrow", "join"], noticed: Noticed
    ) -> Refusal | None:
        """The first of these taints that keeps the pod away."""
        for taint in hard:
            refusal = self.refusal(taint, no_execute, noticed)
            if refusal is not None:
                return refusal
        return None

    def refusal(
        self, taint: Taint, no_execute: Literal["narrow", "join"], noticed: Noticed
    ) -> Refusal | None:
        """Why this taint keeps the pod away; None if it does not."""
        if no_execute == "narrow" and taint.effect == NO_EXECUTE:
            return self._narrowed(taint, noticed)
        tolerated = self.joined.tolerates(taint, noticed)
        return None if tolerated else Refusal(taint, annotation_only=False)

    def _narrowed(self, taint: Taint, noticed: Noticed) -> Refusal | None:
        """Why a NoExecute taint refuses, or None.

        Controller manager and kubelet evict by `spec.tolerations` alone, so the native list must
        tolerate; an annotation that speaks of the taint can then only narrow that.
        """
        agrees = self.annotated.tolerates(taint, noticed)
        if not self.native.tolerates(taint, noticed):
            return Refusal(taint, annotation_only=agrees)
        if agrees or not self.annotated.addresses(taint):
            return None
        return Refusal(taint, annotation_only=False)


def pod_tolerations(pod: Pod, settings: Settings) -> PodTolerations:
    """The tolerations of a pod, compiled once for all plugins and verbs that ask in turn."""
    written = _native_tolerations(pod), _annotation(pod, settings, annotations.TOLERATIONS)
    compiled: PodTolerations | None = settings.compiled.get(written)
    if compiled is None:
        decoded = _annotated_tolerations(pod, settings)
        native, noticed_of_native = _compiled_native(written[0], settings)
        noticed: Noticed = set()
        annotated = taints.compile_tolerations(decoded, settings.gates, settings.programs, noticed)
        findings = noticed_of_native | noticed
        compiled = PodTolerations(native, annotated, native.joined(annotated), findings)
        settings.compiled.put(written, compiled, weight_of(written))
    return compiled


def _compiled_native(
    native: tuple[Toleration, ...], settings: Settings
) -> tuple[Tolerations, frozenset[Finding]]:
    """Most pods have only what admission gives to each of them, whatever their annotation says."""
    compiled: tuple[Tolerations, frozenset[Finding]] | None = settings.compiled.get(native)
    if compiled is None:
        noticed: Noticed = set()
        tolerations = taints.compile_tolerations(native, settings.gates, settings.programs, noticed)
        compiled = tolerations, frozenset(noticed)
        settings.compiled.put(native, compiled, weight_of(native))
    return compiled


def written_tolerations(
    pod: Pod, settings: Settings
) -> tuple[tuple[Toleration, ...], tuple[Toleration, ...]]:
    """The tolerations of a pod as they are written: the native ones and the annotation's."""
    return _native_tolerations(pod), _annotated_tolerations(pod, settings)


def expressions(pod: Pod, settings: Settings) -> tuple[str, ...]:
    """The CEL expressions of a pod."""
    both = chain(*written_tolerations(pod, settings))
    return tuple(toleration.expression for toleration in both if toleration.expression)


def annotated_affinity(pod: Pod, settings: Settings) -> NodeAffinity | None:
    """The node affinity of the annotation."""
    return annotations.node_affinity(
        pod.metadata.annotations if pod.metadata else None,
        settings.annotation_prefix,
        settings.annotation_bytes,
    )


def native_affinity(pod: Pod) -> NodeAffinity | None:
    """The node affinity of `spec.affinity`."""
    affinity = pod.spec.affinity if pod.spec else None
    return affinity.node_affinity if affinity else None


def toleration_signature(pod: Pod, settings: Settings) -> Hashable:
    """What the tolerations of a pod come from."""
    return _native_tolerations(pod), _annotation(pod, settings, annotations.TOLERATIONS)


def affinity_signature(pod: Pod, settings: Settings, *, annotation_only: bool) -> Hashable:
    """What the node affinity of a pod comes from."""
    text = _annotation(pod, settings, annotations.NODE_AFFINITY)
    if annotation_only:
        return (text,)  # a pod without the annotation has a signature too
    selector = pod.spec.node_selector if pod.spec else None
    return text, tuple(selector.items()) if selector else (), native_affinity(pod)


def _annotated_tolerations(pod: Pod, settings: Settings) -> tuple[Toleration, ...]:
    return annotations.tolerations(
        pod.metadata.annotations if pod.metadata else None,
        settings.annotation_prefix,
        settings.annotation_bytes,
    )


def _native_tolerations(pod: Pod) -> tuple[Toleration, ...]:
    return (pod.spec.tolerations if pod.spec else None) or ()


def _annotation(pod: Pod, settings: Settings, name: str) -> str | None:
    written = (pod.metadata.annotations if pod.metadata else None) or {}
    return written.get(settings.annotation_prefix + name)
