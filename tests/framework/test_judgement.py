"""A whole table judged at once says what judging node by node says."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from extender.framework import judgement
from extender.framework.interface import SUCCESS, Code, NodeFilter, Status, success, unresolvable
from extender.framework.judgement import Collapsed, Judgement
from extender.framework.ledger import Evaluation
from extender.framework.memory import Thread
from extender.framework.node_table import NodeTable
from extender.framework.runner import FilterThread
from extender.framework.snapshot import AttributeFacet, NodeInfo
from extender.match.findings import Finding
from tests.builders import node_json, some_nodes

ODD = frozenset({Finding("taint", "integer", "sla", "odd")})
NO = unresolvable("no")
MAYBE = Status(Code.UNSCHEDULABLE, ("maybe",))
BY_NAME = AttributeFacet("name")


class BrokenError(Exception):
    """What a plugin raises in these tests."""


@dataclass
class Question:
    """Says of each node what it is told to."""

    verdicts: Mapping[str, Status | Exception]
    facet: AttributeFacet = BY_NAME
    findings: frozenset[Finding] = frozenset()
    asked: list[str] = field(default_factory=list)

    def filter(self, node: NodeInfo) -> Status:
        self.asked.append(node.name)
        verdict = self.verdicts.get(node.name, SUCCESS)
        if isinstance(verdict, Exception):
            raise verdict
        return verdict


def thread(name: str, **verdicts: Status | Exception) -> FilterThread:
    question = Question(verdicts)
    return name, question, Thread(question)


def table_of(*names: str) -> NodeTable:
    return NodeTable(some_nodes(*map(node_json, names)))


def judged(*threads: FilterThread, names: str = "abc", most: int = 100) -> Judgement | None:
    ticks = itertools.count()
    return judgement.judge(threads, table_of(*names), most=most, clock=lambda: float(next(ticks)))


def said(result: Judgement | None) -> list[tuple[str, tuple[str, ...]]]:
    assert result is not None
    statuses = [result.statuses[code] for code in result.codes]
    return [(status.plugin, status.reasons) for status in statuses]


def counted(evaluations: list[Evaluation]) -> list[tuple[str, dict[str, int], float]]:
    return [(e.plugin, {c.value: n for c, n in e.codes.items()}, e.seconds) for e in evaluations]


def test_the_first_refusal_stands() -> None:
    result = judged(thread("First", a=NO), thread("Second", a=MAYBE, b=MAYBE), thread("Third"))

    assert said(result) == [("First", ("no",)), ("Second", ("maybe",)), ("", ())]
    assert result is not None
    assert counted(result.evaluations(result.codes)) == [
        ("First", {"UnschedulableAndUnresolvable": 1, "Success": 2}, 1.0),
        ("Second", {"Unschedulable": 1, "Success": 1}, 1.0),
        ("Third", {"Success": 1}, 1.0),
    ]


def test_who_is_asked_about_nobody_is_not_counted() -> None:
    result = judged(thread("All", a=NO, b=NO, c=NO), thread("Last", a=MAYBE))

    assert result is not None
    assert counted(result.evaluations(result.codes)) == [
        ("All", {"UnschedulableAndUnresolvable": 3}, 1.0)
    ]


def test_only_what_is_among_the_candidates_counts() -> None:
    result = judged(thread("First", a=NO), thread("Second", b=MAYBE))

    assert result is not None
    code = result.codes[1]
    assert result.present(bytes((0, code))) == {code: result.statuses[code]}
    assert counted(result.evaluations(bytes((0, code)))) == [
        ("First", {"Success": 2}, 1.0),
        ("Second", {"Unschedulable": 1, "Success": 1}, 1.0),
    ]


def test_what_the_last_plugin_has_refused() -> None:
    result = judged(thread("First", a=NO), thread("Second", b=MAYBE), thread("Third", c=NO))

    assert result is not None
    first, second, third = result.codes
    assert result.said_last([first, second, third]) == [third]
    assert result.said_last([second, first]) == [second]
    assert result.said_last([first]) == [first]


def test_equal_refusals_are_one_status() -> None:
    result = judged(thread("P", a=unresolvable("x"), b=unresolvable("x"), c=unresolvable("y")))

    assert result is not None
    assert result.codes == b"\1\1\2"


def test_refusals_that_differ_in_anything_that_is_told_are_not_one() -> None:
    result = judged(
        thread("P", a=NO, b=unresolvable("no", brief="n"), c=unresolvable("no", findings=ODD))
    )

    assert result is not None
    assert result.codes == b"\1\2\3"


def test_wordings_tell_judgements_apart() -> None:
    one, same, other, foreign = (
        result.wording
        for plugin, reason in (("P", "x"), ("P", "x"), ("P", "y"), ("Q", "x"))
        if (result := judged(thread(plugin, a=unresolvable(reason)))) is not None
    )

    assert one == same
    assert len({one, other, foreign}) == 3


def test_a_remembered_answer_is_not_asked_for_again() -> None:
    name, question, known = thread("P", a=NO)
    known.answers["b"] = unresolvable("remembered")

    result = judged((name, question, known))

    assert said(result)[1][1] == ("remembered",)
    assert isinstance(question, Question)
    assert question.asked == ["a", "c"]
    assert known.answers["a"].plugin == "P"


def test_too_many_refusals_are_told_apart_by_their_brief_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judgement, "MAX_STATUSES", 4)
    refusals = {
        "a": unresolvable("x: 1", brief="x"),
        "b": unresolvable("x: 2", brief="x"),
        "c": unresolvable("y: 1", brief="y"),
        "d": NO,
    }

    result = judged(thread("P", **refusals), names="abcde")

    assert result is not None
    assert result.codes == b"\1\1\2\3\0"
    assert result.collapsed == Collapsed(b"\1\2", (1, 1, 1))
    assert counted(result.evaluations(result.codes))[0][1] == {
        "UnschedulableAndUnresolvable": 4,
        "Success": 1,
    }
    assert judged(thread("P", **refusals), names="abe").collapsed is None  # type: ignore[union-attr]


def test_who_noticed_something_is_never_collapsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judgement, "MAX_STATUSES", 2)
    refusals = {
        "a": unresolvable("x: 1", brief="x", findings=ODD),
        "b": unresolvable("x: 2", brief="x"),
    }

    assert judged(thread("P", **refusals)) is None


def test_how_many_full_reasons_codes_stand_for_at_least() -> None:
    collapsed = Collapsed(b"\1\2", (3, 2, 1))

    assert collapsed.has_more_than(1, b"\1\1\2\2\0\3")
    assert not collapsed.has_more_than(1, b"\1\1\2\0\3\3")
    assert not collapsed.has_more_than(9, b"\1\1\1\1\2\2")


def test_what_is_more_than_a_byte_a_row_is_left_to_others() -> None:
    every = {f"n{i}": unresolvable(str(i)) for i in range(256)}
    name, question, known = thread("P", **every)

    assert judgement.judge([(name, question, known)], table_of(*every), most=999, clock=float) is (
        None
    )
    assert judged(thread("P", a=success(ODD))) is None
    assert judged(thread("P", a=Status(Code.ERROR, ("broken",)))) is None
    assert judged(thread("P", b=BrokenError())) is None


def test_too_many_keys_are_not_asked_about() -> None:
    asking = thread("P")

    assert judged(asking, most=3) is None
    assert isinstance(asking[1], Question)
    assert asking[1].asked == []
    assert judged(asking, most=4) is not None


def test_a_pod_that_is_refused_itself() -> None:
    result = judgement.settled(NO, table_of("a", "b"))

    assert said(result) == [("", ("no",))] * 2
    assert result.evaluations(result.codes) == []


@dataclass
class Batch(Question):
    """Can be asked about all nodes at once, for as long as it has the budget."""

    affords: bool = True
    batches: list[list[str]] = field(default_factory=list)

    def filter_all(self, nodes: Sequence[NodeInfo]) -> Sequence[Status] | None:
        if not self.affords:
            return None
        self.batches.append([node.name for node in nodes])
        return [*map(super().filter, nodes)]


def test_a_plugin_that_can_is_asked_about_all_unknown_keys_at_once() -> None:
    question = Batch({"a": NO, "c": MAYBE})
    known: Thread[NodeFilter, Status] = Thread(question)
    result = judged(("Batch", question, known), names="ab")
    again = judged(("Batch", question, known), names="abcd")

    assert said(result) == [("Batch", ("no",)), ("", ())]
    assert said(again) == [("Batch", ("no",)), ("", ()), ("Batch", ("maybe",)), ("", ())]
    assert question.batches == [["a", "b"], ["c", "d"]]


def test_without_the_effort_for_all_it_is_asked_one_by_one_as_far_as_it_goes() -> None:
    question = Batch({"a": NO, "c": BrokenError()}, affords=False)
    known: Thread[NodeFilter, Status] = Thread(question)

    assert judged(("Batch", question, known), names="abcd") is None
    assert question.batches == []
    assert known.answers == {"a": NO.signed("Batch"), "b": SUCCESS}

    question.verdicts = {}
    assert said(judged(("Batch", question, known), names="abcd"))[0] == ("Batch", ("no",))
    assert question.asked == ["a", "b", "c", "c", "d"]


def test_a_finding_on_a_node_of_a_batch_that_passes_is_left_to_others() -> None:
    question = Batch({"b": success(ODD)})

    assert judged(("Batch", question, Thread(question))) is None
