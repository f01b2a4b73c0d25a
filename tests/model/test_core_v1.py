from typing import Any

import msgspec
import pytest

from extender.model.core_v1 import (
    Affinity,
    ClaimSource,
    EphemeralSource,
    LabelSelector,
    LabelSelectorRequirement,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    NodeSpec,
    ObjectMeta,
    Pod,
    PodSpec,
    PreferredSchedulingTerm,
    Taint,
    Toleration,
    TopologySpreadConstraint,
    Volume,
)

REQUIREMENT = {"key": "disk", "operator": "In", "values": ["ssd"]}
TERM = {"matchExpressions": [REQUIREMENT], "matchFields": [REQUIREMENT]}

POD_JSON = {
    "metadata": {
        "name": "web-0",
        "namespace": "shop",
        "uid": "5f9c",
        "resourceVersion": "5",
        "labels": {"app": "web"},
        "annotations": {"a/b": "c"},
    },
    "spec": {
        "schedulerName": "extended-scheduler",
        "nodeSelector": {"disk": "ssd"},
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]},
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 7, "preference": TERM}
                ],
            }
        },
        "tolerations": [
            {
                "key": "sla",
                "operator": "Gt",
                "value": "900",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
                "expression": "true",
            }
        ],
        "topologySpreadConstraints": [
            {
                "maxSkew": 2,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {
                    "matchLabels": {"app": "web"},
                    "matchExpressions": [REQUIREMENT],
                },
                "minDomains": 3,
                "nodeAffinityPolicy": "Honor",
                "nodeTaintsPolicy": "Ignore",
                "matchLabelKeys": ["pod-template-hash"],
            }
        ],
        "volumes": [
            {"name": "a", "persistentVolumeClaim": {"claimName": "data"}, "ephemeral": None},
            {"name": "b", "persistentVolumeClaim": None, "ephemeral": {}},
        ],
        "priority": 1000,
    },
}

_REQUIREMENT = NodeSelectorRequirement("disk", "In", ("ssd",))
_TERM = NodeSelectorTerm((_REQUIREMENT,), (_REQUIREMENT,))
POD = Pod(
    ObjectMeta("web-0", "shop", "5f9c", "5", {"app": "web"}, {"a/b": "c"}),
    PodSpec(
        "extended-scheduler",
        {"disk": "ssd"},
        Affinity(NodeAffinity(NodeSelector((_TERM,)), (PreferredSchedulingTerm(7, _TERM),))),
        (Toleration("sla", "Gt", "900", "NoExecute", 300, "true"),),
        (
            TopologySpreadConstraint(
                2,
                "zone",
                "DoNotSchedule",
                LabelSelector({"app": "web"}, (LabelSelectorRequirement("disk", "In", ("ssd",)),)),
                3,
                "Honor",
                "Ignore",
                ("pod-template-hash",),
            ),
        ),
        (Volume("a", ClaimSource("data")), Volume("b", ephemeral=EphemeralSource())),
        1000,
    ),
)

