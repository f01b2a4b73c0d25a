"""Stories of preemption: Leeway says on which nodes an eviction would be for nothing."""

import asyncio

import pytest

from tests.builders import taint, toleration
from tests.e2e.cluster import Cluster
from tests.e2e.objects import deployment, node, pod

SLA = "node.example.com/sla"
PRIORITIES = {"trifling": 1, "low": 10, "high": 1000}


@pytest.fixture
async def priorities(cluster: Cluster) -> None:
    """Priority classes, which outlive the story."""
    for name, value in PRIORITIES.items():
        await cluster.api.ensure(
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            {"metadata": {"name": name}, "value": value},
        )


@pytest.mark.usefixtures("priorities")
async def test_nobody_is_evicted_from_nodes_that_the_pod_does_not_tolerate(
    cluster: Cluster, scheduler: str
) -> None:
    await cluster.add(*(node(f"spot-{i}", taint(SLA, "800"), cpu="1") for i in range(3)))
    low = toleration(SLA, "Gt", "700")
    await cluster.deploy(
        deployment("batch", 3, low, cpu="900m", priority="low", scheduler=scheduler)
    )
    before = await cluster.placements(3, app="batch")
    urgent = pod(
        "urgent", toleration(SLA, "Gt", "900"), cpu="900m", priority="high", scheduler=scheduler
    )

    why = await cluster.refused(urgent)
    await asyncio.sleep(2)  # past its first back-off

    assert "3 Insufficient cpu" in why
    assert await cluster.placements(3, app="batch") == before
    assert await cluster.events("urgent", reason="Preempted") == []


@pytest.mark.usefixtures("priorities")
async def test_evictions_happen_where_they_help(cluster: Cluster, scheduler: str) -> None:
    """The cheapest victims are on a node that the pod does not tolerate."""
    await cluster.add(
        node("spot-800", taint(SLA, "800"), cpu="1"), node("spot-950", taint(SLA, "950"), cpu="1")
    )
    work = {"trifle": ("800", "trifling"), "batch": ("950", "low")}
    for name, (level, priority) in work.items():
        own = toleration(SLA, "Equal", level)
        await cluster.run(pod(name, own, cpu="900m", priority=priority, scheduler=scheduler))
    urgent = pod(
        "urgent", toleration(SLA, "Gt", "900"), cpu="900m", priority="high", scheduler=scheduler
    )

    assert await cluster.run(urgent) == "spot-950"
    assert await cluster.pod("batch") is None
    assert await cluster.pod("trifle") is not None
    assert "Preempted by pod" in await cluster.event("batch", "Preempted")


@pytest.mark.usefixtures("priorities")
async def test_one_tolerated_node_among_many_is_found(cluster: Cluster) -> None:
    """Thirty nodes could be emptied, and emptying one of them helps."""
    spots = [node(f"spot-{i}", taint(SLA, "800"), cpu="1") for i in range(29)]
    await cluster.add(*spots, node("own", taint(SLA, "950"), cpu="1"))
    low = toleration(SLA, "Exists")
    await cluster.deploy(deployment("batch", 30, low, cpu="900m", priority="low"))
    before = await cluster.placements(30, app="batch")
    urgent = pod("urgent", toleration(SLA, "Gt", "900"), cpu="900m", priority="high")

    assert await cluster.run(urgent) == "own"

    async def victims() -> list[str]:
        left = await cluster.api.get(cluster.pods_path, labelSelector="app=batch")
        names = {each["metadata"]["name"] for each in left["items"]}
        return [on for name, on in before.items() if name not in names]

    assert await victims() == ["own"]
