"""The machine: what plugins say comes out signed, counted, and as it would without a memory."""

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import pytest

from extender import plugins
from extender.framework.columns.node_table import NodeTable
from extender.framework.interface import (
    SKIP,
    SUCCESS,
    Code,
    ExtensionPoint,
    NodeFilter,
    Profile,
    Score,
    Settings,
    Status,
    unresolvable,
)
from extender.framework.results import FilterResult, ScoreResult
from extender.framework.runner import Runner
from extender.framework.snapshot import AttributeFacet, LabelFacet, NodeInfo, Snapshot
from extender.framework.stats import Evaluation
from extender.match.lru import CacheBudget
from extender.model.core_v1 import Pod
from tests import builders
from tests.builders import (
    a_pod,
    node_json,
    preferred,
    refused,
    required,
    requirement,
    some_nodes,
    taint,
    toleration,
)
from tests.framework.fakes import (
    ALIKE,
    BAD,
    BY_NAME,
    HIGH,
    LOW,
    MAYBE,
    NO,
    NODES,
    BrokenError,
    BrokenFacet,
    FacetlessQuestion,
    Filter,
    Preference,
    Question,
    Scorer,
    ShortFacet,
    counted,
    normalizes_nothing,
    raises,
    saying,
    scores_nothing,
    scoring,
)


def ticking() -> Callable[[], float]:
    ticks = itertools.count()
    return lambda: float(next(ticks))


def filtered(
    *filters: Filter, nodes: Sequence[NodeInfo] = NODES, pod: Pod | None = None
) -> FilterResult:
    profile = Profile("test", filters, ())
    return builders.filtered(profile, pod or a_pod(), nodes)


def scored(*scorers: tuple[Scorer, int], nodes: Sequence[NodeInfo] = NODES) -> ScoreResult:
    profile = Profile("test", (), scorers)
    return builders.scored(profile, a_pod(), nodes)


# --- filter


def test_without_plugins_every_node_passes() -> None:
    result = filtered()

    assert result.statuses() == [SUCCESS] * 3
    assert result.settled is None
    assert result.stats.evaluations == []


def test_the_first_refusal_of_a_node_stands() -> None:
    first = saying({"a": NO})
    second = saying({"a": unresolvable("never asked"), "b": MAYBE})

    result = filtered(Filter("First", first), Filter("Second", second))

    assert result.statuses() == [
        refused("no", plugin="First"),
        Status(Code.UNSCHEDULABLE, ("maybe",), "Second"),
        SUCCESS,
    ]
    assert (first.asked, second.asked) == (["a", "b", "c"], ["b", "c"])


def test_a_plugin_counts_only_the_nodes_that_reached_it() -> None:
    result = filtered(
        Filter("First", saying({"a": NO})),
        Filter("Aside", SKIP),
        Filter("Second", saying({"b": MAYBE})),
        Filter("Third", saying({})),
    )

    assert counted(result.stats) == [
        ("First", "PreFilter", {"Success": 1}),
        ("Aside", "PreFilter", {"Skip": 1}),
        ("Second", "PreFilter", {"Success": 1}),
        ("Third", "PreFilter", {"Success": 1}),
        ("First", "Filter", {"UnschedulableAndUnresolvable": 1, "Success": 2}),
        ("Second", "Filter", {"Unschedulable": 1, "Success": 1}),
        ("Third", "Filter", {"Success": 1}),
    ]


def test_when_none_is_left_the_rest_is_asked_of_none() -> None:
    last = saying({})
    result = filtered(Filter("All", saying(dict.fromkeys("abc", NO))), Filter("Last", last))

    assert result.statuses() == [refused("no", plugin="All")] * 3
    assert last.asked == []
    assert counted(result.stats)[-1][0] == "All"


def test_a_plugin_that_refuses_nobody_leaves_no_trace_in_the_statuses() -> None:
    assert filtered(Filter("Kind", saying({}))).statuses() == [SUCCESS] * 3


def test_no_candidates() -> None:
    result = filtered(Filter("Any", saying({})), nodes=[])

    assert result.statuses() == []
    assert counted(result.stats) == [("Any", "PreFilter", {"Success": 1})]


