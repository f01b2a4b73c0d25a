"""The workload that made a pod, through the ReplicaSets and Jobs in between."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from msgspec import structs

from extender.errors import ManifestError
from extender.model.core_v1 import ObjectMeta, OwnerReference, Pod, PodSpec
from extender.model.documents import Plain
from extender.review import daemons
from extender.review.explain import living, templates
from extender.review.explain.templates import TEMPLATES, Owner, Subject

# An object by kind, namespace and name; None if it cannot be read.
Lookup = Callable[[str, str, str], Mapping[str, Plain] | None]

_BETWEEN: Final = frozenset({"ReplicaSet", "Job"})
# The label with which a Deployment tells its ReplicaSets apart; their names end in it.
_HASH: Final = "pod-template-hash"


def found(subject: Subject, lookup: Lookup) -> Subject:
    """The subject with its owner, as far as it can be seen; nothing else of it changes."""
    meta = subject.pod.metadata or ObjectMeta()
    if subject.kind != "Pod":
        return subject
    reference = _controller(subject.live.metadata.owner_references or ())
    if reference is None:
        return subject
    kind, name = reference
    document = lookup(kind, meta.namespace, name)
    above = _above(kind, name, document, meta) if kind in _BETWEEN else None
    if above is not None:
        kind, name = above
        document = lookup(kind, meta.namespace, name)
    pod = _template(subject, kind, document)
    return replace(subject, controller=Owner(kind, meta.namespace, name, TEMPLATES.get(kind), pod))


def template_of(subject: Subject, owner: Owner) -> Pod:
    """The pod as the owner would make it again."""
    if owner.pod is not None:
        return owner.pod
    pod = living.without_system(subject.pod)
    return daemons.with_tolerations(pod) if owner.kind == "DaemonSet" else pod


def _controller(references: tuple[OwnerReference, ...]) -> tuple[str, str] | None:
    for each in references:
        if each.controller and each.kind != "Node":  # the owner of a static pod is its node
            return each.kind, each.name
    return None


def _above(
    kind: str, name: str, document: Mapping[str, Plain] | None, meta: ObjectMeta
) -> tuple[str, str] | None:
    """The owner of a ReplicaSet or Job; one that is not seen is known by the name it gave."""
    if document is not None:
        return _controller(templates.owner_references(document))
    revision = (meta.labels or {}).get(_HASH)
    if kind == "ReplicaSet" and revision and name.endswith(f"-{revision}"):
        return "Deployment", name.removesuffix(f"-{revision}")
    return None


def _template(subject: Subject, kind: str, document: Mapping[str, Plain] | None) -> Pod | None:
    """The template of the owner, with what only this pod has: its name, labels and volumes."""
    if document is None or kind not in TEMPLATES:
        return None
    try:
        made = next(templates.subjects(kind, {**document, "kind": kind}), None)
    except ManifestError:
        return None
    if made is None:
        return None
    own, meta = subject.pod.metadata or ObjectMeta(), made.pod.metadata or ObjectMeta()
    spec, own_spec = made.pod.spec or PodSpec(), subject.pod.spec or PodSpec()
    return structs.replace(
        made.pod,
        metadata=structs.replace(own, annotations=meta.annotations),
        spec=structs.replace(spec, volumes=own_spec.volumes, priority=own_spec.priority),
    )
