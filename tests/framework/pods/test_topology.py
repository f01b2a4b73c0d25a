"""Which node belongs to which domain, and how many selected pods each has."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import pytest

from extender.framework.node_info import NodeInfo
from extender.framework.pods.cohorts import Cohort, Selection
from extender.framework.pods.topology import Topology
from extender.match.budget import Budget
from extender.match.label_selectors import Selector
from tests.builders import node_json, some_nodes


@dataclass
class Everyone:
    """Includes every node but one, or none while it is broken."""

    but: str = ""
    broken: bool = False
    asked: int = 0
    key: Hashable | None = "everyone"

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[bool]:
        if self.broken:
            raise ValueError("a rule that fails")
        self.asked += len(nodes)
        return [node.name != self.but for node in nodes]


def in_zones(**zones: str | None) -> dict[str, NodeInfo]:
    nodes = some_nodes(
        *(
            node_json(name, labels={"host": name} | ({} if zone is None else {"zone": zone}))
            for name, zone in zones.items()
        )
    )
    return {node.name: node for node in nodes}


def fresh(nodes: dict[str, NodeInfo], inclusion: Everyone | None = None) -> Topology:
    topology = Topology("zone", ["host", "zone"], inclusion or Everyone())
    topology.stale.update(nodes)
    topology.refresh(nodes, Budget())
    return topology


def selected(**placed: str) -> Selection:
    selection = Selection("default", Selector(()))
    selection.link(Cohort({}, placed=placed))
    return selection


def test_a_domain_is_a_value_that_an_included_node_has() -> None:
    topology = fresh(in_zones(n1="a", n2="a", n3="b", n4=None, n5="c"), Everyone(but="n5"))

    assert topology.domain_of == {"n1": "a", "n2": "a", "n3": "b"}
    assert topology.sizes == Counter(a=2, b=1)


def test_a_node_must_have_the_keys_of_every_constraint() -> None:
    nodes = in_zones(n1="a", n2="b")
    topology = Topology("zone", ["rack", "zone"], Everyone())
    topology.stale.update(nodes)
    topology.refresh(nodes, Budget())

    assert topology.sizes == Counter()


def test_pods_are_counted_by_domain_from_the_first_question_on() -> None:
    topology = fresh(in_zones(n1="a", n2="a", n3="b"))
    selection = selected(p="n1", q="n2", r="n3", elsewhere="n9")
    tally = topology.tally(selection)

    assert tally.counts == Counter(a=2, b=1)

    selection.add("n3", 1)
    selection.add("n1", -1)
    selection.add("n9", 1)

    assert tally.counts == Counter(a=1, b=2)
    assert topology.tally(selection) is tally

    selection.add("n2", -1)

    assert dict(tally.counts) == {"b": 2}


@pytest.mark.parametrize(
    ("zone", "counts", "sizes"),
    [
        pytest.param("b", {"b": 3}, {"b": 2}, id="another zone"),
        pytest.param("c", {"c": 2, "b": 1}, {"b": 1, "c": 1}, id="a new zone"),
        pytest.param(None, {"b": 1}, {"b": 1}, id="no zone"),
        pytest.param("a", {"a": 2, "b": 1}, {"a": 1, "b": 1}, id="the same zone"),
        pytest.param("gone", {"b": 1}, {"b": 1}, id="the node is gone"),
    ],
)
def test_a_node_takes_its_pods_along(
    zone: str | None, counts: dict[str, int], sizes: dict[str, int]
) -> None:
    topology = fresh(in_zones(n1="a", n2="b"))
    tally = topology.tally(selected(p="n1", q="n1", r="n2"))
    empty = topology.tally(selected())
    nodes = in_zones(n1=zone, n2="b")
    if zone == "gone":
        del nodes["n1"]
    topology.stale.add("n1")
    topology.refresh(nodes, Budget())

    assert dict(tally.counts) == counts
    assert dict(topology.sizes) == sizes
    assert dict(empty.counts) == {}


def test_a_node_that_comes_brings_the_pods_that_were_seen_before_it() -> None:
    topology = fresh({})
    selection = selected(p="n1")
    tally = topology.tally(selection)
    before = dict(tally.counts)
    topology.stale.add("n1")
    topology.refresh(in_zones(n1="a"), Budget())

    assert (before, dict(tally.counts)) == ({}, {"a": 1})


def test_a_node_that_comes_to_others_brings_its_pods_as_well() -> None:
    topology = fresh(in_zones(n1="a"))
    tally = topology.tally(selected(p="n2", q="n2"))
    topology.stale.add("n2")
    topology.refresh(in_zones(n1="a", n2="b"), Budget())

    assert dict(tally.counts) == {"b": 2}
    assert topology.sizes == Counter(a=1, b=1)


def test_only_nodes_that_have_changed_are_asked_again() -> None:
    nodes = in_zones(n1="a", n2="b")
    inclusion = Everyone()
    topology = fresh(nodes, inclusion)
    topology.refresh(nodes, Budget())
    topology.stale.add("n2")
    topology.refresh(nodes, Budget())

    assert inclusion.asked == 3


def test_a_rule_that_fails_leaves_everything_for_the_next_time() -> None:
    nodes = in_zones(n1="a", n2="b")
    inclusion = Everyone()
    topology = fresh(nodes, inclusion)
    tally = topology.tally(selected(p="n1"))
    inclusion.broken = True
    topology.stale.add("n1")
    with pytest.raises(ValueError, match="a rule that fails"):
        topology.refresh(in_zones(n1="b", n2="b"), Budget())

    assert topology.domain_of == {"n1": "a", "n2": "b"}

    inclusion.broken = False
    topology.refresh(in_zones(n1="b", n2="b"), Budget())

    assert dict(tally.counts) == {"b": 1}


def test_a_topology_that_is_closed_counts_no_more() -> None:
    topology = fresh(in_zones(n1="a"))
    selection = selected()
    tally = topology.tally(selection)
    topology.close()
    selection.add("n1", 1)

    assert dict(tally.counts) == {}
    assert selection.tallies == []