NODE_JSON = {
    "metadata": {
        "name": "spot-1",
        "namespace": "",
        "uid": "77ab",
        "resourceVersion": "7",
        "labels": {"disk": "ssd"},
        "annotations": None,
    },
    "spec": {
        "unschedulable": True,
        "taints": [{"key": "sla", "value": "950", "effect": "NoSchedule"}],
    },
}
NODE = Node(
    ObjectMeta("spot-1", "", "77ab", "7", {"disk": "ssd"}, None),
    NodeSpec(True, (Taint("sla", "950", "NoSchedule"),)),
)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        pytest.param(Pod, POD_JSON, POD, id="a pod with every field that scheduling reads"),
        pytest.param(Node, NODE_JSON, NODE, id="a node with every field that scheduling reads"),
    ],
)
def test_the_names_are_those_of_the_api(kind: Any, text: Any, expected: Any) -> None:
    decoded = msgspec.json.decode(msgspec.json.encode(text), type=kind)

    assert decoded == expected
    assert msgspec.json.decode(msgspec.json.encode(decoded)) == text


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        pytest.param(Pod, {}, Pod(), id="an empty pod"),
        pytest.param(Pod, {"metadata": None, "spec": None}, Pod(), id="a pod of nothing"),
        pytest.param(
            Pod,
            {"metadata": {"labels": None, "annotations": None}},
            Pod(metadata=ObjectMeta()),
            id="no labels and no annotations",
        ),
        pytest.param(
            Pod,
            {
                "spec": {
                    "nodeSelector": None,
                    "affinity": None,
                    "tolerations": None,
                    "topologySpreadConstraints": None,
                    "volumes": None,
                    "priority": None,
                }
            },
            Pod(spec=PodSpec()),
            id="a pod that asks nothing of a node",
        ),
        pytest.param(
            Affinity, {"nodeAffinity": None}, Affinity(), id="an affinity that is about pods"
        ),
        pytest.param(
            NodeAffinity,
            {
                "requiredDuringSchedulingIgnoredDuringExecution": None,
                "preferredDuringSchedulingIgnoredDuringExecution": None,
            },
            NodeAffinity(),
            id="a node affinity of nothing",
        ),
        pytest.param(
            NodeSelector, {"nodeSelectorTerms": None}, NodeSelector(), id="a selector of no terms"
        ),
        pytest.param(
            NodeSelectorTerm,
            {"matchExpressions": None, "matchFields": None},
            NodeSelectorTerm(),
            id="a term of nothing",
        ),
        pytest.param(
            NodeSelectorRequirement,
            {"key": "a", "operator": "Exists", "values": None},
            NodeSelectorRequirement("a", "Exists"),
            id="a requirement without values",
        ),
        pytest.param(
            PreferredSchedulingTerm,
            {"weight": 3, "preference": None},
            PreferredSchedulingTerm(3),
            id="a weight without a preference",
        ),
        pytest.param(
            Toleration,
            {"operator": "Exists", "tolerationSeconds": None},
            Toleration(operator="Exists"),
            id="a toleration for ever",
        ),
        pytest.param(Node, {"metadata": None, "spec": None}, Node(), id="a node of nothing"),
        pytest.param(
            Node, {"spec": {"taints": None}}, Node(spec=NodeSpec()), id="a node without taints"
        ),
    ],
)
def test_go_writes_null_for_what_is_empty(kind: Any, text: Any, expected: Any) -> None:
    assert msgspec.json.decode(msgspec.json.encode(text), type=kind) == expected


def test_fields_that_scheduling_does_not_read_are_skipped() -> None:
    body = b"""{
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": "web-0", "creationTimestamp": null, "managedFields": [{"f": {}}]},
        "spec": {"containers": [{"name": "c", "resources": {}}], "dnsPolicy": "Default"},
        "status": {"phase": "Pending", "qosClass": "BestEffort"}
    }"""

    assert msgspec.json.decode(body, type=Pod) == Pod(ObjectMeta("web-0"), PodSpec())


@pytest.mark.parametrize(
    ("kind", "text", "path"),
    [
        pytest.param(Pod, {"metadata": {"name": 5}}, "$.metadata.name", id="a name of digits"),
        pytest.param(
            Pod,
            {"spec": {"tolerations": [{}, {"tolerationSeconds": "5"}]}},
            "$.spec.tolerations[1].tolerationSeconds",
            id="seconds as text",
        ),
        pytest.param(
            Node, {"spec": {"unschedulable": "yes"}}, "$.spec.unschedulable", id="a yes for true"
        ),
        pytest.param(
            Node,
            {"metadata": {"labels": {"a": None}}},
            "$.metadata.labels[...]",
            id="a label without text",
        ),
    ],
)
def test_a_wrong_type_is_told_with_its_path(kind: Any, text: Any, path: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(msgspec.json.encode(text), type=kind)

    assert str(caught.value).endswith(f"at `{path}`")


def test_objects_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        NODE.metadata = None  # type: ignore[misc]


def test_equal_tolerations_and_taints_are_one() -> None:
    assert len({Toleration("a"), Toleration("a"), Toleration("b")}) == 2
    assert len({Taint("a"), Taint("a"), Taint("b")}) == 2
