"""What nudges must not do: storm the API server, change a verdict, or be needed for the rest."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.builders import taint
from tests.cli import process
from tests.e2e.api import eventually
from tests.e2e.cluster import PATIENCE, Cluster
from tests.e2e.controlplane import ControlPlane
from tests.e2e.credentials import LEEWAY
from tests.e2e.objects import NUDGED, node, pod
from tests.e2e.waiting import TURN, Rig, held, meanwhile, rigged, waiting

ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/leeway"
FLIPS_A_SECOND = 10
STORM_SECONDS = 12.0
STILL_SECONDS = 6.0
HOPELESS = 100
TORN = 40
RATE = 3
BEHIND = 0.3


@pytest.fixture
async def rig(cluster: Cluster, plane: ControlPlane) -> AsyncIterator[Rig]:
    async with rigged(cluster, plane, f"--nudges-per-second={RATE}") as made:
        await made.add(held("target"), node("full", taint(TURN, "0"), cpu="5m"))
        # The scheduler asks before Leeway has the news: only then a pod needs a nudge.
        made.relay.slow(lambda: BEHIND)
        yield made


async def nudges(rig: Rig) -> dict[str, int]:
    """How often each result was counted."""
    counted = await rig.counted("leeway_nudges_total")
    return {labels.split('"')[1]: int(number) for labels, number in counted.items()}


async def test_a_storm_of_changes_sends_no_more_nudges_than_allowed(
    rig: Rig, record_property: Callable[[str, object], None]
) -> None:
    """A full node flips: it would fit those who are torn by Leeway's rules, and never has room.

    While it flips, the scheduler asks by itself. When it stands still, all of them need a nudge.
    """
    await rig.hopeless(HOPELESS)
    torn = [waiting(f"torn-{i}", 1) for i in range(TORN)]
    await asyncio.gather(*map(rig.refused, torn))
    before = await nudges(rig)

    async def flip(number: int) -> None:
        await rig.cluster.taint("full", taint(TURN, str(1 - number % 2)))

    begun = time.monotonic()
    async with meanwhile(flip, 1 / FLIPS_A_SECOND):
        await asyncio.sleep(STORM_SECONDS)
    await rig.cluster.taint("full", taint(TURN, "1"))
    await asyncio.sleep(STILL_SECONDS)
    took = time.monotonic() - begun
    after = await nudges(rig)
    record_property("nudges", {name: after[name] - before.get(name, 0) for name in after})

    asked = after.get("sent", 0) + after.get("failed", 0)
    written = sum(len(each) for each in rig.seen.conditions.values())
    record_property("conditions written", written)
    assert after["sent"] >= STILL_SECONDS  # far fewer than there are torn
    # A second's worth may be saved up.
    assert asked <= RATE * (took + 1)
    assert written <= RATE * (took + 1)
    assert [name for name in rig.seen.conditions if name.startswith("hopeless")] == []
    assert rig.seen.bound == {}


async def test_a_pod_that_other_filters_refuse_is_nudged_less_and_less_often(rig: Rig) -> None:
    """Leeway never hears of their reasons: it only sees that its nudges did not help."""
    await rig.refused(waiting("torn", 1))

    async def flip(number: int) -> None:
        await rig.cluster.taint("full", taint(TURN, str(1 - number % 2)))

    async with meanwhile(flip, 0.8):
        await asyncio.sleep(STORM_SECONDS)
    true = [each for each in rig.seen.conditions.get("torn", []) if each["status"] == "True"]

    # Eight times a node came to fit it by Leeway's rules; pauses of 1, 2, 4 and 8 seconds.
    assert 1 <= len(true) <= 5


async def test_the_condition_says_which_node_fits_and_is_taken_back(rig: Rig) -> None:
    await rig.refused(waiting("torn", 1))
    await rig.cluster.taint("full", taint(TURN, "1"))

    async def said(status: str) -> str | None:
        found = rig.seen.conditions.get("torn", [])
        return str(found[-1]) if found and found[-1]["status"] == status else None

    nudged = await eventually(lambda: said("True"), 5)
    assert nudged is not None
    assert "ClusterChanged" in nudged
    assert "full" in nudged

    await rig.cluster.taint("full", taint(TURN, "0"))

    # Only when no node has fitted for a while: every change of a condition makes a scheduler ask.
    assert await eventually(lambda: said("False"), 30) is not None
    found = await rig.cluster.pod("torn")
    assert found is not None
    kinds = [each["type"] for each in found["status"]["conditions"]]
    assert sorted(kinds) == ["PodScheduled", "scheduling.leeway/Schedulable"]


@pytest.fixture
async def forbidden(cluster: Cluster) -> AsyncIterator[None]:
    """Leeway may read and nothing else."""
    role = await cluster.api.get(ROLE)
    reading = [rule for rule in role["rules"] if "patch" not in rule["verbs"]]
    await cluster.api.merge(ROLE, {"rules": reading})
    yield
    await cluster.api.merge(ROLE, {"rules": role["rules"]})


async def test_without_the_right_everything_else_works(
    forbidden: None, rig: Rig, plane: ControlPlane
) -> None:
    late = await rig.refused(waiting("late", 1))
    await asyncio.sleep(0.3)
    logged = rig.leeway.logged()
    for turn in ("1", "0", "1"):
        await rig.cluster.taint("full", taint(TURN, turn))
        await asyncio.sleep(1)

    async def failed() -> bool | None:
        return True if (await nudges(rig)).get("failed") else None

    assert await eventually(failed, PATIENCE), await rig.cluster.ops(
        "/metrics", port=rig.leeway.ops_port
    )
    assert late not in rig.seen.conditions
    verbose = await rig.cluster.ops("/readyz?verbose", port=rig.leeway.ops_port)
    assert "pods/status" in verbose
    warned = [line for line in rig.leeway.tail(logged).splitlines() if "pods/status" in line]
    assert len(warned) == 1, warned
    # Still in service, and right.
    await rig.cluster.taint("full", taint(TURN, "0"))
    await rig.cluster.taint("target", taint(TURN, "2"))
    await asyncio.sleep(2 * BEHIND)
    assert await rig.cluster.run(waiting("welcome", 2)) == "target"
    assert await rig.cluster.placed(late) == "target"

    command = (str(Path(sys.executable).with_name("leeway")),)
    kubeconfig = f"--kubeconfig={plane.kubeconfig(LEEWAY)}"
    ended = await asyncio.to_thread(
        process.run, "doctor", kubeconfig, "-o", "json", command=command
    )
    problems = json.loads(ended.out)["problems"]
    assert [each["where"] for each in problems] == ["patch pods/status"]


async def test_nudges_can_be_switched_off(cluster: Cluster, plane: ControlPlane) -> None:
    async with rigged(cluster, plane, "--nudges-per-second=0") as rig:
        await rig.add(held("target"), node("full", taint(TURN, "0"), cpu="5m"))
        await rig.refused(waiting("torn", 1))
        await cluster.taint("full", taint(TURN, "1"))
        await asyncio.sleep(2)

        assert rig.seen.conditions == {}
        assert await cluster.run(pod("any", {"operator": "Exists"}, scheduler=NUDGED, cpu="10m"))
