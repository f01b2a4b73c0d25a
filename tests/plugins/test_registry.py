import pytest

from extender import plugins
from extender.framework.interface import SUCCESS, Profile, Settings, Status
from extender.match.gates import ATTRIBUTE_OF
from extender.model.core_v1 import Pod
from extender.plugins import (
    node_affinity,
    node_unschedulable,
    pod_topology_spread,
    taint_toleration,
    volume_binding,
)
from extender.plugins.node_affinity import NodeAffinity
from tests.builders import (
    a_node,
    a_pod,
    filtered,
    preferred,
    refused,
    required,
    requirement,
    scored,
    some_nodes,
    taint,
    toleration,
)

ALL = plugins.DEFAULT_WEIGHTS


def names(profile: Profile) -> tuple[list[str], list[tuple[str, int]]]:
    return (
        [plugin.name for plugin in profile.filters],
        [(plugin.name, weight) for plugin, weight in profile.scorers],
    )


def test_the_weights_are_those_of_the_tree() -> None:
    assert dict(ALL) == {
        "NodeUnschedulable": 0,
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "VolumeBinding": 0,
        "PodTopologySpread": 2,
    }


@pytest.mark.parametrize("described", plugins.PLUGINS, ids=lambda each: each.name)
def test_a_plugin_is_what_its_description_says(described: plugins.Descriptor) -> None:
    settings = Settings()

    assert described.build_filter(settings).name == described.name
    if described.build_scorer is not None:
        assert described.build_scorer(settings).name == described.name
    assert (described.build_scorer is not None) == (described.weight > 0)


def test_every_gate_changes_some_plugin() -> None:
    assert {gate for each in plugins.PLUGINS for gate in each.gates} == set(ATTRIBUTE_OF)


@pytest.mark.parametrize(
    ("weights", "filters", "scorers"),
    [
        pytest.param(
            ALL,
            [
                "NodeUnschedulable",
                "TaintToleration",
                "NodeAffinity",
                "VolumeBinding",
                "PodTopologySpread",
            ],
            [("TaintToleration", 3), ("NodeAffinity", 2), ("PodTopologySpread", 2)],
            id="all of them",
        ),
        pytest.param(
            {"NodeAffinity": 7, "TaintToleration": 1},
            ["TaintToleration", "NodeAffinity"],
            [("TaintToleration", 1), ("NodeAffinity", 7)],
            id="in their own order, whatever that of the configuration",
        ),
        pytest.param(
            {"TaintToleration": 0}, ["TaintToleration"], [], id="a weight of 0 filters only"
        ),
        pytest.param(
            {"NodeUnschedulable": 5}, ["NodeUnschedulable"], [], id="one that cannot score"
        ),
        pytest.param(
            {"PodTopologySpread": 0, "VolumeBinding": 0},
            ["VolumeBinding", "PodTopologySpread"],
            [],
            id="spread filters and leaves the scores to kube-scheduler",
        ),
        pytest.param({}, [], [], id="none at all"),
    ],
)
def test_profile(
    weights: dict[str, int], filters: list[str], scorers: list[tuple[str, int]]
) -> None:
    profile = plugins.profile("extended-scheduler", weights, Settings())

    assert profile.name == "extended-scheduler"
    assert names(profile) == (filters, scorers)


def test_every_plugin_gets_the_settings() -> None:
    settings = Settings(annotation_prefix="x/")
    profile = plugins.profile("test", ALL, settings)
    built = [*profile.filters, *(plugin for plugin, _ in profile.scorers)]

    assert [getattr(plugin, "settings", None) for plugin in built] == [settings] * 8


def test_a_foreign_profile_has_one_plugin() -> None:
    profile = plugins.foreign_profile(Settings())

    assert profile.name == "other"
    assert profile.filters == (NodeAffinity(Settings(), annotation_only=True),)
    assert profile.scorers == ((NodeAffinity(Settings(), annotation_only=True), 2),)


def first_refusal(profile: Profile, pod: Pod) -> Status:
    """The verdict on a node that every plugin has reason to refuse."""
    node = a_node("n", taint("gpu"), unschedulable=True, labels={"disk": "hdd"})
    return filtered(profile, pod, [node]).statuses()[0]


