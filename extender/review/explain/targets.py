"""The objects that a fix can be written into: a manifest, a pod that lives, or its owner."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from extender.model.core_v1 import ObjectMeta, Pod, Toleration
from extender.review import daemons
from extender.review.explain import owners
from extender.review.explain.templates import Owner, Subject

_FIXED: Final = "a pod that lives cannot change this"
_JOB: Final = "Job"


@dataclass(frozen=True, slots=True)
class Target:
    """An object with a pod in it, and how a patch gets there."""

    pod: Pod  # as the object has it
    kind: str
    namespace: str
    name: str
    template: tuple[str, ...]  # the path of the pod in the object
    how: str
    implicit: tuple[Toleration, ...] = ()  # added by a controller, so not part of a patch
    living: bool = False  # only what a pod that lives may change
    needs_new_pod: bool = False


def of(subject: Subject) -> list[Target]:
    """What can be changed to help a pod; of a pod that lives first the pod itself."""
    meta = subject.pod.metadata or ObjectMeta()
    kind, namespace, name = subject.kind, meta.namespace, subject.name
    if kind == "Pod" and subject.is_living:
        return list(_of_living(subject, namespace, name))
    how = ""
    if subject.is_living:
        how = _recreate(kind, "") if kind == _JOB else _command(kind, namespace, name)
    return [Target(subject.pod, kind, namespace, name, subject.template, how, subject.implicit)]


def _of_living(subject: Subject, namespace: str, name: str) -> Iterator[Target]:
    owner = subject.controller
    command = _command("Pod", namespace, name)
    if owner is not None:
        command += f"; new pods of {owner.text} have it only if its template changes, too"
    yield Target(subject.pod, "Pod", namespace, name, (), command, living=True)
    if owner is None:
        how = _recreate("Pod", f"{_FIXED}: ")
        yield Target(subject.pod, "Pod", namespace, name, (), how, needs_new_pod=True)
        return
    yield Target(
        owners.template_of(subject, owner),
        owner.kind,
        owner.namespace,
        owner.name,
        owner.template or (),
        _of_owner(owner),
        daemons.TOLERATIONS if owner.kind == "DaemonSet" else (),
        needs_new_pod=True,
    )


def _of_owner(owner: Owner) -> str:
    if owner.template is None:
        return f"{_FIXED}: change the pod template of {owner.text}"
    if owner.kind == _JOB:
        return _recreate(owner.kind, f"{_FIXED}: ")
    unseen = "; its template was not read, so compare the lists first" if owner.pod is None else ""
    then = {
        "ReplicaSet": "; then delete the pod",
        "ReplicationController": "; then delete the pod",
        "CronJob": "; its next Job has it",
    }.get(owner.kind, "; its new pods have it")
    command = _command(owner.kind, owner.namespace, owner.name)
    return f"{_FIXED}: {command}{then}{unseen}"


def _recreate(kind: str, why: str) -> str:
    own = "the template of a Job is fixed: " if kind == _JOB else why
    return f"{own}delete the {kind}, and create it again with this change"


def _command(kind: str, namespace: str, name: str) -> str:
    words = ["kubectl", "-n", namespace, "patch", kind.lower(), name]
    return f"{shlex.join(words)} --patch-file FILE"
