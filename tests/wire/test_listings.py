"""Lists of names: read once, found again, and laid over a table."""

import json

import pytest

from extender.framework.node_table import NodeTable
from extender.wire import listings
from extender.wire.listings import Listing, Listings
from tests.builders import node_json, some_nodes

HEAD = b'{"Pod":{},"Nodes":null,"NodeNames":'


def read(known: Listings, text: bytes, head: bytes = HEAD) -> Listing | None:
    return known.read(head + text + b"}", len(head))


def named(*names: str) -> bytes:
    return json.dumps(names, separators=(",", ":")).encode()


def test_a_list_is_kept_when_it_comes_for_the_second_time() -> None:
    known = Listings()
    once = read(known, named("a", "b"))
    first = read(known, named("a", "b"))

    assert once is not None
    assert not once.kept
    assert first is not None
    assert first is not once
    assert first.kept
    assert first.names == ["a", "b"]
    assert first.text == b'["a","b"]'
    assert len(first) == 2
    assert read(known, named("a", "b"), b"longer" + HEAD) is first


def test_another_list_of_the_same_length_and_end_is_another() -> None:
    known, end = Listings(), "x" * 100
    for name in "aab":
        read(known, named(name, end))
    first, other = read(known, named("a", end)), read(known, named("b", end))

    assert first is not None
    assert other is not None
    assert (first.names, other.names) == (["a", end], ["b", end])
    assert first.serial != other.serial


def test_what_is_not_a_plain_list_of_names_is_none() -> None:
    for text in (
        rb'["a\u0062"]',
        '["é"]'.encode(),
        b"[1]",
        b"null",
        b'["a"',
        b'["a"],"Pod":{}',
        b'["a\nb"]',
        b"[" * 100_000,
    ):
        assert read(Listings(), text) is None, text[:20]


def test_listings_of_names_that_are_at_hand() -> None:
    plain = listings.listed(("a", "b"))

    assert plain is not None
    assert plain.text == b'["a","b"]'
    assert listings.listed(('"',)) is None
    assert listings.listed(("é",)) is None


def test_only_so_many_are_kept() -> None:
    known = Listings()
    read(known, named("first"))
    first = read(known, named("first"))
    assert read(known, named("first")) is first
    for number in range(listings.MAX_LISTINGS):
        read(known, named(f"n{number}"))
        read(known, named(f"n{number}"))

    assert read(known, named("first")) is not first


def test_rows_follow_the_layout_of_the_table() -> None:
    table = NodeTable(some_nodes(*map(node_json, "abc")))
    listing = Listing(["c", "a"], named("c", "a"))
    rows = listing.rows(table)

    assert rows is not None
    assert rows.pick(b"\1\2\3") == b"\3\1"
    assert listing.rows(table) is rows
    assert not rows.whole
    both = Listing(["c", "a", "b"], named("c", "a", "b"))
    assert [found and found.whole for found in (both.rows(table), both.rows(table, once=True))] == [
        False,
        True,
    ]
    assert both.rows(table) is both.rows(table, once=True)
    table.remove("a")
    assert listing.rows(table) is None
    table.put("new", some_nodes(node_json("new"))[0])
    table.put("a", some_nodes(node_json("a"))[0])
    found = listing.rows(table)
    assert found is not None
    assert found.pick(b"\1\2\3\4") == b"\3\4"


def answer(*passing: str) -> bytes:
    result: dict[str, object] = {
        "Nodes": None,
        "NodeNames": passing,
        "FailedNodes": {},
        "FailedAndUnresolvableNodes": {},
        "Error": "",
    }
    return json.dumps(result, separators=(",", ":")).encode()


def offered(*names: str, passes: bytes) -> tuple[Listings, Listing, NodeTable]:
    known, table = Listings(), NodeTable(some_nodes(*map(node_json, sorted(names))))
    listing = Listing(list(names), named(*names))
    listing.rows(table)
    passing = [name for name, passed in zip(names, passes, strict=True) if passed]
    known.offer(answer(*passing), listing, passes)
    return known, listing, table


def test_who_passed_is_not_looked_up_again() -> None:
    known, _, table = offered("c", "a", "b", passes=b"\1\0\1")
    table.places = None  # type: ignore[method-assign, assignment]
    found = read(known, named("c", "b"))

    assert found is not None
    assert (found.names, found.text) == (["c", "b"], named("c", "b"))
    rows = found.rows(table)
    assert rows is not None
    assert rows.pick(b"\1\2\3") == b"\3\2"
    assert not found.kept


def test_where_all_passed_it_is_the_same_list_once_and_kept_when_it_comes_again() -> None:
    known, listing, _ = offered("b", "a", passes=b"\1\1")

    assert read(known, named("b", "a")) is listing
    assert read(known, named("b", "a")) is not listing
    again = read(known, named("b", "a"))
    assert again is not None
    assert again.kept


def test_where_the_rows_are_not_known_they_are_looked_up() -> None:
    known, _, table = offered("b", "a", passes=b"\0\1")
    known.offer(answer("a"), Listing(["b", "a"], named("b", "a")), b"\0\1")
    found = read(known, named("a"))

    assert found is not None
    rows = found.rows(table)
    assert rows is not None
    assert rows.pick(b"\1\2") == b"\1"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(named("a"), id="one of them"),
        pytest.param(named("a", "b"), id="another order"),
        pytest.param(named("b", "a", "c"), id="one more"),
        pytest.param(b'["b","a"],"x":[]', id="more than names"),
    ],
)
def test_other_names_than_those_that_passed_are_read(text: bytes) -> None:
    known, _, _ = offered("b", "a", passes=b"\1\1")
    fresh = Listings()
    found, expected = read(known, text), read(fresh, text)

    assert (found and found.names) == (expected and expected.names)


def test_a_name_cannot_pass_for_the_end_of_the_list() -> None:
    known, _, _ = offered("x],y", "a", passes=b"\1\1")

    assert read(known, b'["x]') is None
