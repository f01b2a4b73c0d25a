"""The taints of a cluster, kept node by node."""

import msgspec
import pytest

from extender.match.taints import CORDON
from extender.model.core_v1 import Node, Taint
from extender.native.universe import TaintUniverse
from tests.builders import JSON, node_json, taint
from tests.native.building import a_cluster, a_taint, evicting

SLA_950 = a_taint("sla", "950")
SLA_960 = a_taint("sla", "960", "NoExecute")


def a_node(*taints: JSON, cordoned: bool = False) -> Node:
    return msgspec.convert(node_json("n", *taints, unschedulable=cordoned), Node)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        pytest.param([], {}, id="no nodes"),
        pytest.param([node_json("a")], {}, id="no taints"),
        pytest.param(
            [node_json("a", taint("sla", "950")), node_json("b", taint("sla", "950"))],
            {SLA_950: 2},
            id="the same taint on two nodes",
        ),
        pytest.param(
            [node_json("a", taint("sla", "950"), evicting("sla", "950"))],
            {SLA_950: 1, a_taint("sla", "950", "NoExecute"): 1},
            id="each effect is a taint of its own",
        ),
        pytest.param(
            [node_json("a", taint("sla", "950"), taint("sla", "950"))],
            {SLA_950: 1},
            id="a taint twice on one node counts once",
        ),
        pytest.param(
            [node_json("a", unschedulable=True), node_json("b", unschedulable=True)],
            {CORDON: 2},
            id="cordoned nodes have the taint that cordoning stands for",
        ),
        pytest.param(
            [node_json("a", taint(CORDON.key), unschedulable=True)],
            {CORDON: 1},
            id="cordoned, and tainted so already",
        ),
        pytest.param(
            [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}, "spec": {"taints": None}}],
            {},
            id="without a spec, or with null for taints",
        ),
    ],
)
def test_counts(nodes: list[JSON], expected: dict[Taint, int]) -> None:
    universe = a_cluster(*nodes)

    assert universe.counts == expected
    assert len(universe) == len(nodes)


def test_taints_of_no_node_as_yet_are_on_none() -> None:
    universe = a_cluster(node_json("a", taint("sla", "950")), extra=[SLA_950, SLA_960])

    assert universe.counts == {SLA_950: 1, SLA_960: 0}


def test_they_stay_when_their_last_node_goes() -> None:
    universe = a_cluster(node_json("a", taint("sla", "950"), taint("x")), extra=[SLA_950, SLA_950])
    universe.remove("a")

    assert universe.counts == {SLA_950: 0}


def test_what_a_node_has() -> None:
    universe = a_cluster(node_json("a", taint("sla", "950"), unschedulable=True))

    assert universe.on("a") == {SLA_950, CORDON}
    assert universe.on("nobody") == frozenset()


def test_a_view_is_live_and_nobody_changes_it() -> None:
    universe = TaintUniverse()
    counts = universe.counts
    universe.put("a", a_node(taint("sla", "950")))

    assert counts == {SLA_950: 1}
    with pytest.raises(TypeError):
        counts[SLA_950] = 5  # type: ignore[index]  # that is the point


@pytest.mark.parametrize(
    ("before", "after", "appeared", "evicts", "counts"),
    [
        pytest.param(
            a_node(taint("sla", "950")),
            a_node(taint("sla", "950")),
            set(),
            False,
            {SLA_950: 2},
            id="a heartbeat changes nothing",
        ),
        pytest.param(
            a_node(), a_node(taint("sla", "950")), set(), False, {SLA_950: 2}, id="known elsewhere"
        ),
        pytest.param(
            a_node(),
            a_node(taint("x")),
            {a_taint("x")},
            False,
            {SLA_950: 1, a_taint("x"): 1},
            id="a taint that no node had",
        ),
        pytest.param(
            a_node(taint("x")), a_node(), set(), False, {SLA_950: 1}, id="a taint that is gone"
        ),
        pytest.param(
            a_node(evicting("sla", "950")),
            a_node(evicting("sla", "960")),
            {SLA_960},
            True,
            {SLA_950: 1, SLA_960: 1},
            id="a NoExecute value that changes",
        ),
        pytest.param(
            a_node(evicting("sla", "960")),
            a_node(),
            set(),
            True,
            {SLA_950: 1},
            id="a NoExecute taint that goes",
        ),
        pytest.param(
            a_node(evicting("sla", "960")),
            a_node(evicting("sla", "960"), taint("x")),
            {a_taint("x")},
            False,
            {SLA_950: 1, SLA_960: 1, a_taint("x"): 1},
            id="a NoExecute taint that stays",
        ),
        pytest.param(
            a_node(), a_node(cordoned=True), {CORDON}, False, {SLA_950: 1, CORDON: 1}, id="cordoned"
        ),
        pytest.param(a_node(cordoned=True), a_node(), set(), False, {SLA_950: 1}, id="uncordoned"),
    ],
)
def test_a_node_that_changes(
    before: Node, after: Node, appeared: set[Taint], evicts: bool, counts: dict[Taint, int]
) -> None:
    universe = a_cluster(node_json("other", taint("sla", "950")))
    universe.put("n", before)
    difference = universe.put("n", after)

    assert difference.appeared == appeared
    assert difference.evicting is evicts
    assert universe.counts == counts


def test_a_node_that_goes_and_comes_back() -> None:
    universe = a_cluster(node_json("n", evicting("sla", "960")))
    gone = universe.remove("n")

    assert (gone.appeared, gone.evicting) == (frozenset(), True)
    assert universe.counts == {}
    assert len(universe) == 0

    back = universe.put("n", a_node(evicting("sla", "960")))

    assert (back.appeared, back.evicting) == (frozenset({SLA_960}), True)


def test_a_node_that_nobody_knows_goes() -> None:
    universe = a_cluster(node_json("n", taint("sla", "950")))
    gone = universe.remove("nobody")

    assert (gone.appeared, gone.evicting) == (frozenset(), False)
    assert universe.counts == {SLA_950: 1}


def test_an_expected_taint_does_not_appear() -> None:
    universe = TaintUniverse([SLA_950])

    assert universe.put("n", a_node(taint("sla", "950"))).appeared == frozenset()
