"""Nodes as rows, keys as codes: whatever happens to nodes, a row has the code of its key."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.framework import node_table
from extender.framework.node_info import NodeInfo
from extender.framework.node_table import NO_NODE, NodeTable
from extender.framework.snapshot import TAINTS, AttributeFacet, LabelsFacet
from tests.builders import node_json, some_nodes, taint

BY_NAME = AttributeFacet("name")
BY_TIER = LabelsFacet(("tier",))


def tiers(*values: str) -> list[NodeInfo]:
    return some_nodes(*(node_json(f"n{i}", labels={"tier": v}) for i, v in enumerate(values)))


def keys_of(table: NodeTable, facet: AttributeFacet | LabelsFacet) -> list[object]:
    """The key of every row, by way of the codes."""
    column = table.column(facet)
    present = list(column.present())
    numbers = bytearray(len(column))
    for place, (code, _, _) in enumerate(present, start=1):
        numbers[code] = place
    keys = [None, *(key for _, key, _ in present)]
    return [keys[place] for place in column.translated(numbers)]


def test_rows_that_are_alike_have_one_code() -> None:
    column = NodeTable(tiers("gold", "bronze", "gold")).column(BY_TIER)

    assert [(code, key, node.name) for code, key, node in column.present()] == [
        (1, ("gold",), "n2"),
        (2, ("bronze",), "n1"),
    ]
    assert column.translated(bytearray(b"\0\7\x08")) == b"\7\x08\7"
    assert column.narrow


def test_a_node_that_changes_changes_its_row_only() -> None:
    table = NodeTable(tiers("gold", "bronze", "gold", "gold", "gold"))
    column, layout, version = table.column(BY_TIER), table.layout, table.version

    table.put("n1", tiers("", "gold")[1])

    assert table.column(BY_TIER) is column
    assert keys_of(table, BY_TIER) == [("gold",)] * 5
    assert [key for _, key, _ in column.present()] == [("gold",)]
    assert table.layout == layout
    assert table.version != version


def test_a_row_is_left_and_taken_again() -> None:
    table = NodeTable(tiers("a", "b", "c", "d", "e"))
    column, frozen = table.column(BY_NAME), table.frozen()
    table.remove("n1")
    assert keys_of(table, BY_NAME) == ["n0", None, "n2", "n3", "n4"]
    table.put("new", some_nodes(node_json("new"))[0])
    table.put("more", some_nodes(node_json("more"))[0])

    assert table.rows["new"] == 1
    assert table.rows["more"] == len(table) - 1 == 5
    assert keys_of(table, BY_NAME) == ["n0", "new", "n2", "n3", "n4", "more"]
    assert table.column(BY_NAME) is column
    assert [node and node.name for node in frozen] == ["n0", "n1", "n2", "n3", "n4"]
    assert [node and node.name for node in table.frozen()][1] == "new"
    assert table.frozen() is table.frozen()


def test_places_of_names_however_they_came() -> None:
    table = NodeTable(tiers("a", "b"))
    assert table.places(["n1", "n0"], once=False) == ((1, 0), False)
    assert table.places(["n1", "n0"], once=True) == ([1, 0], True)
    table.put("new", some_nodes(node_json("new"))[0])

    assert table.places(["new"], once=False) == ([2], False)
    assert table.places(["new", "n0"], once=True) == ((2, 0), False)
    assert table.places(["n0", "n1", "n0"], once=True) == ((0, 1, 0), False)
    assert table.places(["n0", "new", "n1"], once=True) == ([0, 2, 1], True)
    table.remove("n1")
    assert table.places(["new", "n0"], once=True) == ((2, 0), False)
    for once in (False, True):
        with pytest.raises(KeyError):
            table.places(["n0", "new", "other"], once=once)


def test_rows_that_have_changed_since() -> None:
    table = NodeTable(tiers("a", "b", "c"))
    version = table.version
    assert table.changed_since(version, most=0) == []
    table.put("n2", tiers("a", "b", "new")[2])
    between = table.version
    table.put("n0", tiers("new")[0])
    table.put("n2", tiers("a", "b", "newer")[2])

    assert table.changed_since(version, most=2) == [2, 0]
    assert table.changed_since(version, most=1) is None
    assert table.changed_since(between, most=2) == [2, 0]
    table.remove("n1")
    table.put("more", some_nodes(node_json("more"))[0])  # in its row
    table.put("last", some_nodes(node_json("last"))[0])
    assert table.changed_since(between, most=9) == [3, 1, 2, 0]


def test_keys_and_names_of_rows() -> None:
    table = NodeTable(tiers("a", "b", "a"))
    table.remove("n1")

    assert table.names() == ["n0", "", "n2"]
    assert table.names() is table.names()
    assert table.column(BY_TIER).keys_of([2, 1]) == [("a",), NO_NODE]
    table.put("new", tiers("c")[0])
    assert table.column(BY_TIER).keys_of([1, 0]) == [("c",), ("a",)]


def test_a_column_over_rows_that_are_empty_already() -> None:
    table = NodeTable(tiers("a", "b"))
    table.remove("n0")

    assert keys_of(table, BY_TIER) == [None, ("b",)]


def test_many_keys_make_a_wide_column_from_the_start_or_in_time() -> None:
    wide = NodeTable(tiers(*map(str, range(300))))
    growing = NodeTable(tiers(*map(str, range(255))))
    assert not wide.column(BY_NAME).narrow
    assert growing.column(BY_NAME).narrow

    growing.put("n999", some_nodes(node_json("n999"))[0])

    assert not growing.column(BY_NAME).narrow
    assert wide.column(BY_NAME).translated(bytearray([0] * 300 + [5])) == bytes(299) + b"\5"
    names = [f"n{i}" for i in range(255)]
    assert growing.column(BY_NAME).translated(bytearray(256) + b"\7") == bytes(255) + b"\7"
    assert [key for _, key, _ in growing.column(BY_NAME).present()] == [*names, "n999"]


def test_keys_that_nobody_has_any_more_are_forgotten_in_time() -> None:
    table = NodeTable(tiers("a", "b", "c", "d", "e", "f", "g", "h"))
    table.column(BY_TIER)
    for value in range(2_000):
        table.put("n0", tiers(str(value))[0])
        table.column(BY_TIER)

    assert len(table.column(BY_TIER)) < 2 * len(table) + node_table.MAX_NARROW + 2
    assert keys_of(table, BY_TIER)[:2] == [("1999",), ("b",)]


def test_columns_are_bounded_and_the_longest_unused_goes() -> None:
    table = NodeTable(tiers("a"))
    first, second = table.column(BY_NAME), table.column(BY_TIER)
    for number in range(node_table.MAX_COLUMNS - 1):
        assert table.column(BY_NAME) is first
        table.column(LabelsFacet((str(number),)))

    assert table.column(BY_NAME) is first
    assert table.column(BY_TIER) is not second


EVENTS = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["", "x", "y", "z"]), st.booleans()),
    max_size=40,
)


@given(events=EVENTS, asked=st.sets(st.integers(0, 39)))
def test_columns_are_what_they_would_be_if_made_anew(
    events: Sequence[tuple[str, str, bool]], asked: set[int]
) -> None:
    table, there = NodeTable(), dict[str, NodeInfo]()
    for number, (name, value, stays) in enumerate(events):
        if stays:
            shape = node_json(name, taint(value), labels={"tier": value})
            there[name] = some_nodes(shape)[0]
            table.put(name, there[name])
        elif name in there:
            del there[name]
            table.remove(name)
        if number in asked:
            table.column(BY_TIER)
            table.column(TAINTS)

    assert {name: table.nodes[row] for name, row in table.rows.items()} == there
    for facet in (BY_TIER, TAINTS):
        by_row = keys_of(table, facet)
        assert {name: by_row[row] for name, row in table.rows.items()} == {
            name: facet.column([node])[0] for name, node in there.items()
        }


def test_codes_that_no_row_has_are_known_until_they_are_too_many() -> None:
    table = NodeTable(tiers(*"abcde"))
    column = table.column(BY_TIER)
    epoch = column.epoch

    def moved(tier: str) -> int:
        table.put("n0", tiers(tier)[0])
        return table.column(BY_TIER).epoch

    assert moved("e") == epoch
    assert [key for _, key, _ in column.known()] == [(tier,) for tier in "abcde"]
    assert [key for _, key, _ in column.present()] == [(tier,) for tier in "bcde"]
    assert moved("a") == epoch
    assert moved("new") != epoch
    for number in range(2 * node_table.MAX_UNUSED):
        moved(str(number))
        assert len(column) <= 2 * len(table) + 2 * node_table.MAX_UNUSED
    assert {*keys_of(table, BY_TIER)} <= {key for _, key, _ in column.known()}


def test_codes_that_rows_have_stay_as_they_are_however_many() -> None:
    table = NodeTable(tiers(*["x"] * 80))
    table.column(BY_TIER)
    for number in range(70):
        table.put(f"n{number}", tiers(*map(str, range(80)))[number])
        table.column(BY_TIER)

    keys = [key for _, key, _ in table.column(BY_TIER).known()]
    assert keys == [("x",), *((str(number),) for number in range(70))]