@pytest.mark.parametrize("code", [Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE])
def test_a_refusal_of_the_pod_settles_every_node(code: Code) -> None:
    before, after = saying({"a": NO}), Filter("After", saying({}))

    result = filtered(Filter("Before", before), Filter("Settles", Status(code, ("bad",))), after)

    assert result.statuses() == [Status(code, ("bad",), "Settles")] * 3
    assert result.settled == Status(code, ("bad",), "Settles")
    assert before.asked == []
    assert after.parsed == []
    assert counted(result.stats) == [
        ("Before", "PreFilter", {"Success": 1}),
        ("Settles", "PreFilter", {code.value: 1}),
    ]


def test_the_pod_is_settled_without_candidates_too() -> None:
    result = filtered(Filter("Settles", NO), nodes=[])

    assert result.statuses() == []
    assert result.settled == refused("no", plugin="Settles")


def test_a_plugin_that_skips_is_not_asked() -> None:
    result = filtered(Filter("Aside", SKIP), Filter("Next", saying({"b": NO})))

    assert [status.code for status in result.statuses()] == [
        Code.SUCCESS,
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
        Code.SUCCESS,
    ]


def test_nodes_that_share_a_key_are_asked_once() -> None:
    question = Question(lambda _: NO, facet=ALIKE)

    result = filtered(Filter("Alike", question))

    assert len(question.asked) == 1
    assert result.statuses() == [refused("no", plugin="Alike")] * 3
    assert counted(result.stats)[-1] == ("Alike", "Filter", {"UnschedulableAndUnresolvable": 3})


@pytest.mark.parametrize("count", [1, 2, 50])
def test_findings_do_not_depend_on_how_many_nodes_share_a_key(count: int) -> None:
    nodes = some_nodes(*(node_json(str(i)) for i in range(count)))
    passing = Question(lambda _: Status(Code.SUCCESS, findings=frozenset({HIGH})), ALIKE)
    refusing = Question(lambda _: unresolvable("no", findings=frozenset({LOW})), ALIKE)
    passing.findings = frozenset({BAD})

    result = filtered(Filter("Passing", passing), Filter("Refusing", refusing), nodes=nodes)

    assert result.stats.findings == {HIGH, LOW, BAD}
    assert {status.findings for status in result.statuses()} == {frozenset({LOW})}


def test_the_findings_of_a_refused_pod_are_kept() -> None:
    status = unresolvable("no", findings=frozenset({BAD}))

    assert filtered(Filter("Settles", status)).stats.findings == {BAD}


def test_a_signed_status_keeps_what_is_not_compared() -> None:
    told = unresolvable("long", brief="short", findings=frozenset({HIGH}))
    status = filtered(Filter("Telling", saying({"a": told}))).statuses()[0]

    assert status == refused("long", plugin="Telling")
    assert (status.brief, status.findings) == (("short",), frozenset({HIGH}))


BROKEN = "internal fault (BrokenError)"


def test_a_fault_in_pre_filter_settles_every_node_as_an_error() -> None:
    result = filtered(Filter("Fine", saying({"a": NO})), Filter("Broken", raises))

    assert result.statuses() == [Status(Code.ERROR, (BROKEN,), "Broken")] * 3
    assert result.settled == Status(Code.ERROR, (BROKEN,), "Broken")
    assert [type(fault) for fault in result.stats.faults] == [BrokenError]
    assert counted(result.stats)[-1] == ("Broken", "PreFilter", {"Error": 1})


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        pytest.param(Question(raises, ALIKE), BrokenError, id="in filter"),
        pytest.param(FacetlessQuestion(lambda _: SUCCESS), BrokenError, id="in facet"),
        pytest.param(Question(lambda _: SUCCESS, BrokenFacet()), BrokenError, id="in its column"),
        pytest.param(Question(lambda _: SUCCESS, ShortFacet()), ValueError, id="a short column"),
    ],
)
def test_a_fault_while_judging_is_an_error_for_the_nodes_that_reached_it(
    question: NodeFilter, fault: type[Exception]
) -> None:
    last = saying({})
    result = filtered(
        Filter("Fine", saying({"a": NO})), Filter("Broken", question), Filter("Last", last)
    )

    error = Status(Code.ERROR, (f"internal fault ({fault.__name__})",), "Broken")
    assert result.statuses() == [refused("no", plugin="Fine"), error, error]
    assert result.settled is None
    assert [type(kept) for kept in result.stats.faults] == [fault]
    assert last.asked == []
    assert counted(result.stats)[-1] == ("Broken", "Filter", {"Error": 2})


