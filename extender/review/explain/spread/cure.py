"""Fixes for a refusal by a spread constraint: a larger maxSkew."""

from collections.abc import Hashable, Iterator
from functools import partial
from typing import Final

from msgspec.structs import replace

from extender.framework.interface import SUCCESS, Settings
from extender.framework.snapshot import NodeInfo
from extender.model.core_v1 import TopologySpreadConstraint
from extender.plugins.pod_topology_spread import PodTopologySpread
from extender.plugins.pod_topology_spread.constraints import HARD
from extender.plugins.pod_topology_spread.filtering import HardConstraints, Skew
from extender.review.explain.edits import with_constraint
from extender.review.explain.proposals import (
    INCURABLE,
    NOTHING_TO_DO,
    Case,
    Edit,
    Estimate,
    OncePerPod,
    Proposal,
)
from extender.review.explain.schema import Change, SpreadCheck
from extender.review.explain.spread import derivation
from extender.review.explain.words import counted

_NAME: Final = "PodTopologySpread"
_MAX_NAMED_DOMAINS: Final = 50
_MAX_NAMED: Final = 3
_COST: Final = 2.0


class SpreadCure:
    """For PodTopologySpread."""

    def __init__(self, settings: Settings) -> None:
        self._parts = OncePerPod(partial(_constraints, PodTopologySpread(settings)))

    def obstacles(self, case: Case) -> int:
        """How many constraints the node breaks."""
        return len(self._broken(case))

    def facet(self, case: Case) -> Hashable:
        """The skew in the domains of the node."""
        return tuple(
            (
                skew.constraint.key in case.node.labels and skew.skew(case.node),
                skew.filter(case.node),
            )
            for skew in self._parts.of(case)
        )

    def estimate(self, case: Case) -> Estimate:
        """One change for each constraint; those that no skew cures cannot be cured."""
        total = NOTHING_TO_DO
        for _, skew in self._broken(case):
            if not _is_too_skewed(skew, case.node):
                return INCURABLE
            total = total.plus(Estimate(1, _cost(skew, case.node)))
        return total

    def proposals(self, case: Case) -> Iterator[Proposal]:
        """Raise maxSkew to the skew that the pod would cause."""
        hard = _hard(case)
        for place, skew in self._broken(case):
            if _is_too_skewed(skew, case.node):
                make = partial(_allowed, case, skew, *hard[place])
                yield Proposal(_cost(skew, case.node), make)

    def advice(self, case: Case) -> list[str]:
        """Problems that a larger maxSkew does not cure."""
        found = []
        for _, skew in self._broken(case):
            account = skew.account(case.node)
            if account.domain is None:
                found.append(f"label the node with {skew.constraint.key}")
            elif account.skew <= skew.constraint.max_skew:
                found.append("wait: pods in flight may arrive there, and the scheduler will retry")
        return found

    def _broken(self, case: Case) -> list[tuple[int, Skew]]:
        """The constraints that the node breaks, with their places among the hard ones."""
        return [
            (place, skew)
            for place, skew in enumerate(self._parts.of(case))
            if skew.filter(case.node) is not SUCCESS
        ]


def _constraints(plugin: PodTopologySpread, case: Case) -> tuple[Skew, ...]:
    """The hard constraints, with the pods that count."""
    question = plugin.pre_filter(case.pod, case.snapshot)
    return question.parts if isinstance(question, HardConstraints) else ()


def _is_too_skewed(skew: Skew, node: NodeInfo) -> bool:
    """Whether a larger maxSkew lets the pod pass."""
    return skew.constraint.key in node.labels and skew.skew(node) > skew.constraint.max_skew


def _cost(skew: Skew, node: NodeInfo) -> float:
    """The more has to be allowed, the farther it is."""
    wanted = skew.skew(node)
    return _COST + (wanted - skew.constraint.max_skew) / wanted


def _allowed(case: Case, skew: Skew, index: int, written: TopologySpreadConstraint) -> Edit:
    """The pod with a skew that is large enough."""
    check = derivation.check(skew, case.node, _MAX_NAMED_DOMAINS)
    said = f"{check.domain} is full ({_fullness(check)}): allow a skew of {check.skew}"
    path = f"spec.topologySpreadConstraints[{index}].maxSkew"
    change = Change(_NAME, said, path, str(written.max_skew), str(check.skew))
    pod = with_constraint(case.pod, index, replace(written, max_skew=check.skew))
    return Edit(change, pod, case.node)


def _hard(case: Case) -> list[tuple[int, TopologySpreadConstraint]]:
    """The hard constraints, with their indexes among all."""
    written = (case.pod.spec.topology_spread_constraints if case.pod.spec else None) or ()
    return [(i, each) for i, each in enumerate(written) if each.when_unsatisfiable == HARD]


def _fullness(check: SpreadCheck) -> str:
    pods = counted(check.matching, "pod")
    facts = f"{pods}, the fewest of any domain are {check.minimum}, maxSkew is {check.max_skew}"
    limit = check.minimum + check.max_skew - check.itself
    free = sorted(each.name for each in check.domains if each.pods <= limit)
    if not free:
        return f"{facts}, and no domain has room"
    more = f" and {len(free) - _MAX_NAMED} more" if len(free) > _MAX_NAMED else ""
    return f"{facts}; there is room in {', '.join(free[:_MAX_NAMED])}{more}"
