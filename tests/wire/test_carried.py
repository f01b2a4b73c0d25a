"""Whole nodes are recognised by their bytes, whatever order they come in."""

import json

import pytest

from extender.wire import carried
from extender.wire.carried import Carried, KnownNodes

START = b'{"Pod":{},"Nodes":{"metadata":{},"items":['


def node(name: str, beat: str = "0", taint: str = "") -> bytes:
    taints = [{"key": taint, "effect": "NoSchedule"}] if taint else None
    shape = {"metadata": {"name": name}, "spec": {"taints": taints}, "status": {"beat": beat}}
    return json.dumps(shape, separators=(",", ":")).encode()


def read(known: KnownNodes, *nodes: bytes) -> Carried:
    found = known.read(START + b",".join(nodes) + carried.END, len(START))
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