def test_a_fault_over_one_node_is_one_over_all_that_reached_the_plugin() -> None:
    question = Question(lambda node: raises() if node.name == "c" else SUCCESS)

    result = filtered(Filter("First", saying({"b": NO})), Filter("Broken", question))

    error = Status(Code.ERROR, (BROKEN,), "Broken")
    assert result.statuses() == [error, refused("no", plugin="First"), error]
    assert len(result.stats.faults) == 1
    assert counted(result.stats)[-1] == ("Broken", "Filter", {"Error": 2})


def test_the_particulars_of_a_fault_are_for_the_log_alone() -> None:
    result = filtered(Filter("Broken", Question(raises)))

    assert "particulars" not in str(result.statuses())
    assert str(result.stats.faults[0]) == "with particulars"
    assert result.stats.faults[0].__traceback__ is not None


def test_the_clock_is_asked_and_nothing_else_is() -> None:
    profile = Profile("test", (Filter("A", saying({})), Filter("Aside", SKIP)), ())

    table = NodeTable(NODES)
    runner = Runner(clock=ticking())
    result = runner.filter(profile, a_pod(), Snapshot(), table, table.candidates())

    assert result.stats.evaluations == [
        Evaluation("A", ExtensionPoint.PRE_FILTER, {Code.SUCCESS: 1}, 1.0),
        Evaluation("Aside", ExtensionPoint.PRE_FILTER, {Code.SKIP: 1}, 1.0),
        # Once while its column is made, once while it is asked.
        Evaluation("A", ExtensionPoint.FILTER, {Code.SUCCESS: 3}, 2.0),
    ]


# --- score


def test_without_scorers_every_node_has_zero() -> None:
    assert scored().scores() == [0, 0, 0]


@pytest.mark.parametrize(
    ("normalised", "expected"),
    [
        pytest.param((0, 100), (0, 10), id="the ends of the scale"),
        pytest.param((4, 5), (0, 1), id="half is rounded up"),
        pytest.param((14, 15), (1, 2), id="to an even number"),
        pytest.param((24, 25), (2, 3), id="and to an odd one"),
        pytest.param((94, 95), (9, 10), id="up to the highest"),
        pytest.param((33, 67), (3, 7), id="thirds"),
    ],
)
def test_scores_are_scaled_and_rounded_half_up(
    normalised: tuple[int, int], expected: tuple[int, int]
) -> None:
    a, b = normalised

    result = scored((Scorer("Only", scoring({"a": a, "b": b})), 3), nodes=NODES[:2])

    assert tuple(result.scores()) == expected


def test_the_weighted_mean_agrees_with_exact_fractions() -> None:
    values = (0, 1, 4, 5, 13, 49, 50, 51, 86, 99, 100)
    nodes = some_nodes(*(node_json(f"{x}-{y}") for x in values for y in values))

    def left(node: NodeInfo) -> int:
        return int(node.name.split("-")[0])

    def right(node: NodeInfo) -> int:
        return int(node.name.split("-")[1])

    for weight, other in ((3, 2), (1, 1), (7, 100), (2, 1)):
        result = scored(
            (Scorer("Left", Preference(lambda node: Score(left(node)))), weight),
            (Scorer("Right", Preference(lambda node: Score(right(node)))), other),
            nodes=nodes,
        )
        for node, score in zip(nodes, result.scores(), strict=True):
            mean = Fraction(weight * left(node) + other * right(node), weight + other)
            assert score == math.floor(mean / 10 + Fraction(1, 2)), (node.name, weight, other)


