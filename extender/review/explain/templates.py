"""The pod in a manifest: a Pod, or the pod that a workload would create."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from extender.errors import DocumentError, ManifestError
from extender.match import shapes
from extender.match.shapes import Words
from extender.model import documents, nulls
from extender.model.core_v1 import (
    ClaimSource,
    LivePod,
    ObjectMeta,
    OwnerReference,
    PendingPodStatus,
    Pod,
    PodSpec,
    Toleration,
    Volume,
)
from extender.model.documents import Plain
from extender.model.workloads import KINDS, Ruled
from extender.review import daemons

# The path of the pod template, by kind.
TEMPLATES: Final[Mapping[str, tuple[str, ...]]] = {
    "Pod": (),
    "PodTemplate": ("template",),
    "Deployment": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "ReplicationController": ("spec", "template"),
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
}
_RULED: Final = {kind: shape for (_, kind), shape in KINDS.items()}
DEFAULT_NAMESPACE: Final = "default"
_LIVE: Final[nulls.Decoder[LivePod]] = nulls.Decoder(LivePod)


@dataclass(frozen=True, slots=True)
class Owner:
    """The workload that made a pod."""

    kind: str
    namespace: str
    name: str
    template: tuple[str, ...] | None = None  # the path of its pod template; None: not known
    pod: Pod | None = None  # its pod template; None: it was not read

    @property
    def text(self) -> str:
        """Kind and name."""
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What kube-scheduler said when it last tried to place the pod."""

    reason: str
    message: str
    since: str


@dataclass(frozen=True, slots=True)
class Subject:
    """A pod to explain, and its workload."""

    pod: Pod
    kind: str = "Pod"
    owner: str = ""  # the name of the workload
    template: tuple[str, ...] = ()
    implicit: tuple[Toleration, ...] = ()  # tolerations that a controller adds
    node: str = ""  # the node that the pod is already bound to
    live: LivePod = field(default_factory=LivePod)  # the pod as compile mode reads it
    is_living: bool = False  # the object is in a cluster, so the API server limits its changes
    controller: Owner | None = None  # who made the pod
    attempt: Attempt | None = None
    written: Ruled | None = None  # the object as the webhook reads it

    @property
    def name(self) -> str:
        """The name of the workload, or else of the pod."""
        meta = self.pod.metadata or ObjectMeta()
        return self.owner or meta.name


def subjects(origin: str, document: Plain, namespace: str = "") -> Iterator[Subject]:
    """Every pod in a document, including those in Lists; other kinds are ignored."""
    if not isinstance(document, dict):
        return
    kind = document.get("kind")
    items = document.get("items")
    if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list):
        of_kind = kind.removesuffix("List")
        for item in items:
            # Objects in a List have a kind, objects in a PodList do not.
            if isinstance(item, dict) and of_kind:
                item = {"kind": of_kind, **item}
            yield from subjects(origin, item, namespace)
    elif isinstance(kind, str) and kind in TEMPLATES:
        yield _subject(origin, kind, document, namespace or DEFAULT_NAMESPACE)


def owner_references(document: Mapping[str, Plain]) -> tuple[OwnerReference, ...]:
    """The owners of an object."""
    try:
        return (
            _LIVE.decode(
                msgspec.json.encode({"metadata": document.get("metadata")})
            ).metadata.owner_references
            or ()
        )
    except msgspec.ValidationError:
        return ()


def _subject(origin: str, kind: str, document: dict[str, Plain], namespace: str) -> Subject:
    meta = document.get("metadata")
    name = str(meta.get("name") or "") if isinstance(meta, dict) else ""
    own = str(meta.get("namespace") or "") if isinstance(meta, dict) else ""
    written: Plain = document
    for step in TEMPLATES[kind]:
        written = written.get(step) if isinstance(written, dict) else None
    where = f"{origin}: {kind} {name!r}"
    if not isinstance(written, dict):
        raise ManifestError(f"{where}: {'.'.join(TEMPLATES[kind])} is missing")
    with _decoding(where, written, Pod):
        pod = nulls.convert(written, Pod)
    with _decoding(where, written, LivePod):
        live = _LIVE.decode(msgspec.json.encode(written))
    is_pod = kind == "Pod"
    pod_meta = pod.metadata or ObjectMeta()
    pod_name = pod_meta.name if is_pod else f"{name}-0" if kind == "StatefulSet" else name
    pod = replace(pod, metadata=replace(pod_meta, name=pod_name, namespace=own or namespace))
    if kind == "StatefulSet":
        pod = _with_claims(pod, document)
    spec = written.get("spec")
    return Subject(
        daemons.with_tolerations(pod) if kind == "DaemonSet" else pod,
        kind,
        "" if is_pod else name,
        TEMPLATES[kind],
        daemons.TOLERATIONS if kind == "DaemonSet" else (),
        str(spec.get("nodeName") or "") if is_pod and isinstance(spec, dict) else "",
        _owned(live, name) if kind == "DaemonSet" else live,
        # Only the API server gives out UIDs.
        is_living=isinstance(meta, dict) and bool(meta.get("uid")),
        attempt=_attempt(document) if is_pod else None,
        written=_ruled(where, kind, document),
    )


def _ruled(where: str, kind: str, document: dict[str, Plain]) -> Ruled | None:
    shape = _RULED.get(kind)
    if shape is None:
        return None
    with _decoding(where, document, shape):
        return nulls.convert(document, shape)


@contextmanager
def _decoding(where: str, document: dict[str, Plain], shape: Any) -> Iterator[None]:
    """Says what is wrong with a document that does not have the shape."""
    try:
        documents.bounded(document)
        yield
    except DocumentError as exc:
        raise ManifestError(f"{where}: {exc}") from exc
    except msgspec.ValidationError as exc:
        problem = shapes.first_problem(document, shape, exc, Words())
        raise ManifestError(f"{where}: {problem}") from exc


def _attempt(document: dict[str, Plain]) -> Attempt | None:
    """The condition that kube-scheduler writes when it finds no node."""
    try:
        status = nulls.convert(documents.bounded(document.get("status")), PendingPodStatus)
    except (msgspec.ValidationError, DocumentError):
        return None  # what others write there must not stop an explanation
    for each in status.conditions or ():
        if each.type == "PodScheduled" and each.status == "False" and each.message:
            return Attempt(each.reason, each.message, each.last_transition_time or "")
    return None


def _owned(live: LivePod, daemon: str) -> LivePod:
    """The pod of a DaemonSet, which the controller of compile mode leaves alone."""
    owners = (OwnerReference("DaemonSet", daemon, True),)
    return replace(live, metadata=replace(live.metadata, owner_references=owners))


def _with_claims(pod: Pod, document: dict[str, Plain]) -> Pod:
    """The first pod of a StatefulSet, with the claims from its templates."""
    stateful = document.get("spec")
    templates = stateful.get("volumeClaimTemplates") if isinstance(stateful, dict) else None
    names = []
    for template in templates if isinstance(templates, list) else ():
        meta = template.get("metadata") if isinstance(template, dict) else None
        names.append(str(meta.get("name") or "") if isinstance(meta, dict) else "")
    own = pod.metadata.name if pod.metadata else ""
    made = [Volume(name, ClaimSource(f"{name}-{own}")) for name in names if name]
    spec = pod.spec or PodSpec()
    kept = [volume for volume in spec.volumes or () if volume.name not in names]
    return replace(pod, spec=replace(spec, volumes=(*kept, *made)))
