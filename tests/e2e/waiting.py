"""How long pods wait after the change that lets them in, as a watch sees it."""

import asyncio
import contextlib
import itertools
import random
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp

from tests.builders import JSON, taint, toleration
from tests.e2e import binaries
from tests.e2e.api import eventually
from tests.e2e.cluster import PATIENCE, Cluster
from tests.e2e.controlplane import ControlPlane, Leeway
from tests.e2e.objects import NUDGED, node, pod
from tests.e2e.processes import free_port
from tests.e2e.relay import Relay

TURN = "node.example.com/turn"
CONDITION = "scheduling.leeway/Schedulable"
HOPELESS = 12
NEVER = 1_000_000
# From 1.33 on, a scheduler that is idle asks as soon as a pod is woken. An older one asks when the
# pod's back-off is over, here a second, and looks for such pods once a second.
POPS = binaries.minor() >= 33
SOON = 1.0 if POPS else 3.0
# How long a turn waits for its pod: far less than the five minutes of a pod that is left behind.
LEFT_BEHIND = 5.0
# A refusal and the ask that the scheduler's own condition causes are over.
SETTLED = 0.15


class Watched:
    """When each pod of a namespace was refused and bound, and which conditions of ours it had."""

    def __init__(self) -> None:
        self.refused: dict[str, float] = {}
        self.bound: dict[str, float] = {}
        self.conditions: dict[str, list[JSON]] = {}
        self._changed = asyncio.Event()

    def see(self, event: JSON) -> None:
        """Take in one event."""
        found = event["object"]
        name, now = found["metadata"]["name"], time.monotonic()
        if event["type"] == "DELETED":
            return
        if found["spec"].get("nodeName"):
            self.bound.setdefault(name, now)
        for each in found["status"].get("conditions", ()):
            if each["type"] == "PodScheduled" and each.get("reason") == "Unschedulable":
                self.refused.setdefault(name, now)
            if each["type"] == CONDITION:
                seen = self.conditions.setdefault(name, [])
                if not seen or seen[-1] != each:
                    seen.append(each)
        self._changed.set()

    async def until(self, what: dict[str, float], name: str, seconds: float) -> float | None:
        """When it happened to a pod; None if it does not in time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while name not in what:
                    self._changed.clear()
                    await self._changed.wait()
        return what.get(name)


@contextlib.asynccontextmanager
async def watched(cluster: Cluster) -> AsyncIterator[Watched]:
    """A watch of the namespace's pods; it goes on if the API server comes back."""
    seen = Watched()

    async def watch() -> None:
        while True:
            with contextlib.suppress(OSError, aiohttp.ClientError):
                async for event in cluster.api.events(cluster.pods_path):
                    seen.see(event)
            await asyncio.sleep(0.05)

    task = asyncio.create_task(watch())
    try:
        yield seen
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


