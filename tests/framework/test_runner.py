import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from extender import plugins
from extender.framework import runner
from extender.framework.interface import (
    SKIP,
    SUCCESS,
    Code,
    ExtensionPoint,
    NodeFilter,
    NodeScorer,
    Profile,
    Score,
    Settings,
    Status,
    unresolvable,
)
from extender.framework.ledger import Evaluation, Ledger
from extender.framework.node_info import Facet
from extender.framework.runner import FilterResult, ScoreResult
from extender.framework.snapshot import AttributeFacet, NodeInfo, Snapshot
from extender.match.findings import Finding
from extender.model.core_v1 import Pod
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

NODES = some_nodes(node_json("a"), node_json("b"), node_json("c"))
BY_NAME = AttributeFacet("name")
ALIKE = AttributeFacet("unschedulable")

HIGH = Finding("taint", "integer", "sla", "high")
LOW = Finding("label", "integer", "sla", "low")
BAD = Finding("toleration", "integer", "sla", "bad")

NO = unresolvable("no")
MAYBE = Status(Code.UNSCHEDULABLE, ("maybe",))


class BrokenError(Exception):
    """What a plugin raises in these tests."""


def raises(*_: object) -> Status:
    raise BrokenError("with particulars")


def scores_nothing(_: NodeInfo) -> Score:
    raise BrokenError("with particulars")


def normalizes_nothing(_: Sequence[int]) -> Sequence[int]:
    raise BrokenError("with particulars")


class BrokenFacet:
    """Cannot tell nodes apart."""

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        raise BrokenError("with particulars")


class ShortFacet:
    """Forgets a node."""

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        return [node.name for node in nodes[1:]]


@dataclass
class Question:
    """A question whose answers are given, and which remembers whom it was put to."""

    verdict: Callable[[NodeInfo], Status]
    facet: Facet = BY_NAME
    findings: frozenset[Finding] = frozenset()
    asked: list[str] = field(default_factory=list)

    def filter(self, node: NodeInfo) -> Status:
        self.asked.append(node.name)
        return self.verdict(node)


class FacetlessQuestion(Question):
    """Breaks before it is asked."""

    @property
    def facet(self) -> Facet:
        raise BrokenError("with particulars")

    @facet.setter
    def facet(self, _: Facet) -> None:
        pass


@dataclass
class Filter:
    """A filter plugin that answers what it is told to."""

    name: str
    outcome: NodeFilter | Status | Callable[[], Status]
    parsed: list[Pod] = field(default_factory=list)

    def rules(self, _pod: Pod) -> None:
        return None

    def pre_filter(self, pod: Pod, _snapshot: Snapshot) -> NodeFilter | Status:
        self.parsed.append(pod)
        return self.outcome() if callable(self.outcome) else self.outcome


@dataclass
class Preference:
    """A scorer whose scores are given."""

    scores: Callable[[NodeInfo], Score]
    facet: Facet = BY_NAME
    findings: frozenset[Finding] = frozenset()
    normalizer: Callable[[Sequence[int]], Sequence[int]] = list
    asked: list[str] = field(default_factory=list)

    def score(self, node: NodeInfo) -> Score:
        self.asked.append(node.name)
        return self.scores(node)

    def normalize(self, scores: Sequence[int]) -> Sequence[int]:
        return self.normalizer(scores)


@dataclass
class Scorer:
    """A score plugin that answers what it is told to."""

    name: str
    outcome: NodeScorer | Status | Callable[[], Status]

    def rules(self, _pod: Pod) -> None:
        return None

    def pre_score(self, _pod: Pod, _snapshot: Snapshot) -> NodeScorer | Status:
        return self.outcome() if callable(self.outcome) else self.outcome


def saying(verdicts: Mapping[str, Status], facet: Facet = BY_NAME) -> Question:
    return Question(lambda node: verdicts.get(node.name, SUCCESS), facet)


def scoring(scores: Mapping[str, int], facet: Facet = BY_NAME) -> Preference:
    return Preference(lambda node: Score(scores[node.name]), facet)


def ticking() -> Callable[[], float]:
    ticks = itertools.count()
    return lambda: float(next(ticks))


def filtered(
    *filters: Filter, nodes: Sequence[NodeInfo] = NODES, pod: Pod | None = None
) -> FilterResult:
    profile = Profile("test", filters, ())
    return runner.run_filter(profile, pod or a_pod(), Snapshot(), nodes, clock=lambda: 0.0)


def scored(*scorers: tuple[Scorer, int], nodes: Sequence[NodeInfo] = NODES) -> ScoreResult:
    profile = Profile("test", (), scorers)
    return runner.run_score(profile, a_pod(), Snapshot(), nodes, clock=lambda: 0.0)


def counted(ledger: Ledger) -> list[tuple[str, str, dict[str, int]]]:
    return [
        (e.plugin, e.extension_point.value, {code.value: n for code, n in e.codes.items()})
        for e in ledger.evaluations
    ]


# --- filter


def test_without_plugins_every_node_passes() -> None:
    result = filtered()

    assert result.statuses == [SUCCESS] * 3
    assert result.settled is None
    assert result.ledger.evaluations == []


