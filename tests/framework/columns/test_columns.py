"""Columns that are kept event by event are what they would be if made anew."""

from collections.abc import Container, Hashable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.framework.columns import columns
from extender.framework.columns.columns import EMPTY, Column, samples
from extender.framework.columns.node_table import NodeTable
from extender.framework.node_info import Facet, NodeInfo
from extender.framework.snapshot import TAINTS, AttributeFacet, LabelFacet, LabelsFacet
from tests.builders import node_json, some_nodes, taint

TIER = LabelFacet("tier")


def tiers(*values: str) -> list[NodeInfo]:
    return some_nodes(*(node_json(f"n{i}", labels={"tier": v}) for i, v in enumerate(values)))


def tiered(name: str, value: str) -> NodeInfo:
    return some_nodes(node_json(name, labels={"tier": value}))[0]


def keys_of(column: Column, facet: Facet) -> list[object]:
    """The key of each row by way of its code; None for an empty row."""
    found = [column.samples[code] for code in column.codes]
    return [None if node is None else facet.column([node])[0] for node in found]


def test_rows_that_are_alike_have_one_code() -> None:
    column = Column(TIER, NodeTable(tiers("gold", "bronze", "gold")))

    assert list(column.codes) == [EMPTY, 1, 2, 1]
    assert [node and node.name for node in column.samples] == [None, "n0", "n1"]
    assert [node.name for node in samples(column, [2, 1], column.facet)] == ["n1", "n0"]
    assert len(column) == 3


def test_an_empty_row_has_the_code_of_nobody() -> None:
    table = NodeTable(tiers("gold", "bronze"))
    table.remove("n0")

    assert list(Column(TIER, table).codes) == [EMPTY, EMPTY, 1]
    assert list(Column(TIER, NodeTable()).codes) == [EMPTY]


def test_a_node_that_changes_changes_its_code_only() -> None:
    table = NodeTable(tiers(*["gold"] * 8, "bronze"))
    column = Column(TIER, table)
    serial = column.serial
    table.put(tiered("n3", "bronze"))
    table.put(tiered("n4", "new"))
    column.refresh(table)

    assert column.serial == serial
    assert list(column.codes) == [EMPTY, 1, 1, 1, 2, 3, 1, 1, 1, 2]
    assert keys_of(column, TIER)[3:7] == ["gold", "bronze", "new", "gold"]


def test_rows_come_and_go() -> None:
    table = NodeTable(tiers(*["gold"] * 8))
    column = Column(TIER, table)
    table.remove("n0")
    table.put(tiered("more", "gold"))
    table.put(tiered("last", "gold"))
    column.refresh(table)

    assert list(column.codes) == [EMPTY, *[1] * 9]
    table.remove("last")
    column.refresh(table)
    assert list(column.codes) == [EMPTY, *[1] * 8, EMPTY]


def test_where_nothing_has_changed_nothing_is_looked_at() -> None:
    table = NodeTable(tiers("gold", "bronze"))
    facet = Breaking()
    column = Column(facet, table)
    looked = facet.looked
    column.refresh(table)

    assert facet.looked == looked


