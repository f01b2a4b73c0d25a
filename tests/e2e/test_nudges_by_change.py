"""The same promise for every kind of change that lets a pod in, with a view that is behind.

A node that comes back, a node that is new, a pod that leaves, a volume that changes.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.builders import JSON, PREFIX, taint, toleration
from tests.e2e.api import eventually
from tests.e2e.cluster import PATIENCE, Cluster
from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import NUDGED, node, pod
from tests.e2e.test_spread import ZONE, spread
from tests.e2e.test_volumes import KERNEL, VOLUMES, claim, newer_than, using, volume
from tests.e2e.waiting import POPS, SETTLED, TURN, Rig, a_little, held, rigged, waiting

TURNS = 15 if POPS else 6

# Keeps away those that fit nowhere.
OWN = "node.example.com/own"

Note = Callable[[str, object], None]


def owner(name: str, **more: Any) -> JSON:
    """A pod for a node of its own."""
    return pod(name, toleration(OWN, "Exists"), scheduler=NUDGED, cpu="10m", **more)


@pytest.fixture
async def rig(cluster: Cluster, plane: ControlPlane) -> AsyncIterator[Rig]:
    """One node that nobody tolerates, twelve pods that fit nowhere, and a view that is late."""
    async with rigged(cluster, plane) as made:
        await made.add(held("reserved"))
        await made.hopeless()
        made.relay.slow(a_little())
        yield made


async def test_a_node_that_is_uncordoned(rig: Rig, record_property: Note) -> None:
    nodes = [f"cordoned-{number}" for number in range(1, TURNS + 1)]
    await rig.add(
        *(node(name, taint(TURN, str(i)), unschedulable=True) for i, name in enumerate(nodes, 1))
    )
    for number, name in enumerate(nodes, 1):
        made = await rig.refused(waiting(f"patient-{number}", number))
        await asyncio.sleep(SETTLED)
        await rig.turn(made, rig.cluster.cordon(name, on=False))
    await rig.record(record_property)

    assert rig.late == []


async def test_a_node_that_is_new(rig: Rig, record_property: Note) -> None:
    """One a second: answers wait for it, and that may take a fifth of the time at most."""
    for number in range(1, TURNS + 1):
        made = await rig.refused(waiting(f"patient-{number}", number))
        await asyncio.sleep(1.0)
        new = held(f"new-{number}", number)
        await rig.turn(made, rig.cluster.api.create("/api/v1/nodes", new))
    await rig.record(record_property)

    assert rig.late == []


async def test_a_pod_that_leaves_makes_room_under_a_spread_constraint(
    rig: Rig, record_property: Note
) -> None:
    """Of two zones only one can be used, so one pod at most may be in it."""
    away = {"kubernetes.io/hostname": "away", ZONE: "away"}
    await rig.add(
        node("here", taint(OWN), labels={ZONE: "here"}), node("away", taint(TURN, "0"), labels=away)
    )
    for number in range(TURNS):
        app = f"app-{number}"
        first, second = (
            spread(owner(f"{app}-{which}", labels={"app": app}), app)
            for which in ("first", "second")
        )
        for each in (first, second):
            each["spec"]["topologySpreadConstraints"][0]["topologyKey"] = ZONE
        await rig.cluster.run(first)
        made = await rig.refused(second)
        await asyncio.sleep(SETTLED)
        await rig.turn(made, rig.cluster.delete(f"{app}-first"))
    await rig.record(record_property)

    assert rig.late == []


@pytest.fixture
async def disks(rig: Rig) -> AsyncIterator[list[str]]:
    """Claims that are bound, each to a volume that no kernel can use yet."""
    cluster = rig.cluster
    path = f"/api/v1/namespaces/{cluster.namespace}/persistentvolumeclaims"
    names = [f"disk-{number}" for number in range(TURNS)]
    await rig.add(node("recent", taint(OWN), labels={KERNEL: "6.1.0"}))
    for name in names:
        await cluster.api.create(VOLUMES, volume(cluster, name, name, newer_than("99.0.0")))
        await cluster.api.create(path, claim(name))

    async def bound() -> bool | None:
        items = (await cluster.api.get(path))["items"]
        return True if all(each["status"]["phase"] == "Bound" for each in items) else None

    assert await eventually(bound, PATIENCE), "claims are not bound"
    yield names
    await cluster.clear()
    await cluster.api.delete(path)
    await cluster.api.delete(VOLUMES)


async def test_a_volume_that_another_node_can_use(
    rig: Rig, disks: list[str], record_property: Note
) -> None:
    def usable() -> JSON:
        return {"metadata": {"annotations": {PREFIX + "node-affinity": _NOW}}}

    for number, disk in enumerate(disks):
        made = await rig.refused(using(owner(f"patient-{number}"), disk))
        await asyncio.sleep(SETTLED)
        name = f"{rig.cluster.namespace}-{disk}"
        await rig.turn(made, rig.cluster.api.merge(f"{VOLUMES}/{name}", usable()))
    await rig.record(record_property)

    assert rig.late == []


_NOW = json.dumps(newer_than("5.10.0"))
