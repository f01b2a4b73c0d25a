"""VolumeBinding: a pod can only run where its volumes can be used.

The filter side, for claims that are bound: binding itself stays in kube-scheduler, which also
decides about claims that wait for their first consumer.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar, Final

from extender.errors import AnnotationError
from extender.framework import volumes
from extender.framework.interface import (
    SKIP,
    NodeFilter,
    Settings,
    Status,
    success,
    unresolvable,
)
from extender.framework.node_info import NodeInfo
from extender.framework.snapshot import LabelsFacet, Snapshot
from extender.framework.volumes import Volumes
from extender.match import annotations, selectors
from extender.match.findings import Finding, Noticed
from extender.match.selectors import Required
from extender.model.core_v1 import NodeSelector, ObjectMeta, Pod
from extender.model.storage_v1 import PersistentVolume, PersistentVolumeClaim

REASON_UNBOUND: Final = "pod has unbound immediate PersistentVolumeClaims"
REASON_CONFLICT: Final = "node(s) didn't match PersistentVolume's node affinity"
REASON_NO_VOLUME: Final = (
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
)
REASON_NO_CLAIM: Final = 'persistentvolumeclaim "{claim}" not found'
REASON_NO_EPHEMERAL_CLAIM: Final = (
    'waiting for ephemeral volume controller to create the persistentvolumeclaim "{claim}"'
)
REASON_LOST: Final = (
    'persistentvolumeclaim "{claim}" bound to non-existent persistentvolume "{volume}"'
)
REASON_DELETED: Final = 'persistentvolumeclaim "{claim}" is being deleted'
REASON_NOT_OWNER: Final = (
    "PVC {namespace}/{claim} was not created for pod {namespace}/{pod} (pod is not owner)"
)

CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
WAITS: Final = "WaitForFirstConsumer"


@dataclass(frozen=True, slots=True)
class VolumeBinding:
    """Filters only. Without a cluster source nobody knows of claims, and it stands aside."""

    name: ClassVar[str] = "VolumeBinding"
    settings: Settings

    def signature(self, pod: Pod) -> Hashable | None:
        """A question depends on claims and volumes too; a pod without claims never has one."""
        return None if any(volumes.claims_of(pod)) else ()

    def pre_filter(self, pod: Pod, snapshot: Snapshot) -> NodeFilter | Status:
        """Find the volumes of the pod's claims; SKIP if it has none."""
        named = list(volumes.claims_of(pod))
        if snapshot.volumes is None or not named:
            return SKIP
        claims: list[PersistentVolumeClaim] = []
        for name, ephemeral in named:
            claim = usable(pod, name, ephemeral, snapshot.volumes)
            if isinstance(claim, Status):
                return claim
            claims.append(claim)
        if any(is_unbound_immediate(claim, snapshot.volumes) for claim in claims):
            return unresolvable(REASON_UNBOUND)
        bound = [claim.spec.volume_name for claim in claims if volumes.is_bound(claim)]
        noticed: Noticed = set()
        try:
            reached = tuple(
                None if volume is None else self._reach(volume, noticed)
                for volume in map(snapshot.volumes.volumes.get, bound)
            )
        except AnnotationError as exc:
            return unresolvable(str(exc))
        return _BoundClaims(reached, frozenset(noticed))

    def _reach(self, volume: PersistentVolume, noticed: Noticed) -> Required:
        """What a node must have to reach the volume: its native rule and its annotation."""
        return Required(
            (),
            tuple(
                selectors.compile_selector(each, self.settings.gates, noticed)
                for each in written_rules(volume, self.settings)
                if each is not None
            ),
        )


def written_rules(
    volume: PersistentVolume, settings: Settings
) -> tuple[NodeSelector | None, NodeSelector | None]:
    """The native rule of a volume and that of its annotation; AnnotationError if unreadable."""
    affinity = volume.spec.node_affinity
    annotated = annotations.volume_affinity(
        volume.metadata.name,
        volume.metadata.annotations,
        settings.annotation_prefix,
        settings.annotation_bytes,
    )
    return affinity.required if affinity else None, annotated.required if annotated else None


def usable(pod: Pod, name: str, ephemeral: bool, known: Volumes) -> PersistentVolumeClaim | Status:
    """A claim of the pod that can be used, or why it cannot."""
    meta = pod.metadata or ObjectMeta()
    claim = known.claim(meta.namespace, name)
    if claim is None:
        reason = REASON_NO_EPHEMERAL_CLAIM if ephemeral else REASON_NO_CLAIM
        return unresolvable(reason.format(claim=name))
    if claim.status.phase == "Lost":
        return unresolvable(REASON_LOST.format(claim=name, volume=claim.spec.volume_name))
    if claim.metadata.deletion_timestamp is not None:
        return unresolvable(REASON_DELETED.format(claim=name))
    if ephemeral and not _is_owner(meta.uid, claim):
        return unresolvable(
            REASON_NOT_OWNER.format(namespace=meta.namespace, claim=name, pod=meta.name)
        )
    return claim


def _is_owner(uid: str, claim: PersistentVolumeClaim) -> bool:
    owners = claim.metadata.owner_references or ()
    return next((owner.uid for owner in owners if owner.controller), None) == uid


def is_unbound_immediate(claim: PersistentVolumeClaim, known: Volumes) -> bool:
    """Whether a claim should have been bound by now, and is not."""
    if volumes.is_bound(claim):
        return False
    if claim.spec.volume_name:  # somebody chose the volume, and has not finished binding it
        return True
    annotated = (claim.metadata.annotations or {}).get(CLASS_ANNOTATION)
    name = annotated if annotated is not None else claim.spec.storage_class_name
    found = known.classes.get(name or "")
    return found is None or found.volume_binding_mode != WAITS


@dataclass(frozen=True, slots=True)
class _BoundClaims:
    """The volumes in the order of the claims; None for one that does not exist."""

    volumes: tuple[Required | None, ...]
    findings: frozenset[Finding]

    @property
    def facet(self) -> LabelsFacet:
        terms = (term for volume in self.volumes if volume is not None for term in volume.terms())
        # A volume knows nothing of the name of a node: matchFields are parsed and never asked.
        return LabelsFacet(LabelsFacet.of(terms).keys)

    def filter(self, node: NodeInfo) -> Status:
        noticed: Noticed = set()
        for volume in self.volumes:
            if volume is None:
                return unresolvable(REASON_NO_VOLUME, findings=frozenset(noticed))
            if not volume.matches("", node.labels, noticed):
                return unresolvable(REASON_CONFLICT, findings=frozenset(noticed))
        return success(frozenset(noticed))