@pytest.mark.parametrize("changes", [3, 9])
def test_many_changes_build_the_column_anew(changes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extender.framework.columns.node_table.MAX_CHANGES", 4)
    table = NodeTable(tiers(*map(str, range(8))))
    column = Column(TIER, table)
    serial = column.serial
    for number in range(changes):
        table.put(tiered(f"n{number % 8}", "new"))
    column.refresh(table)

    assert column.serial != serial
    assert keys_of(column, TIER) == keys_of(Column(TIER, table), TIER)


def test_codes_that_no_row_has_are_dropped_when_they_are_too_many() -> None:
    table = NodeTable(tiers(*["x"] * 8))
    column = Column(TIER, table)
    serials = {column.serial}
    sizes = []
    for number in range(5 * columns.MAX_UNUSED):
        table.put(tiered("n0", str(number)))
        column.refresh(table)
        serials.add(column.serial)
        sizes.append(len(column))

    assert max(sizes) <= 2 * columns.MAX_UNUSED
    assert 2 <= len(serials) <= 9
    assert keys_of(column, TIER)[:3] == [None, str(5 * columns.MAX_UNUSED - 1), "x"]


def test_codes_that_rows_have_stay_as_they_are_however_many() -> None:
    table = NodeTable(tiers(*["x"] * 200))
    column = Column(TIER, table)
    serial = column.serial
    for number in range(199):
        table.put(tiered(f"n{number}", str(number)))
        column.refresh(table)

    assert (column.serial, len(column)) == (serial, 201)


def test_a_code_that_is_used_again_counts_as_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MAX_UNUSED", 0)
    table = NodeTable(tiers(*"abcdefgh"))
    column = Column(TIER, table)
    serial = column.serial
    for value in "bababababa":
        table.put(tiered("n0", value))
        column.refresh(table)

    assert (column.serial, len(column)) == (serial, 9)


def test_wider_keys_and_more_rows_weigh_more() -> None:
    few, many = NodeTable(tiers("a", "b")), NodeTable(tiers(*map(str, range(50))))
    facets: list[Facet] = [TIER, LabelsFacet(("tier",)), LabelsFacet(("tier", "x"))]
    weights = [Column(facet, few).nbytes for facet in facets]

    assert weights == sorted({*weights})
    assert Column(TIER, many).nbytes > Column(TIER, few).nbytes


@dataclass(eq=False)
class Breaking:
    """A facet that breaks when it is told to."""

    broken: bool = False
    looked: int = 0
    key_bytes: int = 0
    attribute: AttributeFacet = field(default_factory=lambda: AttributeFacet("name"))

    def within(self, _labels: Container[str]) -> "Breaking":
        return self

    def seen(self, nodes: Sequence[NodeInfo]) -> Sequence[NodeInfo]:
        return nodes

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        self.looked += len(nodes)
        if self.broken:
            raise LookupError("a facet that breaks")
        return [node.labels["tier"] for node in nodes]


@pytest.mark.parametrize("changes", [1, 8])
def test_a_facet_that_breaks_leaves_the_column_as_it_was(changes: int) -> None:
    facet = Breaking()
    table = NodeTable(tiers(*"abcdefgh"))
    column = Column(facet, table)
    before = column.serial, list(column.codes), list(column.samples)
    for number in range(changes):
        table.put(tiered(f"n{number}", "new"))
    facet.broken = True
    for _ in range(3):
        with pytest.raises(LookupError):
            column.refresh(table)
        assert (column.serial, list(column.codes), list(column.samples)) == before
    facet.broken = False
    column.refresh(table)

    assert keys_of(column, facet) == [None, *["new"] * changes, *"abcdefgh"[changes:]]
    # Who changed alone leaves a code behind that nobody has.
    assert column._unused == column._counts[1:].count(0) == changes % 2


EVENTS = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["", "x", "y", "z"]), st.booleans()),
    max_size=40,
)


@given(first=st.integers(0, 60), events=EVENTS, asked=st.sets(st.integers(0, 39)))
def test_columns_are_what_they_would_be_if_made_anew(
    first: int, events: Sequence[tuple[str, str, bool]], asked: set[int]
) -> None:
    table = NodeTable(tiers(*["x"] * first))
    facets: list[Facet] = [TIER, TAINTS]
    kept = [Column(facet, table) for facet in facets]
    for number, (name, value, stays) in enumerate(events):
        if stays:
            table.put(some_nodes(node_json(name, taint(value), labels={"tier": value}))[0])
        elif name in table.rows:
            table.remove(name)
        if number in asked:
            for column in kept:
                column.refresh(table)
    for column, facet in zip(kept, facets, strict=True):
        column.refresh(table)
        fresh = Column(facet, table)

        assert keys_of(column, facet) == keys_of(fresh, facet)
        assert len(column.codes) == len(table)
        used = [column.codes.tolist().count(code) for code in range(len(column))]
        assert column._counts[1:] == used[1:]
        assert column._unused == used[1:].count(0)