def test_normalize_sees_each_score_of_the_candidates_once() -> None:
    nodes = some_nodes(*(node_json(name) for name in "abcd"))
    seen: list[Sequence[int]] = []

    def halved(scores: Sequence[int]) -> Sequence[int]:
        seen.append(sorted(scores))
        return [score // 2 for score in scores]

    preference = scoring({"a": 40, "b": 80, "c": 200, "d": 80})
    preference.normalizer = halved

    assert scored((Scorer("Halves", preference), 1), nodes=nodes).scores() == [2, 4, 10, 4]
    assert seen == [[40, 80, 200]]


LOUD = Scorer("Loud", scoring({"a": 0, "b": 50, "c": 100}))


@pytest.mark.parametrize(
    "silent",
    [
        pytest.param(Scorer("Silent", SKIP), id="a plugin that skips"),
        pytest.param(
            Scorer("Silent", scoring(dict.fromkeys("abc", 100))), id="a plugin of equal scores"
        ),
        pytest.param(Scorer("Silent", Status(Code.ERROR, ("?",))), id="a plugin that says error"),
        pytest.param(Scorer("Silent", raises), id="a fault in pre_score"),
        pytest.param(Scorer("Silent", Preference(scores_nothing)), id="a fault in score"),
        pytest.param(
            Scorer(
                "Silent", Preference(lambda _: Score(1), BY_NAME, normalizer=normalizes_nothing)
            ),
            id="a fault in normalize",
        ),
        pytest.param(
            Scorer(
                "Silent",
                Preference(lambda node: Score(ord(node.name)), normalizer=lambda _: [1, 2, 3, 4]),
            ),
            id="a score too many out of normalize",
        ),
        pytest.param(
            Scorer("Silent", Preference(lambda _: Score(1), BrokenFacet())), id="a fault in facet"
        ),
        pytest.param(
            Scorer("Silent", Preference(lambda _: Score(1), ShortFacet())), id="a short column"
        ),
    ],
)
def test_a_silent_plugin_does_not_count(silent: Scorer) -> None:
    assert scored((LOUD, 1), (silent, 100)).scores() == [0, 5, 10]
    assert scored((silent, 100), (LOUD, 1)).scores() == [0, 5, 10]
    assert scored((silent, 100)).scores() == [0, 0, 0]


def test_a_plugin_may_be_silent_for_some_candidates_and_not_for_others() -> None:
    two_alike = Scorer("Two", scoring({"a": 70, "b": 70, "c": 0}))

    assert scored((two_alike, 1)).scores() == [7, 7, 0]
    assert scored((two_alike, 1), nodes=NODES[:2]).scores() == [0, 0]


@pytest.mark.parametrize("broken", [True, False])
def test_faults_while_scoring_are_kept_and_counted(broken: bool) -> None:
    faulty = Scorer("Faulty", raises if broken else Preference(scores_nothing))

    stats = scored((LOUD, 1), (faulty, 1)).stats

    assert [(type(fault), str(fault)) for fault in stats.faults] == [
        (BrokenError, "with particulars")
    ]
    assert counted(stats) == [
        ("Loud", "Score", {"Success": 3}),
        ("Faulty", "Score", {"Error": 1 if broken else 3}),
    ]


def test_a_rule_that_cannot_be_read_makes_no_node_better() -> None:
    never = scoring({"a": 0, "b": 0, "c": 100})

    result = scored((LOUD, 1), (Scorer("Unread", NO), 1), (Scorer("Never", never), 1))

    assert result.scores() == [0, 0, 0]
    assert never.asked == []
    assert counted(result.stats)[-1] == ("Unread", "Score", {"UnschedulableAndUnresolvable": 1})


def test_a_scorer_asks_once_for_nodes_that_share_a_key() -> None:
    preference = Preference(
        lambda node: Score(len(node.name), frozenset({HIGH})), ALIKE, frozenset({BAD})
    )

    result = scored((Scorer("Alike", preference), 1))

    assert len(preference.asked) == 1
    assert result.stats.findings == {HIGH, BAD}
    assert counted(result.stats) == [("Alike", "Score", {"Success": 3})]


def test_the_clock_is_asked_while_scoring() -> None:
    profile = Profile("test", (), ((LOUD, 1), (Scorer("Aside", SKIP), 1)))

    table = NodeTable(NODES)
    runner = Runner(clock=ticking())
    result = runner.score(profile, a_pod(), Snapshot(), table, table.candidates())

    assert result.stats.evaluations == [
        Evaluation("Loud", ExtensionPoint.SCORE, {Code.SUCCESS: 3}, 1.0),
        Evaluation("Aside", ExtensionPoint.SCORE, {Code.SKIP: 1}, 1.0),
    ]


def test_scoring_no_candidates() -> None:
    assert scored((LOUD, 1), nodes=[]).scores() == []


# --- explain


def explained(*filters: Filter, node: NodeInfo = NODES[0]) -> list[Status]:
    profile = Profile("test", filters, ())
    return Runner(clock=lambda: 0.0).explain(profile, a_pod(), Snapshot(), node)


def test_explain_does_not_stop_at_the_first_refusal() -> None:
    assert explained(
        Filter("Refuses", saying({"a": NO})),
        Filter("Aside", SKIP),
        Filter("Passes", saying({})),
        Filter("Settles", unresolvable("bad")),
        Filter("Broken", raises),
        Filter("Breaks", Question(raises)),
        Filter("Maybe", saying({"a": MAYBE})),
    ) == [
        refused("no", plugin="Refuses"),
        Status(Code.SKIP, plugin="Aside"),
        Status(Code.SUCCESS, plugin="Passes"),
        refused("bad", plugin="Settles"),
        Status(Code.ERROR, (BROKEN,), "Broken"),
        Status(Code.ERROR, (BROKEN,), "Breaks"),
        Status(Code.UNSCHEDULABLE, ("maybe",), "Maybe"),
    ]


SLA = taint("sla", "950")
CLUSTER = some_nodes(
    node_json("plain"),
    node_json("spot", SLA, labels={"disk": "ssd"}),
    node_json("cordoned", SLA, unschedulable=True),
    node_json("soft", taint("sla", "990", "PreferNoSchedule"), labels={"disk": "ssd"}),
    node_json("gpu", taint("gpu", "", "NoExecute"), labels={"disk": "ssd"}),
)
SSD = required([requirement("disk", "In", "ssd")])


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(a_pod(), id="a pod that asks nothing"),
        pytest.param(a_pod(toleration("sla", "Gt", "900")), id="a pod that tolerates"),
        pytest.param(a_pod(toleration("", "Exists"), affinity=SSD), id="and wants a disk"),
        pytest.param(a_pod(annotated_tolerations="["), id="an annotation that cannot be read"),
        pytest.param(a_pod(annotated_affinity="["), id="an affinity that cannot be read"),
    ],
)
def test_explain_agrees_with_filter(pod: Pod) -> None:
    profile = plugins.profile("test", plugins.DEFAULT_WEIGHTS, Settings())
    result = builders.filtered(profile, pod, CLUSTER)

    for node, status in zip(CLUSTER, result.statuses(), strict=True):
        told = Runner(clock=lambda: 0.0).explain(profile, pod, Snapshot(), node)
        refusals = [s for s in told if s.code not in (Code.SUCCESS, Code.SKIP)]
        if result.settled is not None:
            assert result.settled in refusals
        else:
            assert status == (refusals[0] if refusals else status)
            assert (status.code is Code.SUCCESS) == (not refusals)


