"""Which evictions help."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from extender.framework import preemption
from extender.framework.interface import (
    SUCCESS,
    Code,
    NodeFilter,
    Profile,
    Settings,
    Status,
    unresolvable,
)
from extender.framework.runner import Runner
from extender.framework.snapshot import AttributeFacet, NodeInfo, Snapshot
from extender.match.findings import Finding
from extender.model.core_v1 import Pod
from extender.plugins.node_unschedulable import NodeUnschedulable
from tests.builders import a_pod, a_snapshot, node_json, refused

FULL = Status(Code.UNSCHEDULABLE, ("full",))


@dataclass(frozen=True)
class Crowded:
    """Refuses `full` nodes until two of their pods are gone, and `never` nodes for ever."""

    name: ClassVar[str] = "Crowded"
    facet: ClassVar[AttributeFacet] = AttributeFacet("name")
    findings: ClassVar[frozenset[Finding]] = frozenset()

    def signature(self, _pod: Pod) -> Hashable | None:
        return None

    def pre_filter(self, _pod: Pod, _snapshot: Snapshot) -> NodeFilter | Status:
        return self

    def filter(self, node: NodeInfo) -> Status:
        if node.name.startswith("never"):
            return unresolvable("never")
        return FULL if node.name.startswith("full") else SUCCESS

    def without(self, _node: NodeInfo, victims: Collection[str]) -> Status:
        return SUCCESS if len(victims) > 1 else FULL


@dataclass(frozen=True)
class Rigid:
    """A question that knows nothing of evictions."""

    name: ClassVar[str] = "Rigid"
    facet: ClassVar[AttributeFacet] = AttributeFacet("name")
    findings: ClassVar[frozenset[Finding]] = frozenset()

    def signature(self, _pod: Pod) -> Hashable | None:
        return None

    def pre_filter(self, _pod: Pod, _snapshot: Snapshot) -> NodeFilter | Status:
        return self

    def filter(self, _node: NodeInfo) -> Status:
        return FULL


def judged(profile: Profile, **victims: list[str]) -> list[Status]:
    names = [name.replace("_", "-") for name in victims]
    snapshot = a_snapshot([node_json(name, unschedulable="cordoned" in name) for name in names])
    evicted = dict(zip(names, victims.values(), strict=True))
    runner = Runner(clock=lambda: 0.0)
    result, statuses = preemption.run_preempt(runner, profile, a_pod(), snapshot, evicted)

    assert result.stats.faults == []
    assert list(statuses) == names
    return list(statuses.values())


def test_a_refusal_that_an_eviction_cures_is_no_refusal() -> None:
    profile = Profile("test", (NodeUnschedulable(Settings()), Crowded()), ())
    statuses = judged(
        profile,
        open=["p"],
        full_1=["p"],
        full_2=["p", "q"],
        full_cordoned=["p", "q"],
        never=["p", "q"],
    )

    assert statuses == [
        SUCCESS,
        Status(Code.UNSCHEDULABLE, ("full",), "Crowded"),
        SUCCESS,
        refused("node(s) were unschedulable", plugin="NodeUnschedulable"),
        refused("never", plugin="Crowded"),
    ]


def test_who_knows_nothing_of_evictions_is_not_asked_again() -> None:
    assert judged(Profile("test", (Rigid(),), ()), full=["p", "q"]) == [
        Status(Code.UNSCHEDULABLE, ("full",), "Rigid")
    ]


def test_a_pod_that_is_refused_as_such_stays_refused() -> None:
    class Never(Rigid):
        def pre_filter(self, _pod: Pod, _snapshot: Snapshot) -> NodeFilter | Status:
            return unresolvable("no")

    assert judged(Profile("test", (Never(), Crowded()), ()), full=["p", "q"]) == [
        refused("no", plugin="Rigid")
    ]


@dataclass(frozen=True)
class Parts:
    """A plugin of two questions, each with victims of its own."""

    name: ClassVar[str] = "Parts"
    facet: ClassVar[AttributeFacet] = AttributeFacet("name")
    findings: ClassVar[frozenset[Finding]] = frozenset()
    parts: tuple[NodeFilter, ...]

    def signature(self, _pod: Pod) -> Hashable | None:
        return None

    def pre_filter(self, _pod: Pod, _snapshot: Snapshot) -> NodeFilter | Status:
        return self

    def filter(self, node: NodeInfo) -> Status:
        return self.parts[0].filter(node)


def test_every_part_of_the_plugin_that_refused_is_asked_again() -> None:
    """What one part did not come to say stood behind the refusal of another."""

    class Patient(Crowded):
        def without(self, _node: NodeInfo, victims: Collection[str]) -> Status:
            return SUCCESS if len(victims) > 2 else Status(Code.UNSCHEDULABLE, ("patience",))

    profile = Profile("test", (Parts((Crowded(), Patient())),), ())

    assert judged(profile, full_1=["p"], full_2=["p", "q"], full_3=["p", "q", "r"]) == [
        Status(Code.UNSCHEDULABLE, ("full",), "Parts"),
        Status(Code.UNSCHEDULABLE, ("patience",), "Parts"),
        SUCCESS,
    ]


def test_no_node_is_held_back_for_pods_in_flight() -> None:
    """Evictions are weighed, and nothing is decided yet."""

    class Choosing(Crowded):
        crowded: ClassVar[bool] = True
        domains: ClassVar[int] = 1
        held_back: ClassVar[Status] = FULL

        def keeps(self, nodes: Sequence[NodeInfo], _counts: Sequence[int]) -> Sequence[bool]:
            return [False] * len(nodes)

    assert judged(Profile("test", (Choosing(),), ()), open=["p"], also_open=["p"]) == [SUCCESS] * 2
