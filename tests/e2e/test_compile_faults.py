"""Controllers, Leases and API servers that fail while pods arrive and service levels change.

Whoever leads, nothing is lost, nothing is written twice, and nobody is evicted whose grace is
longer than the time without a leader.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
import pytest

from tests.builders import JSON, PREFIX, taint, toleration
from tests.e2e.api import ApiServerError, eventually
from tests.e2e.cluster import PATIENCE, Cluster
from tests.e2e.compiling import LEASE, LEASES, SETTLED, SLA, Rig, compiling, guard, ruled
from tests.e2e.controlplane import Controller, ControlPlane
from tests.e2e.objects import DEFAULT, node, pod

pytestmark = pytest.mark.usefixtures("default_scheduler")

# The default: a killed leader is replaced after 13 to 17 s.
LONG_GRACE = 30
RESIDENTS = 20
QUEUE = "node.example.com/queue"
LEADS = "this process leads"

Note = Callable[[str, object], None]


@contextlib.asynccontextmanager
async def replicas(cluster: Cluster, plane: ControlPlane, count: int) -> AsyncIterator["Load"]:
    """Controllers that look after pods on one node, and pods that arrive on another one."""
    grace = f"{LONG_GRACE}s"
    async with compiling(cluster, plane, count=count, extender=True, noExecuteGrace=grace) as rig:
        load = Load(rig)
        await load.begin()
        yield load


class Load:
    """Pods that live with NoExecute levels that change, and pods that arrive.

    A pod is unprotected between its binding and its guard, so those that arrive use another node.
    """

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.level = 950
        self.residents = [f"resident-{i}" for i in range(RESIDENTS)]
        self.arrived: list[str] = []
        self.broken: list[str] = []

    async def begin(self) -> None:
        """Every resident is on its node, with a guard."""
        await self.rig.cluster.add(
            node("spot", taint(SLA, str(self.level), "NoExecute")),
            node("queue", taint(QUEUE, "1")),
        )
        await self.rig.cluster.create(*(ruled(name, "Gt", "900") for name in self.residents))
        await self.misspell()
        await self.settled()

    async def change(self) -> None:
        """Another service level, which all residents tolerate."""
        level = self.level + 1
        await insist(lambda: self.rig.cluster.taint("spot", taint(SLA, str(level), "NoExecute")))
        self.level = level

    async def arrive(self) -> None:
        """One more pod, and a value that only the controller can tell it."""
        name, api = f"arrival-{len(self.arrived)}", self.rig.cluster.api
        made = pod(name, toleration(QUEUE, "Gt", "0"), scheduler=DEFAULT, cpu="10m")
        value = taint(QUEUE, str(len(self.arrived) // 5 + 1))
        await insist(lambda: self.rig.cluster.taint("queue", value))
        await insist(lambda: api.ensure(self.rig.cluster.pods_path, made))
        self.arrived.append(name)

    async def misspell(self) -> None:
        """One more pod, whose rule cannot be read. Whoever leads says so."""
        name, cluster = f"broken-{len(self.broken)}", self.rig.cluster
        made = pod(name, scheduler=DEFAULT, annotations={PREFIX + "tolerations": "{"})
        await insist(lambda: cluster.api.ensure(cluster.pods_path, made))
        self.broken.append(name)

    @contextlib.asynccontextmanager
    async def going_on(self, *, changes: float, arrivals: float) -> AsyncIterator[None]:
        """Changes and arrivals, so many seconds apart; none is under way in the end."""
        over = asyncio.Event()
        work = repeated(self.change, changes, over), repeated(self.arrive, arrivals, over)
        async with asyncio.TaskGroup() as group:
            for each in work:
                group.create_task(each)
            yield
            over.set()

    async def settled(self) -> None:
        """Everybody has a node, the guard, and what the rules come to."""
        await self.rig.seen.until(lambda: not self.unfinished())
        assert self.unfinished() == {}

    def unfinished(self) -> dict[str, str]:
        """What is missing, by pod."""
        seen, found = self.rig.seen, {}
        expected = dict.fromkeys(self.residents, ("spot", SLA, f"Equal {self.level}:NoExecute"))
        expected |= dict.fromkeys(self.arrived, ("queue", QUEUE, ""))
        for name, (on, key, stays) in expected.items():
            has = self.rig.tolerated(name, key) if name in seen.pods else []
            where = seen.pods[name]["spec"].get("nodeName") if has else None
            if where != on or has[-1] != guard(LONG_GRACE) or (stays and stays not in has):
                found[name] = f"on {where} with {has}"
        return found

    async def unharmed(self) -> None:
        """Nobody was evicted, and nothing was ever written or said twice or in the wrong place."""
        assert self.rig.seen.deleted == {}
        assert self.rig.seen.wrong == {}
        assert set(self.rig.seen.pods) == {*self.residents, *self.arrived, *self.broken}
        refusals = await self.rig.cluster.api.get(
            f"/api/v1/namespaces/{self.rig.cluster.namespace}/events",
            fieldSelector="reason=LeewayPatchRefused",
        )
        assert refusals["items"] == []
        for name in self.broken:
            await self.rig.cluster.event(name, "LeewayRuleInvalid")
            assert await self.rig.told(name) == {"LeewayRuleInvalid": 1}

    async def written(self, by: Controller) -> dict[str, float]:
        """The patches that one has sent, by kind and answer."""
        return await self.rig.counted("leeway_compile_writes_total", by)


async def repeated(act: Callable[[], Awaitable[None]], every: float, over: asyncio.Event) -> None:
    """Do something every so many seconds, until it is over."""
    while not over.is_set():
        await act()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(every):
                await over.wait()


async def insist(act: Callable[[], Awaitable[object]]) -> None:
    """Do something, again while the API server is away."""
    while True:
        with contextlib.suppress(aiohttp.ClientError, OSError, ApiServerError):
            await act()
            return
        await asyncio.sleep(0.1)


async def led(rig: Rig) -> tuple[Controller, list[Controller]]:
    """Who leads, and all others."""
    (leader,) = await rig.leaders()
    return leader, [each for each in rig.controllers if each is not leader]


@contextlib.asynccontextmanager
async def holders(cluster: Cluster) -> AsyncIterator[list[str]]:
    """Whom the Lease names one after the other; "" is nobody."""
    seen: list[str] = []

    async def watch() -> None:
        async for event in cluster.api.events(LEASES):
            holder = event["object"]["spec"].get("holderIdentity", "")
            if seen[-1:] != [holder]:
                seen.append(holder)

    task = asyncio.create_task(watch())
    try:
        assert await eventually(lambda: _given(seen), PATIENCE)
        yield seen
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _given(seen: list[str]) -> bool | None:
    return bool(seen) or None


async def test_a_killed_leader_is_replaced_and_nothing_is_lost(
    cluster: Cluster, plane: ControlPlane, record_property: Note
) -> None:
    async with replicas(cluster, plane, 3) as load:
        rig, (leader, others) = load.rig, await led(load.rig)
        async with load.going_on(changes=2, arrivals=0.25):
            await asyncio.sleep(1)
            await leader.kill()
            killed = time.monotonic()
            successor = await eventually(rig.leader, PATIENCE)
            record_property("takeover, seconds", round(time.monotonic() - killed, 1))
        await load.settled()
        record_property("pods that arrived", len(load.arrived))
        record_property("changes of the service level", load.level - 950)
        # Their evictions had begun: each was called off.
        assert await eventually(lambda: _called_off(load), PATIENCE)

        assert successor in others
        assert await rig.leaders() == [successor]
        assert (await lease(cluster))["leaseTransitions"] == 1
        await load.unharmed()


async def _called_off(load: Load) -> bool | None:
    path = f"/api/v1/namespaces/{load.rig.cluster.namespace}/events"
    found = await load.rig.cluster.api.get(path, fieldSelector="reason=TaintManagerEviction")
    said = [each for each in found["items"] if each["message"].startswith("Cancelling")]
    of = {each["involvedObject"]["name"] for each in said}
    return True if of == set(load.residents) else None


async def lease(cluster: Cluster) -> JSON:
    """What the Lease says."""
    spec: JSON = (await cluster.api.get(LEASE))["spec"]
    return spec


async def test_a_leader_that_was_frozen_does_not_write_after_its_term(
    cluster: Cluster, plane: ControlPlane, record_property: Note
) -> None:
    """When it wakes up it has work to do that nobody else does: its successor is frozen then."""
    async with replicas(cluster, plane, 2) as load:
        rig, (old, (new,)) = load.rig, await led(load.rig)
        before = await load.written(old)
        old.freeze()
        frozen = time.monotonic()
        assert await eventually(lambda: rig.leads(new), PATIENCE)
        record_property("takeover, seconds", round(time.monotonic() - frozen, 1))
        new.freeze()
        await load.change()
        await load.arrive()
        old.thaw()
        assert await eventually(lambda: _follows(rig, old, len(rig.seen.pods)), PATIENCE)
        await asyncio.sleep(SETTLED)

        assert await load.written(old) == before
        assert load.unfinished().keys() == {*load.residents, *load.arrived}

        new.thaw()
        await load.settled()
        assert await rig.leaders() == [new]
        assert await load.written(old) == before
        await load.unharmed()


async def _follows(rig: Rig, controller: Controller, pods: int) -> bool | None:
    """Whether one knows that another one leads, and knows all pods."""
    told = await rig.cluster.ops("/readyz?verbose", port=controller.ops_port)
    known = (await rig.counted("leeway_cache_objects", controller)).get('resource="pods"')
    return True if "following" in told and known == pods else None


async def test_a_leader_that_is_asked_to_stop_hands_over_at_once(
    cluster: Cluster, plane: ControlPlane, record_property: Note
) -> None:
    async with replicas(cluster, plane, 2) as load, holders(cluster) as held:
        rig, (leader, (other,)) = load.rig, await led(load.rig)
        async with load.going_on(changes=0.5, arrivals=0.2):
            await asyncio.sleep(0.5)
            code = await leader.stop()
            stopped = time.monotonic()
            assert await eventually(lambda: rig.leads(other), PATIENCE)
            record_property("takeover, seconds", round(time.monotonic() - stopped, 1))
        await load.settled()

        assert code == 0
        assert len(held) == 3
        assert held[1] == ""
        await load.unharmed()


async def test_the_api_server_is_killed_in_the_middle(
    cluster: Cluster, plane: ControlPlane
) -> None:
    """Some patches are written and never answered. Whoever leads afterwards makes up the rest."""
    async with replicas(cluster, plane, 2) as load:
        async with load.going_on(changes=0.5, arrivals=0.1):
            await asyncio.sleep(1)
            await load.misspell()  # the Event about it is on its way, or late
            await plane.apiserver.kill()
            await asyncio.sleep(1)
            await plane.start_api()
            await asyncio.sleep(1)
        await load.settled()

        assert len(await load.rig.leaders()) == 1
        await load.unharmed()


async def test_two_leaders_at_once_do_no_harm(
    cluster: Cluster, plane: ControlPlane, record_property: Note
) -> None:
    """One is elected, the other one asks nobody. Both see the same, and write the same."""
    async with replicas(cluster, plane, 1) as load:
        rig, elected = load.rig, load.rig.controller
        config = plane.folder / f"{elected.name}.yaml"
        forced = Controller(plane, "controller-forced", config, "--leader-elect=false")
        async with plane.beside(forced):
            assert await eventually(lambda: rig.leads(forced), PATIENCE)
            assert await rig.leads(elected)
            before = await load.written(elected)
            async with load.going_on(changes=0.2, arrivals=0.1):
                await asyncio.sleep(5)
            await load.settled()
            await asyncio.sleep(SETTLED)
            both = {"elected": await load.written(elected), "forced": await load.written(forced)}
        record_property("patches of both", both)
        record_property("changes of the service level", load.level - 950)

        assert both["elected"] != before
        assert both["forced"] != {}
        assert any('code="422"' in labels for found in both.values() for labels in found)
        await load.unharmed()


async def test_a_lease_that_is_deleted_or_edited_by_hand(
    cluster: Cluster, plane: ControlPlane
) -> None:
    """Deleted, it is made again by who leads. Given to somebody else, it is obeyed."""
    async with replicas(cluster, plane, 2) as load:
        rig, (leader, (other,)) = load.rig, await led(load.rig)
        size, holder = other.logged(), (await lease(cluster))["holderIdentity"]
        await cluster.api.delete(LEASE)
        await load.change()
        await load.settled()
        assert await eventually(lambda: cluster.api.found(LEASE), PATIENCE)
        assert (await lease(cluster))["holderIdentity"] == holder
        assert await rig.leaders() == [leader]
        assert LEADS not in other.tail(size)

        async with holders(cluster) as held:
            by_hand = {"holderIdentity": "somebody", "leaseDurationSeconds": 3}
            await cluster.api.merge(LEASE, {"spec": by_hand})
            assert await eventually(lambda: _nobody(rig), PATIENCE)
            assert await eventually(rig.leader, PATIENCE)
        await load.change()
        await load.settled()

        assert held[:2] == [holder, "somebody"]
        assert len(held) == 3
        assert len(await rig.leaders()) == 1
        await load.unharmed()


async def _nobody(rig: Rig) -> bool | None:
    return None if await rig.leaders() else True
