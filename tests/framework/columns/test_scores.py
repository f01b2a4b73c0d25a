"""What a preference says of codes, and what several preferences come to."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.framework.columns.columns import Column
from extender.framework.columns.node_table import NodeTable
from extender.framework.columns.scores import RuleScores, unit_of, weighted_mean
from extender.framework.interface import Score
from extender.framework.node_info import NodeInfo
from extender.framework.snapshot import LabelFacet, LabelsFacet
from tests.builders import node_json, some_nodes
from tests.framework.fakes import BY_NAME, HIGH, NODES, Preference, scoring

RAW = {"a": 10, "b": 50, "c": 50}


def over(preference: Preference, weight: int = 2) -> tuple[RuleScores, Column]:
    scores, column = (
        RuleScores("Plugin", preference, weight),
        Column(BY_NAME, NodeTable(NODES)),
    )
    scores.refresh(column)
    return scores, column


@dataclass
class Batch(Preference):
    """A preference that can be asked about all nodes at once, if it can afford to."""

    affords: bool = True

    def score_all(self, nodes: Sequence[NodeInfo]) -> Sequence[Score] | None:
        return [self.scores(node) for node in nodes] if self.affords else None


@dataclass
class Relative(Preference):
    """A node is worth as much as there are candidates like it; some are like no other."""

    apart: Mapping[int, Hashable] = field(default_factory=dict)

    def exceptions(self, _table: NodeTable) -> Mapping[int, Hashable]:
        return self.apart

    def score_among(self, nodes: Sequence[NodeInfo], counts: Sequence[int]) -> Sequence[int]:
        assert len(nodes) == len(counts)
        return [10 * count for count in counts]


def test_only_codes_that_a_candidate_has_are_asked_about_and_each_once() -> None:
    preference = scoring(RAW)
    scores, column = over(preference)
    scores.ask(column, [0, 1, 0, 7])

    assert scores.raw == [0, 10, None, 50]
    scores.ask(column, [0, 1, 0, 1])
    scores.ask(column, [0, 0, 1, 1])
    assert preference.asked == ["a", "c", "b"]


@pytest.mark.parametrize("affords", [True, False])
def test_many_codes_are_asked_about_at_once_where_that_is_possible(affords: bool) -> None:
    preference = Batch(lambda node: Score(RAW[node.name]), affords=affords)
    scores, column = over(preference)
    scores.ask(column, [0, 1, 1, 1])

    assert scores.raw == [0, 10, 50, 50]
    assert preference.asked == ([] if affords else ["a", "b", "c"])


def test_scores_that_depend_on_the_others_are_asked_for_each_time() -> None:
    scores, column = over(Relative(lambda _: Score(0)))
    scores.ask(column, [0, 1, 3, 0])
    assert scores.raw == [0, 10, 30, None]
    scores.ask(column, [0, 2, 1, 0])

    assert scores.raw == [0, 20, 10, None]
    assert scores.is_relative


def test_exceptions_have_codes_of_their_own_for_one_call() -> None:
    table = NodeTable(NODES)
    column = Column(LabelsFacet(()), table)
    scores = RuleScores("Plugin", Relative(lambda _: Score(0), apart={1: "x", 3: "x"}), 1)
    found = scores.column_of(column, table)

    assert list(found.codes) == [0, 2, 1, 2]
    assert found.samples == [None, NODES[1], NODES[0]]
    assert (list(column.codes), len(column)) == ([0, 1, 1, 1], 2)
    assert found.serial != column.serial


def test_a_code_may_be_left_without_a_row_when_all_are_exceptions() -> None:
    table = NodeTable(NODES)
    column = Column(LabelsFacet(()), table)

    assert list(column.apart({1: "x", 2: "y", 3: "x"}, table).codes) == [0, 2, 3, 2]


def test_each_code_keeps_a_row_that_is_no_exception() -> None:
    nodes = some_nodes(*(node_json(f"n{i}", labels={"zone": "ab"[i % 2]}) for i in range(4)))
    table = NodeTable(nodes)
    found = Column(LabelFacet("zone"), table).apart({1: "x", 2: "x"}, table)

    assert list(found.codes) == [0, 3, 4, 1, 2]
    assert found.samples == [None, nodes[2], nodes[3], nodes[0], nodes[1]]


def test_another_column_makes_it_forget() -> None:
    scores, column = over(Preference(lambda _: Score(1, frozenset({HIGH}))))
    scores.ask(column, [0, 1, 0, 0])
    assert scores.noticed == {1: frozenset({HIGH})}

    assert not scores.refresh(column)
    assert scores.refresh(Column(BY_NAME, NodeTable(NODES[:2])))
    assert (scores.raw, scores.noticed) == ([0, None, None], {})


def test_a_preference_is_flat_if_it_tells_no_codes_apart() -> None:
    flat, column = over(scoring(dict.fromkeys("abc", 3)))
    steep, other = over(scoring(RAW))
    noticing, third = over(Preference(lambda _: Score(3, frozenset({HIGH}))))

    assert flat.is_flat(column)
    assert flat.is_flat(column)
    assert not steep.is_flat(other)
    assert not noticing.is_flat(third)
    assert RuleScores("Plugin", scoring({}), 1).is_flat(Column(BY_NAME, NodeTable()))


def test_codes_are_weighed_by_what_the_candidates_have() -> None:
    preference = scoring({"a": 10, "b": 50, "c": 300})
    scores, column = over(preference)
    scores.ask(column, [0, 1, 1, 1])

    assert list(scores.weighed([0, 1, 1, 1]) or ()) == [0, 20, 100, 200]
    assert list(scores.weighed([0, 1, 1, 0]) or ()) == [0, 20, 100, 0]
    assert scores.weighed([0, 0, 5, 0]) is None
    assert scores.weighed([0, 0, 0, 0]) is None


def test_scores_beyond_the_scale_are_cut() -> None:
    preference = scoring({"a": -7, "b": 50, "c": 101})
    scores, column = over(preference, weight=1)
    scores.ask(column, [0, 1, 1, 1])

    assert list(scores.weighed([0, 1, 1, 1]) or ()) == [0, 0, 50, 100]


def test_more_codes_weigh_more() -> None:
    scores, _ = over(scoring(RAW))

    assert scores.nbytes > RuleScores("Plugin", scoring(RAW), 1).nbytes >= 0


@given(
    weights=st.lists(st.integers(1, 100), min_size=1, max_size=4),
    data=st.data(),
)
def test_the_mean_is_rounded_half_up(weights: list[int], data: st.DataObject) -> None:
    values = [data.draw(st.integers(0, 100)) for _ in weights]
    total = sum(weight * value for weight, value in zip(weights, values, strict=True))
    mean = Fraction(total, sum(weights))

    assert weighted_mean(total, unit_of(weights)) == math.floor(mean / 10 + Fraction(1, 2))