def test_score_over_the_real_plugins() -> None:
    """Taints 100, 100, 100, 0, 100 with weight 3; labels 0, 100, 0, 100, 100 with weight 2."""
    profile = plugins.profile("test", plugins.DEFAULT_WEIGHTS, Settings())
    pod = a_pod(affinity=preferred((10, [requirement("disk", "In", "ssd")])))

    result = builders.scored(profile, pod, CLUSTER)

    assert result.scores() == [6, 10, 6, 4, 10]


# --- what is remembered


@dataclass
class Machine:
    """A runner over a table that lasts."""

    table: NodeTable
    runner: Runner

    def filter(self, *filters: Filter, names: Sequence[str] = "abc") -> list[Status]:
        profile = Profile("test", filters, ())
        found = self.table.find(names)
        return self.runner.filter(profile, a_pod(), Snapshot(), self.table, found).statuses()

    def score(self, *scorers: Scorer, names: Sequence[str] = "abc") -> ScoreResult:
        profile = Profile("test", (), tuple((each, 1) for each in scorers))
        found = self.table.find(names)
        return self.runner.score(profile, a_pod(), Snapshot(), self.table, found)


def a_machine(
    nodes: Sequence[NodeInfo] = NODES, *, lasting: bool = True, budget: CacheBudget | None = None
) -> Machine:
    return Machine(NodeTable(nodes, lasting=lasting), Runner(budget, clock=lambda: 0.0))


