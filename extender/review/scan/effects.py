"""Rules that others than the scheduler do not see, and what comes of that."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Final

import msgspec

from extender import plugins
from extender.errors import AnnotationError
from extender.framework import rules, runner
from extender.framework.interface import Code, Settings
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.match import annotations, operators
from extender.match.gates import SEMVER_GATE
from extender.match.taints import NO_EXECUTE
from extender.model.core_v1 import ObjectMeta, Pod, PodSpec, Taint, Toleration
from extender.model.storage_v1 import StorageClass
from extender.review import daemons
from extender.review.scan.objects import Ref, ScannedVolume

_WAITS: Final = "WaitForFirstConsumer"


@dataclass(frozen=True, slots=True)
class UnseenByController:
    """A DaemonSet with rules that its controller cannot see."""

    ref: Ref
    missing: tuple[str, ...]  # nodes that fit, and get no pod
    stuck: tuple[str, ...]  # nodes that do not fit, and get a pod that stays Pending


@dataclass(frozen=True, slots=True)
class OnlyByAnnotation:
    """NoExecute taints that a pod's annotation tolerates, and its spec does not."""

    ref: Ref
    taint: Taint
    nodes: tuple[str, ...]


def unseen_by_controller(
    templates: Mapping[Ref, Pod], snapshot: Snapshot, settings: Settings
) -> Iterator[UnseenByController]:
    """What the DaemonSet controller does differently, because it reads native fields only."""
    nodes = list(snapshot.nodes.values())
    for ref, pod in templates.items():
        if ref.kind != "DaemonSet":
            continue
        native = _as_controllers_see(pod, settings.annotation_prefix)
        if native == pod:
            continue
        ours = _fitting(daemons.with_tolerations(pod), snapshot, nodes, settings)
        theirs = _fitting(daemons.with_tolerations(native), snapshot, nodes, settings)
        missing = tuple(n.name for n in nodes if n.name in ours and n.name not in theirs)
        stuck = tuple(n.name for n in nodes if n.name in theirs and n.name not in ours)
        yield UnseenByController(ref, missing, stuck)


def only_by_annotation(
    templates: Mapping[Ref, Pod], taints: Mapping[Taint, Sequence[str]], settings: Settings
) -> Iterator[OnlyByAnnotation]:
    """NoExecute taints of nodes that only the annotation of a workload tolerates."""
    evicting = {t: nodes for t, nodes in taints.items() if t.effect == NO_EXECUTE}
    for ref, pod in templates.items():
        try:
            tolerations = rules.pod_tolerations(pod, settings)
        except AnnotationError:
            continue  # told elsewhere
        for taint, nodes in evicting.items():
            refusal = tolerations.first_refusal((taint,), "narrow", set())
            if refusal is not None and refusal.annotation_only:
                yield OnlyByAnnotation(ref, taint, tuple(nodes))


def bound_too_late(
    volumes: Mapping[Ref, ScannedVolume], classes: Mapping[str, StorageClass]
) -> Iterator[tuple[Ref, str]]:
    """Volumes whose annotation the in-tree binder does not read when it chooses one."""
    for ref, volume in volumes.items():
        name = volume.spec.storage_class_name
        found = classes.get(name)
        if found is not None and found.volume_binding_mode == _WAITS and not volume.spec.claim_ref:
            yield ref, name


def read_by_nobody(
    templates: Mapping[Ref, Pod], schedulers: frozenset[str], settings: Settings
) -> Iterator[tuple[Ref, str]]:
    """Annotated tolerations of pods that another scheduler than ours places, and its name."""
    name = settings.annotation_prefix + annotations.TOLERATIONS
    for ref, pod in templates.items():
        scheduler = (pod.spec.scheduler_name if pod.spec else "") or "default-scheduler"
        written = (pod.metadata.annotations if pod.metadata else None) or {}
        if schedulers and scheduler not in schedulers and name in written:
            yield ref, scheduler


def _as_controllers_see(pod: Pod, prefix: str) -> Pod:
    """The pod by its native fields, without what no released controller understands."""
    meta, spec = pod.metadata or ObjectMeta(), pod.spec or PodSpec()
    known = tuple(each for each in spec.tolerations or () if _is_released(each))
    ours = {prefix + annotations.TOLERATIONS, prefix + annotations.NODE_AFFINITY}
    written = meta.annotations or {}
    if len(known) < len(spec.tolerations or ()):
        spec = msgspec.structs.replace(spec, tolerations=known)
    if not ours.isdisjoint(written):
        kept = {name: text for name, text in written.items() if name not in ours}
        meta = msgspec.structs.replace(meta, annotations=kept)
    return Pod(meta, spec)


def _is_released(toleration: Toleration) -> bool:
    """Whether a released controller understands it: no expression, no version."""
    operator = operators.toleration(toleration.operator)
    return not toleration.expression and (operator is None or operator.gate != SEMVER_GATE)


def _fitting(
    pod: Pod, snapshot: Snapshot, nodes: Sequence[NodeInfo], settings: Settings
) -> frozenset[str]:
    """The nodes that fit by taints and node affinity, as the plugins judge."""
    profile = plugins.profile("scan", {"TaintToleration": 0, "NodeAffinity": 0}, settings)
    result = runner.run_filter(profile, pod, snapshot, nodes, clock=perf_counter)
    pairs = zip(nodes, result.statuses, strict=True)
    return frozenset(node.name for node, status in pairs if status.code is Code.SUCCESS)
