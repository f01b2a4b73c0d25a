"""What is said beside the verdicts."""

from dataclasses import replace

import pytest

from extender import plugins
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Toleration
from extender.review.explain.explaining import explain
from extender.review.explain.schema import Explanation
from extender.review.explain.templates import Attempt, Subject
from tests.builders import JSON, a_pod, node_json, required, requirement, taint, toleration
from tests.review.explain.asking import SETTINGS, an_inquiry, explained
from tests.review.explain.spread.test_derivation import spreading
from tests.review.explain.volumes.test_derivation import a_pod_with


def said(explanation: Explanation, words: str) -> bool:
    return any(words in note for note in explanation.notes)


@pytest.mark.parametrize(
    ("written", "on", "note"),
    [
        (
            toleration("sla", "Gt", "900"),
            taint("sla", "high"),
            "the taint sla=high is not an integer: no comparison holds",
        ),
        (
            toleration("sla", "SemverGt", "x"),
            taint("sla", "1"),
            "the rule of the pod's toleration on sla=x is not a version: no comparison holds",
        ),
        (
            {"expression": "taint.key"},
            taint("sla", "1"),
            "an expression tolerates nothing: must evaluate to bool, not string",
        ),
        (
            {"expression": "int(taint.value) > 1"},
            taint("sla", "x"),
            "an expression ends in an error for the taint sla=x: type conversion error from"
            " 'string' to 'int'",
        ),
    ],
)
def test_values_that_could_not_be_read(written: JSON, on: JSON, note: str) -> None:
    assert note in explained(a_pod(written), node_json("n", on)).notes


def test_labels_are_told_too_and_only_some() -> None:
    pod = a_pod(affinity=required([requirement("cores", "Gt", "1")]))
    nodes = [node_json(f"n{i}", labels={"cores": f"x{i}"}) for i in range(8)]
    notes = explained(pod, *nodes).notes

    assert notes[0] == "the label cores=x0 is not an integer: no comparison holds"
    assert notes[5] == "3 more values could not be read"


def test_who_passes_is_told_of_the_other_plugins() -> None:
    assert said(explained(a_pod(), node_json("n")), "NodeResourcesFit")
    assert not said(explained(a_pod(), node_json("n", taint("x"))), "NodeResourcesFit")


def test_what_is_not_known_is_told() -> None:
    blind = replace(an_inquiry(spreading(), node_json("n")), snapshot=Snapshot())
    claims = replace(an_inquiry(a_pod_with("x"), node_json("n")), snapshot=Snapshot())

    assert said(explain(blind), "PodTopologySpread is skipped")
    assert said(explain(claims), "VolumeBinding is skipped")
    assert said(explained(spreading(), node_json("n")), "pods in flight are not known here")
    assert explained(a_pod(), node_json("n", taint("x"))).notes == ()


def test_a_foreign_scheduler_is_told() -> None:
    inquiry = an_inquiry(a_pod(), node_json("n"))
    foreign = replace(inquiry, profile=plugins.foreign_profile(SETTINGS))

    assert said(explain(foreign), "only the node-affinity annotation is judged here")


def test_where_a_pod_comes_from_is_told() -> None:
    inquiry = an_inquiry(a_pod(), node_json("n", taint("x")))
    placed = replace(inquiry, subject=Subject(a_pod(), node="n"))
    daemon = replace(inquiry, subject=Subject(a_pod(), implicit=(Toleration(),)))

    assert said(explain(placed), "the pod is already on node n")
    assert said(explain(daemon), "DaemonSet controller")


def test_what_kube_scheduler_said_replaces_the_hint_at_its_event() -> None:
    pod = a_pod()
    inquiry = an_inquiry(pod, node_json("n"))
    attempt = Attempt("Unschedulable", "3 Insufficient cpu", "")
    tried = explain(replace(inquiry, subject=Subject(pod, attempt=attempt)))

    assert said(tried, "its last attempt says why")
    assert not said(tried, "kubectl describe pod has its event")
    assert said(explain(inquiry), "kubectl describe pod has its event")
    assert tried.attempt is not None
    assert tried.attempt.message == "3 Insufficient cpu"