def test_a_pod_with_the_same_rules_is_parsed_once_and_its_codes_are_asked_about_once() -> None:
    machine = a_machine()
    question = saying({"b": NO})
    question.findings = frozenset({BAD})
    plugin = Filter("Known", question, signed="rules")
    profile = Profile("test", (plugin,), ())
    for names in ("abc", "cb", "bbb"):
        found = machine.table.find(names)
        result = machine.runner.filter(profile, a_pod(), Snapshot(), machine.table, found)
        no = refused("no", plugin="Known")

        assert result.statuses() == [no if name == "b" else SUCCESS for name in names]
        assert result.stats.findings == {BAD}
    assert (len(plugin.parsed), sorted(question.asked)) == (1, ["a", "b", "c"])


def test_a_node_that_changes_is_asked_about_again_and_no_other_is() -> None:
    nodes = some_nodes(*(node_json(f"n{i}", labels={"tier": str(i % 2)}) for i in range(8)))
    machine = a_machine(nodes)
    tier = LabelFacet("tier")
    question = Question(lambda node: NO if node.labels["tier"] == "9" else SUCCESS, tier)
    plugin = Filter("Known", question, signed="rules")
    names = [node.name for node in nodes]
    machine.filter(plugin, names=names)
    asked = len(question.asked)
    machine.table.put(some_nodes(node_json("n3", labels={"tier": "9"}))[0])

    assert [s.code is Code.SUCCESS for s in machine.filter(plugin, names=names)] == [
        name != "n3" for name in names
    ]
    assert question.asked[asked:] == ["n3"]


def test_a_pod_that_is_refused_as_such_is_remembered_too() -> None:
    machine = a_machine()
    plugin = Filter("Known", unresolvable("bad", findings=frozenset({BAD})), signed="rules")
    for _ in range(2):
        profile = Profile("test", (plugin,), ())
        found = machine.table.find("ab")
        result = machine.runner.filter(profile, a_pod(), Snapshot(), machine.table, found)

        assert result.settled == refused("bad", plugin="Known")
        assert result.stats.findings == {BAD}
    assert len(plugin.parsed) == 1


def test_two_signatures_of_one_plugin_never_meet() -> None:
    machine = a_machine()
    plugin = Filter("Same", saying({"a": NO}), signed="one")
    first = machine.filter(plugin)
    plugin.signed, plugin.outcome = "other", saying({"b": NO})

    assert [s.code is Code.SUCCESS for s in first] == [False, True, True]
    assert [s.code is Code.SUCCESS for s in machine.filter(plugin)] == [True, False, True]
    plugin.signed = "one"
    assert machine.filter(plugin) == first


def test_two_plugins_with_one_signature_never_meet() -> None:
    machine = a_machine()
    one = Filter("Same", saying({"a": NO}), signed="rules")
    other = Filter("Same", saying({"b": NO}), signed="rules")

    for _ in range(2):
        assert [s.code is Code.SUCCESS for s in machine.filter(one)] == [False, True, True]
        assert [s.code is Code.SUCCESS for s in machine.filter(other)] == [True, False, True]


def test_a_plugin_that_is_gone_leaves_nothing_to_one_that_gets_its_place_in_memory() -> None:
    machine = a_machine()
    for name in "abcabcabc":
        plugin = Filter("Same", saying({name: NO}), signed="rules")
        assert [s.code is Code.SUCCESS for s in machine.filter(plugin)] == [
            each != name for each in "abc"
        ]
        del plugin


def test_two_tables_never_meet() -> None:
    runner = Runner(clock=lambda: 0.0)
    plugin = Filter("Same", saying({"a": NO}, facet=AttributeFacet("name")), signed="rules")
    one = Machine(NodeTable(NODES, lasting=True), runner)
    other = Machine(NodeTable(reversed(NODES), lasting=True), runner)

    for machine in (one, other, one, other):
        assert [s.code is Code.SUCCESS for s in machine.filter(plugin)] == [False, True, True]
    assert len(plugin.parsed) == 2


