"""Compile mode on a real control plane: writes a pod, how late guards are, pods a second.

The scheduler is the default one: no extender, the default profile. As it comes, its client sends
50 requests a second. Where this is lifted, nothing but the machine limits it, which the API server
and the controller share. Everything that is timed is seen on one watch.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

import yaml

from bench.cluster import JSON
from bench.scheduler_throughput import QPS, some_at_a_time
from tests.builders import taint, toleration
from tests.e2e import objects
from tests.e2e.api import eventually
from tests.e2e.cluster import Cluster
from tests.e2e.compiling import RECORD, SLA, configuration, ruled, webhook
from tests.e2e.controlplane import Controller
from tests.e2e.objects import DEFAULT
from tests.e2e.processes import Process

PATIENCE: Final = 120.0
# So long nobody writes before it is taken for all.
QUIET_SECONDS: Final = 1.0
PER_SECOND: Final = 50  # limits.writesPerSecond, if nobody sets it
VALUES: Final = range(800, 1000, 10)
ABOVE: Final = 900
PLAIN: Final = "plain Equal tolerations"
RULES: Final = "rules of NoSchedule"
GUARDS: Final = "rules of every effect"
KINDS: Final = (PLAIN, RULES, GUARDS)
# Within this share of the pods a scheduler warms up.
WARM_UP_SHARE: Final = 0.1


@dataclass
class History:
    """What a watch has shown of one pod."""

    created: list[JSON]  # its tolerations
    tolerations: list[JSON]
    writes: int = 0  # of its tolerations, after it was created
    bound: float = 0.0
    guarded: float = 0.0

    @property
    def was_compiled(self) -> bool:
        """Whether it was created with more than its author and Kubernetes give it."""
        return any(each.get("key") == SLA for each in self.created)


@dataclass
class Histories:
    """What a watch has shown of all pods."""

    pods: dict[str, History] = field(default_factory=dict)
    last: float = 0.0  # when something was seen

    def see(self, event: JSON) -> None:
        """Take in one event."""
        pod, self.last = event["object"], perf_counter()
        name, tolerations = pod["metadata"]["name"], pod["spec"].get("tolerations") or []
        history = self.pods.setdefault(name, History(tolerations, tolerations))
        if tolerations != history.tolerations:
            history.tolerations = tolerations
            history.writes += 1
        if pod["spec"].get("nodeName") and not history.bound:
            history.bound = self.last
        if RECORD in pod["metadata"].get("annotations", {}) and not history.guarded:
            history.guarded = self.last

    def are_bound(self, count: int) -> bool:
        """Whether so many pods have a node."""
        return sum(1 for each in self.pods.values() if each.bound) == count


class Turns:
    """Turns on one control plane, each with a new controller, a new scheduler and no pods."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._plane = cluster.plane

    async def fill(self, nodes: int) -> None:
        """Have so many nodes; values of their taint come in turn."""
        made = [
            objects.node(f"n{i}", taint(SLA, str(VALUES[i % len(VALUES)])), cpu="16")
            for i in range(nodes)
        ]
        await some_at_a_time(made, lambda each: self._cluster.api.create("/api/v1/nodes", each))

    async def writes(self, count: int) -> dict[str, JSON]:
        """How often pods of each kind are written, with the webhook and without."""
        found = {}
        for title, kind, hooked in (
            ("without rules, with the webhook", PLAIN, True),
            ("NoSchedule, with the webhook", RULES, True),
            ("NoSchedule, without the webhook", RULES, False),
            ("NoExecute, with the webhook", GUARDS, True),
            ("NoExecute, without the webhook", GUARDS, False),
        ):
            async with self._compiling(hooked=hooked) as controller, self._watched() as seen:
                async with self._plane.beside(self._scheduler()):
                    await self._create(kind, count)
                    await self._all_bound(seen, count)
                    await _quiet(seen)
                found[title] = {
                    "pods": count,
                    **written(seen.pods.values(), hooked=hooked and kind != PLAIN),
                    "counted": await self._counted(controller),
                }
            await self._clear()
        return found

    async def burst(self, count: int, per_second: int) -> JSON:
        """How late the guards of so many pods are that are placed at once."""
        async with self._compiling(hooked=True, per_second=per_second), self._watched() as seen:
            await self._create(GUARDS, count)
            async with self._plane.beside(self._scheduler()):
                await self._all_bound(seen, count)
                await _until(lambda: all(each.guarded for each in seen.pods.values()), "guards")
        await self._clear()
        bound = sorted(each.bound for each in seen.pods.values())
        late = sorted(each.guarded - each.bound for each in seen.pods.values())
        limited = sorted(limit_delays([each - bound[0] for each in bound], per_second))
        return {
            "pods": count,
            "writes_per_second": per_second,
            "binding_seconds": round(bound[-1] - bound[0], 3),
            "late": [round(each, 4) for each in late],
            "by_the_limit": [round(each, 4) for each in limited],
        }

    async def rate(self, kind: str, count: int, *, qps: int) -> float:
        """Pods a second of a scheduler that finds so many waiting."""
        async with AsyncExitStack() as stack:
            if kind != PLAIN:
                await stack.enter_async_context(self._compiling(hooked=True))
            seen = await stack.enter_async_context(self._watched())
            await self._create(kind, count)
            await _until(lambda: len(seen.pods) == count, "pods")
            _check(seen.pods.values())
            await stack.enter_async_context(self._plane.beside(self._scheduler(qps)))
            await self._all_bound(seen, count)
        await self._clear()
        return pods_a_second([each.bound for each in seen.pods.values()])

    def _scheduler(self, qps: int = QPS) -> Process:
        def unmodified(config: JSON) -> None:
            kept = {name: config[name] for name in ("apiVersion", "kind", "clientConnection")}
            config.clear()
            config.update(kept)
            config["leaderElection"] = {"leaderElect": False}
            config["clientConnection"] |= {"qps": qps, "burst": 2 * qps}

        return self._plane.new_scheduler(DEFAULT, unmodified)

    @contextlib.asynccontextmanager
    async def _compiling(
        self, *, hooked: bool, per_second: int = PER_SECOND
    ) -> AsyncIterator[Controller]:
        file = self._plane.folder / "controller.yaml"
        config = configuration(
            self._plane, "controller", noExecuteGrace="30s", writesPerSecond=per_second
        )
        file.write_text(yaml.safe_dump(config), encoding="utf-8")
        controller = Controller(self._plane, "controller", file, "--leader-elect=false")
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._plane.beside(controller))
            if hooked:
                await stack.enter_async_context(webhook(self._cluster, controller.port))
            yield controller
        self._plane.forget()

    @contextlib.asynccontextmanager
    async def _watched(self) -> AsyncIterator[Histories]:
        seen = Histories()

        async def watch() -> None:
            # The API server hangs up on who reads too slowly, as on a machine that others use up.
            # The watch goes on from there, so nothing is lost, and seen a little later.
            since: dict[str, str] = {}
            while True:
                events = self._cluster.api.events(self._cluster.pods_path, **since)
                async for event in events:
                    if event["type"] == "ERROR":
                        raise SystemExit(f"the watch of pods failed: {event['object']}")
                    seen.see(event)
                    since = {"resourceVersion": event["object"]["metadata"]["resourceVersion"]}

        task = asyncio.create_task(watch())
        try:
            yield seen
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _create(self, kind: str, count: int) -> None:
        pods = [_pod(kind, f"p{i:04}") for i in range(count)]
        path = self._cluster.pods_path
        await some_at_a_time(pods, lambda each: self._cluster.api.create(path, each))

    async def _all_bound(self, seen: Histories, count: int) -> None:
        await _until(lambda: seen.are_bound(count), "nodes for all pods")

    async def _counted(self, controller: Controller) -> dict[str, float]:
        metric = "leeway_compile_writes_total"
        return await self._cluster.counted(metric, port=controller.ops_port)

    async def _clear(self) -> None:
        self._plane.forget()
        await self._cluster.clear()


