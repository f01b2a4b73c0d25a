"""Groups, scores, fixes over a whole cluster."""

from extender.review.explain.inquiry import Bounds
from extender.review.explain.judgement import MAX_GROUPS
from tests.builders import (
    a_pod,
    node_json,
    preferred,
    requirement,
    taint,
    toleration,
)
from tests.review.explain.asking import explained


def test_nodes_that_pass_come_first_with_their_scores() -> None:
    pod = a_pod(affinity=preferred((5, [requirement("disk", "In", "ssd")])))
    made = explained(
        pod,
        node_json("slow"),
        node_json("tainted", taint("x")),
        node_json("fast", labels={"disk": "ssd"}),
    )

    assert [(each.node, each.code, each.score) for each in made.verdicts] == [
        ("fast", "Success", 10),
        ("slow", "Success", 0),
        ("tainted", "UnschedulableAndUnresolvable", None),
    ]


def test_groups_have_the_most_nodes_first_and_some_of_their_names() -> None:
    nodes = [node_json(f"n{i}", taint("x")) for i in range(12)]
    made = explained(a_pod(), node_json("one", taint("y")), *nodes)

    assert [(group.count, group.nodes) for group in made.groups] == [
        (12, tuple(f"n{i}" for i in range(10))),
        (1, ("one",)),
    ]


def test_too_many_reasons_are_told_briefly() -> None:
    nodes = [node_json(f"n{i}", taint("sla", str(i))) for i in range(MAX_GROUPS + 1)]
    made = explained(a_pod(toleration("sla", "Gt", "100")), *nodes)
    (group,) = made.groups

    assert (group.count, group.reason) == (MAX_GROUPS + 1, "node(s) had untolerated taint {sla}")
    assert made.message == "0/21 nodes are available: 21 node(s) had untolerated taint {sla}."
    assert made.fix is not None
    assert made.fix.node == f"n{MAX_GROUPS}"


def test_a_fix_must_not_cost_a_node_that_passes() -> None:
    pod = a_pod(toleration("sla", "Lt", "900"), toleration("gpu", "", "a"))
    made = explained(pod, node_json("good", taint("gpu", "a")), node_json("bad", taint("gpu", "b")))
    fix = made.groups[0].fix

    assert fix is not None
    assert [change.path for change in fix.changes] == ["spec.tolerations[2]"]
    assert (fix.passing, made.fix) == (2, None)


def test_another_node_of_the_group_may_be_curable() -> None:
    pod = a_pod(node_selector={"zone": "a"})
    made = explained(pod, node_json("bare"), node_json("typo", labels={"zone": "A"}))

    assert made.fix is not None
    assert made.fix.node in ("bare", "typo")
    assert made.fix.complete


def test_fixes_are_looked_for_up_to_a_bound() -> None:
    nodes = [node_json(f"n{i}", taint(f"k{i}")) for i in range(4)]
    made = explained(a_pod(), *nodes, bounds=Bounds(fixes=2, verdicts=3, names=1))

    assert [group.fix is not None for group in made.groups] == [True, True, False, False]
    assert (len(made.verdicts), made.omitted) == (3, 1)


def test_large_rules_have_no_fix() -> None:
    pod = a_pod(*(toleration(f"k{i}", "Exists") for i in range(101)))

    assert explained(pod, node_json("n", taint("x"))).groups[0].fix is None
