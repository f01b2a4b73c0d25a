"""What cures a refusal by a taint, or by a cordon."""

import math
from typing import Any

import pytest

from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from extender.model.core_v1 import Pod
from extender.review.explain.taints.cure import TaintCure
from tests.builders import a_pod, node_json, taint, toleration
from tests.review.explain.asking import SETTINGS, a_case, change_of, fix_of

SLA = taint("sla", "950")
ANNOTATION = "metadata.annotations[scheduling.leeway/tolerations]"


def annotated(*tolerations: Any) -> Pod:
    return a_pod(annotated_tolerations=tolerations)


@pytest.mark.parametrize(
    ("pod", "on", "summary", "path", "after"),
    [
        pytest.param(
            annotated(toleration("sla", "Gt", "950")),
            SLA,
            "`Gt 950` misses sla=950: use 949",
            f"{ANNOTATION}[0].value",
            "949",
            id="a bound that just misses",
        ),
        pytest.param(
            a_pod(toleration("sla", "Lt", "900")),
            SLA,
            "`Lt 900` misses sla=950: use 951",
            "spec.tolerations[0].value",
            "951",
            id="the other direction, natively",
        ),
        pytest.param(
            a_pod(toleration("sla", "Gt", "0900")),
            SLA,
            '`Gt 0900` misses sla=950, because "0900" is not an integer in canonical form: use 900',
            "spec.tolerations[0].value",
            "900",
            id="a number that is no number",
        ),
        pytest.param(
            annotated(toleration("kernel", "SemverGt", "5.15.0")),
            taint("kernel", "5.15.0-91-generic"),
            "`SemverGt 5.15.0` misses kernel=5.15.0-91-generic, which is a pre-release and so"
            " comes before 5.15.0: use 5.15.0-0",
            f"{ANNOTATION}[0].value",
            "5.15.0-0",
            id="the pre-release trap",
        ),
        pytest.param(
            a_pod(toleration("sla", "", "95")),
            SLA,
            '`Equal 95` misses sla=950: use "950"',
            "spec.tolerations[0].value",
            "950",
            id="another text",
        ),
        pytest.param(
            a_pod(toleration("SLA", "Exists")),
            SLA,
            'key "SLA" is not "sla": did you mean that?',
            "spec.tolerations[0].key",
            "sla",
            id="a key in another case",
        ),
        pytest.param(
            a_pod(toleration("sla", "exists")),
            SLA,
            'operator "exists" is unknown: did you mean Exists?',
            "spec.tolerations[0].operator",
            "Exists",
            id="an operator in another case",
        ),
        pytest.param(
            a_pod(toleration("sla", ">", "900")),
            SLA,
            'operator ">" is unknown: did you mean Gt?',
            "spec.tolerations[0].operator",
            "Gt",
            id="an operator of another language",
        ),
        pytest.param(
            a_pod(toleration("sla", "Exists", "", "noSchedule")),
            SLA,
            'effect "noSchedule" is unknown: did you mean NoSchedule?',
            "spec.tolerations[0].effect",
            "NoSchedule",
            id="an effect in another case",
        ),
        pytest.param(
            a_pod(toleration("sla", "Exists", "", "NoExecute")),
            SLA,
            "effect NoExecute does not fit the taint's NoSchedule: leave it out",
            "spec.tolerations[0].effect",
            "",
            id="the other effect",
        ),
        pytest.param(
            a_pod(toleration("SLA", "gt", "950")),
            SLA,
            'key "SLA" is not "sla": did you mean that?; operator "gt" is unknown: did you mean'
            " Gt?; `Gt 950` misses sla=950: use 949",
            "spec.tolerations[0]",
            "{key: sla, operator: Gt, value: '949'}",
            id="all at once",
        ),
        pytest.param(
            a_pod(toleration("gpu", "Exists")),
            SLA,
            "tolerate sla=950:NoSchedule",
            "spec.tolerations[1]",
            "{key: sla, operator: Equal, value: '950', effect: NoSchedule}",
            id="nothing near: add one",
        ),
        pytest.param(
            a_pod(toleration("x", "~=~=", "1")),
            taint("x"),
            "tolerate x:NoSchedule",
            "spec.tolerations[1]",
            "{key: x, operator: Exists, effect: NoSchedule}",
            id="an operator that resembles none",
        ),
        pytest.param(
            annotated(toleration("sla", "Gt", "900")),
            taint("sla", "950", "NoExecute"),
            "tolerate sla=950:NoExecute in spec.tolerations, which decide about eviction",
            "spec.tolerations[0]",
            "{key: sla, operator: Exists, effect: NoExecute}",
            id="NoExecute by annotation only",
        ),
        pytest.param(
            a_pod(toleration("sla", "Exists"), annotated_tolerations=[{"expression": "false"}]),
            taint("sla", "950", "NoExecute"),
            "tolerate sla=950:NoExecute",
            f"{ANNOTATION}[1]",
            "{key: sla, operator: Equal, value: '950', effect: NoExecute}",
            id="NoExecute that the annotation narrows away",
        ),
        pytest.param(
            a_pod(),
            taint("sla", "950", "NoExecute"),
            "tolerate sla=950:NoExecute in spec.tolerations, which decide about eviction",
            "spec.tolerations[0]",
            "{key: sla, operator: Equal, value: '950', effect: NoExecute}",
            id="NoExecute and no annotation",
        ),
    ],
)
def test_one_change(pod: Pod, on: Any, summary: str, path: str, after: str) -> None:
    change = change_of(pod, node_json("n", on))

    assert (change.summary, change.path, change.after) == (summary, path, after)
    assert change.plugin == "TaintToleration"


