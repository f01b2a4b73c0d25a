"""Pods that wait because no node passes our rules, with the reasons; judged by the core itself."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter

from extender.framework.interface import Profile
from extender.framework.runner import Runner
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from extender.review.scan.objects import Ref


@dataclass(frozen=True, slots=True)
class Pending:
    """A pod that waits: how many nodes pass our rules, and why the others do not."""

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
    """Every waiting pod, judged by the plugins of its profile over all nodes."""
    runner = Runner(clock=perf_counter)
    table = snapshot.table
    for ref, pod in waiting.items():
        profile = profile_of(pod)
        result = runner.filter(profile, pod, snapshot, table, table.candidates(), narrow=False)
        reasons: Counter[str] = Counter()
        for place, status in result.refusals():
            reasons[", ".join(status.reasons)] += result.candidates.counts[place]
        scheduler = (pod.spec.scheduler_name if pod.spec else "") or "default-scheduler"
        yield Pending(ref, root(ref), scheduler, result.passed, tuple(reasons.most_common()))
        step()
