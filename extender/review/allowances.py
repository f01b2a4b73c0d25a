"""What the gates allow in an object: what is switched on, and what its old state used already.

An update may keep what is switched off, as upstream has it: one rule of a kind in the old object,
whichever carrier it stands in, allows that kind in the new one.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from extender.match.gates import FeatureGates
from extender.model.core_v1 import NodeSelectorTerm, Toleration

COMPARISONS: Final = frozenset({"Gt", "Lt"})
SEMVER: Final = frozenset({"SemverGt", "SemverLt", "SemverEq"})


@dataclass(frozen=True, slots=True)
class Allowances:
    """Which kinds of rules may be used."""

    comparisons: bool
    semver: bool
    cel: bool


def of(
    gates: FeatureGates,
    old_tolerations: Collection[Toleration],
    old_terms: Iterable[NodeSelectorTerm],
) -> Allowances:
    """What the gates allow on top of rules that are there already."""
    tolerations = [rule for rule in old_tolerations if not rule.expression]
    used = {toleration.operator for toleration in tolerations}
    cel_used = any(toleration.expression for toleration in old_tolerations)
    in_terms = {
        requirement.operator for term in old_terms for requirement in term.match_expressions or ()
    }
    return Allowances(
        comparisons=gates.comparison_operators or not used.isdisjoint(COMPARISONS),
        semver=gates.semver_operators or not (used | in_terms).isdisjoint(SEMVER),
        cel=gates.cel or cel_used,
    )
