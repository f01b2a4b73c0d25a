"""Fixes for a refusal by a spread constraint: a larger maxSkew."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from extender.framework.interface import SUCCESS, Settings
from extender.model.core_v1 import TopologySpreadConstraint
from extender.plugins.pod_topology_spread import PodTopologySpread
from extender.plugins.pod_topology_spread.constraints import HARD
from extender.plugins.pod_topology_spread.filtering import HardConstraints, Skew
from extender.review.explain.edits import with_constraint
from extender.review.explain.proposals import Case, Proposal
from extender.review.explain.schema import Change, SpreadCheck
from extender.review.explain.spread import derivation
from extender.review.explain.words import counted

_NAME: Final = "PodTopologySpread"
_MAX_NAMED_DOMAINS: Final = 50
_MAX_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class SpreadCure:
    """For PodTopologySpread."""

    settings: Settings

    def obstacles(self, case: Case) -> int:
        """How many constraints the node breaks."""
        return len(self._broken(case))

    def proposals(self, case: Case) -> Iterator[Proposal]:
        """Raise maxSkew to the skew that the pod would cause."""
        hard = _hard(case)
        for place, skew in self._broken(case):
            index, written = hard[place]
            check = derivation.check(skew, case.node, _MAX_NAMED_DOMAINS)
            if check.domain is None or check.skew <= check.max_skew:
                continue
            said = f"{check.domain} is full ({_fullness(check)}): allow a skew of {check.skew}"
            path = f"spec.topologySpreadConstraints[{index}].maxSkew"
            change = Change(_NAME, said, path, str(written.max_skew), str(check.skew))
            pod = with_constraint(case.pod, index, replace(written, max_skew=check.skew))
            yield Proposal(2.5, change, pod, case.node)

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
        question = PodTopologySpread(self.settings).pre_filter(case.pod, case.snapshot)
        parts = question.parts if isinstance(question, HardConstraints) else ()
        return [
            (place, skew)
            for place, skew in enumerate(parts)
            if skew.filter(case.node) is not SUCCESS
        ]


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
