"""What cures a refusal by what the cluster holds: claims, volumes, pods in domains."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from extender.framework.interface import Settings
from extender.framework.volumes import Volumes
from extender.model.core_v1 import ClaimSource, TopologySpreadConstraint
from extender.plugins.pod_topology_spread import PodTopologySpread
from extender.plugins.pod_topology_spread.constraints import HARD
from extender.review.explain import nearness, spread_derivation, volume_derivation
from extender.review.explain.edits import with_constraint, with_spec
from extender.review.explain.proposals import Case, Proposal
from extender.review.explain.schema import Change, ClaimCheck, SpreadCheck
from extender.review.explain.words import counted, quoted

_VOLUMES: Final = "VolumeBinding"
_SPREAD: Final = "PodTopologySpread"
_MAX: Final = 50
_MAX_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class VolumeCure:
    """For VolumeBinding."""

    settings: Settings

    def obstacles(self, case: Case) -> int:
        """How many claims cannot be used from the node."""
        return len(self._failing(case))

    def proposals(self, case: Case) -> Iterator[Proposal]:
        """A claim that does not exist may be misspelt."""
        namespace = case.pod.metadata.namespace if case.pod.metadata else ""
        known = case.snapshot.volumes or Volumes()
        names = [
            claim.metadata.name
            for claim in known.claims.values()
            if claim.metadata.namespace == namespace
        ]
        written = (case.pod.spec.volumes if case.pod.spec else None) or ()
        for index, volume in enumerate(written[:_MAX]):
            source = volume.persistent_volume_claim
            name = source.claim_name if source else ""
            if not name or known.claim(namespace, name) is not None:
                continue
            meant = nearness.spelling(name, names)
            if meant is not None:
                yield _renamed(case, index, name, meant)

    def advice(self, case: Case) -> list[str]:
        """What is wrong with each claim."""
        return [f"claim {check.claim}: {check.why}{_hint(check)}" for check in self._failing(case)]

    def _failing(self, case: Case) -> list[ClaimCheck]:
        known = case.snapshot.volumes or Volumes()
        checks = volume_derivation.checks(case.pod, case.node, known, self.settings, _MAX)
        return [check for check in checks if not check.matches]


def _renamed(case: Case, index: int, name: str, meant: str) -> Proposal:
    written = list((case.pod.spec.volumes if case.pod.spec else None) or ())
    written[index] = replace(written[index], persistent_volume_claim=ClaimSource(meant))
    said = f"claim {quoted(name)} does not exist: did you mean {quoted(meant)}?"
    path = f"spec.volumes[{index}].persistentVolumeClaim.claimName"
    change = Change(_VOLUMES, said, path, name, meant)
    return Proposal(1.0, change, with_spec(case.pod, volumes=tuple(written)), case.node)


def _hint(check: ClaimCheck) -> str:
    if check.terms:
        return "; the pod can only run where its volume is"
    if "not found" in check.why:
        return ": create it in the pod's namespace"
    if not check.bound and not check.volume and not check.ephemeral:
        return ": look at its events, kubectl describe pvc"
    return ""


@dataclass(frozen=True, slots=True)
class SpreadCure:
    """For PodTopologySpread."""

    settings: Settings

    def obstacles(self, case: Case) -> int:
        """How many constraints the node breaks."""
        return sum(not check.matches for check in self._checks(case))

    def proposals(self, case: Case) -> Iterator[Proposal]:
        """Allow as much skew as there would be."""
        for (index, written), check in zip(_hard(case), self._checks(case), strict=False):
            if check.matches or check.domain is None or check.skew <= check.max_skew:
                continue
            said = f"{check.domain} is full ({_fullness(check)}): allow a skew of {check.skew}"
            path = f"spec.topologySpreadConstraints[{index}].maxSkew"
            change = Change(_SPREAD, said, path, str(written.max_skew), str(check.skew))
            pod = with_constraint(case.pod, index, replace(written, max_skew=check.skew))
            yield Proposal(2.5, change, pod, case.node)

    def advice(self, case: Case) -> list[str]:
        """What is not a matter of how much skew is allowed."""
        found = []
        for check in self._checks(case):
            if check.domain is None:
                found.append(f"label the node with {check.topology_key}")
            elif not check.matches and check.skew <= check.max_skew:
                found.append("wait: pods in flight may turn up there, and it is asked again")
        return found

    def _checks(self, case: Case) -> list[SpreadCheck]:
        question = PodTopologySpread(self.settings).pre_filter(case.pod, case.snapshot)
        return spread_derivation.checks(question, case.node, _MAX)


def _hard(case: Case) -> list[tuple[int, TopologySpreadConstraint]]:
    """The hard constraints, and their places among all."""
    written = (case.pod.spec.topology_spread_constraints if case.pod.spec else None) or ()
    hard = [(i, each) for i, each in enumerate(written) if each.when_unsatisfiable == HARD]
    return hard[:_MAX]


def _fullness(check: SpreadCheck) -> str:
    pods = counted(check.matching, "pod")
    facts = f"{pods}, the fewest of any domain are {check.minimum}, maxSkew is {check.max_skew}"
    limit = check.minimum + check.max_skew - check.itself
    free = sorted(each.name for each in check.domains if each.pods <= limit)
    if not free:
        return f"{facts}, and no domain has room"
    more = f" and {len(free) - _MAX_NAMED} more" if len(free) > _MAX_NAMED else ""
    return f"{facts}; there is room in {', '.join(free[:_MAX_NAMED])}{more}"
