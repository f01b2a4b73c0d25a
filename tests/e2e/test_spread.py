"""Stories of topology spread: which nodes count is decided by extended rules, bursts included."""

import time
from collections import Counter
from collections.abc import Callable

import pytest

from tests.builders import JSON, taint, toleration
from tests.e2e.cluster import Cluster
from tests.e2e.objects import deployment, node, pod

SLA = "node.example.com/sla"
ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def spread(obj: JSON, app: str, key: str = HOST, **more: object) -> JSON:
    """The pod, or the deployment, with a hard constraint over the pods of its app."""
    spec = obj["spec"]["template"]["spec"] if "template" in obj["spec"] else obj["spec"]
    spec["topologySpreadConstraints"] = [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": app}},
            **more,
        }
    ]
    return obj


def replica(number: int, threshold: str, policy: str, scheduler: str) -> JSON:
    """One pod of the manual test, which tolerates nodes above a threshold."""
    made = pod(
        f"web-{number}",
        toleration(SLA, "Gt", threshold),
        labels={"app": "web"},
        scheduler=scheduler,
    )
    return spread(made, "web", nodeTaintsPolicy=policy)


async def test_a_node_that_is_not_tolerated_does_not_count(
    cluster: Cluster, scheduler: str
) -> None:
    """The manual test of KEP-3094 with a threshold: policy Honor, the node is below it."""
    await cluster.add(node("spot", taint(SLA, "800")), node("plain"))

    placed = [await cluster.run(replica(i, "900", "Honor", scheduler)) for i in range(3)]

    assert placed == ["plain"] * 3


async def test_a_node_that_is_tolerated_by_its_number_counts(
    cluster: Cluster, scheduler: str
) -> None:
    """The same, above the threshold: the node is a domain like any other."""
    await cluster.add(node("spot", taint(SLA, "950")), node("plain"))

    placed = [await cluster.run(replica(i, "900", "Honor", scheduler)) for i in range(4)]

    assert Counter(placed) == {"spot": 2, "plain": 2}


async def test_with_taints_ignored_the_second_replica_waits(
    cluster: Cluster, scheduler: str
) -> None:
    """The default policy: the node counts as an empty domain, and cannot be used."""
    await cluster.add(node("spot", taint(SLA, "800")), node("plain"))
    first = await cluster.run(replica(0, "900", "Ignore", scheduler))
    why = await cluster.refused(replica(1, "900", "Ignore", scheduler))

    assert first == "plain"
    assert "1 node(s) didn't match pod topology spread constraints" in why
    assert f"1 node(s) had untolerated taint {{{SLA}: 800}}" in why

    await cluster.taint("spot", taint(SLA, "950"))

    assert await cluster.placed("web-1") == "spot"


async def test_a_pod_that_leaves_makes_room(cluster: Cluster) -> None:
    """A deletion is seen before the pod that waits for it is asked about again."""
    await cluster.add(node("a"), node("b", cpu="100m"))
    pods = [
        spread(pod(f"web-{i}", labels={"app": "web"}, cpu="80m"), "web", maxSkew=1)
        for i in range(4)
    ]
    for each in pods[:3]:
        await cluster.run(each)
    why = await cluster.refused(pods[3])

    assert "didn't match pod topology spread constraints" in why

    on_a = [each["metadata"]["name"] for each in pods[:3]]
    on_a = [name for name in on_a if await cluster.placed(name) == "a"]
    await cluster.delete(on_a[0])

    assert await cluster.placed("web-3") == "a"


@pytest.mark.parametrize("zones", [3])
async def test_a_burst_is_spread_over_zones(
    cluster: Cluster,
    scheduler: str,
    zones: int,
    record_property: Callable[[str, object], None],
) -> None:
    """A hundred and twenty replicas at once: binds are seen after the next pods were asked."""
    names = [f"zone-{i}" for i in range(zones)]
    nodes = [node(f"n{i}", labels={ZONE: names[i % zones]}, cpu="8") for i in range(9)]
    zone_of = {each["metadata"]["name"]: each["metadata"]["labels"][ZONE] for each in nodes}
    await cluster.add(*nodes)

    begun = time.monotonic()
    await cluster.deploy(spread(deployment("burst", 120, scheduler=scheduler), "burst", ZONE))
    placed = await cluster.placements(120, seconds=120, app="burst")
    record_property("seconds until all were placed", round(time.monotonic() - begun, 1))

    assert Counter(zone_of[each] for each in placed.values()) == dict.fromkeys(names, 40)
