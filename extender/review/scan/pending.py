"""Pending pods, judged by the core: how many nodes pass, and why the others do not."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter

from extender.framework import runner
from extender.framework.interface import Code, Profile
from extender.framework.memory import Memories
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from extender.review.scan.objects import Ref


@dataclass(frozen=True, slots=True)
class Pending:
    """A pending pod: how many nodes pass, and the reasons of the others."""

    ref: Ref
    workload: Ref
    scheduler: str
    passed: int
    reasons: tuple[tuple[str, int], ...]  # the most frequent first


def judge(
    waiting: Mapping[Ref, Pod],
    snapshot: Snapshot,
    profile_of: Callable[[Pod], Profile],
    root: Callable[[Ref], Ref],
    step: Callable[[], None] = lambda: None,
) -> Iterator[Pending]:
    """Judge every pending pod on all nodes, with the plugins of its profile."""
    nodes = list(snapshot.nodes.values())
    memory = Memories().filtering
    for ref, pod in waiting.items():
        profile = profile_of(pod)
        result = runner.run_filter(profile, pod, snapshot, nodes, clock=perf_counter, memory=memory)
        reasons: Counter[str] = Counter()
        for status in result.statuses:
            if status.code is not Code.SUCCESS:
                reasons[", ".join(status.reasons)] += 1
        passed = len(nodes) - reasons.total()
        scheduler = (pod.spec.scheduler_name if pod.spec else "") or "default-scheduler"
        yield Pending(ref, root(ref), scheduler, passed, tuple(reasons.most_common()))
        step()
