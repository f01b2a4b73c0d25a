"""The verdicts on one pod for every node, grouped by reason, with fixes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import nsmallest
from typing import Final

import msgspec

from extender.framework.columns.node_table import NodeTable
from extender.framework.interface import Code, Status
from extender.framework.runner import Runner
from extender.framework.snapshot import NodeInfo
from extender.model.documents import Plain
from extender.review.explain import derivation
from extender.review.explain.distances import Distances
from extender.review.explain.edits import Editor
from extender.review.explain.fixes import Plan, Planner
from extender.review.explain.inquiry import Inquiry, no_clock
from extender.review.explain.schema import Derivation, Fix, Group, Verdict
from extender.review.explain.steps import Steps, filtered

MAX_GROUPS: Final = 20
_TRIED: Final = 3  # nodes of a group to find a fix for


class Judgement:
    """The statuses of all nodes, and what is derived from them."""

    def __init__(
        self, inquiry: Inquiry, nodes: Sequence[NodeInfo], statuses: Sequence[Status]
    ) -> None:
        self._inquiry = inquiry
        self._nodes = nodes
        self._statuses = statuses
        self._passes = [status.code is Code.SUCCESS for status in statuses]
        self.passing = sum(self._passes)
        self._editor = Editor(inquiry.settings, inquiry.subject.implicit)

    def verdicts(self) -> list[Verdict]:
        """One verdict per node: passing nodes first, by score."""
        asked = self._inquiry
        open_nodes = [
            node for node, passes in zip(self._nodes, self._passes, strict=True) if passes
        ]
        table = NodeTable(open_nodes)
        scored = Runner(clock=no_clock).score(
            asked.profile, asked.pod, asked.snapshot, table, table.candidates()
        )
        found = [
            Verdict(node.name, Code.SUCCESS.value, "", "", score)
            for node, score in zip(open_nodes, scored.scores(), strict=True)
        ]
        found.sort(key=lambda each: -(each.score or 0))
        found += [
            Verdict(node.name, status.code.value, status.plugin, ", ".join(status.reasons))
            for node, status in zip(self._nodes, self._statuses, strict=True)
            if status.code is not Code.SUCCESS
        ]
        return found

    def groups(self) -> Steps[list[Group]]:
        """The refusals by reason, largest group first; with brief reasons if there are many."""
        members = self._members(brief=False)
        if len(members) > MAX_GROUPS:
            members = self._members(brief=True)
        ordered = sorted(members.items(), key=lambda item: -len(item[1]))
        groups: list[Group] = []
        bounds = self._inquiry.bounds
        distance: Mapping[str, float] = {}
        looked_for = 0 if self._too_large() else bounds.fixes
        if looked_for and members:
            distance = yield from Distances(self._inquiry, self._nodes).measured()
        for place, ((code, plugin, reason), nodes) in enumerate(ordered):
            fix = None
            if place < looked_for:
                tried = nsmallest(_TRIED, nodes, key=lambda node: distance[node.name])
                fix = yield from self._fix_of(tried)
            names = tuple(node.name for node in nodes[: bounds.names])
            groups.append(Group(code, plugin, reason, len(nodes), names, fix))
        return groups

    def _too_large(self) -> bool:
        """Whether the pod has too many rules to try changes."""
        asked = self._inquiry
        return Planner(asked.profile, asked.settings, asked.snapshot).too_large(asked.pod)

    def _members(self, *, brief: bool) -> dict[tuple[str, str, str], list[NodeInfo]]:
        members: dict[tuple[str, str, str], list[NodeInfo]] = {}
        for node, status in zip(self._nodes, self._statuses, strict=True):
            if status.code is not Code.SUCCESS:
                reasons = status.brief if brief and status.brief else status.reasons
                key = status.code.value, status.plugin, ", ".join(reasons)
                members.setdefault(key, []).append(node)
        return members

    def _fix_of(self, nodes: Sequence[NodeInfo]) -> Steps[Fix | None]:
        """The first complete fix for one of these nodes, else the best partial one."""
        found: list[Fix | None] = []
        for node in nodes:
            fix = yield from self.fix(node)
            if fix is not None and fix.complete:
                return fix
            found.append(fix)
        return nearest(found)

    def fix(self, node: NodeInfo) -> Steps[Fix | None]:
        """The fix that lets the pod pass on a node, if one is known."""
        asked = self._inquiry
        planner = Planner(asked.profile, asked.settings, asked.snapshot)
        if self._too_large():
            return None
        plan = yield from planner.plan(asked.pod, node)
        passing = yield from self._passing_with(plan)
        if passing is None:
            plan = yield from replace(planner, additive=True).plan(asked.pod, node)
            passing = yield from self._passing_with(plan)
        if passing is None or not (plan.changes or plan.advice):
            return None
        patch = _nested(self._editor.patch(asked.pod, plan.case.pod), asked.subject.template)
        return Fix(node.name, plan.complete, plan.changes, plan.advice, passing, patch, plan.cost)

    def derivation(self, node: NodeInfo) -> Steps[Derivation]:
        """The derivation of one node, with its fix."""
        asked = self._inquiry
        stands = self._statuses[self._nodes.index(node)]
        derived = derivation.derive(
            asked.profile,
            asked.pod,
            asked.snapshot,
            node,
            stands=stands,
            limit=asked.bounds.rows,
        )
        yield
        if stands.code is Code.SUCCESS:
            return derived
        fix = yield from self.fix(node)
        return msgspec.structs.replace(derived, fix=fix)

    def _passing_with(self, plan: Plan) -> Steps[int | None]:
        """How many nodes pass with the changes; None if a node that passed is lost."""
        if not plan.changes:
            return self.passing
        asked, changed = self._inquiry, plan.case.node
        nodes = [changed if node.name == changed.name else node for node in self._nodes]
        result = yield from filtered(asked.profile, plan.case.pod, asked.snapshot, nodes)
        passes = [status.code is Code.SUCCESS for status in result.statuses]
        lost = any(old and not new for old, new in zip(self._passes, passes, strict=True))
        return None if lost else sum(passes)


def _nested(patch: dict[str, Plain], template: Sequence[str]) -> dict[str, Plain] | None:
    """The patch of a pod as a patch of its workload."""
    if not patch:
        return None
    for name in reversed(template):
        patch = {name: patch}
    return patch


def nearness_of(fix: Fix) -> tuple[bool, bool, int, float]:
    """The sort key of fixes: complete ones first, then the fewest changes."""
    return not fix.complete, not fix.changes, len(fix.changes), fix.cost


def nearest(fixes: Iterable[Fix | None]) -> Fix | None:
    """The fix with the least to do."""
    return min((fix for fix in fixes if fix is not None), key=nearness_of, default=None)