def test_filter_and_score_of_one_plugin_never_meet() -> None:
    @dataclass
    class Both:
        name: ClassVar[str] = "Both"

        def signature(self, _pod: Pod) -> Hashable | None:
            return "rules"

        def pre_filter(self, _pod: Pod, _snapshot: Snapshot) -> NodeFilter | Status:
            return saying({"a": NO})

        def pre_score(self, _pod: Pod, _snapshot: Snapshot) -> Preference | Status:
            return scoring({"a": 0, "b": 50, "c": 100})

    table, runner, plugin = NodeTable(NODES, lasting=True), Runner(clock=lambda: 0.0), Both()
    profile = Profile("test", (plugin,), ((plugin, 1),))
    for _ in range(2):
        found = table.find("abc")
        filtering = runner.filter(profile, a_pod(), Snapshot(), table, found)
        assert [s.code is Code.SUCCESS for s in filtering.statuses()] == [False, True, True]
        scoring_ = runner.score(profile, a_pod(), Snapshot(), table, table.find("abc"))
        assert scoring_.scores() == [0, 5, 10]


def test_nothing_is_remembered_of_a_table_that_is_asked_about_once() -> None:
    budget = CacheBudget()
    machine = a_machine(lasting=False, budget=budget)
    plugin = Filter("Known", saying({"b": NO}), signed="rules")
    scorer = Scorer("Known", scoring({"a": 0, "b": 50, "c": 100}), signed="rules")
    for _ in range(2):
        machine.filter(plugin)
        machine.score(scorer)

    assert (len(plugin.parsed), len(scorer.parsed)) == (2, 2)
    assert budget.bytes == 0


def test_a_question_that_depends_on_the_snapshot_is_not_remembered() -> None:
    machine = a_machine()
    plugin = Filter("Fresh", saying({"b": NO}))
    machine.filter(plugin)
    plugin.outcome = saying({"c": NO})

    assert [s.code is Code.SUCCESS for s in machine.filter(plugin)] == [True, True, False]


def test_a_signature_that_cannot_be_made_is_a_fault_of_the_plugin() -> None:
    class Unsigned(Filter):
        def signature(self, _pod: Pod) -> Hashable | None:
            raise BrokenError("with particulars")

    error = Status(Code.ERROR, (BROKEN,), "Unsigned")
    assert a_machine().filter(Unsigned("Unsigned", saying({}))) == [error] * 3


@pytest.mark.parametrize("max_bytes", [0, 2_000, 5_000, 9_000, 1 << 20])
def test_however_little_may_be_remembered_the_verdicts_are_the_same(max_bytes: int) -> None:
    budget = CacheBudget(max_bytes)
    machine = a_machine(budget=budget)
    filters = [Filter(name, saying({name: NO}), signed=name) for name in "abc"]
    scorers = [
        Scorer(name, scoring(dict.fromkeys("abc", 0) | {name: 100}), signed=name) for name in "abc"
    ]
    for number in (0, 1, 2, 2, 1, 0, 0):
        assert machine.filter(filters[number], filters[number - 1]) == [
            refused("no", plugin=name) if name in ("abc"[number], "abc"[number - 1]) else SUCCESS
            for name in "abc"
        ]
        expected = [10 if name == "abc"[number] else 0 for name in "abc"]
        assert machine.score(scorers[number]).scores() == expected
        # One entry is always let in, if it is within its share.
        assert budget.bytes <= max(max_bytes, 0)


def test_what_is_remembered_weighs_more_the_more_it_says() -> None:
    budget = CacheBudget()
    machine = a_machine(budget=budget)
    plugin = Filter("Known", Question(lambda node: unresolvable(node.name)), signed="rules")
    caches = {cache.name: cache for cache in budget.caches}
    machine.filter(plugin, names="a")
    few = caches["verdicts"].bytes
    for letter in "defghijklmnop":
        machine.table.put(some_nodes(node_json(letter))[0])
    before = caches["columns"].bytes
    machine.filter(plugin, names="abcdefghijklmnop")

    assert caches["verdicts"].bytes > few
    assert caches["columns"].bytes > before
    machine.table.put(some_nodes(node_json("a", labels={"x": "y"}))[0])
    weighed = caches["columns"].bytes
    machine.filter(plugin, names="a")
    assert caches["columns"].bytes == weighed


# --- scores without candidates


