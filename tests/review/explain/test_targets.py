"""Where a fix can be written."""

from dataclasses import replace

import pytest

from extender.review.explain import targets
from extender.review.explain.templates import TEMPLATES, Owner, Subject
from tests.builders import a_pod

POD = a_pod(name="report-x", namespace="batch")


def hows(subject: Subject) -> list[tuple[str, bool, bool, str]]:
    return [
        (f"{each.kind} {each.name}", each.living, each.needs_new_pod, each.how)
        for each in targets.of(subject)
    ]


def test_a_manifest_is_patched_as_it_is() -> None:
    assert hows(Subject(POD)) == [("Pod report-x", False, False, "")]
    assert hows(Subject(POD, "Deployment", "report", ("spec", "template"))) == [
        ("Deployment report", False, False, "")
    ]


def test_a_workload_of_a_cluster_is_patched_by_command() -> None:
    deployment = Subject(POD, "Deployment", "report", ("spec", "template"), is_living=True)
    job = Subject(POD, "Job", "report", ("spec", "template"), is_living=True)

    assert hows(deployment)[0][3] == "kubectl -n batch patch deployment report --patch-file FILE"
    assert hows(job)[0][3] == (
        "the template of a Job is fixed: delete the Job, and create it again with this change"
    )


def test_a_pod_without_an_owner_is_changed_or_made_again() -> None:
    assert hows(Subject(POD, is_living=True)) == [
        ("Pod report-x", True, False, "kubectl -n batch patch pod report-x --patch-file FILE"),
        (
            "Pod report-x",
            False,
            True,
            "a pod that lives cannot change this: delete the Pod, and create it again with this"
            " change",
        ),
    ]


@pytest.mark.parametrize(
    ("kind", "seen", "how"),
    [
        (
            "Deployment",
            True,
            "a pod that lives cannot change this: kubectl -n batch patch deployment report"
            " --patch-file FILE; its new pods have it",
        ),
        (
            "Deployment",
            False,
            "a pod that lives cannot change this: kubectl -n batch patch deployment report"
            " --patch-file FILE; its new pods have it; its template was not read, so compare the"
            " lists first",
        ),
        (
            "CronJob",
            True,
            "a pod that lives cannot change this: kubectl -n batch patch cronjob report"
            " --patch-file FILE; its next Job has it",
        ),
        (
            "ReplicaSet",
            True,
            "a pod that lives cannot change this: kubectl -n batch patch replicaset report"
            " --patch-file FILE; then delete the pod",
        ),
        (
            "Job",
            True,
            "the template of a Job is fixed: delete the Job, and create it again with this change",
        ),
        (
            "Rollout",
            False,
            "a pod that lives cannot change this: change the pod template of Rollout batch/report",
        ),
    ],
)
def test_a_pod_with_an_owner(kind: str, seen: bool, how: str) -> None:
    owner = Owner(kind, "batch", "report", TEMPLATES.get(kind), POD if seen else None)
    own, template = targets.of(replace(Subject(POD, is_living=True), controller=owner))

    assert own.how == (
        "kubectl -n batch patch pod report-x --patch-file FILE; new pods of"
        f" {kind} batch/report have it only if its template changes, too"
    )
    assert (template.kind, template.name, template.how) == (kind, "report", how)
    assert template.template == (TEMPLATES.get(kind) or ())
