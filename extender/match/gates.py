"""Feature gates, by the names of the KEPs. All are on unless switched off."""

from dataclasses import dataclass, field, fields
from typing import Final


@dataclass(frozen=True, slots=True)
class FeatureGates:
    """Which of the extended rules apply. A rule whose gate is off never matches."""

    comparison_operators: bool = field(
        default=True, metadata={"name": "TaintTolerationComparisonOperators"}
    )
    semver_operators: bool = field(
        default=True,
        metadata={"name": "TaintTolerationNodeAffinitySemverComparisonOperators"},
    )
    cel: bool = field(default=True, metadata={"name": "TaintTolerationCEL"})
    node_inclusion_policy: bool = field(
        default=True, metadata={"name": "NodeInclusionPolicyInPodTopologySpread"}
    )


ATTRIBUTE_OF: Final = {str(gate.metadata["name"]): gate.name for gate in fields(FeatureGates)}
