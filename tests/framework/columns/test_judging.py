"""One call's questions: who is asked, whose refusal stands, and whom a broken question meets."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import pytest

from extender.framework.columns import judging
from extender.framework.columns.columns import Column
from extender.framework.columns.judging import FIRST_REFUSAL, UNKNOWN_PLACE, Judging
from extender.framework.columns.node_table import NodeTable
from extender.framework.columns.verdicts import RuleVerdicts
from extender.framework.interface import SUCCESS, Code, NodeFilter, Status, success, unresolvable
from extender.framework.node_info import Facet, NodeInfo
from extender.framework.stats import CallStats
from extender.rows import Candidates
from tests.builders import node_json, refused, some_nodes
from tests.framework.fakes import (
    ALIKE,
    BAD,
    BY_NAME,
    HIGH,
    LOW,
    MAYBE,
    NO,
    BrokenError,
    BrokenFacet,
    Question,
    counted,
    raises,
    saying,
)

NODES = some_nodes(*map(node_json, "abcdefgh"))
BROKEN = Status(Code.ERROR, ("internal fault (BrokenError)",), "Broken")


@dataclass
class Call:
    """One call over a table of eight nodes."""

    table: NodeTable = field(default_factory=lambda: NodeTable(NODES))
    columns: dict[int, Column] = field(default_factory=dict)
    verdicts: list[RuleVerdicts] = field(default_factory=list)
    stats: CallStats = field(default_factory=lambda: CallStats(lambda: 0.0))

    def column(self, facet: Facet) -> Column:
        return self.columns.setdefault(id(facet), Column(facet, self.table))

    def judge(self, names: str, *questions: tuple[str, NodeFilter], narrow: bool = False) -> str:
        self.verdicts = [RuleVerdicts(name, question) for name, question in questions]
        return self.rejudge(names, narrow=narrow)

    def rejudge(self, names: str, *, narrow: bool = False) -> str:
        """The verdicts by name: the first letter of who refuses, `.` passes, `?` is unknown."""
        candidates: Candidates = self.table.find(list(names))
        self.stats = CallStats(lambda: 0.0)
        call = Judging(self.column, candidates, self.stats, self.verdicts)
        call.run()
        call.count()
        if narrow:
            call.narrow()
        self.statuses = [status for each in self.verdicts for status in each.statuses]
        signs = [".", "?", *(status.plugin[0] for status in self.statuses)]
        self.has_asked = call.has_asked
        return "".join(signs[place] for place in candidates.places)


@pytest.fixture
def call() -> Call:
    return Call()


def test_places_begin_with_those_who_pass_and_those_whom_nobody_knows(call: Call) -> None:
    assert call.judge("axb") == ".?."
    assert (UNKNOWN_PLACE, FIRST_REFUSAL) == (1, 2)
    assert call.judge("") == ""
    assert call.judge("xx", ("First", saying({"a": NO}))) == "??"


def test_the_first_refusal_stands(call: Call) -> None:
    first, second = saying({"a": NO, "b": NO}), saying({"b": MAYBE, "c": MAYBE})

    assert call.judge("abcd", ("First", first), ("Second", second)) == "FFS."
    assert call.statuses == [
        refused("no", plugin="First"),
        Status(Code.UNSCHEDULABLE, ("maybe",), "Second"),
    ]
    assert counted(call.stats) == [
        ("First", "Filter", {"UnschedulableAndUnresolvable": 2, "Success": 2}),
        ("Second", "Filter", {"Unschedulable": 1, "Success": 1}),
    ]


def test_a_question_is_asked_only_about_codes_that_reach_it(call: Call) -> None:
    first, second = saying({"a": NO}), saying({})
    call.judge("abxb", ("First", first), ("Second", second))

    assert (first.asked, second.asked) == (["a", "b"], ["b"])
    assert call.has_asked
    call.rejudge("ba")
    assert (first.asked, second.asked) == (["a", "b"], ["b"])
    assert not call.has_asked
    call.rejudge("cb")
    assert (first.asked, second.asked) == (["a", "b", "c"], ["b", "c"])


def test_where_none_is_left_a_plugin_is_not_counted(call: Call) -> None:
    last = saying({})

    assert call.judge("ab", ("First", saying(dict.fromkeys("ab", NO))), ("Last", last)) == "FF"
    assert [name for name, _, _ in counted(call.stats)] == ["First"]
    assert last.asked == []


def test_candidates_that_stand_twice_count_twice(call: Call) -> None:
    assert call.judge("aabx", ("First", saying({"a": NO}))) == "FF.?"
    assert counted(call.stats) == [
        ("First", "Filter", {"UnschedulableAndUnresolvable": 2, "Success": 1})
    ]


@dataclass
class Batch(Question):
    """A question that can be asked about many nodes at once."""

    at_once: list[list[str]] = field(default_factory=list)

    def filter_all(self, nodes: Sequence[NodeInfo]) -> Sequence[Status] | None:
        self.at_once.append([node.name for node in nodes])
        return [self.verdict(node) for node in nodes]


def test_few_codes_are_asked_about_at_once_whoever_the_candidates_are(call: Call) -> None:
    question = Batch(lambda node: NO if node.name == "b" else SUCCESS)

    assert call.judge("ab", ("Batch", question)) == ".B"
    assert question.at_once == [list("abcdefgh")]
    assert call.rejudge("hbc") == ".B."
    assert len(question.at_once) == 1


def test_of_many_codes_only_those_of_candidates_are_asked_about(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "MAX_EAGER", 0)
    question = Batch(lambda node: NO if node.name == "b" else SUCCESS)

    assert call.judge("ab", ("Batch", question)) == ".B"
    assert question.at_once == [["a", "b"]]
    assert call.rejudge("bc") == "B."
    assert question.at_once == [["a", "b"], ["c"]]


@pytest.mark.parametrize("kind", [Question, Batch])
def test_a_code_that_no_candidate_reaches_may_break_a_question(
    call: Call, kind: type[Question]
) -> None:
    first = saying({"b": NO})
    broken = kind(lambda node: raises() if node.name in "bh" else SUCCESS)

    assert call.judge("abc", ("First", first), ("Broken", broken)) == ".F."
    assert call.stats.faults == []


@pytest.mark.parametrize("kind", [Question, Batch])
def test_a_code_that_a_candidate_reaches_breaks_it_for_all_that_reach_it(
    call: Call, kind: type[Question]
) -> None:
    first, last = saying({"b": NO}), saying({"c": NO})
    broken = kind(lambda node: raises() if node.name == "c" else SUCCESS)

    questions = (("First", first), ("Broken", broken), ("Last", last))
    assert call.judge("abcx", *questions) == "BFB?"
    assert call.statuses[-1] == BROKEN
    assert [type(fault) for fault in call.stats.faults] == [BrokenError]
    assert last.asked == []
    assert counted(call.stats) == [
        ("First", "Filter", {"UnschedulableAndUnresolvable": 1, "Success": 2}),
        ("Broken", "Filter", {"Error": 2}),
    ]


def test_what_breaks_in_one_call_may_hold_in_the_next(call: Call) -> None:
    verdicts = RuleVerdicts(
        "Broken", Question(lambda node: raises() if node.name == "c" else SUCCESS)
    )
    found = []
    for names in ("abc", "ab", "c"):
        call.verdicts = [verdicts]
        found.append(call.rejudge(names))

    assert found == ["BBB", "..", "B"]


def test_a_facet_that_breaks_meets_those_who_reach_its_question(call: Call) -> None:
    broken = Question(lambda _: SUCCESS, BrokenFacet())

    assert call.judge("abx", ("First", saying({"a": NO})), ("Broken", broken)) == "FB?"
    assert call.statuses[-1] == BROKEN
    assert [type(fault) for fault in call.stats.faults] == [BrokenError]


def test_findings_are_gathered_from_candidates_that_reached_a_question(call: Call) -> None:
    def said(node: NodeInfo) -> Status:
        return {
            "a": success(frozenset({HIGH})),
            "b": unresolvable("no", findings=frozenset({LOW})),
            "c": unresolvable("other", findings=frozenset({BAD})),
        }.get(node.name, SUCCESS)

    question = Batch(said)
    assert call.judge("d", ("Batch", question)) == "."
    assert call.stats.findings == set()
    call.rejudge("ad")
    assert call.stats.findings == {HIGH}
    call.rejudge("bd")
    assert call.stats.findings == {LOW}
    call.judge("abc", ("First", saying(dict.fromkeys("ac", NO))), ("Batch", question))
    assert call.stats.findings == {LOW}


def test_the_parts_of_one_plugin_are_counted_together(call: Call) -> None:
    one, two = saying({"a": NO}), saying({"b": MAYBE})

    assert call.judge("abc", ("Spread", one), ("Spread", two)) == "SS."
    assert counted(call.stats) == [
        ("Spread", "Filter", {"UnschedulableAndUnresolvable": 1, "Unschedulable": 1, "Success": 1})
    ]


@dataclass
class Choosing(Question):
    """A question that keeps only some of the nodes that pass."""

    kept: Collection[str] = ()
    crowded: bool = True
    domains: int = 2
    chose_among: list[dict[str, int]] = field(default_factory=list)
    held_back: Status = field(
        default_factory=lambda: Status(Code.UNSCHEDULABLE, ("later",), unsettled=True)
    )

    def keeps(self, nodes: Sequence[NodeInfo], counts: Sequence[int]) -> Sequence[bool]:
        among = {node.name: count for node, count in zip(nodes, counts, strict=True)}
        self.chose_among.append(among)
        return [node.name in self.kept for node in nodes]


def passes(_: NodeInfo) -> Status:
    return SUCCESS


def test_among_those_who_pass_a_question_may_choose(call: Call) -> None:
    choosing = Choosing(passes, kept="bc")
    first = saying({"c": NO})

    questions = (("First", first), ("Narrow", choosing))
    assert call.judge("abbcdx", *questions, narrow=True) == "N..FN?"
    assert choosing.chose_among == [{"a": 1, "b": 2, "d": 1}]
    assert call.statuses[-1] == Status(Code.UNSCHEDULABLE, ("later",), "Narrow")
    assert call.statuses[-1].unsettled
    # Who is held back passed: so it is counted.
    assert counted(call.stats)[-1] == ("Narrow", "Filter", {"Success": 4})


def test_who_has_no_need_to_choose_does_not(call: Call) -> None:
    idle, happy = Choosing(passes, crowded=False), Choosing(passes, kept="abc")

    assert call.judge("abc", ("Idle", idle), ("Happy", happy), narrow=True) == "..."
    assert (idle.chose_among, len(happy.chose_among)) == ([], 1)


def test_who_tells_the_fewest_apart_chooses_first(call: Call) -> None:
    hosts = Choosing(passes, kept="a", domains=9)
    zones = Choosing(passes, kept="ab", domains=2)

    assert call.judge("abc", ("Hosts", hosts), ("Zones", zones), narrow=True) == ".HZ"
    assert zones.chose_among == [{"a": 1, "b": 1, "c": 1}]
    assert hosts.chose_among == [{"a": 1, "b": 1}]


def test_a_choice_that_breaks_is_an_error_for_those_who_would_pass(call: Call) -> None:
    class Breaking(Choosing):
        def keeps(self, nodes: Sequence[NodeInfo], counts: Sequence[int]) -> Sequence[bool]:
            raise BrokenError("with particulars")

    questions = (("First", saying({"a": NO})), ("Broken", Breaking(passes)))
    assert call.judge("abc", *questions, narrow=True) == "FBB"
    assert call.statuses[-1] == BROKEN
    assert [type(fault) for fault in call.stats.faults] == [BrokenError]


def test_nodes_that_are_alike_are_held_back_together(call: Call) -> None:
    choosing = Choosing(passes, facet=ALIKE)

    assert call.judge("abc", ("Narrow", choosing), narrow=True) == "NNN"
    assert choosing.chose_among == [{"a": 3}]
    assert call.verdicts[-1].question.filter(NODES[0]) == choosing.held_back
    assert call.verdicts[-1].question.facet != BY_NAME
