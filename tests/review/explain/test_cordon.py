"""A cordoned node: what tolerates the cordon, and the command that lifts it."""

from dataclasses import replace

from extender.review.explain import cordon
from extender.review.explain.cordon import CordonCure
from tests.builders import a_node, a_pod, node_json, taint, toleration
from tests.review.explain.asking import SETTINGS, a_case, change_of, derived


def test_a_cordoned_node_is_asked_as_if_it_had_the_taint() -> None:
    node = node_json("n", unschedulable=True)

    assert derived(a_pod(), node_json("n")).cordon is None
    cordon = derived(a_pod(toleration("", "Exists")), node).cordon
    assert cordon is not None
    assert (cordon.key, cordon.tolerated) == ("node.kubernetes.io/unschedulable", True)


def test_a_cordoned_node_is_uncordoned_by_command() -> None:
    cordoned = node_json(
        "n", taint("node.kubernetes.io/unschedulable"), taint("sla"), unschedulable=True
    )
    pod = a_pod(toleration("sla", "Exists"))
    change = change_of(pod, cordoned)

    assert change.command == "kubectl uncordon n"
    assert CordonCure(SETTINGS).advice(a_case(pod, cordoned)) == []


def test_uncordoning_takes_the_mark_and_its_taint() -> None:
    node = a_node("n", taint("node.kubernetes.io/unschedulable"), taint("sla"), unschedulable=True)
    changed = cordon.uncordoned(node)

    assert (changed.unschedulable, [each.key for each in changed.taints.hard]) == (False, ["sla"])
    assert replace(a_case(a_pod(), node_json("n")), node=node).node.unschedulable
