"""Two clusters in a few lines, and what differs between them."""

from collections.abc import Iterable
from typing import Any

import msgspec

from extender import plugins
from extender.cluster import manifests
from extender.cluster.cache import ClusterCache
from extender.framework.interface import Settings
from extender.model.core_v1 import Node
from extender.native.settings import CompileSettings
from extender.review.diff import comparing
from extender.review.diff.comparing import Difference, Side
from extender.review.diff.population import Population
from extender.review.scan import objects
from tests.builders import JSON, pod_json

SLA = "sla"


def running(
    name: str,
    node: str = "",
    *tolerations: JSON,
    owner: tuple[str, str] | None = None,
    labels: dict[str, str] | None = None,
    spread: Iterable[JSON] = (),
    **more: Any,
) -> JSON:
    """A pod of a cluster, with its node and its owner."""
    made = pod_json(*tolerations, name=name, **more)
    made["metadata"] |= {"uid": f"uid-{name}", "labels": labels or {}}
    if owner is not None:
        kind, of = owner
        made["metadata"]["ownerReferences"] = [{"kind": kind, "name": of, "controller": True}]
    made["spec"] |= {"nodeName": node, "topologySpreadConstraints": list(spread)}
    return made


def population(*pods: JSON, **workloads: JSON) -> Population:
    """Pods, and workloads by kind."""
    found = Population()
    for each in pods:
        found.add("Pod", msgspec.convert(each, objects.ScannedPod))
    for kind, each in workloads.items():
        found.add(kind, msgspec.convert(each, objects.SHAPES[kind]))
    return found


def side(
    nodes: Iterable[JSON],
    pods: Iterable[JSON] = (),
    settings: Settings | None = None,
    *,
    storage: Iterable[JSON] = (),
) -> Side:
    """A cluster with its pods, each judged by all plugins."""
    settings = settings or Settings()
    pods = list(pods)
    cache = ClusterCache()
    for node in nodes:
        cache.nodes.put(node["metadata"]["name"], msgspec.convert(node, Node))
    for each in pods:
        key, obj = manifests.decoded_for_cache(_HERE, "Pod", each)
        cache.pods.put(key, obj)  # type: ignore[arg-type]
    stored = [
        (each["kind"], *manifests.decoded_for_cache(_HERE, each["kind"], each)) for each in storage
    ]
    manifests.fill(cache, stored)
    profile = plugins.profile("test", plugins.DEFAULT_WEIGHTS, settings)
    members = {each.ref: each for each in population(*pods).members()}
    return Side(
        cache.snapshot(volumes=bool(stored)),
        members,
        lambda _: profile,
        settings,
        CompileSettings(),
    )


def compared(before: Side, after: Side) -> Difference:
    return comparing.compare(before, after)


_HERE: Any = "here"
