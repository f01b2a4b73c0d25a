"""Which evictions help."""

from collections.abc import Collection, Hashable
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
from extender.framework.snapshot import AttributeFacet, NodeInfo, Snapshot
from extender.match.findings import Finding
from extender.model.core_v1 import Pod
from extender.plugins.node_unschedulable import NodeUnschedulable
from tests.builders import a_pod, node_json, refused, some_nodes

FULL = Status(Code.UNSCHEDULABLE, ("full",))


@dataclass(frozen=True)
class Crowded:
    """Refuses `full` nodes until two of their pods are gone, and `never` nodes for ever."""

    name: ClassVar[str] = "Crowded"
    facet: ClassVar[AttributeFacet] = AttributeFacet("name")
    findings: ClassVar[frozenset[Finding]] = frozenset()

    def rules(self, _pod: Pod) -> Hashable | None:
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

    def rules(self, _pod: Pod) -> Hashable | None:
        return None

    def pre_filter(self, _pod: Pod, _snapshot: Snapshot) -> NodeFilter | Status:
        return self

    def filter(self, _node: NodeInfo) -> Status:
        return FULL


def judged(profile: Profile, **victims: list[str]) -> list[Status]:
    names = [name.replace("_", "-") for name in victims]
    nodes = some_nodes(*(node_json(name, unschedulable="cordoned" in name) for name in names))
    pairs = list(zip(nodes, victims.values(), strict=True))
    return list(
        preemption.run_preempt(profile, a_pod(), Snapshot(), pairs, clock=lambda: 0.0).statuses
    )


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
        Status(Code.SUCCESS, plugin="Crowded"),
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
