"""Rows that changed, whoever has looked when."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.framework import row_changes
from extender.framework.node_info import NodeInfo
from extender.framework.row_changes import RowChanges
from tests.builders import node_json, some_nodes, taint

NODES = some_nodes(
    node_json("a"),
    node_json("a", taint("x")),
    node_json("a", labels={"x": "y"}),
    node_json("b"),
)


def as_before() -> NodeInfo:
    """Another object that says the same as the first."""
    first = NODES[0]
    return NodeInfo(first.name, dict(first.labels), first.taints, first.unschedulable)


def test_the_latest_is_the_first() -> None:
    changes = RowChanges()
    for version, row in enumerate((7, 8, 7, 9), start=1):
        changes.note(row, version, NODES[version % 2], NODES[2])

    assert changes.since(0, most=3) == [9, 7, 8]
    assert changes.since(0, most=2) is None
    assert changes.since(2, most=2) == [9, 7]
    assert changes.since(4, most=0) == []


def test_who_looked_before_a_change_that_was_undone_need_not_look() -> None:
    changes = RowChanges()
    changes.note(7, 10, NODES[0], NODES[1])
    changes.note(7, 20, NODES[1], as_before())

    assert changes.since(9, most=9) == []
    assert changes.since(10, most=9) == [7]
    assert changes.since(19, most=9) == [7]
    assert changes.since(20, most=9) == []


@pytest.mark.parametrize("now", [*NODES[2:], None])
def test_a_row_that_is_otherwise_has_changed(now: NodeInfo | None) -> None:
    changes = RowChanges()
    changes.note(7, 10, NODES[0], NODES[1])
    changes.note(7, 20, NODES[1], now)

    assert changes.since(9, most=9) == [7]


@given(
    steps=st.lists(st.tuples(st.integers(0, 3), st.sampled_from([*range(len(NODES)), None]))),
    most_kept=st.integers(1, 4),
)
def test_nobody_misses_a_change(steps: list[tuple[int, int | None]], most_kept: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_changes, "MAX_ROWS", most_kept)
        changes = RowChanges()
        rows: list[Any] = [None] * 4
        history = [list(rows)]
        for version, (row, number) in enumerate(steps, start=1):
            node = None if number is None else NODES[number]
            changes.note(row, version, rows[row], node)
            rows[row] = node
            history.append(list(rows))
        for version, then in enumerate(history):
            found = changes.since(version, most=9)
            differ = {row for row in range(4) if then[row] is not rows[row]}
            assert found is None or differ <= {*found}


def test_what_was_forgotten_is_not_told() -> None:
    changes = RowChanges()
    for version in range(1, row_changes.MAX_ROWS + 2):
        changes.note(version, version, NODES[0], NODES[1])

    assert changes.since(0, most=9_999) is None
    found = changes.since(1, most=9_999)
    assert found is not None
    assert len(found) == row_changes.MAX_ROWS
