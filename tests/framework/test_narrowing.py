"""Who is kept of those that pass, as the runner has it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from extender.framework import runner
from extender.framework.interface import SUCCESS, Code, Profile, Status
from extender.framework.runner import FilterResult
from extender.framework.snapshot import NodeInfo, Snapshot
from tests.builders import a_pod, refused
from tests.framework.test_runner import NO, NODES, BrokenError, Filter, Question, filtered, saying


@dataclass
class Choosy(Question):
    """Keeps some of the nodes that pass, or breaks when it has nothing to keep."""

    keeps: str = ""
    held_back: ClassVar[Status] = Status(Code.UNSCHEDULABLE, ("held back",), unsettled=True)

    def narrow(self, nodes: Sequence[NodeInfo]) -> Sequence[bool]:
        if not self.keeps:
            raise BrokenError("with particulars")
        return [node.name in self.keeps for node in nodes]


def narrowed(*filters: Filter) -> FilterResult:
    profile = Profile("test", filters, ())
    return runner.run_filter(profile, a_pod(), Snapshot(), NODES, clock=lambda: 0.0, narrow=True)


HELD_BACK = replace(Choosy.held_back, plugin="x")


def test_who_passes_every_plugin_may_be_narrowed_down() -> None:
    """A node that was refused stays refused, and nobody chooses it."""
    x = Filter("x", Choosy(lambda _: SUCCESS, keeps="bc"))
    y = Filter("y", saying({"a": NO, "b": NO}))

    assert narrowed(x, y).statuses == [
        refused("no", plugin="y"),
        refused("no", plugin="y"),
        SUCCESS,
    ]
    assert narrowed(x).statuses == [HELD_BACK, SUCCESS, SUCCESS]
    assert narrowed(x).statuses[0].unsettled
    assert filtered(x).statuses == [SUCCESS] * 3


def test_one_narrows_what_the_other_has_kept() -> None:
    x = Filter("x", Choosy(lambda _: SUCCESS, keeps="bc"))
    y = Filter("y", Choosy(lambda _: SUCCESS, keeps="ab"))

    assert narrowed(x, y).statuses == [HELD_BACK, SUCCESS, replace(HELD_BACK, plugin="y")]


def test_a_fault_while_narrowing_is_an_error() -> None:
    result = narrowed(Filter("x", Choosy(lambda _: SUCCESS)))

    assert result.statuses == [Status(Code.ERROR, ("internal fault (BrokenError)",), "x")] * 3
    assert [type(fault) for fault in result.ledger.faults] == [BrokenError]


def test_nobody_is_narrowed_down_where_nobody_passes() -> None:
    x = Filter("x", Choosy(lambda _: NO))

    assert narrowed(x).statuses == [refused("no", plugin="x")] * 3
