import msgspec

from extender.control.nodes import TaintedNodes
from extender.model.core_v1 import Node, Taint
from extender.native.universe import Difference, TaintUniverse
from tests.builders import JSON
from tests.control.building import node_of


def node(made: JSON) -> Node:
    return msgspec.convert(made, Node)


def test_only_what_means_something_to_pods_is_told() -> None:
    told: list[tuple[str, frozenset[Taint], bool]] = []

    def tell(name: str, difference: Difference) -> None:
        told.append((name, difference.appeared, difference.evicting))

    nodes = TaintedNodes(TaintUniverse(), tell)
    nodes.put("a", node(node_of("a", "1")))
    nodes.put("a", node(node_of("a", "1")))
    nodes.put("b", node(node_of("b", "1")))
    nodes.put("b", node(node_of("b", "1", effect="NoExecute")))
    nodes.remove("a")
    nodes.remove("b")

    soft, hard = Taint("sla", "1", "NoSchedule"), Taint("sla", "1", "NoExecute")
    assert told == [
        ("a", frozenset({soft}), False),
        ("b", frozenset({hard}), True),
        ("b", frozenset(), True),
    ]
    assert (len(nodes), nodes.keys()) == (0, [])


def test_nodes_are_listed_by_name() -> None:
    nodes = TaintedNodes(TaintUniverse())
    nodes.put("a", node(node_of("a")))

    assert (nodes.keys(), len(nodes)) == (["a"], 1)
