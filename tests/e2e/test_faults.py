"""Stories of processes that die: nothing lands on a wrong node, everything lands in the end."""

import asyncio
from collections.abc import Mapping

import aiohttp
import pytest

from tests.builders import JSON, taint, toleration
from tests.e2e.api import ApiServerError
from tests.e2e.cluster import Cluster
from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import CUT_OFF, EXTENDED, IGNORING, WHOLE_NODES, node, pod
from tests.e2e.processes import free_port
from tests.e2e.relay import Relay

SLA = "node.example.com/sla"
LEVELS = (700, 800, 950, 999)
LONG = 120.0


@pytest.fixture
async def banded(cluster: Cluster) -> Cluster:
    """Nodes of four service levels, three of each."""
    await cluster.add(
        *(node(f"spot-{sla}-{i}", taint(SLA, str(sla))) for sla in LEVELS for i in range(3))
    )
    return cluster


def pods(count: int) -> list[JSON]:
    """Pods of both schedulers, with needs that only some nodes meet, named after them."""
    needs = (750, 900, 990)
    return [
        pod(
            f"above-{needs[i % 3]}-{i}",
            toleration(SLA, "Gt", str(needs[i % 3])),
            scheduler=WHOLE_NODES if i % 2 else EXTENDED,
        )
        for i in range(count)
    ]


def misplaced(placed: Mapping[str, str]) -> dict[str, str]:
    """Which pods are on nodes that they do not tolerate."""
    return {
        name: on for name, on in placed.items() if int(on.split("-")[1]) <= int(name.split("-")[1])
    }


async def arrive(cluster: Cluster, arriving: list[JSON], *, every: float = 0.1) -> None:
    """Create pods one after the other, as long as each takes to be let in."""
    for each in arriving:
        while True:
            try:
                await cluster.api.ensure(cluster.pods_path, each)
                break
            except (aiohttp.ClientError, ApiServerError, OSError):
                await asyncio.sleep(0.2)
        await asyncio.sleep(every)


async def test_leeway_is_killed_and_comes_back_while_pods_arrive(
    banded: Cluster, plane: ControlPlane
) -> None:
    arriving = asyncio.create_task(arrive(banded, pods(40)))
    for _ in range(2):
        await asyncio.sleep(0.8)
        await plane.leeway.kill()
        await asyncio.sleep(0.5)
        await plane.leeway.start()
    await arriving

    assert misplaced(await banded.placements(40, seconds=LONG)) == {}


async def test_leeway_is_asked_to_stop_and_comes_back_while_pods_arrive(
    banded: Cluster, plane: ControlPlane
) -> None:
    arriving = asyncio.create_task(arrive(banded, pods(30), every=0.05))
    await asyncio.sleep(0.8)
    code = await plane.leeway.stop()
    await plane.leeway.start()
    await arriving

    assert code == 0
    assert misplaced(await banded.placements(30, seconds=LONG)) == {}


async def test_the_api_server_is_killed_and_comes_back_while_pods_arrive(
    banded: Cluster, plane: ControlPlane
) -> None:
    """What changes when Leeway's watch has come back must be known to it."""
    arriving = asyncio.create_task(arrive(banded, pods(40)))
    await asyncio.sleep(1)
    await plane.apiserver.kill()
    known = await banded.known_nodes()
    await asyncio.sleep(1)
    await plane.start()  # as a kubelet would: also a scheduler that has lost its lease meanwhile
    await arriving
    placed = await banded.placements(40, seconds=LONG)

    assert known == 12
    assert misplaced(placed) == {}

    await banded.add(node("spot-1-x", taint(SLA, "1")))
    why = await banded.refused(pod("above-5000-x", toleration(SLA, "Gt", "5000")))
    await banded.taint("spot-700-0", taint(SLA, "6000"))

    assert "3 node(s) had untolerated taint {node.example.com/sla: 700}" in why
    assert await banded.placed("above-5000-x") == "spot-700-0"


async def test_a_pod_is_not_left_behind_by_a_view_that_was_cut_off(
    cluster: Cluster, plane: ControlPlane
) -> None:
    """The scheduler hears of a change while Leeway cannot, and asks: the refusal must not stand.

    Nothing else happens in this cluster, so nothing but an error would make it ask again.
    """
    port = free_port()
    leeway = plane.new_leeway("leeway-cut-off", api_port=port)
    scheduler = plane.new_scheduler(CUT_OFF, url=leeway.url)
    async with Relay(port, plane.port).running() as relay, plane.beside(leeway, scheduler):
        await cluster.add(node("target", taint(SLA, "800")))
        await cluster.refused(pod("patient", toleration(SLA, "Gt", "900"), scheduler=CUT_OFF))
        await asyncio.sleep(5)  # past its back-off: it is asked about at once when a taint changes
        await relay.cut()
        await cluster.taint("target", taint(SLA, "950"))
        await asyncio.sleep(2)
        await relay.mend()

        assert await cluster.placed("patient", seconds=30) == "target"


async def test_nodes_that_changed_while_the_api_server_was_away_are_judged_anew(
    banded: Cluster, plane: ControlPlane
) -> None:
    """Leeway does not live through the change: it must not go on from what it knew."""
    await plane.leeway.kill()
    for i in range(3):
        await banded.taint(f"spot-999-{i}", taint(SLA, "100"))
    await banded.api.delete("/api/v1/nodes/spot-950-0")
    await plane.apiserver.kill()
    await plane.start()  # as a kubelet would: also a scheduler that has lost its lease meanwhile
    await plane.leeway.start()

    await banded.create(pod("strict", toleration(SLA, "Gt", "900")))

    assert await banded.placed("strict", seconds=LONG) in {"spot-950-1", "spot-950-2"}


async def test_while_leeway_is_away_pods_wait_and_are_placed_when_it_is_back(
    banded: Cluster, plane: ControlPlane
) -> None:
    await plane.leeway.kill()
    await banded.create(*pods(10))
    event = await banded.event("above-750-0", "FailedScheduling")
    await asyncio.sleep(2)
    items = (await banded.api.get(banded.pods_path))["items"]

    assert "connection refused" in event
    assert [each["metadata"]["name"] for each in items if "nodeName" in each["spec"]] == []

    await plane.leeway.start()

    assert misplaced(await banded.placements(10, seconds=LONG)) == {}


async def test_an_extender_that_may_be_ignored_means_that_nobody_enforces_taints(
    banded: Cluster, plane: ControlPlane
) -> None:
    """Why `ignorable: true` is not shipped."""

    def ignorable(config: JSON) -> None:
        config["extenders"][0]["ignorable"] = True

    nobody = f"https://127.0.0.1:{free_port()}"
    async with plane.beside(plane.new_scheduler(IGNORING, ignorable, url=nobody)):
        on = await banded.run(pod("plain", scheduler=IGNORING))

    assert on.startswith("spot-")


async def test_a_scheduler_is_killed_and_comes_back_while_pods_arrive(
    banded: Cluster, plane: ControlPlane
) -> None:
    """Its lease has to run out first."""
    arriving = asyncio.create_task(arrive(banded, pods(30), every=0.05))
    await asyncio.sleep(0.8)
    await plane.scheduler.kill()
    await plane.whole_node_scheduler.kill()
    await plane.scheduler.start()
    await plane.whole_node_scheduler.start()
    await arriving

    assert misplaced(await banded.placements(30, seconds=LONG)) == {}
