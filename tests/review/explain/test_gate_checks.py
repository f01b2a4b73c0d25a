"""Gates that are off and decide."""

import pytest

from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from extender.review.explain.schema import GateCheck
from tests.builders import a_pod, node_json, taint, toleration
from tests.review.explain.asking import explained

NODES = [node_json("a", taint("sla", "950")), node_json("b", taint("sla", "1"))]


@pytest.mark.parametrize(
    ("gates", "expected"),
    [
        (FeatureGates(), ()),
        (
            FeatureGates(comparison_operators=False),
            (GateCheck("TaintTolerationComparisonOperators", 1),),
        ),
        (FeatureGates(cel=False), ()),
    ],
)
def test_a_gate_that_decides_says_what_it_would_open(
    gates: FeatureGates, expected: tuple[GateCheck, ...]
) -> None:
    pod = a_pod(toleration("sla", "Gt", "900"))

    assert explained(pod, *NODES, settings=Settings(gates=gates)).gates == expected
