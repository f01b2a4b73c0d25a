"""Which requests an answer is good for."""

import pytest

from extender.framework.node_table import NodeTable
from extender.framework.precedents import FilterPrecedent
from extender.server.cases import ANY_ORDER, Case, Told
from extender.wire import listings
from tests.builders import node_json, some_nodes

TABLE = NodeTable(some_nodes(*map(node_json, "abc")))


def case(names: str, *, kept: bool) -> Case[FilterPrecedent]:
    listing = listings.listed(list(names))
    assert listing is not None
    listing.kept = kept
    rows = listing.rows(TABLE, once=True)
    assert rows is not None
    return Case(listing, TABLE, rows, FilterPrecedent((), None, (), frozenset(), 1))


@pytest.mark.parametrize(
    ("names", "codes", "kept", "good_for_all"),
    [
        pytest.param("cab", b"\1\1\1", True, True, id="nobody passes"),
        pytest.param("abc", b"\1\0\1", False, True, id="the list may never come again"),
        pytest.param("cab", b"\1\0\1", True, False, id="the list comes again, and some pass"),
        pytest.param("ab", b"\1\1\1", False, False, id="one is not asked about"),
        pytest.param("abb", b"\1\1\1", False, False, id="one is asked about twice"),
    ],
)
def test_answers_for_all_orders(names: str, codes: bytes, kept: bool, good_for_all: bool) -> None:
    assert (case(names, kept=kept).order(codes) == ANY_ORDER) is good_for_all


def test_who_passes_is_told_in_the_order_of_the_request() -> None:
    body = b'{"Nodes":null,"NodeNames":[],"FailedNodes":{},"FailedAndUnresolvableNodes":{"a":"x"}}'
    told = Told(body, [], b"\0\1\1", 2)

    found = case("cab", kept=False).in_order(told)

    assert found.passes == b"\1\0\1"
    assert found.body == body.replace(b"[]", b'["c","b"]')


def test_an_answer_weighs_what_it_holds() -> None:
    more = Told(b"0123456789", [], passes=b"01", codes=b"012").weight

    assert more - Told(b"", []).weight == 15
