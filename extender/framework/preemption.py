"""Nodes from which pods would be evicted: which of them would help."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from extender.framework import runner
from extender.framework.interface import Code, NodeFilter, Profile, RemovalAware, Status
from extender.framework.ledger import Clock
from extender.framework.memory import Memory
from extender.framework.runner import FilterResult
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.model.core_v1 import Pod


def run_preempt(
    profile: Profile,
    pod: Pod,
    snapshot: Snapshot,
    victims: Sequence[tuple[NodeInfo, Collection[str]]],
    *,
    clock: Clock,
    memory: Memory[NodeFilter, Status] | None = None,
) -> FilterResult:
    """Judge nodes from which pods would be evicted, given by UID.

    A refusal stands, unless an eviction may cure it: then the plugin that refused is asked again.
    """
    nodes = [node for node, _ in victims]
    result = runner.run_filter(profile, pod, snapshot, nodes, clock=clock, memory=memory)
    statuses = list(result.statuses)
    for index, (node, pods) in enumerate(victims):
        status = statuses[index]
        question = result.questions.get(status.plugin)
        if status.code is Code.UNSCHEDULABLE and isinstance(question, RemovalAware):
            statuses[index] = replace(question.without(node, pods), plugin=status.plugin)
    return replace(result, statuses=statuses)