def test_the_first_refusal_of_a_node_stands() -> None:
    first = saying({"a": NO})
    second = saying({"a": unresolvable("never asked"), "b": MAYBE})

    result = filtered(Filter("First", first), Filter("Second", second))

    assert result.statuses == [
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

    assert counted(result.ledger) == [
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

    assert result.statuses == [refused("no", plugin="All")] * 3
    assert last.asked == []
    assert counted(result.ledger)[-1][0] == "All"


def test_a_plugin_that_refuses_nobody_leaves_no_trace_in_the_statuses() -> None:
    assert filtered(Filter("Kind", saying({}))).statuses == [SUCCESS] * 3


def test_no_candidates() -> None:
    result = filtered(Filter("Any", saying({})), nodes=[])

    assert result.statuses == []
    assert counted(result.ledger) == [("Any", "PreFilter", {"Success": 1})]


@pytest.mark.parametrize("code", [Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE])
def test_a_refusal_of_the_pod_settles_every_node(code: Code) -> None:
    before, after = saying({"a": NO}), Filter("After", saying({}))

    result = filtered(Filter("Before", before), Filter("Settles", Status(code, ("bad",))), after)

    assert result.statuses == [Status(code, ("bad",), "Settles")] * 3
    assert result.settled == Status(code, ("bad",), "Settles")
    assert before.asked == []
    assert after.parsed == []
    assert counted(result.ledger) == [
        ("Before", "PreFilter", {"Success": 1}),
        ("Settles", "PreFilter", {code.value: 1}),
    ]


def test_the_pod_is_settled_without_candidates_too() -> None:
    result = filtered(Filter("Settles", NO), nodes=[])

    assert result.statuses == []
    assert result.settled == refused("no", plugin="Settles")


def test_a_plugin_that_skips_is_not_asked() -> None:
    result = filtered(Filter("Aside", SKIP), Filter("Next", saying({"b": NO})))

    assert [status.code for status in result.statuses] == [
        Code.SUCCESS,
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
        Code.SUCCESS,
    ]


def test_nodes_that_share_a_key_are_asked_once() -> None:
    question = Question(lambda _: NO, facet=ALIKE)

    result = filtered(Filter("Alike", question))

    assert len(question.asked) == 1
    assert result.statuses == [refused("no", plugin="Alike")] * 3
    assert result.statuses[0] is result.statuses[1] is result.statuses[2]
    assert counted(result.ledger)[-1] == ("Alike", "Filter", {"UnschedulableAndUnresolvable": 3})


@pytest.mark.parametrize("count", [1, 2, 50])
def test_findings_do_not_depend_on_how_many_nodes_share_a_key(count: int) -> None:
    nodes = some_nodes(*(node_json(str(i)) for i in range(count)))
    passing = Question(lambda _: Status(Code.SUCCESS, findings=frozenset({HIGH})), ALIKE)
    refusing = Question(lambda _: unresolvable("no", findings=frozenset({LOW})), ALIKE)
    passing.findings = frozenset({BAD})

    result = filtered(Filter("Passing", passing), Filter("Refusing", refusing), nodes=nodes)

    assert result.ledger.findings == {HIGH, LOW, BAD}
    assert {status.findings for status in result.statuses} == {frozenset({LOW})}


def test_the_findings_of_a_refused_pod_are_kept() -> None:
    status = unresolvable("no", findings=frozenset({BAD}))

    assert filtered(Filter("Settles", status)).ledger.findings == {BAD}


def test_a_signed_status_keeps_what_is_not_compared() -> None:
    told = unresolvable("long", brief="short", findings=frozenset({HIGH}), detail="a taint")
    status = filtered(Filter("Telling", saying({"a": told}))).statuses[0]

    assert status == refused("long", plugin="Telling")
    assert (status.brief, status.findings, status.detail) == (
        ("short",),
        frozenset({HIGH}),
        "a taint",
    )


BROKEN = "internal fault (BrokenError)"


def test_a_fault_in_pre_filter_settles_every_node_as_an_error() -> None:
    result = filtered(Filter("Fine", saying({"a": NO})), Filter("Broken", raises))

    assert result.statuses == [Status(Code.ERROR, (BROKEN,), "Broken")] * 3
    assert result.settled == Status(Code.ERROR, (BROKEN,), "Broken")
    assert [type(fault) for fault in result.ledger.faults] == [BrokenError]
    assert counted(result.ledger)[-1] == ("Broken", "PreFilter", {"Error": 1})


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
    assert result.statuses == [refused("no", plugin="Fine"), error, error]
    assert result.settled is None
    assert [type(kept) for kept in result.ledger.faults] == [fault]
    assert last.asked == []
    assert counted(result.ledger)[-1] == ("Broken", "Filter", {"Error": 2})


def test_a_fault_over_one_node_is_one_over_all_that_reached_the_plugin() -> None:
    question = Question(lambda node: raises() if node.name == "c" else SUCCESS)

    result = filtered(Filter("First", saying({"b": NO})), Filter("Broken", question))

    error = Status(Code.ERROR, (BROKEN,), "Broken")
    assert result.statuses == [error, refused("no", plugin="First"), error]
    assert len(result.ledger.faults) == 1
    assert counted(result.ledger)[-1] == ("Broken", "Filter", {"Error": 2})


def test_the_particulars_of_a_fault_are_for_the_log_alone() -> None:
    result = filtered(Filter("Broken", Question(raises)))

    assert "particulars" not in str(result.statuses)
    assert str(result.ledger.faults[0]) == "with particulars"
    assert result.ledger.faults[0].__traceback__ is not None


def test_the_clock_is_asked_and_nothing_else_is() -> None:
    profile = Profile("test", (Filter("A", saying({})), Filter("Aside", SKIP)), ())

    result = runner.run_filter(profile, a_pod(), Snapshot(), NODES, clock=ticking())

    assert result.ledger.evaluations == [
        Evaluation("A", ExtensionPoint.PRE_FILTER, {Code.SUCCESS: 1}, 1.0),
        Evaluation("Aside", ExtensionPoint.PRE_FILTER, {Code.SKIP: 1}, 1.0),
        Evaluation("A", ExtensionPoint.FILTER, {Code.SUCCESS: 3}, 1.0),
    ]


# --- score


def test_without_scorers_every_node_has_zero() -> None:
    assert scored().scores == [0, 0, 0]


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

    assert tuple(result.scores) == expected


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
        for node, score in zip(nodes, result.scores, strict=True):
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

    assert scored((Scorer("Halves", preference), 1), nodes=nodes).scores == [2, 4, 10, 4]
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
    assert scored((LOUD, 1), (silent, 100)).scores == [0, 5, 10]
    assert scored((silent, 100), (LOUD, 1)).scores == [0, 5, 10]
    assert scored((silent, 100)).scores == [0, 0, 0]


def test_a_plugin_may_be_silent_for_some_candidates_and_not_for_others() -> None:
    two_alike = Scorer("Two", scoring({"a": 70, "b": 70, "c": 0}))

    assert scored((two_alike, 1)).scores == [7, 7, 0]
    assert scored((two_alike, 1), nodes=NODES[:2]).scores == [0, 0]


@pytest.mark.parametrize("broken", [True, False])
def test_faults_while_scoring_are_kept_and_counted(broken: bool) -> None:
    faulty = Scorer("Faulty", raises if broken else Preference(scores_nothing))

    ledger = scored((LOUD, 1), (faulty, 1)).ledger

    assert [(type(fault), str(fault)) for fault in ledger.faults] == [
        (BrokenError, "with particulars")
    ]
    assert counted(ledger) == [
        ("Loud", "Score", {"Success": 3}),
        ("Faulty", "Score", {"Error": 1 if broken else 3}),
    ]


def test_a_rule_that_cannot_be_read_makes_no_node_better() -> None:
    never = scoring({"a": 0, "b": 0, "c": 100})

    result = scored((LOUD, 1), (Scorer("Unread", NO), 1), (Scorer("Never", never), 1))

    assert result.scores == [0, 0, 0]
    assert never.asked == []
    assert counted(result.ledger)[-1] == ("Unread", "Score", {"UnschedulableAndUnresolvable": 1})


def test_a_scorer_asks_once_for_nodes_that_share_a_key() -> None:
    preference = Preference(
        lambda node: Score(len(node.name), frozenset({HIGH})), ALIKE, frozenset({BAD})
    )

    result = scored((Scorer("Alike", preference), 1))

    assert len(preference.asked) == 1
    assert result.ledger.findings == {HIGH, BAD}
    assert counted(result.ledger) == [("Alike", "Score", {"Success": 3})]


def test_the_clock_is_asked_while_scoring() -> None:
    profile = Profile("test", (), ((LOUD, 1), (Scorer("Aside", SKIP), 1)))

    result = runner.run_score(profile, a_pod(), Snapshot(), NODES, clock=ticking())

    assert result.ledger.evaluations == [
        Evaluation("Loud", ExtensionPoint.SCORE, {Code.SUCCESS: 3}, 1.0),
        Evaluation("Aside", ExtensionPoint.SCORE, {Code.SKIP: 1}, 1.0),
    ]


def test_scoring_no_candidates() -> None:
    assert scored((LOUD, 1), nodes=[]).scores == []


# --- explain


def explained(*filters: Filter, node: NodeInfo = NODES[0]) -> list[Status]:
    profile = Profile("test", filters, ())
    return runner.explain(profile, a_pod(), Snapshot(), node, clock=lambda: 0.0)


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
    result = runner.run_filter(profile, pod, Snapshot(), CLUSTER, clock=lambda: 0.0)

    for node, status in zip(CLUSTER, result.statuses, strict=True):
        told = runner.explain(profile, pod, Snapshot(), node, clock=lambda: 0.0)
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

    result = runner.run_score(profile, pod, Snapshot(), CLUSTER, clock=lambda: 0.0)

    assert result.scores == [6, 10, 6, 4, 10]
