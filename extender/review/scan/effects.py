"""Rules that only Leeway reads, and the problems that follow from that."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Final

import msgspec

from extender import plugins
from extender.errors import AnnotationError
from extender.framework import rules
from extender.framework.columns.node_table import NodeTable
from extender.framework.interface import Settings
from extender.framework.runner import Runner
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.match import annotations, operators
from extender.match.gates import SEMVER_GATE
from extender.match.taints import NO_EXECUTE
from extender.model.core_v1 import ObjectMeta, Pod, PodSpec, Taint, Toleration
from extender.model.storage_v1 import StorageClass
from extender.native.settings import CompileSettings
from extender.review import compilation, daemons
from extender.review.scan import compiled
from extender.review.scan.objects import Ref, ScannedVolume

_WAITS: Final = "WaitForFirstConsumer"


@dataclass(frozen=True, slots=True)
class UnseenByController:
    """A DaemonSet with rules that its controller does not read."""

    ref: Ref
    missing: tuple[str, ...]  # nodes that fit but get no pod
    stuck: tuple[str, ...]  # nodes that do not fit but get a pod, which stays Pending
    tolerations: tuple[Toleration, ...] = ()  # that its rules come to; compile mode adds none


@dataclass(frozen=True, slots=True)
class OnlyByAnnotation:
    """A NoExecute taint that the annotation of a pod tolerates, but not its spec."""

    ref: Ref
    taint: Taint
    nodes: tuple[str, ...]


def unseen_by_controller(
    templates: Mapping[Ref, Pod],
    snapshot: Snapshot,
    settings: Settings,
    compile_settings: CompileSettings,
) -> Iterator[UnseenByController]:
    """DaemonSets that the controller places differently, because it reads native fields only."""
    nodes = list(snapshot.nodes.values())
    view = compilation.view_of(nodes, compile_settings)
    for ref, pod in templates.items():
        if ref.kind != "DaemonSet":
            continue
        native = _as_controllers_see(pod, settings.annotation_prefix)
        if native == pod:
            continue
        daemon = daemons.with_tolerations(pod)
        ours = _fitting(daemon, snapshot, nodes, settings)
        theirs = _fitting(daemons.with_tolerations(native), snapshot, nodes, settings)
        missing = tuple(n.name for n in nodes if n.name in ours and n.name not in theirs)
        stuck = tuple(n.name for n in nodes if n.name in theirs and n.name not in ours)
        plain = compiled.plain_tolerations(daemon, view, settings, compile_settings)
        yield UnseenByController(ref, missing, stuck, plain)


def only_by_annotation(
    templates: Mapping[Ref, Pod], taints: Mapping[Taint, Sequence[str]], settings: Settings
) -> Iterator[OnlyByAnnotation]:
    """NoExecute taints that only the annotation of a workload tolerates."""
    evicting = {t: nodes for t, nodes in taints.items() if t.effect == NO_EXECUTE}
    for ref, pod in templates.items():
        try:
            tolerations = rules.pod_tolerations(pod, settings)
        except AnnotationError:
            continue  # reported elsewhere
        for taint, nodes in evicting.items():
            refusal = tolerations.first_refusal((taint,), "narrow", set())
            if refusal is not None and refusal.annotation_only:
                yield OnlyByAnnotation(ref, taint, tuple(nodes))


def bound_too_late(
    volumes: Mapping[Ref, ScannedVolume], classes: Mapping[str, StorageClass]
) -> Iterator[tuple[Ref, str]]:
    """Annotated volumes that the in-tree binder binds without reading the annotation."""
    for ref, volume in volumes.items():
        name = volume.spec.storage_class_name
        found = classes.get(name)
        if found is not None and found.volume_binding_mode == _WAITS and not volume.spec.claim_ref:
            yield ref, name


def read_by_nobody(
    templates: Mapping[Ref, Pod], schedulers: frozenset[str], settings: Settings
) -> Iterator[tuple[Ref, str]]:
    """Pods with annotated tolerations whose scheduler does not call Leeway."""
    name = settings.annotation_prefix + annotations.TOLERATIONS
    for ref, pod in templates.items():
        scheduler = (pod.spec.scheduler_name if pod.spec else "") or "default-scheduler"
        written = (pod.metadata.annotations if pod.metadata else None) or {}
        if schedulers and scheduler not in schedulers and name in written:
            yield ref, scheduler


def _as_controllers_see(pod: Pod, prefix: str) -> Pod:
    """The pod as controllers read it: native fields with released operators only."""
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
    table = NodeTable(nodes)
    candidates = table.candidates()
    Runner(clock=perf_counter).filter(profile, pod, snapshot, table, candidates, narrow=False)
    return frozenset(node.name for node in table.nodes_of(candidates))
