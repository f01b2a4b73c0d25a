"""Equal rules, the same question: what is remembered, what is not, and within which bounds."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

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
from extender.framework.memory import Memories, Memory, Thread, Weighed
from extender.framework.node_info import Facet
from extender.framework.runner import FilterResult, ScoreResult
from extender.framework.snapshot import AttributeFacet, NodeInfo, Snapshot
from extender.match.findings import Finding
from extender.model.core_v1 import Pod
from tests.builders import (
    JSON,
    a_node,
    a_pod,
    preferred,
    required,
    requirement,
    taint,
    toleration,
)

BY_NAME = AttributeFacet("name")
BAD = Finding("toleration", "integer", "sla", "bad")
ODD = Finding("taint", "integer", "sla", "odd")

Answers = Memory[NodeFilter, Status]


class BrokenError(Exception):
    """What a plugin raises in these tests."""


@dataclass
class Asking:
    """A plugin that counts how often it is asked, and refuses every node but those it likes."""

    rules_of: Callable[[Pod], Hashable | None] = lambda pod: pod.metadata and pod.metadata.name
    likes: frozenset[str] = frozenset()
    parsed: list[str] = field(default_factory=list)
    judged: list[str] = field(default_factory=list)
    settles: Status | None = None
    faults: list[str] = field(default_factory=list)  # where to break next
    name: str = "Asking"

    def rules(self, pod: Pod) -> Hashable | None:
        return self.rules_of(pod)

    def pre_filter(self, pod: Pod, _: Snapshot) -> NodeFilter | Status:
        return self._parse(pod) or _Question(self)

    def pre_score(self, pod: Pod, _: Snapshot) -> NodeScorer | Status:
        return self._parse(pod) or _Question(self)

    def _parse(self, pod: Pod) -> Status | None:
        self.parsed.append(pod.metadata.name if pod.metadata else "")
        self.breaks("parsing")
        return self.settles

    def breaks(self, where: str) -> None:
        if where in self.faults:
            self.faults.remove(where)
            raise BrokenError


@dataclass
class _Question:
    plugin: Asking
    facet: Facet = BY_NAME
    findings: frozenset[Finding] = frozenset({BAD})

    def filter(self, node: NodeInfo) -> Status:
        self.plugin.judged.append(node.name)
        self.plugin.breaks("judging")
        return SUCCESS if node.name in self.plugin.likes else unresolvable("no", findings=odd(node))

    def score(self, node: NodeInfo) -> Score:
        self.plugin.judged.append(node.name)
        self.plugin.breaks("judging")
        return Score(len(node.name), odd(node))

    def normalize(self, scores: Sequence[int]) -> Sequence[int]:
        return [10 * score for score in scores]


def odd(node: NodeInfo) -> frozenset[Finding]:
    return frozenset({ODD}) if node.name == "odd" else frozenset()


def filtered(plugin: Asking, memory: Answers, *nodes: str, pod: Pod | None = None) -> FilterResult:
    profile = Profile("p", (plugin,), ())
    candidates = [a_node(name) for name in nodes]
    return runner.run_filter(
        profile, pod or a_pod(), Snapshot(), candidates, clock=float, memory=memory
    )


def scored(plugin: Asking, memory: Memory[NodeScorer, Score], *nodes: str) -> ScoreResult:
    profile = Profile("p", (), ((plugin, 1),))
    candidates = [a_node(name) for name in nodes]
    return runner.run_score(profile, a_pod(), Snapshot(), candidates, clock=float, memory=memory)


def test_pods_with_equal_rules_are_parsed_once_and_nodes_judged_once() -> None:
    plugin, memory = Asking(likes=frozenset("a")), Answers()
    first = filtered(plugin, memory, "a", "b")
    second = filtered(plugin, memory, "b", "a", "c")

    assert plugin.parsed == ["web-0"]
    assert plugin.judged == ["a", "b", "c"]
    refused = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("no",), "Asking")
    assert first.statuses == [SUCCESS, refused]
    assert second.statuses == [refused, SUCCESS, refused]


def test_pods_with_other_rules_are_parsed_anew() -> None:
    plugin, memory = Asking(), Answers()
    for name in ("x", "y", "x"):
        filtered(plugin, memory, "a", pod=a_pod(name=name))

    assert plugin.parsed == ["x", "y"]
    assert plugin.judged == ["a", "a"]


def test_a_plugin_without_rules_is_asked_anew_each_time() -> None:
    plugin, memory = Asking(rules_of=lambda _: None), Answers()
    for _ in range(3):
        filtered(plugin, memory, "a")

    assert plugin.parsed == ["web-0"] * 3
    assert plugin.judged == ["a"] * 3
    assert len(memory) == 0


def test_two_plugins_with_equal_rules_do_not_take_each_others_word() -> None:
    kind, strict, memory = Asking(likes=frozenset("a")), Asking(), Answers()
    passed = filtered(kind, memory, "a")
    refused = filtered(strict, memory, "a")

    assert passed.statuses[0].code is Code.SUCCESS
    assert refused.statuses[0].code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert len(memory) == 2


def test_a_hit_has_the_findings_and_counts_of_a_miss() -> None:
    plugin, memory = Asking(likes=frozenset("a")), Answers()
    miss = filtered(plugin, memory, "a", "odd", "b", "b")
    hit = filtered(plugin, memory, "a", "odd", "b", "b")

    assert hit.ledger.findings == miss.ledger.findings == {BAD, ODD}
    assert hit.ledger.evaluations == miss.ledger.evaluations
    assert hit.ledger.evaluations[1].codes == {
        Code.SUCCESS: 1,
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE: 3,
    }


def test_a_finding_on_a_node_that_is_not_asked_about_is_not_reported() -> None:
    plugin, memory = Asking(), Answers()
    filtered(plugin, memory, "odd")
    result = filtered(plugin, memory, "a")

    assert result.ledger.findings == {BAD}


@pytest.mark.parametrize(
    ("settles", "expected"),
    [
        pytest.param(SKIP, SUCCESS, id="steps aside"),
        pytest.param(
            unresolvable("never", findings=frozenset({BAD})),
            Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("never",), "Asking"),
            id="refuses the pod",
        ),
    ],
)
def test_what_settles_the_matter_is_remembered_too(settles: Status, expected: Status) -> None:
    plugin, memory = Asking(settles=settles), Answers()
    miss = filtered(plugin, memory, "a")
    hit = filtered(plugin, memory, "a")

    assert plugin.parsed == ["web-0"]
    assert miss.statuses == hit.statuses == [expected]
    assert miss.ledger.findings == hit.ledger.findings == settles.findings
    assert miss.ledger.evaluations == hit.ledger.evaluations


@pytest.mark.parametrize("where", ["parsing", "judging"])
def test_a_plugin_that_breaks_is_asked_again(where: str) -> None:
    plugin, memory = Asking(faults=[where]), Answers()
    broken = filtered(plugin, memory, "a")
    mended = filtered(plugin, memory, "a")

    assert broken.statuses[0].code is Code.ERROR
    assert [type(fault) for fault in broken.ledger.faults] == [BrokenError]
    assert mended.statuses[0].code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert mended.ledger.faults == []


def test_rules_that_cannot_be_told_are_a_fault_of_the_plugin() -> None:
    result = filtered(Asking(rules_of=lambda _: 1 // 0), Answers(), "a")

    assert result.statuses[0].code is Code.ERROR
    assert [type(fault) for fault in result.ledger.faults] == [ZeroDivisionError]


def test_scores_are_remembered_with_their_findings() -> None:
    plugin, memory = Asking(), Memory[NodeScorer, Score]()
    miss = scored(plugin, memory, "a", "odd")
    hit = scored(plugin, memory, "a", "odd", "abcdefghij")

    assert plugin.parsed == ["web-0"]
    assert plugin.judged == ["a", "odd", "abcdefghij"]
    assert (miss.scores, hit.scores) == ([1, 3], [1, 3, 10])
    assert miss.ledger.findings == hit.ledger.findings == {BAD, ODD}


def test_a_scorer_that_breaks_is_asked_again() -> None:
    plugin, memory = Asking(faults=["judging"]), Memory[NodeScorer, Score]()
    broken = scored(plugin, memory, "a", "odd")
    mended = scored(plugin, memory, "a", "odd")

    assert (broken.scores, mended.scores) == ([0, 0], [1, 3])


def test_without_a_memory_nothing_is_remembered() -> None:
    plugin = Asking()
    for _ in range(2):
        runner.run_filter(Profile("p", (plugin,), ()), a_pod(), Snapshot(), [], clock=float)
        runner.run_score(Profile("p", (), ((plugin, 1),)), a_pod(), Snapshot(), [], clock=float)

    assert plugin.parsed == ["web-0"] * 4


def a_thread(*answers: str) -> Thread[NodeFilter, Status]:
    return Thread(SKIP, dict.fromkeys(answers, SUCCESS))


def noted(memory: Answers, rules: str, *answers: str) -> Thread[NodeFilter, Status]:
    thread = a_thread(*answers)
    memory.keep(rules, thread)
    memory.note_answers(thread)
    return thread


def test_the_longest_unused_questions_are_dropped_first() -> None:
    memory = Answers(max_questions=2)
    for rules in "ab":
        memory.keep(rules, a_thread())
    memory.recall("a")
    memory.keep("c", a_thread())

    assert [rules for rules in "abc" if memory.recall(rules)] == ["a", "c"]


def test_answers_are_bounded_over_all_questions() -> None:
    memory = Answers(max_answers=5)
    noted(memory, "a", *"12")
    noted(memory, "b", *"12")
    third = noted(memory, "c", *"1")
    third.answers["2"] = SUCCESS
    memory.note_answers(third)

    assert [rules for rules in "abc" if memory.recall(rules)] == ["b", "c"]
    assert memory.answers == 4


def test_one_question_alone_is_bounded_too() -> None:
    memory = Answers(max_answers=5)
    noted(memory, "a", *"123456")

    assert len(memory) == 0
    assert memory.answers == 0


def test_what_is_heavy_is_bounded_by_its_weight_and_drives_nothing_light_out() -> None:
    memory = Answers(max_weight=10)
    kept = {rules: a_thread(*"12") for rules in "abcde"}
    for rules, weight in zip("abcd", (0, 4, 0, 5), strict=True):
        memory.keep(rules, kept[rules], weight)
        memory.note_answers(kept[rules])
    assert memory.recall("b") is kept["b"]
    memory.keep("e", kept["e"], 6)

    assert [rules for rules in "abcde" if memory.recall(rules)] == ["a", "b", "c", "e"]
    assert (memory.weight, memory.answers) == (10, 6)
    assert (kept["d"].kept, kept["d"].answers) == (False, {})

    memory.keep("b", a_thread(), 1)
    assert memory.weight == 7
    memory.keep("f", a_thread(), 11)
    assert [rules for rules in "abcdef" if memory.recall(rules)] == ["a", "c"]
    assert memory.weight == 0


def test_what_is_heavy_counts_as_a_question_too() -> None:
    memory = Answers(max_questions=1)
    memory.keep("a", a_thread(), 5)
    memory.keep("b", a_thread())

    assert memory.recall("a") is None
    assert memory.weight == 0


def test_heavy_rules_are_parsed_once() -> None:
    heavy = Weighed("heavy", 1_000)
    plugin, memory = Asking(rules_of=lambda _: heavy), Answers(max_weight=1_500)
    for _ in range(2):
        filtered(plugin, memory, "a")

    assert plugin.parsed == ["web-0"]
    assert memory.weight == 1_000
    filtered(Asking(rules_of=lambda _: heavy), memory, "a")
    assert memory.weight == 1_000


def test_answers_to_a_question_that_is_not_kept_take_no_room() -> None:
    memory = Answers(max_answers=5)
    noted(memory, "a", *"12")
    for _ in range(10):
        memory.note_answers(a_thread(*"12345"))

    assert memory.recall("a") is not None
    assert memory.answers == 2


def test_answers_to_a_question_that_was_dropped_meanwhile_take_no_room() -> None:
    memory = Answers(max_questions=1, max_answers=5)
    dropped = noted(memory, "a", *"12")
    memory.keep("b", a_thread())
    dropped.answers |= dict.fromkeys("3456", SUCCESS)
    memory.note_answers(dropped)

    assert memory.recall("b") is not None
    assert memory.answers == 0


def test_rules_that_come_back_while_they_are_kept_replace_what_was_kept() -> None:
    memory = Answers(max_answers=5)
    noted(memory, "a", *"123")
    noted(memory, "a", *"123")

    assert memory.recall("a") is not None
    assert memory.answers == 3


def test_plugins_that_remember_nothing_do_not_push_out_those_that_do() -> None:
    memory = Answers(max_answers=10)
    remembers, forgets = Asking(), Asking(rules_of=lambda _: None)
    filtered(remembers, memory, "a", "b")
    for _ in range(20):
        filtered(forgets, memory, "a", "b", "c")
    filtered(remembers, memory, "a", "b")

    assert remembers.parsed == ["web-0"]
    assert remembers.judged == ["a", "b"]


KERNEL = requirement("kernel", "SemverGt", "5.10")


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        pytest.param({"name": "a"}, {"name": "b", "namespace": "n"}, True, id="names"),
        pytest.param({}, {"annotations": {"example.com/x": "y"}}, True, id="other annotations"),
        pytest.param({}, {"annotated_tolerations": []}, False, id="the annotation"),
        pytest.param(
            {"annotated_tolerations": "[]"}, {"annotated_tolerations": "[ ]"}, False, id="its text"
        ),
        pytest.param({}, {"node_selector": {"a": "b"}}, False, id="the node selector"),
        pytest.param({}, {"affinity": required([KERNEL])}, False, id="required affinity"),
        pytest.param({}, {"affinity": preferred((1, [KERNEL]))}, False, id="preferred affinity"),
        pytest.param(
            {}, {"annotated_affinity": required([KERNEL])}, False, id="annotated affinity"
        ),
    ],
)
def test_which_pods_ask_the_same(one: JSON, other: JSON, alike: bool) -> None:
    profile = plugins.profile("p", plugins.DEFAULT_WEIGHTS, Settings())

    def rules(more: JSON) -> list[Hashable | None]:
        return [plugin.rules(a_pod(**more)) for plugin in profile.filters]

    assert (rules(one) == rules(other)) is alike


def test_another_toleration_is_another_question() -> None:
    memories = Memories()
    profile = plugins.profile("p", plugins.DEFAULT_WEIGHTS, Settings())
    node = a_node("a", taint("sla", "950"))
    codes = [
        runner.run_filter(
            profile,
            a_pod(toleration("sla", "Gt", value)),
            Snapshot(),
            [node],
            clock=float,
            memory=memories.filtering,
        )
        .statuses[0]
        .code
        for value in ("900", "950", "900")
    ]

    refused = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert codes == [Code.SUCCESS, refused, Code.SUCCESS]


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(
            a_pod(*[toleration("sla", "Gt", str(i)) for i in range(7_000)]),
            id="too many tolerations",
        ),
        pytest.param(
            a_pod(
                annotated_tolerations="[]" + " " * 270_000,
                annotated_affinity="{}" + " " * 270_000,
            ),
            id="too long annotations",
        ),
    ],
)
def test_rules_that_are_too_large_are_not_kept(pod: Pod) -> None:
    memories = Memories()
    profile = plugins.profile("p", {"TaintToleration": 1, "NodeUnschedulable": 0}, Settings())
    for _ in range(3):
        node = a_node("a", taint("sla", "950"))
        runner.run_filter(profile, pod, Snapshot(), [node], clock=float, memory=memories.filtering)

    assert len(memories.filtering) == 0
    assert memories.filtering.answers == 0


def test_filtering_and_scoring_have_memories_of_their_own() -> None:
    plugin, memories = Asking(), Memories()
    filtered(plugin, memories.filtering, "a")
    result = scored(plugin, memories.scoring, "a", "odd")

    assert plugin.parsed == ["web-0"] * 2
    assert result.scores == [1, 3]
    points = [evaluation.extension_point for evaluation in result.ledger.evaluations]
    assert points == [ExtensionPoint.SCORE]
