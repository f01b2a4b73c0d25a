"""Nodes from which pods would be evicted: which of them would help."""

from collections.abc import Collection, Mapping

from extender.framework.interface import SUCCESS, Code, Profile, RemovalAware, Status
from extender.framework.results import FilterResult
from extender.framework.runner import Runner
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.model.core_v1 import Pod


def run_preempt(
    runner: Runner,
    profile: Profile,
    pod: Pod,
    snapshot: Snapshot,
    victims: Mapping[str, Collection[str]],
) -> tuple[FilterResult, dict[str, Status]]:
    """Judge nodes, all of them known, from which pods would be evicted, given by UID.

    A refusal stands, unless an eviction may cure it: then the plugin that refused is asked again.
    """
    nodes = [snapshot.nodes[name] for name in victims]
    candidates = snapshot.table.find(list(victims))
    result = runner.filter(profile, pod, snapshot, snapshot.table, candidates, narrow=False)
    found = {
        node.name: _without(result, status, node, victims[node.name])
        for node, status in zip(nodes, result.statuses(), strict=True)
    }
    return result, found


def _without(
    result: FilterResult, status: Status, node: NodeInfo, victims: Collection[str]
) -> Status:
    """The verdict on a node once the victims are gone."""
    if status.code is not Code.UNSCHEDULABLE:
        return status
    questions = [
        each.question
        for each in result.verdicts
        if each.plugin == status.plugin and isinstance(each.question, RemovalAware)
    ]
    if not questions:
        return status
    verdicts = (question.without(node, victims) for question in questions)
    return next((v.signed(status.plugin) for v in verdicts if v is not SUCCESS), SUCCESS)