def test_two_taints_take_two_changes() -> None:
    pod = a_pod(toleration("sla", "Gt", "950"))
    fix = fix_of(pod, node_json("n", taint("sla", "950"), taint("gpu", "h100")))

    assert [change.summary for change in fix.changes] == [
        "`Gt 950` misses sla=950: use 949",
        "tolerate gpu=h100:NoSchedule",
    ]
    assert fix.complete


def test_an_unreadable_taint_is_told() -> None:
    pod = a_pod(toleration("sla", "Gt", "900"), toleration("sla", "SemverGt", "1"))
    cure = TaintCure(SETTINGS)
    case = a_case(pod, node_json("n", taint("sla", "high")))

    assert cure.advice(case) == [
        "the taint sla=high is not an integer, so `Gt` never matches it: correct the taint on the"
        " node",
        "the taint sla=high is not a version, so `SemverGt` never matches it: correct the taint on"
        " the node",
    ]


def test_gates_that_are_off_are_told() -> None:
    gates = FeatureGates(comparison_operators=False, cel=False)
    pod = a_pod(toleration("sla", "Gt", "900"), {"expression": "true"})
    cure = TaintCure(Settings(gates=gates))
    case = a_case(pod, node_json("n", SLA))

    assert [advice.split(":")[0] for advice in cure.advice(case)] == [
        "feature gate TaintTolerationComparisonOperators is off",
        "feature gate TaintTolerationCEL is off",
    ]
    assert all(each.additive for each in cure.proposals(case))


def test_the_nearer_value_is_the_nearer_node() -> None:
    cure = TaintCure(SETTINGS)
    pod = a_pod(toleration("sla", "Gt", "950"))
    near, far, none = (
        cure.estimate(a_case(pod, node_json("n", *taints)))
        for taints in ([taint("sla", "949")], [taint("sla", "10")], [taint("x"), taint("y")])
    )

    assert near < far < none
    assert (near.changes, far.changes, none.changes) == (1, 1, 2)
    assert cure.estimate(a_case(pod, node_json("n"))) == (0, 0.0)
    assert list(cure.proposals(a_case(pod, node_json("n")))) == []


@pytest.mark.parametrize("key", ["node.kubernetes.io/sla", "example.com/not-ready"])
def test_what_the_system_added_is_never_changed(key: str) -> None:
    """The prefix of the keys, or their name, makes them look alike."""
    given = toleration("node.kubernetes.io/not-ready", "Exists", effect="NoExecute")
    change = change_of(a_pod(given), node_json("n", taint(key, "950")))

    assert change.summary == f"tolerate {key}=950:NoSchedule"
    assert change.path == "spec.tolerations[1]"


def test_a_condition_of_a_node_is_not_tolerated_by_advice() -> None:
    pressed = taint("node.kubernetes.io/disk-pressure")
    fix = fix_of(a_pod(), node_json("n", pressed))
    cure = TaintCure(SETTINGS)

    assert (fix.complete, fix.changes) == (False, ())
    assert fix.advice == (
        "Kubernetes set the taint disk-pressure: kubectl describe node n says why",
    )
    assert cure.estimate(a_case(a_pod(), node_json("n", pressed))).cost == math.inf
