"""Each spread constraint: counts, and the arithmetic."""

from typing import Any

import msgspec
import pytest

from extender.framework.interface import SKIP, Settings
from extender.framework.node_info import NodeInfo
from extender.match import label_selectors
from extender.model.core_v1 import LabelSelector, LabelSelectorRequirement, Pod
from extender.plugins.pod_topology_spread import PodTopologySpread
from extender.review.explain.schema import Domain
from extender.review.explain.spread import derivation
from tests.builders import JSON, a_node, a_snapshot, let_pass, node_json, pod_info, taint
from tests.review.explain.asking import derived

WEB = {"matchLabels": {"app": "web"}}


def spreading(key: str = "zone", skew: int = 1, **more: Any) -> Pod:
    constraint = {
        "topologyKey": key,
        "maxSkew": skew,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": WEB,
        **more,
    }
    meta = {"name": "web-9", "namespace": "default", "uid": "u", "labels": {"app": "web"}}
    return msgspec.convert(
        {"metadata": meta, "spec": {"topologySpreadConstraints": [constraint]}}, Pod
    )


def nodes() -> list[JSON]:
    return [node_json(f"n{i}", labels={"zone": zone}) for i, zone in enumerate("aabc")]


PODS = [
    pod_info(f"web-{i}", node, labels={"app": "web"}) for i, node in enumerate(["n0", "n1", "n2"])
]


def test_the_arithmetic_of_a_full_domain() -> None:
    (check,) = derived(spreading(), *nodes(), pods=PODS).spread

    assert not check.matches
    assert (check.matching, check.itself, check.minimum, check.skew) == (2, 1, 0, 3)
    assert check.domains == (Domain("a", 2, 2), Domain("b", 1, 1), Domain("c", 1, 0))
    assert (check.domain, check.selector) == ("a", "app=web")
    assert (check.node_affinity_policy, check.node_taints_policy) == ("Honor", "Ignore")
    assert check.why == (
        '2 in "a" + 1 (the pod itself) - 0 (the fewest of any domain) = 3, more than maxSkew 1'
    )


def test_a_node_without_the_label() -> None:
    (check,) = derived(spreading(), node_json("x"), *nodes(), pods=PODS).spread

    assert (check.matches, check.domain, check.why) == (
        False,
        None,
        "the node has no label zone",
    )


def test_too_few_domains_and_a_node_that_a_policy_leaves_out() -> None:
    tainted = node_json("t", taint("gpu"), labels={"zone": "d"})
    pod = spreading(minDomains=5, nodeTaintsPolicy="Honor", skew=2)
    (check,) = derived(pod, tainted, *nodes(), pods=PODS).spread

    assert (check.included, check.matches, check.skew) == (False, True, 1)
    assert check.why == (
        '0 in "d" + 1 (the pod itself) - 0 (the fewest of any domain) = 1, within maxSkew 2;'
        " the fewest count as 0, because there are 3 of 5 minDomains;"
        " the node itself does not count: a policy leaves it out"
    )


def test_where_no_node_counts_nothing_is_too_many() -> None:
    tainted = node_json("t", taint("x"), labels={"zone": "a"})
    (check,) = derived(spreading(nodeTaintsPolicy="Honor"), tainted).spread

    assert (check.matches, check.domains) == (True, ())
    assert check.why == "no node counts for it, so nothing is too many"


def accounted(pods: list[Any], passed: str, node: NodeInfo) -> str:
    """How a pod in flight, let pass on some nodes, counts for the next one."""
    snapshot = a_snapshot(nodes(), pods, reserves=True)
    assert snapshot.pods is not None
    plugin = PodTopologySpread(Settings())
    other = msgspec.convert(
        {"metadata": {"name": "o", "namespace": "default", "uid": "o", "labels": {"app": "web"}}},
        Pod,
    )
    plugin.pre_filter(spreading(), snapshot)
    snapshot.pods.answered(other, let_pass(snapshot.table, *passed.split()))
    (check,) = derivation.checks(plugin.pre_filter(spreading(), snapshot), node, 9)
    return check.why


def test_pods_in_flight_are_told() -> None:
    node = a_node("n0", labels={"zone": "a"})

    assert "; 1 of them nominated or in flight" in accounted([], "n0 n1", node)
    assert "; 1 more in flight may turn up there" in accounted([], "n0 n2", node)


def test_domains_are_bounded() -> None:
    snapshot = a_snapshot(nodes(), PODS)
    question = PodTopologySpread(Settings()).pre_filter(spreading(), snapshot)
    (check,) = derivation.checks(question, snapshot.nodes["n0"], 2)

    assert ([each.name for each in check.domains], check.omitted) == (["a", "b"], 1)
    assert derivation.checks(SKIP, snapshot.nodes["n0"], 2) == []


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (None, "none: selects no pod"),
        (LabelSelector(), "empty: counts no pod"),
        (LabelSelector({"app": "web", "tier": ""}), "app=web,tier="),
        (
            LabelSelector(
                match_expressions=(
                    LabelSelectorRequirement("a", "In", ("x", "y")),
                    LabelSelectorRequirement("b", "NotIn", ("z",)),
                    LabelSelectorRequirement("c", "Exists"),
                    LabelSelectorRequirement("d", "DoesNotExist"),
                )
            ),
            "a in (x,y),b not in (z),c,!d",
        ),
    ],
)
def test_selectors_in_kubectls_notation(written: LabelSelector | None, text: str) -> None:
    compiled = label_selectors.compile_selector(written)

    assert derivation.selector_text(compiled) == text
