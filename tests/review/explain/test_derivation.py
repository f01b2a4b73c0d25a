"""All plugins' verdicts on one node, and the rules behind them."""

from extender import plugins
from extender.framework.interface import SUCCESS
from extender.framework.snapshot import Snapshot
from extender.review.explain import derivation
from tests.builders import a_node, a_pod, node_json, required, requirement, taint, toleration
from tests.review.explain.asking import SETTINGS, derived
from tests.review.explain.spread.test_derivation import PODS, nodes, spreading
from tests.review.explain.volumes.test_derivation import KNOWN, NODE, a_pod_with


def test_every_plugin_is_asked_whatever_the_others_say() -> None:
    pod = a_pod(affinity=required([requirement("zone", "In", "b")]))
    made = derived(pod, node_json("n", taint("sla", "950"), labels={"zone": "a"}))

    assert (made.code, made.plugin) == ("UnschedulableAndUnresolvable", "TaintToleration")
    assert made.reason == "node(s) had untolerated taint {sla: 950}"
    assert [(each.plugin, each.code) for each in made.plugins] == [
        ("NodeUnschedulable", "Success"),
        ("TaintToleration", "UnschedulableAndUnresolvable"),
        ("NodeAffinity", "UnschedulableAndUnresolvable"),
        ("VolumeBinding", "Skip"),
        ("PodTopologySpread", "Skip"),
    ]
    assert made.plugins[2].why == "node(s) didn't match Pod's node affinity/selector"
    assert made.plugins[3].why == "nothing to judge"


def test_what_passes_says_so_in_a_few_words() -> None:
    pod = a_pod(toleration("", "Exists"), node_selector={"zone": "a"})
    whys = [each.why for each in derived(pod, node_json("n", labels={"zone": "a"})).plugins]
    claims = derived(a_pod_with("in-a"), NODE, volumes=KNOWN).plugins[3].why
    spread = derived(spreading(), nodes()[3], *nodes()[:3], pods=PODS).plugins[4].why

    assert [*whys[:3], claims, spread] == [
        "not cordoned, or tolerated",
        "every taint is tolerated",
        "the node is what the pod requires",
        "the node reaches every bound volume",
        "every constraint holds",
    ]


def test_an_unreadable_annotation_leaves_its_rules_out() -> None:
    made = derived(a_pod(annotated_tolerations="["), node_json("n", taint("x")))

    assert (made.plugin, made.taints) == ("NodeUnschedulable", ())
    assert "is invalid" in made.reason


def test_a_foreign_profile_has_one_plugin() -> None:
    profile = plugins.foreign_profile(SETTINGS)
    pod = a_pod(node_selector={"a": "b"}, annotated_affinity=required([requirement("z", "Exists")]))
    made = derivation.derive(
        profile, pod, Snapshot(), a_node("n", taint("x")), stands=SUCCESS, limit=9
    )

    assert [each.plugin for each in made.plugins] == ["NodeAffinity"]
    assert [term.carrier for term in made.terms] == ["annotation"]
