"""The carriers of an object's rules: native fields and annotations, each with its path."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from extender.errors import AnnotationError
from extender.framework.interface import Settings
from extender.match import annotations
from extender.match.shapes import FieldProblem
from extender.model.core_v1 import NodeAffinity, NodeSelectorTerm, Toleration
from extender.model.resource_v1 import Claim, ClaimTemplate
from extender.model.storage_v1 import VolumeNodeAffinity
from extender.model.workloads import CronJob, Ruled, RuledPod, RuledVolume, Workload

Rules = tuple[Toleration, ...] | NodeAffinity | VolumeNodeAffinity


@dataclass(frozen=True, slots=True)
class Carrier:
    """A native field or an annotation; `problem` is why an annotation cannot be read."""

    path: str
    rules: Rules | None
    text: str | None = None
    problem: str = ""
    wrong: FieldProblem | None = None  # the same, and where
    of_devices: bool = False  # whether the taints that it is about are those of devices

    @property
    def annotated(self) -> bool:
        """Whether it is an annotation."""
        return self.text is not None


def read(ruled: Ruled, settings: Settings) -> tuple[Carrier, ...]:
    """The carriers of an object, in the order in which upstream validates."""
    if isinstance(ruled, RuledVolume):
        return tuple(_of_volume(ruled, settings))
    if isinstance(ruled, Claim | ClaimTemplate):
        return tuple(_of_claim(ruled, settings))
    pod, path = _pod(ruled)
    return tuple(_of_pod(pod, path, settings)) if pod else ()


def claim_annotations(ruled: Claim | ClaimTemplate) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The annotations with rules of a claim, each with the path of their metadata.

    Claims of a template get those of `spec.metadata`; its own count for the template.
    """
    yield "", (ruled.metadata.annotations if ruled.metadata else None) or {}
    if isinstance(ruled, ClaimTemplate):
        meta = ruled.spec.metadata if ruled.spec else None
        yield "spec.", (meta.annotations if meta else None) or {}


def annotated(ruled: Ruled) -> tuple[Mapping[str, str], str]:
    """The annotations that Leeway reads of an object, and the path of their metadata."""
    if isinstance(ruled, RuledVolume):
        return (ruled.metadata.annotations if ruled.metadata else None) or {}, ""
    if isinstance(ruled, Claim | ClaimTemplate):
        *_, (path, written) = claim_annotations(ruled)
        return written, path
    pod, path = _pod(ruled)
    meta = pod.metadata if pod else None
    return (meta.annotations if meta else None) or {}, path


def tolerations(found: tuple[Carrier, ...]) -> Iterator[tuple[Carrier, tuple[Toleration, ...]]]:
    """The lists of tolerations."""
    for carrier in found:
        if isinstance(carrier.rules, tuple):
            yield carrier, carrier.rules


def terms(found: tuple[Carrier, ...]) -> Iterator[NodeSelectorTerm]:
    """Every term of every node affinity, required and preferred."""
    for carrier in found:
        rules = carrier.rules
        if isinstance(rules, NodeAffinity | VolumeNodeAffinity) and rules.required:
            yield from rules.required.node_selector_terms or ()
        if isinstance(rules, NodeAffinity):
            for preferred in rules.preferred or ():
                if preferred.preference is not None:
                    yield preferred.preference


def _pod(ruled: RuledPod | Workload | CronJob) -> tuple[RuledPod | None, str]:
    """The pod or pod template of an object, and its path."""
    match ruled:
        case RuledPod():
            return ruled, ""
        case Workload():
            return (ruled.spec.template if ruled.spec else None), "spec.template."
        case CronJob():
            job = ruled.spec.job_template if ruled.spec else None
            template = job.spec.template if job and job.spec else None
            return template, "spec.jobTemplate.spec.template."


def _of_pod(pod: RuledPod, path: str, settings: Settings) -> Iterator[Carrier]:
    written = (pod.metadata.annotations if pod.metadata else None) or {}
    yield from _annotated(written, annotations.NODE_AFFINITY, path, settings, volume=False)
    yield from _annotated(written, annotations.TOLERATIONS, path, settings, volume=False)
    if pod.spec is None:
        return
    if pod.spec.affinity is not None and pod.spec.affinity.node_affinity is not None:
        yield Carrier(f"{path}spec.affinity.nodeAffinity", pod.spec.affinity.node_affinity)
    if pod.spec.tolerations:
        yield Carrier(f"{path}spec.tolerations", pod.spec.tolerations)


def _of_volume(volume: RuledVolume, settings: Settings) -> Iterator[Carrier]:
    written = (volume.metadata.annotations if volume.metadata else None) or {}
    yield from _annotated(written, annotations.NODE_AFFINITY, "", settings, volume=True)
    if volume.spec.node_affinity is not None:
        yield Carrier("spec.nodeAffinity", volume.spec.node_affinity)


def _of_claim(claim: Claim | ClaimTemplate, settings: Settings) -> Iterator[Carrier]:
    for path, written in claim_annotations(claim):
        suffix = annotations.DEVICE_TOLERATIONS
        for each in _annotated(written, suffix, path, settings, volume=False):
            yield replace(each, of_devices=True)


def _annotated(
    written: Mapping[str, str], suffix: str, path: str, settings: Settings, *, volume: bool
) -> Iterator[Carrier]:
    name = settings.annotation_prefix + suffix
    text = written.get(name)
    if text is None:
        return
    path = f"{path}metadata.annotations[{name}]"
    try:
        rules = _decoded(written, suffix, settings, volume=volume)
    except AnnotationError as exc:
        yield Carrier(path, None, text, exc.problem, FieldProblem(exc.field, exc.shown, exc.text))
    else:
        yield Carrier(path, rules, text)


def _decoded(
    written: Mapping[str, str], suffix: str, settings: Settings, *, volume: bool
) -> Rules | None:
    prefix, limit = settings.annotation_prefix, settings.annotation_bytes
    if suffix == annotations.TOLERATIONS:
        return annotations.tolerations(written, prefix, limit)
    if suffix == annotations.DEVICE_TOLERATIONS:
        return annotations.device_tolerations(written, prefix, limit)
    if volume:
        return annotations.volume_affinity("", written, prefix, limit)
    return annotations.node_affinity(written, prefix, limit)
