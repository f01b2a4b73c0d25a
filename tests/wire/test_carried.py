"""Whole nodes are recognised by their bytes, whatever order they come in."""

import json

import pytest

from extender.wire import carried
from extender.wire.carried import Arrived, Carried, Familiar, KnownNodes


def node(name: str, beat: str = "0", taint: str = "") -> bytes:
    taints = [{"key": taint, "effect": "NoSchedule"}] if taint else None
    shape = {"metadata": {"name": name}, "spec": {"taints": taints}, "status": {"beat": beat}}
    return json.dumps(shape, separators=(",", ":")).encode()


def named(text: bytes) -> bytes:
    name: str = json.loads(text)["metadata"]["name"]
    return name.encode()


def arrived(names: list[bytes], texts: list[bytes]) -> Arrived:
    """Of which nothing is known for sure."""
    nodes = [Familiar(b"," + t, n.decode(), -1) for n, t in zip(names, texts, strict=True)]
    return Arrived(b"", nodes, {}, 0)


def offered(known: KnownNodes, *nodes: bytes) -> Carried | None:
    return known.carried(arrived([named(text) for text in nodes], list(nodes)))


def read(known: KnownNodes, *nodes: bytes) -> Carried:
    found = offered(known, *nodes)
    assert found is not None
    return found


def taints(found: Carried) -> list[str]:
    return [taint.key for each in found.nodes() if each for taint in each.taints.hard]


def test_nodes_stand_where_they_stand() -> None:
    nodes = [node("a"), node("b", taint="x"), node("c")]
    found = read(KnownNodes(), *nodes)

    assert [bytes(each) for each in found.raw()] == nodes
    assert found.listing.names == ["a", "b", "c"]
    assert taints(found) == ["x"]


def test_a_heartbeat_changes_bytes_and_no_verdict() -> None:
    known = KnownNodes()
    first = read(known, node("a"), node("b"))
    version = first.table.version

    again = read(known, node("b", beat="1"), node("a"))

    assert again.table is first.table
    assert again.table.version == version
    assert [bytes(each) for each in again.raw()] == [node("b", beat="1"), node("a")]


def test_a_change_that_matters_is_seen_and_seen_again_when_it_is_undone() -> None:
    known = KnownNodes()
    for taint in ("x", "y", "", "x"):
        assert taints(read(known, node("a", taint=taint), node("b"))) == [taint] * bool(taint)


def test_the_same_nodes_in_the_same_order_are_the_same_listing() -> None:
    known = KnownNodes()
    first = read(known, node("a"), node("b"))
    assert not first.listing.kept
    again = read(known, node("a", beat="1"), node("b"))

    assert again.listing is first.listing
    assert again.listing.kept
    assert read(known, node("b"), node("a")).listing is not first.listing


@pytest.mark.parametrize("bound", ["MAX_NODES", "MAX_BYTES"])
def test_what_is_known_is_bounded(monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    monkeypatch.setattr(carried, bound, 1)
    known = KnownNodes()
    first = read(known, node("a"), node("b"))

    again = read(known, node("c"))

    assert again.table is not first.table
    assert list(again.table.rows) == ["c"]
    assert taints(read(known, node("a", taint="x"))) == ["x"]


@pytest.mark.parametrize("since", [0, 1], ids=["others came since", "nobody came since"])
def test_a_node_that_was_decoded_is_not_decoded_again(
    since: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b"," + node("a", taint="x")
    decoded = carried.decoded(b"a", text)
    assert decoded is not None
    monkeypatch.setattr(carried, "decoded", None)
    known = KnownNodes()

    found = known.carried(
        Arrived(b"", [Familiar(text, "a", -1)], {0: decoded}, known.version * since)
    )

    assert found is not None
    assert taints(found) == ["x"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(b"a", b"7", id="no node"),
        pytest.param(b"a", node("a")[:-1], id="half a node"),
        pytest.param(b"a", node("a") + b"," + node("b"), id="two nodes"),
        pytest.param(b"a", node("b"), id="a node of another name"),
        pytest.param(b"a", b"{}", id="a node without a name"),
        pytest.param(b"a", node("a", beat="-").replace(b"-", b"\xff"), id="no UTF-8"),
        pytest.param(b"a", b'{"a":' + b"[" * 100_000, id="too deep"),
    ],
)
def test_what_is_no_node_of_that_name_is_not_learned(name: bytes, text: bytes) -> None:
    known = KnownNodes()
    first = read(known, node("b"))

    assert known.carried(arrived([b"b", name], [node("b"), text])) is None
    assert list(first.table.rows) == ["b"]
    # And what is known is still known.
    assert read(known, node("b")).table is first.table


def test_half_of_a_bad_request_does_not_stand_for_the_request_before() -> None:
    known = KnownNodes()
    read(known, node("a", taint="x"), node("b"))
    assert known.carried(arrived([b"a", b"b"], [node("a", taint="y"), b"7"])) is None

    assert taints(read(known, node("a", taint="x"), node("b"))) == ["x"]


def test_no_two_nodes_share_a_name() -> None:
    assert offered(KnownNodes(), node("a"), node("a", beat="1")) is None


def test_a_name_that_is_to_be_escaped_is_none_of_ours() -> None:
    assert KnownNodes().carried(arrived([b"\x01"], [node("a")])) is None


def test_an_order_that_comes_again_is_kept_as_one_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carried, "MAX_ORDERS", 2)
    known = KnownNodes()
    nodes = [node("a"), node("b")]
    once = arrived([b"a", b"b"], nodes)
    for _ in range(2):  # the same request, which had to be asked twice
        assert known.carried(once) is not None
    assert not known.orders

    for order in (nodes, nodes[::-1], nodes[:1], nodes[1:]):
        read(known, *order)
        read(known, *order)
    assert [order.listing.names for order in known.orders] == [["b"], ["a"]]
    assert known.orders[0].text == b"," + node("b") + carried.END


def test_orders_are_kept_as_far_as_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(b",".join((b"", node("a"), node("b")))) + len(carried.END)
    monkeypatch.setattr(carried, "MAX_ORDER_BYTES", size)
    known = KnownNodes()
    for order in (
        [node("a")],
        [node("b")],
        [node("a"), node("b")],
        [node("a"), node("b", "x" * 99)],
    ):
        read(known, *order)
        read(known, *order)

    assert [order.listing.names for order in known.orders] == [["a", "b"]]
    assert known.orders[0].text == b",".join((b"", node("a"), node("b"))) + carried.END
    assert not known.last.text


def test_orders_that_alternate_keep_their_listings() -> None:
    known = KnownNodes()
    nodes = [node("a", taint="x"), node("b")]
    for order in (nodes, nodes[::-1]):
        read(known, *order)
        read(known, *order)
    first, other = known.orders[1].listing, known.orders[0].listing

    assert read(known, *nodes).listing is first
    assert read(known, *nodes[::-1]).listing is other
    changed = read(known, node("a", taint="y"), node("b"))
    assert changed.listing is first
    assert taints(changed) == ["y"]
    # What was kept is compared with what is known now.
    assert taints(read(known, *nodes[::-1])) == ["x"]
