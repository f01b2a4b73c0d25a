"""Refusals by NodeUnschedulable: what tolerates the cordon, and the command that lifts it."""

import shlex
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec

from extender.framework import rules
from extender.framework.interface import Settings
from extender.framework.snapshot import NodeInfo, TaintSet
from extender.match.taints import CORDON
from extender.plugins.node_unschedulable import NodeUnschedulable
from extender.review.explain.proposals import Case, Edit, Estimate, Proposal
from extender.review.explain.schema import Change, Derivation
from extender.review.explain.taints.derivation import placed_tolerations, taint_check

_COST: Final = 4.0


def derive(plugin: NodeUnschedulable, case: Case, limit: int, derived: Derivation) -> Derivation:
    """The derivation of a cordoned node, with the taint that stands for the cordon.

    The scheduler asks about this taint whether or not the node carries it.
    """
    if not case.node.unschedulable:
        return derived
    placed = placed_tolerations(case.pod, plugin.settings)
    compiled = rules.pod_tolerations(case.pod, plugin.settings)
    check = taint_check(CORDON, placed, compiled, plugin.settings, limit)
    return msgspec.structs.replace(derived, cordon=check)


@dataclass(frozen=True, slots=True)
class CordonCure:
    """For NodeUnschedulable: uncordon the node."""

    settings: Settings

    def obstacles(self, case: Case) -> int:
        """Whether the node is cordoned."""
        return int(case.node.unschedulable)

    def facet(self, case: Case) -> Hashable:
        """Whether the node is cordoned."""
        return case.node.unschedulable

    def estimate(self, _case: Case) -> Estimate:
        """One command."""
        return Estimate(1, _COST)

    def proposals(self, case: Case) -> Iterator[Proposal]:
        """Uncordon the node, which also removes its taint."""
        yield Proposal(_COST, partial(self._uncordon, case), additive=True)

    def _uncordon(self, case: Case) -> Edit:
        node = case.node
        change = Change(
            "NodeUnschedulable",
            "the node is cordoned: uncordon it when it is fit for pods again",
            f"node {node.name}: spec.unschedulable",
            "true",
            "false",
            command=shlex.join(["kubectl", "uncordon", node.name]),
        )
        return Edit(change, case.pod, uncordoned(node))

    def advice(self, _case: Case) -> list[str]:
        """Nothing else."""
        return []


def uncordoned(node: NodeInfo) -> NodeInfo:
    """The node without the cordon and without its taint."""
    hard = tuple(each for each in node.taints.hard if each.key != CORDON.key)
    taints = TaintSet(hard, node.taints.soft)
    return msgspec.structs.replace(node, unschedulable=False, taints=taints)
