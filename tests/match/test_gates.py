from dataclasses import asdict

from extender.match.gates import ATTRIBUTE_OF, FeatureGates


def test_every_gate_is_on_by_default() -> None:
    assert all(asdict(FeatureGates()).values())


def test_the_names_are_those_of_the_enhancement_proposals() -> None:
    assert ATTRIBUTE_OF == {
        "TaintTolerationComparisonOperators": "comparison_operators",
        "TaintTolerationNodeAffinitySemverComparisonOperators": "semver_operators",
        "TaintTolerationCEL": "cel",
        "NodeInclusionPolicyInPodTopologySpread": "node_inclusion_policy",
    }
    assert set(ATTRIBUTE_OF.values()) == set(asdict(FeatureGates()))