def without_candidates(*scorers: Scorer, count: int = 3) -> object:
    machine = a_machine()
    profile = Profile("test", (), tuple((each, 1) for each in scorers))
    stats = machine.runner.score_without_candidates(
        profile, a_pod(), Snapshot(), machine.table, lambda: count
    )
    if stats is not None:
        found = machine.table.find("abc"[:count])
        result = machine.runner.score(profile, a_pod(), Snapshot(), machine.table, found)
        assert result.encoded() == b"[]"
        assert counted(result.stats) == counted(stats)
        assert result.stats.findings == stats.findings
        assert stats.faults == []
    return stats and counted(stats)


def test_a_pod_that_prefers_nothing_needs_no_candidates() -> None:
    flat = scoring(dict.fromkeys("abc", 7))
    flat.findings = frozenset({BAD})

    assert without_candidates() == []
    assert without_candidates(
        Scorer("Aside", SKIP), Scorer("Flat", flat, signed="x"), Scorer("Odd", Status(Code.ERROR))
    ) == [
        ("Aside", "Score", {"Skip": 1}),
        ("Flat", "Score", {"Success": 3}),
        ("Odd", "Score", {"Error": 1}),
    ]
    assert without_candidates(
        Scorer("Flat", flat), Scorer("Unread", NO), Scorer("Loud", LOUD.outcome)
    ) == [
        ("Flat", "Score", {"Success": 3}),
        ("Unread", "Score", {"UnschedulableAndUnresolvable": 1}),
    ]


@pytest.mark.parametrize(
    "preference",
    [
        pytest.param(scoring({"a": 0, "b": 0, "c": 1}), id="it prefers a node"),
        pytest.param(
            Preference(lambda _: Score(1, frozenset({HIGH}))), id="it may have noticed something"
        ),
        pytest.param(Preference(scores_nothing), id="it breaks"),
        pytest.param(raises, id="it breaks while parsing"),
        pytest.param(Preference(lambda _: Score(1), BrokenFacet()), id="its facet breaks"),
    ],
)
def test_a_pod_that_may_prefer_a_node_needs_its_candidates(
    preference: Preference | Callable[[], Status],
) -> None:
    assert without_candidates(Scorer("Loud", preference)) is None
    assert without_candidates(Scorer("Loud", preference), Scorer("Aside", SKIP)) is None


def test_scores_are_remembered_by_code_and_asked_for_where_they_are_needed() -> None:
    machine = a_machine()
    preference = scoring({"a": 0, "b": 50, "c": 100})
    scorer = Scorer("Known", preference, signed="rules")

    assert machine.score(scorer, names="ab").scores() == [0, 5]
    assert preference.asked == ["a", "b"]
    assert machine.score(scorer, names="cab").scores() == [10, 0, 5]
    assert preference.asked == ["a", "b", "c"]
    assert machine.score(scorer, names="bbc").encoded() == b'[{"Host":"c","Score":5}]'


def test_what_a_preference_noticed_is_told_of_candidates_only() -> None:
    machine = a_machine()
    preference = Preference(
        lambda node: Score(ord(node.name), frozenset({HIGH} if node.name == "a" else {LOW}))
    )
    scorer = Scorer("Known", preference, signed="rules")

    assert machine.score(scorer).stats.findings == {HIGH, LOW}
    assert machine.score(scorer, names="bc").stats.findings == {LOW}
    assert machine.score(scorer, names="aa").stats.findings == {HIGH}


def test_a_label_that_no_node_has_any_more_is_not_seen_on_a_node_of_a_while_ago() -> None:
    """What stands for a code may be a node as it once was, when it had the label."""
    runner = Runner(clock=lambda: 0.0)
    profile = plugins.profile("test", {"NodeAffinity": 0}, Settings())
    table = NodeTable(some_nodes(node_json("a", labels={"zone": "x", "disk": "ssd"})), lasting=True)
    by_zone = a_pod(node_selector={"zone": "x"})
    by_disk = a_pod(node_selector={"zone": "x", "disk": "ssd"})

    def passed(pod: Pod) -> int:
        return runner.filter(profile, pod, Snapshot(), table, table.candidates()).passed

    assert (passed(by_zone), passed(by_disk)) == (1, 1)
    (without,) = some_nodes(node_json("a", labels={"zone": "x"}))
    table.put(without)
    assert (passed(by_zone), passed(by_disk)) == (1, 0)
    (again,) = some_nodes(node_json("a", labels={"zone": "x", "disk": "ssd"}))
    table.put(again)
    assert (passed(by_zone), passed(by_disk)) == (1, 1)
