"""Replicas that elect a leader over real HTTP, on a clock that only a test moves."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from extender.cluster.api import ApiServer
from extender.control.election import Elector
from tests.builders import JSON
from tests.cluster.apiserver import ScriptedServer, anonymous, eventually, scripted

NAMESPACE, NAME = "leeway", "leeway-controller"


@dataclass(eq=False)
class Timer:
    """Somebody who sleeps."""

    at: float
    between_attempts: bool  # else it bounds a request
    woken: asyncio.Future[None]


class Replica:
    """An elector with what it told, and with sleep that a test ends."""

    def __init__(self, world: "World", identity: str) -> None:
        self.world = world
        self.timers: list[Timer] = []
        self.changes: list[tuple[float, bool]] = []
        self.task: asyncio.Task[None] | None = None
        self.elector = Elector(
            ApiServer(anonymous(world.server)),
            namespace=NAMESPACE,
            name=NAME,
            identity=identity,
            clock=lambda: world.clock,
            now=lambda: world.wall,
            sleep=self.sleep,
            on_change=lambda leads: self.changes.append((world.clock, leads)),
        )

    @property
    def leads(self) -> bool:
        return self.elector.leads

    async def sleep(self, seconds: float) -> None:
        between = asyncio.current_task() is self.task
        woken = asyncio.get_running_loop().create_future()
        timer = Timer(self.world.clock + seconds, between, woken)
        self.timers.append(timer)
        try:
            await timer.woken
        finally:
            self.timers.remove(timer)

    async def start(self) -> "Replica":
        self.task = asyncio.create_task(self.elector.run())
        await self.world.settle()
        return self

    async def stop(self) -> None:
        """As kill -9 does for the others: nothing is written any more."""
        if self.task is not None:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)
            self.task = None

    def is_quiet(self) -> bool:
        """Whether nothing happens before time passes."""
        if self.task is None or self.task.done():
            return True
        hangs = not self.world.server.answers_leases.is_set()
        waits = [timer for timer in self.timers if not timer.woken.done()]
        return any(timer.between_attempts or hangs for timer in waits)


@dataclass
class World:
    """The API server, the replicas and the time. Nothing happens by itself."""

    server: ScriptedServer
    clock: float = 1_000.0
    wall: float = 1_767_225_600.0  # 2026-01-01T00:00:00Z
    replicas: list[Replica] = field(default_factory=list)

    def replica(self, identity: str) -> Replica:
        made = Replica(self, identity)
        self.replicas.append(made)
        return made

    async def settle(self) -> None:
        """Let all that is under way come to its end."""
        await eventually(lambda: all(replica.is_quiet() for replica in self.replicas))
        assert all(replica.is_quiet() for replica in self.replicas)

    async def advance(self, seconds: float) -> None:
        """Let time pass, with all that happens in it."""
        end = self.clock + seconds
        await self.settle()
        while (timer := self._next_timer()) and timer.at <= end:
            self._wake(timer)
            await self.settle()
        self.let_pass(end - self.clock)

    async def advance_until_held(self) -> None:
        """Let time pass until somebody has asked who is not answered before the test wants it."""
        timer = self._next_timer()
        assert timer is not None
        self._wake(timer)
        await eventually(lambda: not self.server.lease_faults)
        assert not self.server.lease_faults

    def let_pass(self, seconds: float) -> None:
        """Let time pass, and nobody see it."""
        self.clock += seconds
        self.wall += seconds

    def _wake(self, timer: Timer) -> None:
        self.let_pass(timer.at - self.clock)
        timer.woken.set_result(None)

    def _next_timer(self) -> Timer | None:
        timers = (timer for replica in self.replicas for timer in replica.timers)
        waiting = [timer for timer in timers if not timer.woken.done()]
        return min(waiting, key=lambda timer: timer.at, default=None)

    @property
    def lease(self) -> JSON:
        """What the Lease says."""
        spec: JSON = self.server.objects["leases"][f"{NAMESPACE}/{NAME}"]["spec"]
        return spec

    def put_lease(self, **spec: object) -> None:
        """Write the Lease from outside."""
        metadata = {"name": NAME, "namespace": NAMESPACE, "labels": {"of": "others"}}
        self.server.put("leases", {"metadata": metadata, "spec": spec})


@contextlib.asynccontextmanager
async def a_world() -> AsyncIterator[World]:
    async with scripted() as server:
        world = World(server)
        try:
            yield world
        finally:
            for replica in world.replicas:
                await replica.stop()
