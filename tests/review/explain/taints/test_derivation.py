"""Each taint against each toleration: who matches, and why."""

import pytest

from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from extender.model.core_v1 import Pod, Taint, Toleration
from extender.review.explain.taints import derivation
from extender.review.explain.taints.derivation import Placed
from tests.builders import a_node, a_pod, node_json, taint, toleration
from tests.review.explain.asking import SETTINGS, derived

OFF = Settings(gates=FeatureGates(comparison_operators=False, semver_operators=False, cel=False))
SLA = Taint("sla", "950", "NoSchedule")


def check(written: Toleration, on: Taint = SLA, settings: Settings = SETTINGS) -> tuple[bool, str]:
    made = derivation.toleration_check(Placed("native", 0, written), on, settings)
    return made.matches, made.why


@pytest.mark.parametrize(
    ("written", "on", "expected"),
    [
        (Toleration("sla", "Gt", "949"), SLA, (True, "950 is greater than 949")),
        (Toleration("sla", "Gt", "950"), SLA, (False, "950 is not greater than 950")),
        (Toleration("sla", "Exists"), SLA, (True, "Exists takes any value")),
        (Toleration("sla", "", "950"), SLA, (True, '"950" is "950"')),
        (Toleration("sla", "Equal", "x"), SLA, (False, '"950" is not "x"')),
        (Toleration("gpu", "Exists"), SLA, (False, "key differs")),
        (
            Toleration("gpu", "Exists", "", "NoExecute"),
            SLA,
            (False, "key differs, effect NoExecute is not NoSchedule"),
        ),
        (
            Toleration("sla", "gt", "900"),
            SLA,
            (False, 'operator "gt" is unknown and matches nothing'),
        ),
        (
            Toleration("sla", "Gt", "0900"),
            Taint("sla", "high", "NoSchedule"),
            (
                False,
                'the toleration\'s "0900" is not an integer in canonical form;'
                ' the taint\'s "high" is not an integer in canonical form',
            ),
        ),
        (
            Toleration(expression="taint.value == '950'"),
            SLA,
            (True, "the expression is true"),
        ),
        (
            Toleration(expression="int(taint.value) > 1000"),
            SLA,
            (False, "the expression is false"),
        ),
        (
            Toleration(expression="int(taint.value) > 1"),
            Taint("sla", "high"),
            (
                False,
                "the expression ends in an error: type conversion error from 'string' to 'int'",
            ),
        ),
        (
            Toleration(expression="taint.key"),
            SLA,
            (False, "the expression tolerates nothing: must evaluate to bool, not string"),
        ),
    ],
)
def test_one_toleration_against_one_taint(
    written: Toleration, on: Taint, expected: tuple[bool, str]
) -> None:
    assert check(written, on) == expected


@pytest.mark.parametrize(
    ("written", "gate"),
    [
        (Toleration("sla", "Gt", "1"), "TaintTolerationComparisonOperators"),
        (
            Toleration("sla", "SemverGt", "1"),
            "TaintTolerationNodeAffinitySemverComparisonOperators",
        ),
        (Toleration(expression="true"), "TaintTolerationCEL"),
    ],
)
def test_a_gate_that_is_off_is_named(written: Toleration, gate: str) -> None:
    matches, why = check(written, settings=OFF)

    assert not matches
    assert f"feature gate {gate} is off" in why


def test_parsed_values_and_costs_are_told() -> None:
    made = derived(
        a_pod(toleration("v", "SemverGt", "1.2"), {"expression": "true"}),
        node_json("n", taint("v", "v2")),
    )
    version, expression = made.taints[0].tolerations

    assert (version.parsed_value, version.parsed_taint) == ("1.2.0", "2.0.0")
    assert (expression.cost, expression.parsed_value) == (0, None)


@pytest.mark.parametrize(
    ("pod", "effect", "tolerated", "why"),
    [
        (a_pod(), "NoSchedule", False, "no toleration matches"),
        (a_pod(), "PreferNoSchedule", False, "not tolerated: lowers the score, refuses nobody"),
        (a_pod(toleration("sla", "Exists")), "PreferNoSchedule", True, "tolerated"),
        (
            a_pod(
                toleration("sla", "Exists"), annotated_tolerations=[toleration("sla", "Gt", "1")]
            ),
            "NoExecute",
            True,
            "tolerated by spec.tolerations and the annotation",
        ),
        (
            a_pod(
                toleration("sla", "Exists"), annotated_tolerations=[toleration("sla", "Lt", "1")]
            ),
            "NoExecute",
            False,
            "spec.tolerations tolerate it, but the annotation speaks of it and does not match:"
            " for NoExecute the annotation narrows",
        ),
        (
            a_pod(annotated_tolerations=[toleration("sla", "Gt", "1")]),
            "NoExecute",
            False,
            "tolerated only by annotation: the kubelet and the controller manager evict by"
            " spec.tolerations alone, so a NoExecute taint must be tolerated there",
        ),
        (
            a_pod(annotated_tolerations=[toleration("sla", "Gt", "1")]),
            "NoSchedule",
            True,
            "tolerated by the annotation",
        ),
    ],
)
def test_what_comes_of_all_tolerations(pod: Pod, effect: str, tolerated: bool, why: str) -> None:
    (made,) = derived(pod, node_json("n", taint("sla", "950", effect))).taints

    assert (made.tolerated, made.why) == (tolerated, why)
    assert made.refuses == (not tolerated and effect != "PreferNoSchedule")


def test_rows_are_bounded() -> None:
    pod = a_pod(*(toleration(f"k{i}", "Exists") for i in range(9)))
    node = a_node("n", taint("a"), taint("b"), taint("c"))

    first, second, third = derivation.checks(pod, node, SETTINGS, 5)

    assert (len(first.tolerations), first.omitted) == (5, 4)
    assert (len(second.tolerations), len(third.tolerations)) == (1, 1)
