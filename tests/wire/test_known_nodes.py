"""Whole nodes are recognised by their bytes, whatever order they come in."""

import json

import pytest

from extender.framework.snapshot import Interner
from extender.match.lru import CacheBudget
from extender.wire import known_nodes, requests
from extender.wire.known_nodes import NODE_BYTES, KnownNodes, NodeBatch
from extender.wire.node_stream import NodeStreamReader
from tests.wire.bodies import CLUSTER, POD, knowing


def node(name: str, beat: str = "0", taint: str = "") -> bytes:
    taints = [{"key": taint, "effect": "NoSchedule"}] if taint else None
    shape = {"metadata": {"name": name}, "spec": {"taints": taints}, "status": {"beat": beat}}
    return json.dumps(shape, separators=(",", ":")).encode()


def body(*nodes: bytes) -> bytes:
    head = b'{"Pod":' + POD + b',"Nodes":{"metadata":{},"items":['
    return head + b",".join(nodes) + known_nodes.END


def read(known: KnownNodes, *nodes: bytes) -> NodeBatch:
    args = requests.read_filter_args(body(*nodes), known)
    return requests.nodes_of(args, CLUSTER, known, Interner())


def taints(batch: NodeBatch) -> list[str]:
    """In the order of the request."""
    batch.candidates.judge((), (), ())
    found = (batch.table.nodes[row] for row in batch.candidates.rows(0))
    return [taint.key for each in found if each for taint in each.taints.hard]


def test_nodes_stand_where_they_stand() -> None:
    nodes = [node("a"), node("b", taint="x"), node("c")]
    batch = read(knowing(), *nodes)

    assert [text[1:] for text in batch.texts] == nodes
    assert taints(batch) == ["x"]
    assert batch.candidates.names() == b'["a","b","c"]'


def test_a_heartbeat_changes_bytes_and_no_verdict() -> None:
    known = knowing()
    first = read(known, node("a"), node("b"))
    version = first.table.version

    again = read(known, node("b", beat="1"), node("a"))

    assert again.table is first.table
    assert again.table.version == version
    assert [text[1:] for text in again.texts] == [node("b", beat="1"), node("a")]


def test_a_changed_node_is_never_judged_by_its_old_bytes() -> None:
    known = knowing()
    for taint in ("x", "y", "", "x"):
        assert taints(read(known, node("a", taint=taint), node("b"))) == [taint] * bool(taint)


def test_a_node_that_another_request_changed_meanwhile_is_read_again() -> None:
    known = knowing(body(node("a", taint="x"), node("b")))
    reader = NodeStreamReader(known)
    reader.feed(body(node("a", taint="x"), node("b")))
    assert taints(read(known, node("a", taint="y"), node("b"))) == ["y"]

    args = requests.read_filter_args(reader.end(), known)

    assert taints(requests.nodes_of(args, CLUSTER, known, Interner())) == ["x"]


def test_two_nodes_of_one_name_are_judged_each_for_itself() -> None:
    batch = read(knowing(), node("a", taint="x"), node("b"), node("a", taint="y"))

    assert taints(batch) == ["x", "y"]
    assert len(batch.texts) == 3


def test_nodes_are_forgotten_when_they_do_not_fit_into_the_budget() -> None:
    known = knowing(max_bytes=NODE_BYTES * 4)  # two nodes fit into their share, three do not
    first = read(known, node("a"), node("b"))
    assert read(known, node("b"), node("a")).table is first.table

    read(known, node("c"), node("d", taint="x"))
    again = read(known, node("a", taint="x"))

    assert again.table is not first.table
    assert list(again.table.rows) == ["a"]
    assert taints(again) == ["x"]


def test_what_was_evicted_in_favour_of_another_cache_is_learned_again() -> None:
    known = KnownNodes(CacheBudget(1))  # nothing is ever kept
    for taint in ("x", "y"):
        assert taints(read(known, node("a", taint=taint))) == [taint]
    assert known.memory().known == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(b"a", b",7", id="no node"),
        pytest.param(b"a", b"," + node("a")[:-1], id="half a node"),
        pytest.param(b"a", b"," + node("a") + b"," + node("b"), id="two nodes"),
        pytest.param(b"a", b"," + node("b"), id="a node of another name"),
        pytest.param(b"a", b",{}", id="a node without a name"),
        pytest.param(b"a", b"," + node("a", beat="-").replace(b"-", b"\xff"), id="no UTF-8"),
        pytest.param(b"a", b',{"a":' + b"[" * 100_000, id="too deep"),
        pytest.param(b"\x7f", b',{"metadata":{"name":"\x7f"}}', id="a name that is not printable"),
    ],
)
def test_what_is_no_node_of_that_name_is_none(name: bytes, text: bytes) -> None:
    assert known_nodes.decoded(name, text) is None


def test_nothing_of_a_bad_request_is_learned() -> None:
    known = knowing(body(node("a", taint="x"), node("b")))
    before = dict(known.memory().known)
    reader = NodeStreamReader(known)
    reader.feed(body(node("a", taint="y"), b"7"))

    assert reader.end() == body(node("a", taint="y"), b"7")
    assert known.memory().known == before
