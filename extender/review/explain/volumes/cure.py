"""Fixes for a refusal by a claim: the name of a claim that exists."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from msgspec.structs import replace

from extender.framework.interface import Settings
from extender.framework.volumes import Volumes
from extender.model.core_v1 import ClaimSource
from extender.review.explain import nearness
from extender.review.explain.edits import with_spec
from extender.review.explain.proposals import INCURABLE, Case, Edit, Estimate, Proposal
from extender.review.explain.schema import Change, ClaimCheck
from extender.review.explain.volumes import derivation
from extender.review.explain.words import quoted

_NAME: Final = "VolumeBinding"
_MAX_CLAIMS: Final = 50
_COST: Final = 1.0


@dataclass(frozen=True, slots=True)
class VolumeCure:
    """For VolumeBinding."""

    settings: Settings

    def obstacles(self, case: Case) -> int:
        """How many claims cannot be used from the node."""
        return len(self._failing(case))

    def facet(self, case: Case) -> Hashable:
        """Every node is as far as the others, but its name is what volumes may ask for."""
        return case.node.name

    def estimate(self, case: Case) -> Estimate:
        """One change for each claim that cannot be used, if any can be cured."""
        if not any(True for _ in self.proposals(case)):
            return INCURABLE
        count = self.obstacles(case)
        return Estimate(count, count * _COST)

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
        for index, volume in enumerate(written[:_MAX_CLAIMS]):
            source = volume.persistent_volume_claim
            name = source.claim_name if source else ""
            if not name or known.claim(namespace, name) is not None:
                continue
            meant = nearness.spelling(name, names)
            if meant is not None:
                yield Proposal(_COST, partial(_renamed, case, index, name, meant))

    def advice(self, case: Case) -> list[str]:
        """What is wrong with each claim."""
        return [f"claim {check.claim}: {check.why}{_hint(check)}" for check in self._failing(case)]

    def _failing(self, case: Case) -> list[ClaimCheck]:
        known = case.snapshot.volumes or Volumes()
        checks = derivation.checks(case.pod, case.node, known, self.settings, _MAX_CLAIMS)
        return [check for check in checks if not check.matches]


def _renamed(case: Case, index: int, name: str, meant: str) -> Edit:
    written = list((case.pod.spec.volumes if case.pod.spec else None) or ())
    written[index] = replace(written[index], persistent_volume_claim=ClaimSource(meant))
    said = f"claim {quoted(name)} does not exist: did you mean {quoted(meant)}?"
    path = f"spec.volumes[{index}].persistentVolumeClaim.claimName"
    change = Change(_NAME, said, path, name, meant)
    return Edit(change, with_spec(case.pod, volumes=tuple(written)), case.node)


def _hint(check: ClaimCheck) -> str:
    if check.terms:
        return "; the pod can only run where its volume is"
    if "not found" in check.why:
        return ": create it in the pod's namespace"
    if not check.bound and not check.volume and not check.ephemeral:
        return ": look at its events, kubectl describe pvc"
    return ""
