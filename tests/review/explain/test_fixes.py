"""Plans: what is tried, what is kept, and what is left to be done."""

from dataclasses import replace

from extender.framework.interface import Profile, Status, unresolvable
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from extender.review.explain.fixes import MAX_CHANGES, Plan, Planner
from extender.review.explain.steps import finished
from tests.builders import (
    JSON,
    a_pod,
    node_json,
    required,
    requirement,
    taint,
    toleration,
)
from tests.review.explain.asking import SETTINGS, an_inquiry


def planned(pod: Pod, *nodes: JSON, additive: bool = False) -> Plan:
    inquiry = an_inquiry(pod, *nodes)
    planner = Planner(inquiry.profile, SETTINGS, inquiry.snapshot, additive)
    node = next(iter(inquiry.snapshot.nodes.values()))
    return finished(planner.plans(inquiry.pod, node))[0]


def test_one_plugin_after_the_other_is_cured() -> None:
    pod = a_pod(toleration("sla", "Gt", "950"), node_selector={"zone": "A"})
    node = node_json("n", taint("sla", "950"), labels={"zone": "a"}, unschedulable=True)
    last = planned(pod, node)

    assert [change.plugin for change in last.changes] == [
        "NodeUnschedulable",
        "TaintToleration",
        "NodeAffinity",
    ]
    assert last.complete
    assert last.cost > 3


def test_a_plugin_that_cannot_be_cured_leaves_no_half_of_a_fix() -> None:
    pod = a_pod(
        toleration("sla", "Gt", "950"),
        affinity=required([requirement("zone", "In", "A"), requirement("gone", "Gt", "1")]),
    )
    last = planned(pod, node_json("n", taint("sla", "950"), labels={"zone": "a"}))

    assert [change.plugin for change in last.changes] == ["TaintToleration"]
    assert not last.complete
    assert 'zone In A: "a" is not "A"' in last.advice


def test_what_only_adds_keeps_everything_that_matched() -> None:
    pod = a_pod(toleration("sla", "Gt", "950"))
    last = planned(pod, node_json("n", taint("sla", "950")), additive=True)

    assert [change.path for change in last.changes] == ["spec.tolerations[1]"]
    assert last.complete


def test_what_the_api_server_refuses_is_not_tried() -> None:
    """Only a NoExecute toleration may have seconds, so its effect cannot be left out."""
    pod = a_pod(toleration("sla", "Equal", "950", "NoExecute", tolerationSeconds=60))
    last = planned(pod, node_json("n", taint("sla", "950")))

    assert [change.path for change in last.changes] == ["spec.tolerations[1]"]
    assert last.complete


def test_a_pod_that_lives_keeps_its_rules() -> None:
    pod = a_pod(node_selector={"zone": "A"})
    inquiry = an_inquiry(pod, node_json("n", labels={"zone": "a"}))
    planner = Planner(inquiry.profile, SETTINGS, inquiry.snapshot, living=True)
    (plan,) = finished(planner.plans(pod, inquiry.snapshot.nodes["n"]))

    assert (plan.changes, plan.complete) == ((), False)


def test_a_pod_that_passes_needs_nothing() -> None:
    plan = planned(a_pod(), node_json("n"))

    assert (plan.changes, plan.complete) == ((), True)


def test_the_number_of_changes_is_bounded() -> None:
    few = [taint(f"k{i}") for i in range(MAX_CHANGES)]

    assert planned(a_pod(), node_json("n", *few)).complete
    assert not planned(a_pod(), node_json("n", *few, taint("more"))).complete


class Strange:
    """A plugin that refuses whatever it is asked."""

    name = "Strange"

    def signature(self, _pod: Pod) -> None:
        return None

    def pre_filter(self, _pod: Pod, _snapshot: Snapshot) -> Status:
        return unresolvable("no")


def test_a_plugin_that_nobody_knows_has_no_cure() -> None:
    inquiry = an_inquiry(a_pod(), node_json("n"))
    profile = Profile("test", (Strange(),), ())
    planner = Planner(profile, SETTINGS, inquiry.snapshot)
    (plan,) = finished(planner.plans(inquiry.pod, inquiry.snapshot.nodes["n"]))

    assert (plan.changes, plan.advice, plan.complete) == ((), (), False)


def test_rules_that_are_too_large_are_not_gone_over() -> None:
    inquiry = an_inquiry(a_pod(), node_json("n"))
    planner = Planner(inquiry.profile, SETTINGS, inquiry.snapshot)
    large = a_pod(*(toleration(f"k{i}", "Exists") for i in range(101)))
    long = a_pod(annotated_affinity=" " * 20_000)

    assert not planner.too_large(a_pod())
    assert planner.too_large(large)
    assert planner.too_large(long)
    assert replace(planner, additive=True).additive
