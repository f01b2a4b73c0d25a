import msgspec
import pytest

from extender.framework import snapshot
from extender.framework.snapshot import (
    TAINTS,
    UNSCHEDULABLE,
    AttributeFacet,
    Interner,
    LabelsFacet,
    NodeInfo,
    Snapshot,
)
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


def test_a_snapshot_finds_nodes_by_name() -> None:
    first, second = node_json("a", taint("old")), node_json("b")
    taken = snapshot.snapshot_of(map(node, (first, second, node_json("a", taint("new")))))

    assert list(taken.nodes) == ["a", "b"]
    assert taken.nodes["a"].taints.hard == (Taint("new", "", "NoSchedule"),)
    assert taken.generation == 0
    assert snapshot.snapshot_of([], generation=7) == Snapshot({}, 7)


def test_the_facet_of_an_attribute() -> None:
    nodes = some_nodes(node_json("1", taint("a")), node_json("2", taint("a"), unschedulable=True))

    assert UNSCHEDULABLE.column(nodes) == [False, True]
    assert TAINTS.column(nodes) == [nodes[0].taints, nodes[0].taints]
    assert AttributeFacet("name").column(nodes) == ["1", "2"]
    assert TAINTS.column([]) == []


def test_the_facet_of_labels() -> None:
    nodes = some_nodes(
        node_json("1", labels={"a": "x", "b": "y"}),
        node_json("2", labels={"a": "x", "c": "z"}),
        node_json("3", labels={"a": ""}),
    )

    assert LabelsFacet(("a",)).column(nodes) == [("x",), ("x",), ("",)]
    assert LabelsFacet(("a", "b")).column(nodes) == [("x", "y"), ("x", None), ("", None)]
    assert LabelsFacet(("b",), with_name=True).column(nodes) == [
        ("y", "1"),
        (None, "2"),
        (None, "3"),
    ]
    assert LabelsFacet((), with_name=True).column(nodes) == [("1",), ("2",), ("3",)]
    assert LabelsFacet(()).column(nodes) == [None, None, None]
    assert LabelsFacet(("a",)).column([]) == []


def test_facets_that_read_the_same_are_equal() -> None:
    assert {LabelsFacet(("a",)), LabelsFacet(("a",)), AttributeFacet("taints"), TAINTS} == {
        TAINTS,
        LabelsFacet(("a",)),
    }