class Rig:
    """A Leeway whose view may be late, its scheduler, and pods that wait for a change."""

    def __init__(self, cluster: Cluster, seen: Watched, leeway: Leeway, relay: Relay) -> None:
        self.cluster = cluster
        self.seen = seen
        self.leeway = leeway
        self.relay = relay
        self.took: list[float] = []

    async def add(self, *nodes: JSON) -> None:
        """Add nodes, and wait until Leeway has heard of them."""
        port = self.leeway.ops_port
        known = await self.cluster.known_nodes(port=port)
        await self.cluster.add(*nodes)

        async def heard() -> bool | None:
            now = await self.cluster.known_nodes(port=port)
            return True if now == known + len(nodes) else None

        assert await eventually(heard, PATIENCE), "Leeway does not know all nodes"
        await asyncio.sleep(0.2)

    async def refused(self, made: JSON) -> str:
        """Create a pod, and wait until the scheduler has given it up."""
        name = str(made["metadata"]["name"])
        await self.cluster.create(made)
        at = await self.seen.until(self.seen.refused, name, PATIENCE)
        assert at is not None, f"{name} was not refused: {await self.cluster.why(name)}"
        return name

    async def hopeless(self, count: int = HOPELESS) -> None:
        """Have pods that no change lets in."""
        made = [waiting(f"hopeless-{i}", NEVER + i) for i in range(count)]
        await asyncio.gather(*map(self.refused, made))

    async def turn(self, name: str, change: Awaitable[object]) -> float:
        """Let a refused pod in; the seconds from the change's response until it is bound."""
        early = name in self.seen.bound
        await change
        changed = time.monotonic()
        assert not early, f"{name} was bound before the change"
        bound = await self.seen.until(self.seen.bound, name, LEFT_BEHIND)
        took = LEFT_BEHIND if bound is None else max(bound - changed, 0.0)
        self.took.append(took)
        return took

    async def knows(self, made: JSON) -> bool:
        """Whether Leeway would let a pod pass by what it knows; needs --enable-explain."""
        url = f"http://127.0.0.1:{self.leeway.ops_port}/explain"
        body = {"pod": made}
        async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
            return bool((await response.json())["passing"])

    async def counted(self, metric: str) -> dict[str, float]:
        """A metric by its labels, as text."""
        return await self.cluster.counted(metric, port=self.leeway.ops_port)

    async def record(self, note: Callable[[str, object], None]) -> None:
        """Show what was seen."""
        late = Counter("late" if took > SOON else "soon" for took in self.took)
        note("turns", len(self.took))
        note(f"waited longer than {SOON:g} s", late["late"])
        note("p50 seconds", round(statistics.median(self.took), 3))
        note("most seconds", round(max(self.took), 3))
        for metric in ("leeway_nudges_total", "leeway_catch_up_total"):
            note(metric, await self.counted(metric))

    @property
    def late(self) -> list[float]:
        """How long those waited that waited too long; nobody else was touched."""
        touched = self.seen.bound.keys() | self.seen.conditions.keys()
        assert [name for name in touched if name.startswith("hopeless")] == []
        return [round(took, 2) for took in self.took if took > SOON]


def waiting(name: str, turn: int, **more: Any) -> JSON:
    """A pod that waits until a node has come to its turn, or beyond."""
    tolerates = toleration(TURN, "Gt", str(turn - 1))
    return pod(name, tolerates, scheduler=NUDGED, cpu="10m", **more)


def a_little(most: float = 0.15) -> Callable[[], float]:
    """A different delay each time, up to some seconds; the same ones in each run."""
    numbers = random.Random(15)  # noqa: S311 - the same in each run
    return lambda: numbers.random() * most


def eager(config: JSON) -> None:
    """Nobody competes; and where a scheduler sits out back-offs, they are short."""
    config["leaderElection"] = {"leaderElect": False}
    if not POPS:
        config["podMaxBackoffSeconds"] = 1


@contextlib.asynccontextmanager
async def rigged(cluster: Cluster, plane: ControlPlane, *flags: str) -> AsyncIterator[Rig]:
    """A rig on a cluster that has as yet no nodes. No other Leeway looks after its pods."""
    await plane.leeway.stop()
    port = free_port()
    leeway = plane.new_leeway("leeway-nudging", *flags, "--enable-explain", api_port=port)
    scheduler = plane.new_scheduler(NUDGED, eager, url=leeway.url)
    async with (
        Relay(port, plane.port).running() as relay,
        plane.beside(leeway, scheduler),
        watched(cluster) as seen,
    ):
        yield Rig(cluster, seen, leeway, relay)


@contextlib.asynccontextmanager
async def meanwhile(act: Callable[[int], Awaitable[object]], every: float) -> AsyncIterator[None]:
    """Do something again and again, so many seconds apart, however long it takes."""

    async def go_on() -> None:
        begun = time.monotonic()
        for number in itertools.count():
            await act(number)
            await asyncio.sleep(max(begun + (number + 1) * every - time.monotonic(), 0))

    task = asyncio.create_task(go_on())
    try:
        yield
        assert not task.done(), f"what went on meanwhile has ended: {task}"
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def held(name: str, turn: int = 0) -> JSON:
    """A node that only a pod whose turn it is may use."""
    return node(name, taint(TURN, str(turn)))
