"""Long work in steps, so that a server can do other work in between."""

from collections.abc import Generator, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from extender.framework.columns.node_table import NodeTable
from extender.framework.interface import FilterPlugin, NodeFilter, Profile, Status
from extender.framework.runner import Runner
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.match.findings import Finding
from extender.model.core_v1 import Pod
from extender.review.explain.inquiry import no_clock

SLICE: Final = 250

T = TypeVar("T")
Steps = Generator[None, None, T]


@dataclass(slots=True)
class Filtered:
    """One status per node, and the findings."""

    statuses: list[Status] = field(default_factory=list)
    findings: set[Finding] = field(default_factory=set)


@dataclass(slots=True)
class AskedOnce:
    """A plugin that parses a pod once: what it counts for that must not change between steps."""

    plugin: FilterPlugin
    _said: "NodeFilter | Status | Exception | None" = None

    @property
    def name(self) -> str:
        """The plugin's."""
        return self.plugin.name

    def signature(self, pod: Pod) -> Hashable | None:
        """The plugin's."""
        return self.plugin.signature(pod)

    def ask(self, pod: Pod, snapshot: Snapshot) -> bool:
        """Have the pod parsed, if what comes of it depends on the snapshot; whether it was."""
        if self.signature(pod) is not None:
            return False  # the runner remembers it
        try:
            self._said = self.plugin.pre_filter(pod, snapshot)
        except Exception as exc:  # noqa: BLE001 - raised below, in each step
            self._said = exc
        return True

    def pre_filter(self, pod: Pod, snapshot: Snapshot) -> NodeFilter | Status:
        """What the plugin said at first, a fault included."""
        if isinstance(self._said, Exception):
            raise self._said
        return self.plugin.pre_filter(pod, snapshot) if self._said is None else self._said


class Bench:
    """Nodes that are judged again and again, with what was computed about them."""

    def __init__(self, nodes: Sequence[NodeInfo]) -> None:
        self.runner = Runner(clock=no_clock)
        self.table = NodeTable(nodes, lasting=True)


def filtered(
    profile: Profile,
    pod: Pod,
    snapshot: Snapshot,
    nodes: Sequence[NodeInfo],
    *,
    size: int = SLICE,
    bench: Bench | None = None,
) -> Steps[Filtered]:
    """The verdict on every node, some nodes at a time.

    While pods are in flight all nodes are judged at once, because narrowing needs all that pass.
    """
    if snapshot.pods is not None and snapshot.pods.in_flight:
        size = max(len(nodes), 1)
    found = Filtered()
    bench = Bench(nodes) if bench is None else bench
    runner, table = bench.runner, bench.table
    yield
    once = tuple(map(AskedOnce, profile.filters))
    for plugin in once:
        if plugin.ask(pod, snapshot):
            yield
    profile = replace(profile, filters=once)
    for start in range(1, len(table), size):
        some = table.candidates_of(range(start, min(start + size, len(table))))
        result = runner.filter(profile, pod, snapshot, table, some)
        found.statuses += result.statuses()
        found.findings |= result.stats.findings
        yield
    return found


def finished(steps: Steps[T]) -> T:
    """Run all steps at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
