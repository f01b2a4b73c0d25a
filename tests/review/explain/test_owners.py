"""The workload of a pod, as far as it can be seen."""

from collections.abc import Mapping
from typing import Any

import pytest

from extender.model.documents import Plain
from extender.review import daemons
from extender.review.explain import owners
from extender.review.explain.templates import Owner, Subject, subjects
from tests.builders import JSON

TEMPLATE: JSON = {"spec": {"tolerations": [{"key": "sla", "operator": "Exists"}]}}


def owned(kind: str, name: str) -> JSON:
    return {"ownerReferences": [{"kind": kind, "name": name, "controller": True}]}


def a_subject(kind: str, name: str, **labels: str) -> Subject:
    meta: JSON = {"name": "report-abc-x", "namespace": "batch", "labels": labels}
    (made,) = subjects("test", {"kind": "Pod", "metadata": {**meta, **owned(kind, name)}})
    return made


def found(subject: Subject, **seen: JSON) -> Owner | None:
    """The owner, if these objects can be read, by kind."""

    def lookup(kind: str, namespace: str, _name: str) -> Mapping[str, Plain] | None:
        assert namespace == "batch"
        return seen.get(kind)

    return owners.found(subject, lookup).controller


def named(owner: Owner | None) -> str:
    return "" if owner is None else owner.text


@pytest.mark.parametrize(
    ("subject", "seen", "expected"),
    [
        (a_subject("StatefulSet", "db"), {}, "StatefulSet batch/db"),
        (a_subject("ReplicaSet", "report-abc"), {}, "ReplicaSet batch/report-abc"),
        (
            a_subject("ReplicaSet", "report-abc", **{"pod-template-hash": "abc"}),
            {},
            "Deployment batch/report",
        ),
        (
            a_subject("ReplicaSet", "report-abc"),
            {"ReplicaSet": {"metadata": owned("Deployment", "other")}},
            "Deployment batch/other",
        ),
        (
            a_subject("ReplicaSet", "report-abc", **{"pod-template-hash": "abc"}),
            {"ReplicaSet": {"metadata": {}}},
            "ReplicaSet batch/report-abc",
        ),
        (
            a_subject("ReplicaSet", "report-abc"),
            {"ReplicaSet": {"metadata": {"ownerReferences": 5}}},
            "ReplicaSet batch/report-abc",
        ),
        (
            a_subject("Job", "nightly-1"),
            {"Job": {"metadata": owned("CronJob", "nightly")}},
            "CronJob batch/nightly",
        ),
        (a_subject("Rollout", "report"), {}, "Rollout batch/report"),
        (a_subject("Node", "n1"), {}, ""),
    ],
)
def test_who_owns_a_pod(subject: Subject, seen: dict[str, JSON], expected: str) -> None:
    assert named(found(subject, **seen)) == expected


def test_the_template_is_read_and_the_volumes_are_the_pods() -> None:
    subject = a_subject("StatefulSet", "db")
    claims = [{"metadata": {"name": "data"}}]
    document = {"metadata": {}, "spec": {"template": TEMPLATE, "volumeClaimTemplates": claims}}
    owner = found(subject, StatefulSet=document)

    assert owner is not None
    assert owner.template == ("spec", "template")
    assert owner.pod is not None
    assert owner.pod.spec is not None
    assert [each.key for each in owner.pod.spec.tolerations or ()] == ["sla"]
    assert owner.pod.spec.volumes is None
    assert owners.template_of(subject, owner) is owner.pod


@pytest.mark.parametrize("document", [{"spec": {}}, {"spec": {"template": {"spec": 5}}}])
def test_a_template_that_cannot_be_read_is_as_if_not_seen(document: JSON) -> None:
    owner = found(a_subject("Deployment", "report"), Deployment=document)

    assert (named(owner), owner and owner.pod) == ("Deployment batch/report", None)


def test_a_template_that_is_not_seen_is_the_pod_without_what_the_system_added() -> None:
    def template(kind: str) -> Any:
        subject = a_subject(kind, "x")
        made = owners.template_of(subject, Owner(kind, "batch", "x"))
        return made.spec and made.spec.tolerations

    assert template("Deployment") is None
    assert template("DaemonSet") == daemons.TOLERATIONS


def test_a_workload_owns_itself() -> None:
    (workload,) = subjects("test", {"kind": "Deployment", "spec": {"template": TEMPLATE}})

    assert found(workload) is None
