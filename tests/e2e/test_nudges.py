"""The promise of an extender: a pod that fits is placed, and soon after the change that lets it in.

kube-scheduler hears of a change when Leeway does, and asks within milliseconds. A refusal from
the view of a moment ago would stand for minutes. Each turn has a pod of its own, which exactly
one change lets in.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable

import pytest

from tests.builders import taint, toleration
from tests.e2e.cluster import Cluster
from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import NUDGED, node, pod
from tests.e2e.waiting import POPS, SETTLED, TURN, Rig, a_little, held, meanwhile, rigged, waiting

# An older scheduler sits out back-offs, so each turn takes seconds.
TURNS = 60 if POPS else 15
# Each of these nodes has a heartbeat about once a second: the API stores whole seconds.
BEATING = [f"beating-{i}" for i in range(40)]
BEATS_A_SECOND = 2_000 / 60
OTHERS_A_SECOND = 5
GENERAL = "node.example.com/general"

Note = Callable[[str, object], None]


@pytest.fixture
async def rig(cluster: Cluster, plane: ControlPlane) -> AsyncIterator[Rig]:
    """Three nodes that take turns, some others, and twelve pods that fit nowhere."""
    async with rigged(cluster, plane) as made:
        await made.add(
            *(held(f"target-{i}") for i in range(3)),
            *(node(name, taint(GENERAL, "yes"), cpu="64") for name in BEATING),
        )
        await made.hopeless()
        yield made


async def take_turns(rig: Rig, count: int = TURNS) -> None:
    """Refuse a pod, wait a moment, change a taint; again and again."""
    for number in range(1, count + 1):
        name = await rig.refused(waiting(f"patient-{number}", number))
        await asyncio.sleep(SETTLED)
        now = taint(TURN, str(number))
        await rig.turn(name, rig.cluster.taint(f"target-{number % 3}", now))


async def test_nobody_waits_on_a_quiet_cluster(rig: Rig, record_property: Note) -> None:
    await take_turns(rig)
    await rig.record(record_property)

    assert rig.late == []


async def test_nobody_waits_while_nodes_have_heartbeats(rig: Rig, record_property: Note) -> None:
    async def beat(number: int) -> None:
        await rig.cluster.heartbeat(BEATING[number % len(BEATING)])

    async with meanwhile(beat, 1 / BEATS_A_SECOND):
        await take_turns(rig)
    await rig.record(record_property)

    assert rig.late == []


async def test_nobody_waits_while_unrelated_pods_come_and_go(
    rig: Rig, record_property: Note
) -> None:
    """Each of them wakes every pod that waits."""
    there: deque[str] = deque()

    async def come_and_go(number: int) -> None:
        anywhere = toleration(GENERAL, "Exists")
        there.append(f"other-{number}")
        await rig.cluster.create(pod(there[-1], anywhere, scheduler=NUDGED, cpu="10m"))
        if len(there) > 4 * OTHERS_A_SECOND:
            await rig.cluster.delete(there.popleft())

    async with meanwhile(come_and_go, 1 / OTHERS_A_SECOND):
        await take_turns(rig)
    await rig.record(record_property)

    assert rig.late == []


async def test_nobody_waits_if_the_view_is_always_behind(rig: Rig, record_property: Note) -> None:
    """The race is lost most of the time: the scheduler asks within ten milliseconds."""
    rig.relay.slow(a_little())
    await take_turns(rig)
    await rig.record(record_property)

    assert rig.late == []
