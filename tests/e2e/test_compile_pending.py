"""Pods that wait: the value that lets them in is compiled as soon as a node has it.

Nothing but the added toleration wakes the unmodified scheduler, which has no extender to ask.
"""

import asyncio
import functools
import itertools
import os
import statistics
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

import pytest

from tests.builders import taint
from tests.e2e.cluster import Cluster
from tests.e2e.compiling import SLA, Rig, compiling, logged, ruled
from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import node
from tests.e2e.processes import Process
from tests.e2e.waiting import LEFT_BEHIND, SETTLED, meanwhile

pytestmark = pytest.mark.usefixtures("default_scheduler")

TURNS = 30
HOPELESS = 12
NEVER = "1000000"
# `LEEWAY_FLIP_SECONDS=60` is the run of a person who looks closely.
FLIP_SECONDS = float(os.environ.get("LEEWAY_FLIP_SECONDS") or 20)
FLIP_EVERY = 0.4
ARRIVE_EVERY = 0.1
# How far a scheduler's view may be behind the API server, on a machine that is busy.
BEHIND = 0.3

Note = Callable[[str, object], None]


@pytest.fixture
async def rig(cluster: Cluster, plane: ControlPlane) -> AsyncIterator[Rig]:
    async with compiling(cluster, plane) as made:
        yield made


async def test_a_value_that_appears_later_frees_a_pod(rig: Rig, record_property: Note) -> None:
    """A pod of its own each time, among others that no value lets in."""
    await rig.cluster.add(*(node(f"target-{i}", taint(SLA, "0")) for i in range(3)))
    await asyncio.gather(
        *(rig.refused(ruled(f"hopeless-{i}", "Gt", NEVER)) for i in range(HOPELESS))
    )
    took = []
    for turn in range(1, TURNS + 1):
        name = await rig.refused(ruled(f"patient-{turn}", "Gt", str(turn - 1)))
        await asyncio.sleep(SETTLED)
        assert name not in rig.seen.bound
        await rig.cluster.taint(f"target-{turn % 3}", taint(SLA, str(turn)))
        changed = time.monotonic()
        await rig.seen.until(functools.partial(rig.seen.bound.__contains__, name), LEFT_BEHIND)
        took.append(max(rig.seen.bound.get(name, changed + LEFT_BEHIND) - changed, 0.0))
    record_property("turns", len(took))
    record_property("p50 ms from node change to bind", round(1000 * statistics.median(took)))
    record_property("most ms from node change to bind", round(1000 * max(took)))

    assert [seconds for seconds in took if seconds >= LEFT_BEHIND] == []
    assert [name for name in rig.seen.bound if name.startswith("hopeless")] == []


# --- Taints that flip ------------------------------------------------------------------------


@dataclass
class Level:
    """A node whose service level flips, and when each value stood on it."""

    name: str
    values: Iterator[int]
    stood: list[tuple[float, int]] = field(default_factory=list)

    def during(self, begun: float, ended: float) -> set[int]:
        """The values that stood at any time between two times."""
        ends = [at for at, _ in self.stood[1:]] + [float("inf")]
        return {
            value
            for (at, value), until in zip(self.stood, ends, strict=True)
            if at <= ended and until + BEHIND >= begun
        }


def flipping(name: str, *values: int) -> Level:
    return Level(name, itertools.cycle(values))


async def test_nobody_is_bound_where_no_tolerated_value_stood(
    rig: Rig, plane: ControlPlane, record_property: Note
) -> None:
    """Taints flip while pods arrive. Each bind is judged by the attempt that it came from."""
    levels = [
        flipping("low", 100, 200),
        flipping("edge", 800, 950, 801, 951),
        flipping("high", 952, 990, 953, 991),
    ]
    needs = (0, 150, 900, 960, 2000)
    for level in levels:
        await rig.cluster.add(
            node(level.name, taint(SLA, str(value := next(level.values))), cpu="64")
        )
        level.stood.append((time.time(), value))
    size = plane.default_scheduler.logged()

    async def flip(number: int) -> None:
        level = levels[number % len(levels)]
        value, before = next(level.values), time.time()
        await rig.cluster.taint(level.name, taint(SLA, str(value)))
        level.stood.append((before, value))

    async def arrive(number: int) -> None:
        need = needs[number % len(needs)]
        await rig.cluster.create(ruled(f"above-{need}-{number}", "Gt", str(need)))

    async with meanwhile(flip, FLIP_EVERY / len(levels)), meanwhile(arrive, ARRIVE_EVERY):
        await asyncio.sleep(FLIP_SECONDS)
    await asyncio.sleep(SETTLED)

    binds = attempts(plane.default_scheduler, size)
    by_name = {level.name: level for level in levels}
    wrong = {}
    for name, (begun, ended) in binds.items():
        on = by_name[rig.seen.pods[name]["spec"]["nodeName"]]
        if not any(value > int(name.split("-")[1]) for value in on.during(begun, ended)):
            wrong[name] = on.name, on.during(begun, ended)
    record_property("flips", sum(len(level.stood) for level in levels))
    record_property("pods", len(rig.seen.pods))
    record_property("bound", len(binds))

    assert wrong == {}
    assert len(binds) == len(rig.seen.bound)
    assert {name for name in rig.seen.pods if name.startswith("above-0-")} <= set(binds)
    assert [name for name in rig.seen.bound if name.startswith("above-2000-")] == []


def attempts(scheduler: Process, since: int) -> dict[str, tuple[float, float]]:
    """When the attempt began that bound a pod, and when it was bound, as the scheduler logs it."""
    begun: dict[str, float] = {}
    bound: dict[str, tuple[float, float]] = {}
    for at, what, name in logged(scheduler, since):
        if what == "Attempting to schedule pod":
            begun[name] = at
        elif what == "Successfully bound pod to node":
            bound[name] = begun[name], at
    return bound
