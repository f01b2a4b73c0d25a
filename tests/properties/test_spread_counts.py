"""Counts that are kept event by event equal counts that are taken anew, whatever happens."""

import math
from collections import Counter
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from extender.cluster.cache import ClusterCache
from extender.framework.interface import SUCCESS, Settings, Status
from extender.model.core_v1 import Node, PlacedPod, Pod
from extender.plugins.pod_topology_spread import PodTopologySpread, filtering
from tests.builders import JSON, node_json, taint
from tests.cluster.apiserver import a_placed_pod

PLUGIN = PodTopologySpread(Settings())
NODES = [f"n{i}" for i in range(5)]
PODS = [f"p{i}" for i in range(8)]
APPS = ["web", "db"]


@st.composite
def nodes(draw: st.DrawFn) -> JSON:
    labels = {
        key: draw(st.sampled_from(values))
        for key, values in (("zone", "abc"), ("rack", "xy"))
        if draw(st.integers(0, 5))
    }
    taints = [taint("sla", "950")] if draw(st.integers(0, 2)) == 0 else []
    return node_json(draw(st.sampled_from(NODES)), *taints, labels=labels)


@st.composite
def pods(draw: st.DrawFn) -> JSON:
    return a_placed_pod(
        draw(st.sampled_from(PODS)),
        draw(st.sampled_from([*NODES, ""])),
        namespace=draw(st.sampled_from(["default", "default", "shop"])),
        labels={"app": draw(st.sampled_from(APPS))},
        phase=draw(st.sampled_from(["Running", "Running", "Running", "Succeeded"])),
        terminating=draw(st.integers(0, 5)) == 0,
    )


@st.composite
def questions(draw: st.DrawFn) -> JSON:
    """A pod with one or two hard constraints."""
    keys = draw(st.permutations(["zone", "rack"]))[: draw(st.integers(1, 2))]
    constraints = [
        {
            "maxSkew": draw(st.integers(1, 2)),
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "minDomains": draw(st.sampled_from([None, 3])),
            "labelSelector": {"matchLabels": {"app": draw(st.sampled_from(APPS))}},
            "nodeTaintsPolicy": draw(st.sampled_from(["Honor", "Ignore"])),
        }
        for key in keys
    ]
    tolerations = draw(st.sampled_from([[], [{"key": "sla", "operator": "Gt", "value": "900"}]]))
    labels = {"app": draw(st.sampled_from(APPS))}
    return {
        "metadata": {"name": "new", "namespace": "default", "uid": "new", "labels": labels},
        "spec": {"topologySpreadConstraints": constraints, "tolerations": tolerations},
    }


removals = st.one_of(
    st.tuples(st.just("remove node"), st.sampled_from(NODES)),
    st.tuples(
        st.just("remove pod"),
        st.sampled_from([f"{ns}/{name}" for ns in ("default", "shop") for name in PODS]),
    ),
)
steps = st.one_of(
    st.tuples(st.just("node"), nodes()),
    st.tuples(st.just("pod"), pods()),
    st.tuples(st.just("pod"), pods()),
    removals,
    st.tuples(st.just("ask"), questions()),
    st.tuples(st.just("ask"), questions()),
)


class Truth:
    """The cluster as plain data, judged by upstream's rule word for word."""

    def __init__(self) -> None:
        self.nodes: dict[str, JSON] = {}
        self.pods: dict[str, JSON] = {}

    def verdict(self, pod: JSON, node: JSON) -> Status:
        hard = pod["spec"]["topologySpreadConstraints"]
        for each in hard:
            value = node["metadata"]["labels"].get(each["topologyKey"])
            if value is None:
                return filtering.MISSING_LABEL
            counts = self.counts(pod, hard, each)
            smallest = min(counts.values(), default=math.inf)
            if len(counts) < (each["minDomains"] or 1):
                smallest = 0
            wanted = each["labelSelector"]["matchLabels"].items()
            itself = wanted <= pod["metadata"]["labels"].items()
            if counts.get(value, 0) + itself - smallest > each["maxSkew"]:
                return filtering.SKEWED
        return SUCCESS

    def counts(self, pod: JSON, hard: list[JSON], each: JSON) -> dict[str, int]:
        keys = {other["topologyKey"] for other in hard}
        tolerates = bool(pod["spec"]["tolerations"])
        counts: Counter[str] = Counter()
        for name, node in self.nodes.items():
            labels = node["metadata"]["labels"]
            honors = each["nodeTaintsPolicy"] == "Honor"
            if keys <= labels.keys() and (tolerates or not honors or not node["spec"]["taints"]):
                counts[labels[each["topologyKey"]]] += self.on(name, each)
        return dict(counts)

    def on(self, node: str, each: JSON) -> int:
        wanted = each["labelSelector"]["matchLabels"].items()
        return sum(
            pod["spec"].get("nodeName") == node
            and pod["metadata"]["namespace"] == "default"
            and "deletionTimestamp" not in pod["metadata"]
            and pod["status"]["phase"] != "Succeeded"
            and wanted <= pod["metadata"]["labels"].items()
            for pod in self.pods.values()
        )


def apply(step: tuple[str, Any], truth: Truth, cache: ClusterCache) -> None:
    kind, what = step
    if kind == "node":
        name = what["metadata"]["name"]
        truth.nodes[name] = what
        cache.nodes.put(name, msgspec.convert(what, Node))
    elif kind == "pod":
        meta = what["metadata"]
        key = f"{meta['namespace']}/{meta['name']}"
        truth.pods[key] = what
        cache.pods.put(key, msgspec.json.decode(msgspec.json.encode(what), type=PlacedPod))
    elif kind == "remove node":
        truth.nodes.pop(what, None)
        cache.nodes.remove(what)
    else:
        truth.pods.pop(what, None)
        cache.pods.remove(what)


@given(st.lists(steps, max_size=40), questions())
def test_every_verdict_is_that_of_a_cluster_counted_anew(
    history: list[tuple[str, Any]], last: JSON
) -> None:
    truth, cache = Truth(), ClusterCache()
    for step in [*history, ("ask", last)]:
        if step[0] != "ask":
            apply(step, truth, cache)
            continue
        snapshot = cache.snapshot()
        question = PLUGIN.pre_filter(msgspec.convert(step[1], Pod), snapshot)
        assert not isinstance(question, Status)

        assert {name: question.filter(node) for name, node in snapshot.nodes.items()} == {
            name: truth.verdict(step[1], node) for name, node in truth.nodes.items()
        }
