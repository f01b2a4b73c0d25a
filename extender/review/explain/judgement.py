"""The verdicts on one pod for every node, grouped by reason, with fixes."""

from collections.abc import Sequence
from typing import Final

import msgspec

from extender.framework.columns.node_table import NodeTable
from extender.framework.interface import Code, Status
from extender.framework.runner import Runner
from extender.framework.snapshot import NodeInfo
from extender.review.explain import derivation
from extender.review.explain.inquiry import Inquiry, no_clock
from extender.review.explain.schema import Derivation, Fix, Group, Verdict
from extender.review.explain.search import Search, nearest
from extender.review.explain.steps import Bench, Steps

MAX_GROUPS: Final = 20


class Judgement:
    """The statuses of all nodes, and what is derived from them."""

    def __init__(
        self,
        inquiry: Inquiry,
        nodes: Sequence[NodeInfo],
        statuses: Sequence[Status],
        bench: Bench,
    ) -> None:
        self._inquiry = inquiry
        self._nodes = nodes
        self._statuses = statuses
        self.passes = [status.code is Code.SUCCESS for status in statuses]
        self.passing = sum(self.passes)
        self._search = Search(inquiry, nodes, self.passes, bench)

    def verdicts(self) -> list[Verdict]:
        """One verdict per node: passing nodes first, by score."""
        asked = self._inquiry
        open_nodes = [node for node, passes in zip(self._nodes, self.passes, strict=True) if passes]
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
        bounds = self._inquiry.bounds
        looked_for = 0 if self._search.too_large else bounds.fixes
        if looked_for and members:
            yield from self._search.estimate()
        groups: list[Group] = []
        for place, ((code, plugin, reason), nodes) in enumerate(ordered):
            fix = (yield from self._search.best(nodes)) if place < looked_for else None
            names = tuple(node.name for node in nodes[: bounds.names])
            groups.append(Group(code, plugin, reason, len(nodes), names, fix))
        return groups

    def fix(self, groups: Sequence[Group], pinned: Sequence[str]) -> Steps[Fix | None]:
        """The fix with the least to do, if no node passes; first on nodes that the pod names."""
        if self.passing or self._search.too_large or not self._nodes:
            return None
        by_name = self._inquiry.snapshot.nodes
        own = yield from self._search.best([by_name[name] for name in pinned])
        if own is not None and own.complete:
            return own
        fixes = [group.fix for group in groups]
        if len(groups) > self._inquiry.bounds.fixes:  # the reasons of the others are rare
            fixes.append((yield from self._search.best(self._nodes)))
        return nearest([*fixes, own])

    def _members(self, *, brief: bool) -> dict[tuple[str, str, str], list[NodeInfo]]:
        members: dict[tuple[str, str, str], list[NodeInfo]] = {}
        for node, status in zip(self._nodes, self._statuses, strict=True):
            if status.code is not Code.SUCCESS:
                reasons = status.brief if brief and status.brief else status.reasons
                key = status.code.value, status.plugin, ", ".join(reasons)
                members.setdefault(key, []).append(node)
        return members

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
        fix = yield from self._search.fix(node)
        return msgspec.structs.replace(derived, fix=fix)
