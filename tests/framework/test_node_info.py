import weakref

import msgspec
import pytest

from extender.framework.node_info import Interner, NodeInfo, TaintSet
from extender.model.core_v1 import Node, NodeSpec, ObjectMeta, Taint
from tests.builders import JSON, node_json, some_nodes, taint


def node(data: JSON) -> Node:
    return msgspec.convert(data, Node)


def told(info: NodeInfo) -> tuple[str, dict[str, str], tuple[Taint, ...], tuple[Taint, ...], bool]:
    return (
        info.name,
        dict(info.labels),
        info.taints.hard,
        info.taints.soft,
        info.unschedulable,
    )


def test_a_node_is_what_scheduling_reads_of_it() -> None:
    info = Interner().node_info(
        node(
            node_json(
                "n",
                taint("a", "1", "NoExecute"),
                taint("b", "2", "PreferNoSchedule"),
                taint("c", "3", "Unknown"),
                taint("d", "4", "NoSchedule"),
                labels={"disk": "ssd"},
                unschedulable=True,
            )
        )
    )

    assert told(info) == (
        "n",
        {"disk": "ssd"},
        (Taint("a", "1", "NoExecute"), Taint("d", "4", "NoSchedule")),
        (Taint("b", "2", "PreferNoSchedule"),),
        True,
    )


@pytest.mark.parametrize(
    "bare",
    [
        pytest.param(Node(), id="a node of nothing"),
        pytest.param(Node(ObjectMeta(), NodeSpec()), id="a node of null fields"),
        pytest.param(Node(ObjectMeta(labels={}), NodeSpec(taints=())), id="a node of empty lists"),
    ],
)
def test_a_bare_node(bare: Node) -> None:
    assert told(Interner().node_info(bare)) == ("", {}, (), (), False)


def test_nodes_with_the_same_taints_hold_the_same_set() -> None:
    a, b = taint("a"), taint("b")
    same, again, reverse, none = some_nodes(
        node_json("1", a, b), node_json("2", a, b), node_json("3", b, a), node_json("4")
    )

    assert same.taints is again.taints
    assert same.taints is not reverse.taints  # the first untolerated one would be another
    assert same.taints is not none.taints
    # Two interners know nothing of each other: at worst a question is asked twice.
    assert some_nodes(node_json("1", a, b))[0].taints != same.taints


def test_sets_share_what_stands_for_their_hard_and_their_soft_taints() -> None:
    interner = Interner()
    gold, soft, both, none, turned = (
        interner.node_info(node(node_json("n", *taints))).taints
        for taints in (
            [taint("sla", "1")],
            [taint("old", "", "PreferNoSchedule")],
            [taint("old", "", "PreferNoSchedule"), taint("sla", "1")],
            [],
            [taint("b"), taint("a")],
        )
    )

    assert gold.hard_alike is both.hard_alike is not none.hard_alike
    assert soft.soft_alike is both.soft_alike is not none.soft_alike
    assert gold.soft_alike is none.soft_alike
    # The first of several taints is told, so their order makes a difference.
    straight = interner.node_info(node(node_json("n", taint("a"), taint("b")))).taints
    assert straight.hard_alike is not turned.hard_alike


def test_a_set_that_nobody_has_interned_is_like_no_other() -> None:
    assert TaintSet((), ()).hard_alike is not TaintSet((), ()).hard_alike


def test_what_stands_for_taints_is_gone_with_the_last_set_that_has_them() -> None:
    interner = Interner()
    info = interner.node_info(node(node_json("n", taint("sla", "1"))))
    held = weakref.ref(info.taints.hard_alike)
    assert held() is not None
    del info

    assert held() is None


def test_two_nodes_are_the_same_if_no_plugin_could_tell_them_apart() -> None:
    base, same, labelled, tainted, cordoned = some_nodes(
        node_json("n", taint("a"), labels={"x": "y"}),
        node_json("n", taint("a"), labels={"x": "y"}),
        node_json("n", taint("a"), labels={"x": "z"}),
        node_json("n", taint("b"), labels={"x": "y"}),
        node_json("n", taint("a"), labels={"x": "y"}, unschedulable=True),
    )

    assert base.same_as(same)
    assert not any(base.same_as(other) for other in (labelled, tainted, cordoned))