ANYWHERE = toleration("node.kubernetes.io/unschedulable", "Exists")
GPU = toleration("gpu", "Exists")
SSD = required([requirement("disk", "In", "ssd")])


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(
            a_pod(affinity=SSD),
            refused(node_unschedulable.REASON, plugin="NodeUnschedulable"),
            id="cordoned comes first",
        ),
        pytest.param(
            a_pod(ANYWHERE, affinity=SSD),
            refused("node(s) had untolerated taint {gpu: }", plugin="TaintToleration"),
            id="then the taints",
        ),
        pytest.param(
            a_pod(ANYWHERE, GPU, affinity=SSD),
            refused(node_affinity.REASON, plugin="NodeAffinity"),
            id="then the affinity",
        ),
        pytest.param(a_pod(ANYWHERE, GPU), SUCCESS, id="then it passes"),
        pytest.param(
            a_pod(annotated_tolerations="{}", annotated_affinity="[]"),
            refused(
                "pod annotation scheduling.leeway/tolerations is invalid:"
                " must be a list, not a mapping: begin each entry with a dash",
                plugin="NodeUnschedulable",
            ),
            id="an annotation that cannot be read comes before all",
        ),
    ],
)
def test_the_order_of_the_plugins(pod: Pod, expected: Status) -> None:
    assert first_refusal(plugins.profile("test", ALL, Settings()), pod) == expected


def test_a_pod_of_a_foreign_profile_is_judged_by_its_affinity_annotation_alone() -> None:
    profile = plugins.foreign_profile(Settings())

    assert first_refusal(profile, a_pod(affinity=SSD)) == SUCCESS
    assert first_refusal(profile, a_pod(annotated_tolerations="{}")) == SUCCESS
    assert first_refusal(profile, a_pod(annotated_affinity=SSD)) == refused(
        node_affinity.REASON, plugin="NodeAffinity"
    )


def test_a_pod_of_a_foreign_profile_is_scored_by_its_affinity_annotation_alone() -> None:
    nodes = some_nodes(
        {"metadata": {"name": "a", "labels": {"disk": "ssd"}}},
        {"metadata": {"name": "b", "labels": {"zone": "eu"}}},
    )
    pod = a_pod(
        affinity=preferred((9, [requirement("zone", "Exists")])),
        annotated_affinity=preferred((1, [requirement("disk", "Exists")])),
    )
    profile = plugins.foreign_profile(Settings())

    assert scored(profile, pod, nodes).scores() == [10, 0]


def test_what_plugins_need_watched() -> None:
    assert plugins.resources([]) == frozenset()
    assert plugins.resources(["TaintToleration", "NodeAffinity"]) == {"nodes"}
    assert plugins.resources(["PodTopologySpread"]) == {"nodes", "pods"}
    assert plugins.resources(plugins.DEFAULT_WEIGHTS) == {
        "nodes",
        "pods",
        "persistentvolumes",
        "persistentvolumeclaims",
        "storageclasses",
    }


def test_pods_with_the_same_rules_have_one_signature_and_others_have_another() -> None:
    profile = plugins.profile("p", plugins.DEFAULT_WEIGHTS, Settings())
    tolerating, choosing = a_pod(GPU), a_pod(affinity=SSD)
    told_apart = {
        plugin.name: plugin.signature(a_pod()) != plugin.signature(pod)
        for plugin in profile.filters
        for pod in (tolerating, choosing)
        if plugin.signature(a_pod()) != plugin.signature(pod)
    }

    for plugin in profile.filters:
        assert plugin.signature(a_pod(GPU, name="other")) == plugin.signature(tolerating)
        assert plugin.signature(a_pod()) is not None
    assert set(told_apart) == {"NodeUnschedulable", "TaintToleration", "NodeAffinity"}


@pytest.mark.parametrize(
    "reason",
    [
        node_unschedulable.REASON,
        taint_toleration.REASON,
        taint_toleration.REASON_REDACTED,
        taint_toleration.REASON_ANNOTATION_ONLY,
        taint_toleration.REASON_ANNOTATION_ONLY_REDACTED,
        node_affinity.REASON,
        pod_topology_spread.REASON,
        pod_topology_spread.REASON_MISSING_LABEL,
        *(text for name, text in vars(volume_binding).items() if name.startswith("REASON_")),
    ],
)
def test_a_refusal_is_recognised_in_a_message_of_kube_scheduler(reason: str) -> None:
    told = reason.format("sla", claim="c", volume="v", namespace="n", pod="p")
    message = f"0/3 nodes are available: 3 {told}."

    assert plugins.is_reason_in(message)
    assert not plugins.is_reason_in("0/3 nodes are available: 3 Insufficient cpu.")
