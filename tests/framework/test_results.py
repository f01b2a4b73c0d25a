"""What a run came to, as the verbs and the review read it."""

import json

import pytest

from extender.framework.columns.node_table import NodeTable
from extender.framework.interface import SUCCESS, Code, Profile, Status
from extender.framework.results import FilterResult, ScoreResult
from extender.framework.runner import Runner
from extender.framework.snapshot import Snapshot
from tests.builders import a_pod, refused
from tests.framework.fakes import (
    MAYBE,
    NO,
    NODES,
    Filter,
    Question,
    Scorer,
    raises,
    saying,
    scoring,
)

UNSETTLED = Status(Code.UNSCHEDULABLE, ("on its way",), unsettled=True)


def filtered(names: str, *filters: Filter) -> FilterResult:
    table, profile = NodeTable(NODES), Profile("test", filters, ())
    found = table.find(list(names))
    return Runner(clock=lambda: 0.0).filter(profile, a_pod(), Snapshot(), table, found)


def scored(names: str, *scorers: Scorer) -> ScoreResult:
    table, profile = NodeTable(NODES), Profile("test", (), tuple((each, 1) for each in scorers))
    found = table.find(list(names))
    return Runner(clock=lambda: 0.0).score(profile, a_pod(), Snapshot(), table, found)


def test_a_result_counts_who_passes_and_whom_nobody_knows() -> None:
    result = filtered("abxya", Filter("First", saying({"a": NO})))

    assert (result.passed, result.unknown) == (1, 2)
    assert list(result.refusals()) == [(2, refused("no", plugin="First"))]
    assert result.fault() is None
    assert not result.is_unsettled()


def test_only_refusals_that_a_candidate_has_are_told() -> None:
    plugin = Filter("First", saying({"a": NO, "b": MAYBE}))
    result = filtered("bc", plugin)

    assert [status.reasons for _, status in result.refusals()] == [("maybe",)]
    assert result.statuses() == [Status(Code.UNSCHEDULABLE, ("maybe",), "First"), SUCCESS]
    assert filtered("", plugin).statuses() == []


def test_who_refused_a_candidate() -> None:
    filters = (
        Filter("First", saying({"a": NO})),
        Filter("Second", saying({"b": MAYBE})),
        Filter("Third", saying({"a": NO})),
    )

    assert filtered("abc", *filters).refusing() == {"First", "Second"}
    assert filtered("c", *filters).refusing() == frozenset()
    assert filtered("b", *filters).refusing() == {"Second"}


def test_a_pod_that_is_refused_as_such_is_refused_everywhere() -> None:
    result = filtered("abx", Filter("Settles", NO))

    assert result.settled == refused("no", plugin="Settles")
    # Whether the node is known makes no difference then.
    assert (result.passed, result.unknown) == (0, 0)
    assert result.refusing() == {"Settles"}
    assert result.fault() is None


def test_a_fault_counts_if_a_candidate_met_it() -> None:
    first = Filter("First", saying({"c": NO}))
    broken = Filter("Broken", Question(lambda node: raises() if node.name == "c" else SUCCESS))
    error = Status(Code.ERROR, ("internal fault (BrokenError)",), "Broken")

    assert filtered("ac", broken).fault() == error
    assert filtered("ab", broken).fault() is None
    assert filtered("ac", first, broken).fault() is None
    assert filtered("ab", Filter("Broken", raises)).fault() == error


def test_a_fault_that_every_candidate_escaped_is_none() -> None:
    says_error = saying({"a": Status(Code.ERROR, ("?",))})
    table, runner = NodeTable(NODES, lasting=True), Runner(clock=lambda: 0.0)
    profile = Profile("test", (Filter("Odd", says_error, signed="rules"),), ())
    met = runner.filter(profile, a_pod(), Snapshot(), table, table.find("a")).fault()
    escaped = runner.filter(profile, a_pod(), Snapshot(), table, table.find("b"))

    assert (met, escaped.fault()) == (Status(Code.ERROR, ("?",), "Odd"), None)


@pytest.mark.parametrize(("names", "unsettled"), [("ab", True), ("bc", False), ("b", False)])
def test_a_result_is_unsettled_if_a_candidate_waits_for_pods_in_flight(
    names: str, unsettled: bool
) -> None:
    table, runner = NodeTable(NODES, lasting=True), Runner(clock=lambda: 0.0)
    plugin = Filter("Spread", saying({"a": UNSETTLED, "b": NO}), signed="rules")
    profile = Profile("test", (plugin,), ())
    runner.filter(profile, a_pod(), Snapshot(), table, table.find("abc"))
    result = runner.filter(profile, a_pod(), Snapshot(), table, table.find(list(names)))

    assert result.is_unsettled() is unsettled


def test_scores_are_told_of_known_candidates_and_written_above_the_lowest() -> None:
    scorer = Scorer("Loud", scoring({"a": 20, "b": 50, "c": 100}))
    result = scored("cab", scorer)

    assert json.loads(result.encoded()) == [
        {"Host": "c", "Score": 8},
        {"Host": "b", "Score": 3},
    ]
    assert result.scores() == [10, 2, 5]
    assert scored("cxa", scorer).scores() == [10, 2]
    # Upstream counts a host that is left out as 0, and so it does a node that nobody knows.
    assert json.loads(scored("cxa", scorer).encoded()) == [
        {"Host": "c", "Score": 10},
        {"Host": "a", "Score": 2},
    ]


def test_candidates_that_are_equal_are_not_written_at_all() -> None:
    result = scored("abc", Scorer("Flat", scoring(dict.fromkeys("abc", 7))))

    assert result.encoded() == b"[]"
    assert result.scores() == [0, 0, 0]
    assert scored("axx").scores() == [0]


def test_several_preferences_are_added_up() -> None:
    one = Scorer("One", scoring({"a": 0, "b": 100, "c": 0}))
    two = Scorer("Two", scoring({"a": 100, "b": 100, "c": 0}))

    assert scored("abc", one, two).scores() == [5, 10, 0]
