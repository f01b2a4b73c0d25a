"""Stories of many at once."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable

from tests.builders import taint, toleration
from tests.e2e.cluster import Cluster
from tests.e2e.objects import node, pod

SLA = "node.example.com/sla"
LEVELS = ("800", "950", "999")


async def test_three_hundred_nodes_and_as_many_pods_arrive_at_once(
    cluster: Cluster, scheduler: str, record_property: Callable[[str, object], None]
) -> None:
    """Pods arrive while half of the nodes are still to come."""
    nodes = [node(f"n{i:03}", taint(SLA, LEVELS[i % 3])) for i in range(300)]
    level_of = {each["metadata"]["name"]: each["spec"]["taints"][0]["value"] for each in nodes}
    needs = {"gold": ("990", {"999"}), "silver": ("900", {"950", "999"}), "any": ("1", set(LEVELS))}
    await cluster.add(*nodes[:150])

    pods = [
        pod(f"{name}-{i}", toleration(SLA, "Gt", level), labels={"app": name}, scheduler=scheduler)
        for name, (level, _) in needs.items()
        for i in range(100)
    ]
    begun = time.monotonic()
    await asyncio.gather(cluster.add(*nodes[150:]), cluster.create(*pods))
    placed = {name: await cluster.placements(100, seconds=90, app=name) for name in needs}
    record_property("seconds until all were placed", round(time.monotonic() - begun, 1))

    for name, (_, allowed) in needs.items():
        levels = Counter(level_of[each] for each in placed[name].values())

        assert set(levels) <= allowed, (name, levels)
