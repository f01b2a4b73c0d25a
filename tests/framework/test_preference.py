"""A whole table scored at once has the scores that scoring node by node gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from extender.framework import preference
from extender.framework.interface import NodeScorer, Score
from extender.framework.memory import Thread
from extender.framework.node_table import NodeTable
from extender.framework.preference import Preference, ScoreThread
from extender.framework.snapshot import AttributeFacet, NodeInfo
from extender.match.findings import Finding
from tests.builders import node_json, some_nodes

ODD = frozenset({Finding("taint", "integer", "sla", "odd")})
BY_NAME = AttributeFacet("name")


class BrokenError(Exception):
    """What a plugin raises in these tests."""


@dataclass
class Liking:
    """Scores each node as it is told to; normal scores are raw ones."""

    scores: Mapping[str, Score | Exception]
    facet: AttributeFacet = BY_NAME
    findings: frozenset[Finding] = frozenset()

    def score(self, node: NodeInfo) -> Score:
        score = self.scores.get(node.name, Score(0))
        if isinstance(score, Exception):
            raise score
        return score

    def normalize(self, scores: Sequence[int]) -> Sequence[int]:
        return scores


def thread(weight: int, **scores: Score | Exception) -> ScoreThread:
    question = Liking(scores)
    return weight, question, Thread(question)


def preferred(
    *threads: ScoreThread, names: Sequence[str] = "abc", most: int = 999
) -> Preference | None:
    table = NodeTable(some_nodes(*map(node_json, names)))
    return preference.prefer(threads, table, most=most)


def scored(result: Preference | None, codes: bytes | None = None) -> list[int]:
    assert result is not None
    picked = result.codes if codes is None else codes
    return list(picked.translate(result.scale(picked)))


def test_the_weighted_mean_of_all_plugins() -> None:
    result = preferred(
        thread(3, a=Score(100), b=Score(0), c=Score(50)), thread(1, a=Score(0), c=Score(100))
    )

    assert scored(result) == [8, 0, 6]


def test_a_plugin_that_finds_all_equal_is_silent() -> None:
    silent = thread(9, a=Score(7), b=Score(7), c=Score(7))

    assert scored(preferred(thread(1, b=Score(100)), silent)) == [0, 10, 0]
    assert scored(preferred(silent)) == [0, 0, 0]


def test_scores_are_compared_among_the_candidates() -> None:
    result = preferred(thread(1, a=Score(100), b=Score(40), c=Score(40)))

    assert result is not None
    assert scored(result) == [10, 4, 4]
    assert scored(result, result.codes[1:]) == [0, 0]


def test_without_anybody_to_ask_all_are_equal() -> None:
    assert scored(preferred()) == [0, 0, 0]


def test_a_remembered_score_is_not_asked_for_again() -> None:
    weight, question, known = thread(1)
    known.answers["b"] = Score(100)

    assert scored(preferred((weight, question, known))) == [0, 10, 0]


def test_what_is_more_than_a_byte_a_row_is_left_to_others() -> None:
    many = {f"n{i}": Score(i) for i in range(17)}
    fewer = {f"n{i}": Score(i // 2) for i in range(17)}

    assert preferred(thread(1, **many), thread(1, **many), names=list(many)) is None
    assert preferred(thread(1, **many), thread(1, **fewer), names=list(many)) is not None
    assert preferred(thread(1, a=Score(1, ODD))) is None
    assert preferred(thread(1, b=BrokenError())) is None


def test_too_many_keys_are_not_asked_about() -> None:
    assert preferred(thread(1), most=3) is None
    assert preferred(thread(1), most=4) is not None


@dataclass
class Batch(Liking):
    """Can be asked about all nodes at once, for as long as it has the budget."""

    affords: bool = True
    batches: list[list[str]] = field(default_factory=list)

    def score_all(self, nodes: Sequence[NodeInfo]) -> Sequence[Score] | None:
        if not self.affords:
            return None
        self.batches.append([node.name for node in nodes])
        return [*map(super().score, nodes)]


def test_a_plugin_that_can_is_asked_about_all_unknown_keys_at_once() -> None:
    question = Batch({"b": Score(100), "c": Score(50)})
    known: Thread[NodeScorer, Score] = Thread(question)

    assert scored(preferred((1, question, known), names="ab")) == [0, 10]
    assert scored(preferred((1, question, known), names="abc")) == [0, 10, 5]
    assert question.batches == [["a", "b"], ["c"]]


def test_without_the_effort_for_all_it_is_asked_one_by_one_as_far_as_it_goes() -> None:
    question = Batch({"b": BrokenError()}, affords=False)
    known: Thread[NodeScorer, Score] = Thread(question)

    assert preferred((1, question, known)) is None
    assert known.answers == {"a": Score(0)}
    assert question.batches == []


def test_a_finding_that_a_batch_noticed_is_left_to_others() -> None:
    question = Batch({"b": Score(0, ODD)})

    assert preferred((1, question, Thread(question))) is None


def test_who_else_is_a_candidate_decides_each_time() -> None:
    result = preferred(thread(1, a=Score(100), b=Score(40)))

    assert result is not None
    a, b, c = result.codes
    for _ in range(2):
        assert scored(result) == [10, 4, 0]
        assert scored(result, bytes((c, b, b))) == [0, 4, 4]
        assert scored(result, bytes((a, a))) == [0, 0]