def _pod(kind: str, name: str) -> JSON:
    """What all three come to is the same."""
    if kind == PLAIN:
        equal = [toleration(SLA, "Equal", str(v), "NoSchedule") for v in VALUES if v > ABOVE]
        return objects.pod(name, native=equal, scheduler=DEFAULT, cpu="10m")
    return ruled(name, "Gt", str(ABOVE), "NoSchedule" if kind == RULES else "")


def written(pods: Iterable[History], *, hooked: bool) -> JSON:
    """The least and the most that a pod was written: at its creation, and later."""
    at_creation = [int(hooked and each.was_compiled) for each in pods]
    later = [each.writes for each in pods]
    both = [one + other for one, other in zip(at_creation, later, strict=True)]
    return {
        "at_creation": [min(at_creation), max(at_creation)],
        "later": [min(later), max(later)],
        "writes": [min(both), max(both)],
    }


def limit_delays(bound: Sequence[float], per_second: int) -> list[float]:
    """How late each guard is if a write takes no time, and only its limit is waited for.

    It is the bucket of the controller: full at first, and as large as a second's worth.
    """
    delays, left, at = [], float(per_second), 0.0
    for when in sorted(bound):
        now = max(when, at)
        left = min(left + (now - at) * per_second, float(per_second))
        wait = max(0.0, (1 - left) / per_second)
        left = max(left, 1.0) - 1
        at = now + wait
        delays.append(at - when)
    return delays


def pods_a_second(bound: Iterable[float]) -> float:
    """From the tenth part of the pods to the last one."""
    ordered = sorted(bound)
    first = int(len(ordered) * WARM_UP_SHARE)
    return (len(ordered) - first - 1) / (ordered[-1] - ordered[first])


def _check(pods: Iterable[History]) -> None:
    """All pods have what lets them in, whoever wrote it: so all schedulers have as much to do."""
    wanted = sum(1 for value in VALUES if value > ABOVE)
    for each in pods:
        if sum(1 for t in each.tolerations if t.get("key") == SLA) != wanted:
            raise SystemExit(f"a pod has other tolerations: {each.tolerations}")


async def _quiet(seen: Histories) -> None:
    await _until(lambda: perf_counter() - seen.last > QUIET_SECONDS, "an end")


async def _until(holds: Callable[[], bool], what: str) -> None:
    async def held() -> bool | None:
        return True if holds() else None

    if not await eventually(held, PATIENCE, every=0.05):
        raise SystemExit(f"waited in vain for {what}")
