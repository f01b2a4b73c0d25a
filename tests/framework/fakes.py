"""Plugins that say what they are told to, for tests of the machine that runs them."""

from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from extender.framework.interface import (
    SUCCESS,
    Code,
    NodeFilter,
    NodeScorer,
    Score,
    Status,
    unresolvable,
)
from extender.framework.node_info import Facet
from extender.framework.snapshot import AttributeFacet, NodeInfo, Snapshot
from extender.framework.stats import CallStats
from extender.match.findings import Finding
from extender.model.core_v1 import Pod
from tests.builders import node_json, some_nodes

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


@dataclass(frozen=True)
class BrokenFacet:
    """Cannot tell nodes apart."""

    key_bytes: int = 0

    def within(self, _labels: Container[str]) -> "BrokenFacet":
        return self

    def seen(self, nodes: Sequence[NodeInfo]) -> Sequence[NodeInfo]:
        return nodes

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        raise BrokenError("with particulars")


@dataclass(frozen=True)
class ShortFacet:
    """Forgets a node."""

    key_bytes: int = 0

    def within(self, _labels: Container[str]) -> "ShortFacet":
        return self

    def seen(self, nodes: Sequence[NodeInfo]) -> Sequence[NodeInfo]:
        return nodes

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
    signed: Hashable | None = None
    parsed: list[Pod] = field(default_factory=list)

    def signature(self, _pod: Pod) -> Hashable | None:
        return self.signed

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
    signed: Hashable | None = None
    parsed: list[Pod] = field(default_factory=list)

    def signature(self, _pod: Pod) -> Hashable | None:
        return self.signed

    def pre_score(self, pod: Pod, _snapshot: Snapshot) -> NodeScorer | Status:
        self.parsed.append(pod)
        return self.outcome() if callable(self.outcome) else self.outcome


def saying(verdicts: Mapping[str, Status], facet: Facet = BY_NAME) -> Question:
    return Question(lambda node: verdicts.get(node.name, SUCCESS), facet)


def scoring(scores: Mapping[str, int], facet: Facet = BY_NAME) -> Preference:
    return Preference(lambda node: Score(scores[node.name]), facet)


def counted(stats: CallStats) -> list[tuple[str, str, dict[str, int]]]:
    return [
        (e.plugin, e.extension_point.value, {code.value: n for code, n in e.codes.items()})
        for e in stats.evaluations
    ]
