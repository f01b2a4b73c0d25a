"""What a table has a row, in the order of a request."""

from extender.framework.rows import Passing, Rows
from tests.builders import node_json, some_nodes

NODES = some_nodes(*map(node_json, "abc"))


def test_rows_are_picked_in_the_order_of_the_request() -> None:
    assert Rows([2, 0], 3).pick(b"\1\2\3") == b"\3\1"
    assert Rows([0, 1, 2], 3).pick(b"\1\2\3") == b"\1\2\3"
    assert Rows([0, 1], 3).pick(b"\1\2\3") == b"\1\2"
    assert Rows([1], 3).pick(b"\1\2\3") == b"\2"
    assert Rows([], 3).pick(b"\1\2\3") == b""


def test_all_rows_are_there_if_they_are_in_order_or_somebody_has_seen_it() -> None:
    assert Rows([0, 1, 2], 3).whole
    assert not Rows([0, 1], 3).whole
    assert not Rows([0, 2, 2], 3).whole
    assert Rows([2, 0, 1], 3, whole=True).whole
    assert not Rows([2, 0, 1], 3, whole=True).in_order


def test_who_passes_is_found_when_it_is_looked_at() -> None:
    passing = Passing((*NODES, None), Rows([2, 0, 1], 4), b"\1\0\1", count=2)

    assert len(passing) == 2
    assert [node.name for node in passing] == ["c", "b"]
    assert passing[1].name == "b"
    assert [node.name for node in passing[:1]] == ["c"]


def test_all_in_order() -> None:
    assert list(Passing(NODES, Rows([0, 1, 2], 3), b"\1\1\1", count=3)) == NODES
