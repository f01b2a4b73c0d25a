"""Which rules are extended, and under which gate."""

import msgspec
import pytest

from extender.framework.interface import Settings
from extender.match import gates
from extender.match.gates import ATTRIBUTE_OF
from extender.model.core_v1 import Pod
from extender.review.scan import usage
from extender.review.scan.objects import ScannedVolume
from tests.builders import JSON, pod_json, preferred, required, requirement, toleration

NATIVE = "spec.tolerations"
ANNOTATED = "metadata.annotations[scheduling.leeway/tolerations]"
AFFINITY = (
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"
)
CARRIED = "metadata.annotations[scheduling.leeway/node-affinity]"


def found(pod: JSON) -> list[tuple[str, str, bool, str, str]]:
    usages, broken = usage.of_pod(msgspec.convert(pod, Pod), Settings())
    assert broken == []
    return [(u.gate, u.operator, u.annotated, u.path, u.text()) for u in usages]


COMPARED = toleration("sla", "Gt", "900", "NoSchedule")


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(pod_json(), [], id="no rule"),
        pytest.param(pod_json(toleration("a", "Exists")), [], id="a native rule that is no news"),
        pytest.param(
            pod_json(COMPARED),
            [(gates.COMPARISON_GATE, "Gt", False, f"{NATIVE}[0]", "sla Gt 900 NoSchedule")],
            id="a native number",
        ),
        pytest.param(
            pod_json(toleration("a", "Exists"), toleration("k", "SemverLt", "1.2")),
            [(gates.SEMVER_GATE, "SemverLt", False, f"{NATIVE}[1]", "k SemverLt 1.2")],
            id="a native version",
        ),
        pytest.param(
            pod_json(annotated_tolerations=[{"expression": "true"}]),
            [(gates.CEL_GATE, "expression", True, f"{ANNOTATED}[0]", "true")],
            id="an expression",
        ),
        pytest.param(
            pod_json(annotated_tolerations=[{"key": "a", "value": "b"}]),
            [("", "Equal", True, f"{ANNOTATED}[0]", "a Equal b")],
            id="an ordinary rule that only Leeway reads",
        ),
        pytest.param(
            pod_json(
                affinity=required([requirement("v", "SemverGt", "1"), requirement("n", "Gt", "1")])
            ),
            [
                (
                    gates.SEMVER_GATE,
                    "SemverGt",
                    False,
                    f"{AFFINITY}.matchExpressions[0]",
                    "v SemverGt 1",
                )
            ],
            id="native affinity: only versions are news",
        ),
        pytest.param(
            pod_json(annotated_affinity=preferred((5, [requirement("z", "Exists")]))),
            [
                (
                    "",
                    "Exists",
                    True,
                    f"{CARRIED}.preferredDuringSchedulingIgnoredDuringExecution[0].preference"
                    ".matchExpressions[0]",
                    "z Exists",
                )
            ],
            id="a preference by annotation",
        ),
    ],
)
def test_the_rules_of_a_pod(pod: JSON, expected: list[tuple[str, str, bool, str, str]]) -> None:
    assert found(pod) == expected


def test_a_field_of_a_node() -> None:
    term = {"matchFields": [requirement("metadata.name", "In", "a")]}
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}

    assert found(pod_json(annotated_affinity=affinity))[0][4] == "metadata.name In a"


@pytest.mark.parametrize(
    ("constraint", "operators"),
    [
        ({}, []),
        ({"nodeTaintsPolicy": "Ignore", "nodeAffinityPolicy": "Honor"}, []),
        ({"nodeTaintsPolicy": "Honor"}, ["nodeTaintsPolicy"]),
        ({"nodeAffinityPolicy": "Ignore"}, ["nodeAffinityPolicy"]),
    ],
)
def test_policies_of_topology_spread(constraint: JSON, operators: list[str]) -> None:
    pod = pod_json()
    selector = {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "zone"}
    pod["spec"]["topologySpreadConstraints"] = [selector | constraint]
    usages, _ = usage.of_pod(msgspec.convert(pod, Pod), Settings())

    assert [each.operator for each in usages] == operators
    assert all(hash(each) is not None and each.gate == gates.INCLUSION_GATE for each in usages)
    assert all(each.text().startswith("zone node") for each in usages)


def test_the_same_rule_is_one_rule_in_either_carrier() -> None:
    pod = pod_json(
        COMPARED,
        annotated_tolerations=[COMPARED],
        affinity=required([requirement("v", "SemverGt", "1")]),
    )
    usages, _ = usage.of_pod(msgspec.convert(pod, Pod), Settings())

    assert len(usages) == 3
    assert len({each.rule for each in usages}) == 2


def test_a_volume_and_its_annotation() -> None:
    term = {"nodeSelectorTerms": [{"matchExpressions": [requirement("v", "SemverGt", "1")]}]}
    carried = {"scheduling.leeway/node-affinity": msgspec.json.encode({"required": term}).decode()}
    volume = msgspec.convert(
        {"metadata": {"annotations": carried}, "spec": {"nodeAffinity": {"required": term}}},
        ScannedVolume,
    )
    usages, broken = usage.of_volume(volume, Settings())

    assert broken == []
    assert [(each.annotated, each.path) for each in usages] == [
        (True, f"{CARRIED}.required.nodeSelectorTerms[0].matchExpressions[0]"),
        (False, "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0]"),
    ]


def test_an_annotation_that_cannot_be_read() -> None:
    pod = msgspec.convert(pod_json(annotated_tolerations="[{]"), Pod)
    usages, broken = usage.of_pod(pod, Settings())

    assert usages == []
    assert [each.path for each in broken] == [ANNOTATED]


def test_every_gate_has_its_place_in_the_report() -> None:
    assert set(usage.GATES) == {*ATTRIBUTE_OF, ""}
