"""Lists of names: read once, found again, and laid over a table."""

import json

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
    table.remove("a")
    assert listing.rows(table) is None
    table.put("new", some_nodes(node_json("new"))[0])
    table.put("a", some_nodes(node_json("a"))[0])
    found = listing.rows(table)
    assert found is not None
    assert found.pick(b"\1\2\3\4") == b"\3\4"
