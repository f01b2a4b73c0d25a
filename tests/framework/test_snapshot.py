import msgspec
import pytest

from extender.framework import snapshot
from extender.framework.snapshot import (
    HARD_TAINTS,
    SOFT_TAINTS,
    TAINTS,
    UNSCHEDULABLE,
    AttributeFacet,
    LabelFacet,
    LabelsFacet,
    Snapshot,
)
from extender.match import selectors
from extender.match.gates import FeatureGates
from extender.model.core_v1 import (
    Node,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Taint,
)
from tests.builders import JSON, node_json, some_nodes, taint


def node(data: JSON) -> Node:
    return msgspec.convert(data, Node)


def test_a_snapshot_finds_nodes_by_name() -> None:
    first, second = node_json("a", taint("old")), node_json("b")
    taken = snapshot.snapshot_of(map(node, (first, second, node_json("a", taint("new")))))

    assert list(taken.nodes) == ["a", "b"]
    assert taken.nodes["a"].taints.hard == (Taint("new", "", "NoSchedule"),)
    assert taken.generation == 0
    assert snapshot.snapshot_of([], generation=7) == Snapshot({}, 7)


def test_a_generation_of_several_resources_is_one_number() -> None:
    taken = Snapshot(generations={"nodes": 3, "pods": 4, "storageclasses": 50})

    assert taken.generation_of({"nodes", "pods"}) == 7
    assert taken.generation_of({"persistentvolumes"}) == 0
    assert taken.generation_of(()) == 0


def test_what_terms_read_is_a_facet() -> None:
    by_label = NodeSelectorTerm(
        (NodeSelectorRequirement("b", "Exists"), NodeSelectorRequirement("a", "In", ("x",)))
    )
    by_name = NodeSelectorTerm(
        match_fields=(NodeSelectorRequirement("metadata.name", "In", ("n",)),)
    )
    terms = selectors.compile_selector(NodeSelector((by_label, by_name)), FeatureGates(), set())

    assert LabelsFacet.of(terms, ["zone"]) == LabelsFacet(("a", "b", "zone"), with_name=True)
    assert LabelsFacet.of(list(terms)[:1]) == LabelsFacet(("a", "b"))
    assert LabelsFacet.of(()) == LabelsFacet(())


def test_the_facet_of_an_attribute() -> None:
    nodes = some_nodes(node_json("1", taint("a")), node_json("2", taint("a"), unschedulable=True))

    assert UNSCHEDULABLE.column(nodes) == [False, True]
    assert TAINTS.column(nodes) == [nodes[0].taints, nodes[0].taints]
    assert HARD_TAINTS.column(nodes) == [nodes[0].taints.hard_alike] * 2
    assert SOFT_TAINTS.column(nodes) == [nodes[0].taints.soft_alike] * 2
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


def test_labels_that_no_node_has_tell_no_nodes_apart() -> None:
    facet = LabelsFacet(("zone", *(f"k{number}" for number in range(1_000))), with_name=True)

    assert facet.within({"zone": 1, "tier": 2}) == LabelsFacet(("zone",), with_name=True)
    assert facet.within(frozenset(facet.keys)) is facet


def test_a_facet_shows_no_label_that_it_does_not_read() -> None:
    (node,) = some_nodes(node_json("a", labels={"zone": "x", "tier": "1"}))
    (seen,) = LabelsFacet(("zone", "disk")).seen([node])

    assert (seen.name, seen.labels, seen.taints) == ("a", {"zone": "x"}, node.taints)


def test_labels_that_no_node_has_share_a_column() -> None:
    one, other = LabelFacet("rack"), LabelFacet("row")
    nodes = some_nodes(node_json("a", labels={"zone": "x"}))

    assert one.within({"zone": 1}) == other.within({"zone": 1})
    assert one.within({"zone": 1}).column(nodes) == one.column(nodes) == [None]
    assert one.within({"rack": 1}) is one


def test_a_facet_of_an_attribute_is_never_narrowed() -> None:
    assert HARD_TAINTS.within(()) is HARD_TAINTS


@pytest.mark.parametrize("facet", [HARD_TAINTS, LabelFacet("zone")])
def test_a_facet_of_one_thing_shows_the_whole_node(facet: AttributeFacet | LabelFacet) -> None:
    nodes = some_nodes(node_json("a", labels={"zone": "x", "tier": "1"}))

    assert facet.seen(nodes) is nodes


def test_a_key_of_many_labels_is_no_longer_than_what_a_node_carries() -> None:
    nodes = some_nodes(
        node_json("1", labels={"k7": "x", "k8": "y", "other": "1"}),
        node_json("2", labels={"k7": "x", "k8": "y", "other": "2"}),
        node_json("3", labels={"k7": "y", "k8": "x"}),
        node_json("4"),
    )
    keys = tuple(f"k{number}" for number in range(50_000))

    one, other, swapped, without = LabelsFacet(keys).column(nodes)
    assert one == other == ("k7", "x", "k8", "y")
    assert (swapped, without) == (("k7", "y", "k8", "x"), ())
    assert LabelsFacet(keys, with_name=True).column(nodes[2:]) == [
        ("k7", "y", "k8", "x", "3"),
        ("4",),
    ]
    assert LabelsFacet(keys).key_bytes < 1_024
