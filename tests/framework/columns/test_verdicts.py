"""What a question said of codes: kept as far as it came, forgotten with the column."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import pytest

from extender.framework.columns.columns import Column
from extender.framework.columns.node_table import NodeTable
from extender.framework.columns.verdicts import PASSES, RuleVerdicts
from extender.framework.interface import SUCCESS, Code, Status, success, unresolvable
from extender.framework.node_info import NodeInfo
from extender.rows import UNASKED
from tests.builders import node_json, refused, some_nodes
from tests.framework.fakes import (
    BY_NAME,
    HIGH,
    LOW,
    MAYBE,
    NO,
    NODES,
    BrokenError,
    Question,
    raises,
    saying,
)


def over(question: Question, nodes: Sequence[NodeInfo] = NODES) -> tuple[RuleVerdicts, Column]:
    verdicts, column = RuleVerdicts("Plugin", question), Column(BY_NAME, NodeTable(nodes))
    verdicts.refresh(column)
    return verdicts, column


@dataclass
class Batch(Question):
    """A question that can be asked about all nodes at once, if it can afford to."""

    affords: bool = True

    def filter_all(self, nodes: Sequence[NodeInfo]) -> Sequence[Status] | None:
        return [self.verdict(node) for node in nodes] if self.affords else None


def test_room_is_made_for_every_code_and_the_new_ones_are_not_asked_about_yet() -> None:
    table = NodeTable(NODES)
    column, verdicts = Column(BY_NAME, table), RuleVerdicts("Plugin", saying({}))

    assert verdicts.refresh(column)
    assert list(verdicts.table) == [PASSES, UNASKED, UNASKED, UNASKED]
    assert verdicts.unasked() == [1, 2, 3]
    assert not verdicts.refresh(column)
    verdicts.ask(column, [2, 3])
    for name in "defgh":
        table.put(some_nodes(node_json(name))[0])
    column.refresh(table)
    assert verdicts.refresh(column)
    assert verdicts.unasked()[0] in (1, 2)


def test_each_code_gets_its_own_verdict_signed() -> None:
    verdicts, column = over(saying({"a": NO, "c": MAYBE}))
    verdicts.ask(column, [1, 2, 3])

    assert list(verdicts.table) == [PASSES, 1, PASSES, 2]
    assert verdicts.statuses == [
        refused("no", plugin="Plugin"),
        Status(Code.UNSCHEDULABLE, ("maybe",), "Plugin"),
    ]
    assert verdicts.codes == {Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.UNSCHEDULABLE}


def test_a_status_that_is_signed_already_keeps_its_name() -> None:
    verdicts, column = over(saying({"a": NO.signed("Other")}))
    verdicts.ask(column, [1])

    assert verdicts.statuses == [refused("no", plugin="Other")]


def test_statuses_of_one_wording_share_a_place_and_others_do_not() -> None:
    said = {
        "a": unresolvable("no", brief="n"),
        "b": unresolvable("no", brief="n"),
        "c": unresolvable("no"),
        "d": unresolvable("no", brief="n", findings=frozenset({HIGH})),
        "e": msgspec.structs.replace(unresolvable("no", brief="n"), unsettled=True),
        "f": Status(Code.UNSCHEDULABLE, ("no",), brief=("n",)),
    }
    verdicts, column = over(saying(said), some_nodes(*map(node_json, said)))
    verdicts.ask(column, range(1, 7))

    assert list(verdicts.table)[1:] == [1, 1, 2, 3, 4, 5]
    assert len(verdicts.statuses) == 5
    assert (verdicts.has_findings, verdicts.has_unsettled) == (True, True)


def test_texts_are_json_and_the_brief_ones_stand_in_for_the_long() -> None:
    said = {
        "a": Status(Code.UNSCHEDULABLE, ("one", 'two "x"'), brief=("1", "2")),
        "b": Status(Code.UNSCHEDULABLE, ("only",)),
    }
    verdicts, column = over(saying(said))
    verdicts.ask(column, [1, 2, 3])

    assert verdicts.texts(brief=False) == [b'"one, two \\"x\\""', b'"only"']
    assert verdicts.texts(brief=True) == [b'"1, 2"', b'"only"']
    assert (verdicts.has_findings, verdicts.has_unsettled) == (False, False)


def test_what_a_question_said_before_it_broke_is_kept() -> None:
    question = Question(lambda node: raises() if node.name == "c" else NO)
    verdicts, column = over(question)
    with pytest.raises(BrokenError):
        verdicts.ask(column, [1, 2, 3])

    assert list(verdicts.table) == [PASSES, 1, 1, UNASKED]
    assert verdicts.unasked() == [3]


def test_findings_of_codes_that_pass_are_kept_by_code() -> None:
    said = {"a": success(frozenset({HIGH})), "b": SUCCESS, "c": success(frozenset({LOW}))}
    verdicts, column = over(saying(said))
    verdicts.ask(column, [1, 2, 3])

    assert verdicts.noticed == {1: frozenset({HIGH}), 3: frozenset({LOW})}
    assert (verdicts.statuses, verdicts.has_findings) == ([], False)


def test_another_column_makes_it_forget() -> None:
    verdicts, column = over(saying({"a": unresolvable("no", findings=frozenset({HIGH}))}))
    verdicts.ask(column, [1, 2, 3])
    other = Column(BY_NAME, NodeTable(NODES[:2]))

    assert verdicts.refresh(other)
    assert (verdicts.statuses, verdicts.texts(brief=False), verdicts.codes) == ([], [], set())
    assert list(verdicts.table) == [PASSES, UNASKED, UNASKED]
    assert not verdicts.has_findings


@pytest.mark.parametrize("affords", [True, False])
def test_many_codes_are_asked_about_at_once_where_that_is_possible(affords: bool) -> None:
    question = Batch(lambda node: NO if node.name == "b" else SUCCESS, affords=affords)
    verdicts, column = over(question)
    verdicts.ask_at_once(column)

    assert verdicts.unasked() == ([] if affords else [1, 2, 3])
    verdicts.ask(column, verdicts.unasked())
    assert list(verdicts.table) == [PASSES, PASSES, 1, PASSES]
    assert question.asked == ([] if affords else ["a", "b", "c"])


def test_a_question_of_one_node_at_a_time_is_not_asked_at_once() -> None:
    question = saying({"a": NO})
    verdicts, column = over(question)
    verdicts.ask_at_once(column)

    assert (question.asked, verdicts.unasked()) == ([], [1, 2, 3])


def test_a_batch_that_says_too_little_is_a_fault() -> None:
    class Short(Batch):
        def filter_all(self, nodes: Sequence[NodeInfo]) -> Sequence[Status] | None:
            return [SUCCESS for _ in nodes[1:]]

    verdicts, column = over(Short(lambda _: SUCCESS))
    with pytest.raises(ValueError, match="shorter"):
        verdicts.ask(column, [1, 2, 3])


def test_codes_can_be_refused_without_asking() -> None:
    verdicts, column = over(saying({"b": NO}))
    verdicts.ask(column, [1, 2, 3])
    verdicts.refuse(column, [3], MAYBE)

    assert list(verdicts.table) == [PASSES, PASSES, PASSES, 1]
    assert verdicts.statuses == [Status(Code.UNSCHEDULABLE, ("maybe",), "Plugin")]
    verdicts.refuse_all(column, NO)
    assert list(verdicts.table) == [PASSES, 1, 1, 1]
    assert not verdicts.refresh(column)


def test_candidates_are_counted_by_code() -> None:
    verdicts, column = over(saying({"a": unresolvable("x"), "b": unresolvable("y")}))
    verdicts.ask(column, [1, 2, 3])
    assert dict(verdicts.counted([3, 4])) == {Code.UNSCHEDULABLE_AND_UNRESOLVABLE: 7}

    verdicts, column = over(saying({"a": NO, "b": MAYBE, "c": unresolvable("z")}))
    verdicts.ask(column, [1, 2, 3])
    assert dict(verdicts.counted([1, 2, 4])) == {
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE: 5,
        Code.UNSCHEDULABLE: 2,
    }
    assert dict(over(saying({}))[0].counted([])) == {}


def test_refusals_weigh_more_than_codes() -> None:
    verdicts, column = over(saying({"a": NO}))
    empty = verdicts.nbytes
    verdicts.ask(column, [1, 2, 3])

    assert verdicts.nbytes > empty > 0


def test_what_was_asked_before_is_not_asked_again_when_all_others_are() -> None:
    asked: list[str] = []

    def verdict(node: NodeInfo) -> Status:
        asked.append(node.name)
        return SUCCESS if node.name == "b" else NO

    verdicts, column = over(Batch(verdict))
    verdicts.ask(column, [2])
    verdicts.ask_at_once(column)

    assert asked == ["b", "a", "c"]
    assert list(verdicts.table) == [0, 1, 0, 1]
