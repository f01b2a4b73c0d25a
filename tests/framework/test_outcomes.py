"""Pods about whom the plugins say the same share what follows, through all events."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.framework import judgement, node_table, outcomes
from extender.framework.interface import SUCCESS, Code, Status, success, unresolvable
from extender.framework.judgement import Judgement
from extender.framework.memory import Thread
from extender.framework.node_info import NodeInfo
from extender.framework.node_table import NodeTable
from extender.framework.outcomes import Outcome, Outcomes
from extender.framework.runner import FilterThread
from extender.framework.snapshot import LabelsFacet
from extender.match.findings import Finding
from tests.builders import node_json, some_nodes

ODD = frozenset({Finding("taint", "integer", "sla", "odd")})
LOW, HIGH = unresolvable("too low"), Status(Code.UNSCHEDULABLE, ("too high",))


class Limits:
    """Refuses a label that is out of bounds; 13 is noticed, and 99 breaks it."""

    findings: frozenset[Finding] = frozenset()

    def __init__(self, label: str, least: int, most: int) -> None:
        self.facet = LabelsFacet((label,))
        self.least, self.most = least, most

    def filter(self, node: NodeInfo) -> Status:
        value = int(node.labels[self.facet.keys[0]])
        if value == 99:
            raise ArithmeticError
        if value == 13:
            return success(findings=ODD)
        if value < self.least:
            return LOW
        return SUCCESS if value <= self.most else HIGH


Bounds = tuple[tuple[int, int], tuple[int, int]]


def threads(bounds: Bounds) -> Sequence[FilterThread]:
    questions = (Limits(label, *each) for label, each in zip(("one", "two"), bounds, strict=True))
    return [(q.facet.keys[0], q, Thread(q)) for q in questions]


def node(name: str, one: int = 0, two: int = 0) -> NodeInfo:
    (made,) = some_nodes(node_json(name, labels={"one": str(one), "two": str(two)}))
    return made


def table_of(*values: int) -> NodeTable:
    return NodeTable(node(f"n{i}", value) for i, value in enumerate(values))


def limited(least: int, most: int = 50) -> Sequence[FilterThread]:
    return threads(((least, most), (0, 50)))


def outcome(
    known: Outcomes,
    asked: Sequence[FilterThread],
    table: NodeTable,
    before: Outcome | None = None,
    most: int = 999,
) -> Outcome:
    return known.of(asked, table, most=most, before=before or Outcome())


def said(found: Judgement | None) -> object:
    """All that a judgement says, whatever its statuses are numbered."""
    if found is None:
        return None
    return (
        [(found.statuses[code], found.wording[code] if code else None) for code in found.codes],
        [(e.plugin, e.codes) for e in found.evaluations(found.codes)],
    )


def fresh(bounds: Bounds, table: NodeTable) -> object:
    return said(judgement.judge(threads(bounds), table, most=999, clock=lambda: 0.0))


def test_rules_that_tell_the_same_nodes_apart_share_their_outcome() -> None:
    known, table = Outcomes(lambda: 0.0), table_of(1, 5, 9)
    first = outcome(known, limited(4), table)

    assert outcome(known, limited(3), table) is first
    assert outcome(known, limited(2, 40), table) is first
    assert outcome(known, limited(6), table) is not first


def test_an_event_is_judged_once_for_all_of_them() -> None:
    known, table = Outcomes(lambda: 0.0), table_of(1, 5, 9, 9, 9)
    one, other = limited(4), limited(3)
    shared = outcome(known, one, table)
    outcome(known, other, table)
    table.put("n0", node("n0", 9))
    again = outcome(known, one, table, shared)

    assert again is shared
    judged = again.judgement
    assert outcome(known, other, table, shared).judgement is judged


def test_a_value_in_between_parts_them() -> None:
    known, table = Outcomes(lambda: 0.0), table_of(1, 5, 9)
    one, other = limited(4), limited(3)
    shared = outcome(known, one, table)
    outcome(known, other, table)
    table.put("n0", node("n0", 3))
    parted = outcome(known, one, table, shared), outcome(known, other, table, shared)

    assert parted[0] is not parted[1]
    for found, bounds in zip(parted, (4, 3), strict=True):
        assert said(found.judgement) == fresh(((bounds, 50), (0, 50)), table)


def test_plugins_that_say_the_same_are_not_one() -> None:
    known, table = Outcomes(lambda: 0.0), table_of(1)
    question = Limits("one", 0, 50)
    first, second = (
        outcome(known, [(name, question, Thread(question))], table).judgement for name in "PQ"
    )

    assert first is not None
    assert second is not None
    assert (first.plugins, second.plugins) == (("P",), ("Q",))


def test_the_last_answer_goes_on_with_an_outcome_that_is_new() -> None:
    table = table_of(1, 5)
    before = Outcome(table.version, None, ("the last answer",))

    assert outcome(Outcomes(lambda: 0.0), limited(4), table, before).told == ("the last answer",)


def test_what_cannot_be_asked_has_no_judgement() -> None:
    known, table = Outcomes(lambda: 0.0), table_of(1, 99)
    found = outcome(known, limited(4), table)

    assert found.judgement is None
    assert found.version == table.version


@pytest.mark.parametrize("narrow", [True, False])
def test_many_keys_are_not_compared(monkeypatch: pytest.MonkeyPatch, narrow: bool) -> None:
    if not narrow:
        monkeypatch.setattr(node_table, "MAX_NARROW", 2)
    known, table = Outcomes(lambda: 0.0), table_of(1, 5, 9)
    most = 3 if narrow else 999
    first = outcome(known, limited(4), table, most=most)
    second = outcome(known, limited(4), table, most=most)

    assert second is not first
    assert (first.judgement is None) == narrow
    assert said(second.judgement) == said(first.judgement)


VALUES = st.sampled_from([0, 1, 5, 9, 13, 60, 99])
BOUNDS = st.tuples(*[st.tuples(st.sampled_from([0, 1, 4]), st.sampled_from([8, 50]))] * 2)
# A node comes or changes, or one goes, or somebody asks.
NAMES = st.integers(0, 4).map("n{}".format)
STEPS = st.lists(st.one_of(st.tuples(NAMES, VALUES, VALUES), NAMES, st.integers(0, 3)), max_size=30)


@given(few=st.booleans(), asking=st.lists(BOUNDS, min_size=4, max_size=4), steps=STEPS)
def test_what_is_shared_is_what_each_would_be_told(
    few: bool, asking: Sequence[Bounds], steps: Sequence[tuple[str, int, int] | str | int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if few:  # so that numbers are given anew
            patch.setattr(outcomes, "MAX_SAID", 2)
            patch.setattr(outcomes, "MAX_OUTCOMES", 2)
        share_in_turn(asking, steps)


def share_in_turn(
    asking: Sequence[Bounds], steps: Sequence[tuple[str, int, int] | str | int]
) -> None:
    known, table = Outcomes(lambda: 0.0), table_of(1, 5, 9, 9, 9)
    pods: Mapping[int, Sequence[FilterThread]] = dict(enumerate(map(threads, asking)))
    last: dict[int, Outcome] = {}
    for step in steps:
        if isinstance(step, tuple):
            table.put(step[0], node(*step))
        elif isinstance(step, str):
            if step in table.rows:
                table.remove(step)
        else:
            last[step] = outcome(known, pods[step], table, last.get(step))
            found, anew = last[step].judgement, fresh(asking[step], table)
            # One that is changed where it has to be can tell more than one that is made anew.
            if found is None or anew is not None:
                assert said(found) == anew
            else:
                assert verdicts(found) == [
                    first_refusal(asking[step], each) for each in table.nodes
                ]


def verdicts(found: Judgement) -> list[tuple[str, ...]]:
    return [found.statuses[code].reasons for code in found.codes]


def first_refusal(bounds: Bounds, node: NodeInfo | None) -> tuple[str, ...]:
    if node is None:
        return ()
    statuses = (question.filter(node) for _, question, _ in threads(bounds))
    return next((status.reasons for status in statuses if status.reasons), ())
