"""Feature gates, named as in the KEPs. All are on by default."""

from dataclasses import dataclass, field, fields
from typing import Final

COMPARISON_GATE: Final = "TaintTolerationComparisonOperators"
SEMVER_GATE: Final = "TaintTolerationNodeAffinitySemverComparisonOperators"
CEL_GATE: Final = "TaintTolerationCEL"
INCLUSION_GATE: Final = "NodeInclusionPolicyInPodTopologySpread"


@dataclass(frozen=True, slots=True)
class FeatureGates:
    """Which extended rules are on. A rule whose gate is off never matches."""

    comparison_operators: bool = field(default=True, metadata={"name": COMPARISON_GATE})
    semver_operators: bool = field(
        default=True,
        metadata={"name": SEMVER_GATE},
    )
    cel: bool = field(default=True, metadata={"name": CEL_GATE})
    node_inclusion_policy: bool = field(default=True, metadata={"name": INCLUSION_GATE})


ATTRIBUTE_OF: Final = {str(gate.metadata["name"]): gate.name for gate in fields(FeatureGates)}
