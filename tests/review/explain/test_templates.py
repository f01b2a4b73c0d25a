"""The pod of a manifest."""

from typing import Any

import pytest

from extender.errors import ManifestError
from extender.framework import volumes
from extender.model.core_v1 import ObjectMeta
from extender.review.explain import templates
from extender.review.explain.templates import Attempt, Subject
from tests.builders import toleration

SPEC = {"schedulerName": "s", "tolerations": [toleration("own", "Exists")]}
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": SPEC}


def one(document: Any, namespace: str = "") -> Subject:
    (subject,) = templates.subjects("x.yaml", document, namespace)
    return subject


def meta_of(subject: Subject) -> ObjectMeta:
    assert subject.pod.metadata is not None
    return subject.pod.metadata


def workload(kind: str, **more: Any) -> Any:
    return {"kind": kind, "metadata": {"name": "web"}, "spec": {"template": TEMPLATE, **more}}


def test_a_pod_is_itself() -> None:
    document = {
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop", "labels": None},
        "spec": {**SPEC, "nodeName": "n"},
    }
    subject = one(document, "elsewhere")

    assert (subject.kind, subject.owner, subject.name, subject.node) == ("Pod", "", "p", "n")
    assert meta_of(subject).namespace == "shop"


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (workload("Deployment"), ("spec", "template")),
        (workload("ReplicaSet"), ("spec", "template")),
        (workload("Job"), ("spec", "template")),
        (
            {
                "kind": "CronJob",
                "metadata": {"name": "web"},
                "spec": {"jobTemplate": {"spec": {"template": TEMPLATE}}},
            },
            ("spec", "jobTemplate", "spec", "template"),
        ),
        (
            {"kind": "PodTemplate", "metadata": {"name": "web"}, "template": TEMPLATE},
            ("template",),
        ),
    ],
)
def test_a_workload_has_a_template(document: Any, path: tuple[str, ...]) -> None:
    subject = one(document)

    assert (subject.kind, subject.owner, subject.template) == (document["kind"], "web", path)
    assert (meta_of(subject).name, meta_of(subject).namespace) == ("web", "default")
    assert meta_of(subject).labels == {"app": "web"}


def test_the_first_pod_of_a_stateful_set_has_its_claims() -> None:
    document = workload(
        "StatefulSet", volumeClaimTemplates=[{"metadata": {"name": "data"}}, {}, None]
    )
    subject = one(document, "shop")

    assert (meta_of(subject).name, subject.name) == ("web-0", "web")
    assert list(volumes.claims_of(subject.pod)) == [("data-web-0", False)]
    assert list(volumes.claims_of(one(workload("StatefulSet")).pod)) == []


def test_a_daemon_set_has_the_tolerations_that_its_controller_adds() -> None:
    subject = one(workload("DaemonSet"))

    assert subject.pod.spec is not None
    assert subject.pod.spec.tolerations is not None
    assert subject.pod.spec.tolerations[0].key == "own"
    assert subject.pod.spec.tolerations[1:] == subject.implicit
    assert "node.kubernetes.io/unschedulable" in {each.key for each in subject.implicit}


def test_lists_are_opened_and_other_kinds_passed_over() -> None:
    pods = {"kind": "PodList", "items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]}
    listed: Any = {"kind": "List", "items": [pods, workload("Deployment"), {"kind": "Service"}, 5]}
    found = templates.subjects("x", listed)

    assert [subject.name for subject in found] == ["a", "b", "web"]
    nothings: list[Any] = [None, [], {"kind": 5}, {"kind": "List"}, {"kind": "Node"}]
    assert [list(templates.subjects("x", each)) for each in nothings] == [[]] * 5


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (
            {"kind": "Deployment", "metadata": {"name": "web"}, "spec": {}},
            "x.yaml: Deployment 'web': spec.template is missing",
        ),
        (
            {"kind": "CronJob", "spec": []},
            "x.yaml: CronJob '': spec.jobTemplate.spec.template is missing",
        ),
        (
            {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"tolerations": 5}},
            "x.yaml: Pod 'p': spec.tolerations must be a list, not 5",
        ),
    ],
)
def test_what_is_wrong_is_named(document: Any, text: str) -> None:
    with pytest.raises(ManifestError) as caught:
        one(document)

    assert str(caught.value) == text


def waiting(*conditions: object) -> Subject:
    status = {"conditions": [*conditions]}
    return one({"kind": "Pod", "metadata": {"name": "p"}, "status": status})


def test_what_kube_scheduler_said_last() -> None:
    ready = {"type": "Ready", "status": "False", "message": "no"}
    done = {"type": "PodScheduled", "status": "True"}
    told = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "3 Insufficient cpu",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    }

    assert waiting(ready, done).attempt is None
    assert waiting("odd").attempt is None
    assert waiting(ready, told).attempt == Attempt(
        "Unschedulable", "3 Insufficient cpu", "2026-01-02T03:04:05Z"
    )


def test_only_what_has_a_uid_lives() -> None:
    written = one({"kind": "Pod", "metadata": {"name": "p"}})
    living = one({"kind": "Pod", "metadata": {"name": "p", "uid": "u"}})

    assert (written.is_living, living.is_living) == (False, True)
