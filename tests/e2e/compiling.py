"""Compile mode beside an unmodified scheduler: controllers, their webhook, and what pods show."""

import asyncio
import base64
import contextlib
import json
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import aiohttp
import yaml

from tests.builders import JSON, PREFIX, toleration
from tests.deploy import rendering
from tests.deploy.rendering import OVERLAYS
from tests.e2e.api import ApiServerError, eventually
from tests.e2e.cluster import PATIENCE, Cluster
from tests.e2e.controlplane import Controller, ControlPlane, Leeway
from tests.e2e.objects import DEFAULT, pod
from tests.e2e.processes import Process

SLA = "node.example.com/sla"
RECORD = PREFIX + "guarded-keys"
# Far below the default of 30 s, and far above what a write takes on a loaded machine.
GRACE = 4
# An eviction comes 16 to 35 ms after a change: nobody who is there after this is to be evicted.
SETTLED = 1.0

LEASES = "/apis/coordination.k8s.io/v1/namespaces/leeway/leases"
LEASE = f"{LEASES}/leeway-controller"
# The API server hangs up on who reads a watch too slowly.
_PAUSE = 0.01
# Tolerations that the API server itself gives to every pod.
SYSTEM = "node.kubernetes.io/"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"

_LOGGED = re.compile(r'^I(\d{4} [\d:.]+) .*?\] "(.*?)" .*?pod="[^"/]+/([^"]+)"', re.MULTILINE)


class Sightings:
    """What a watch has shown of the pods of a namespace, and when; by name."""

    def __init__(self) -> None:
        self.pods: dict[str, JSON] = {}
        self.bound: dict[str, float] = {}
        self.refused: dict[str, float] = {}
        self.deleted: dict[str, float] = {}
        self.wrong: dict[str, list[str]] = {}
        self._changed = asyncio.Event()

    def see(self, event: JSON) -> None:
        """Take in one event."""
        found, now = event["object"], time.monotonic()
        name = found["metadata"]["name"]
        self.pods[name] = found
        if event["type"] == "DELETED":
            self.deleted[name] = now
        if found["spec"].get("nodeName"):
            self.bound.setdefault(name, now)
        for each in found["status"].get("conditions", ()):
            if each["type"] == "PodScheduled" and each.get("reason") == "Unschedulable":
                self.refused.setdefault(name, now)
        if wrong := wrongs(found):
            self.wrong.setdefault(name, wrong)
        self._changed.set()

    def begin(self, pods: Iterable[JSON]) -> None:
        """Take in a list, before a watch begins or goes on: who is not in it is gone."""
        found = list(pods)
        for name in self.living.keys() - {each["metadata"]["name"] for each in found}:
            self.see({"type": "DELETED", "object": self.pods[name]})
        for each in found:
            self.see({"type": "ADDED", "object": each})

    async def until(self, holds: Callable[[], bool], seconds: float = PATIENCE) -> bool:
        """Whether something comes to hold in time; asked whenever a pod has changed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not holds():
                    self._changed.clear()
                    await self._changed.wait()
                    await asyncio.sleep(_PAUSE)
        return holds()

    @property
    def living(self) -> dict[str, JSON]:
        """The pods that are not gone."""
        return {name: each for name, each in self.pods.items() if name not in self.deleted}


class Rig:
    """A cluster with controllers, and a watch of its pods."""

    def __init__(
        self, cluster: Cluster, seen: Sightings, controllers: Sequence[Controller]
    ) -> None:
        self.cluster = cluster
        self.seen = seen
        self.controllers = controllers

    @property
    def controller(self) -> Controller:
        """The first one."""
        return self.controllers[0]

    async def refused(self, made: JSON) -> str:
        """Create a pod; its name, when the scheduler has found no node for it."""
        name = str(made["metadata"]["name"])
        await self.cluster.create(made)
        held = await self.seen.until(lambda: name in self.seen.refused)
        assert held, f"{name} was not refused: {await self.cluster.why(name)}"
        return name

    async def leader(self) -> Controller | None:
        """The first one who says that it leads."""
        return next(iter(await self.leaders()), None)

    async def leaders(self) -> list[Controller]:
        """All who say that they lead."""
        running = [each for each in self.controllers if each.running]
        return [each for each in running if await self.leads(each)]

    async def leads(self, controller: Controller) -> bool | None:
        """Whether one says that it leads; None if not."""
        found = await self.counted("leeway_leader", controller)
        return True if found.get("") == 1 else None

    async def knows_nodes(self, count: int, *others: Leeway) -> None:
        """The first controller, and others, have heard of all nodes."""
        ports = [self.controller.ops_port, *(each.ops_port for each in others)]

        async def heard() -> bool | None:
            known = [await self.cluster.known_nodes(port=port) for port in ports]
            return True if known == [count] * len(ports) else None

        assert await eventually(heard, PATIENCE), "somebody does not know all nodes"

    async def counted(self, metric: str, of: Controller | None = None) -> dict[str, float]:
        """A metric of a controller, the first one if none is named, by its labels as text."""
        port = (of or self.controller).ops_port
        return await self.cluster.counted(metric, port=port)

    async def writes(self) -> int:
        """How many patches were sent, whatever became of them."""
        sent = 0.0
        for each in self.controllers:
            if each.running:
                sent += sum((await self.counted("leeway_compile_writes_total", each)).values())
        return int(sent)

    async def told(self, name: str) -> Counter[str]:
        """How often each of our Events was told of a pod, whether as one object or as several."""
        selector = f"involvedObject.name={name}"
        path = f"/api/v1/namespaces/{self.cluster.namespace}/events"
        items = (await self.cluster.api.get(path, fieldSelector=selector))["items"]
        found: Counter[str] = Counter()
        for each in items:
            if each["reason"].startswith("Leeway"):
                found[each["reason"]] += max(int(each.get("count") or 1), 1)
        return found

    def tolerated(self, name: str, key: str = SLA) -> list[str]:
        """A pod's tolerations of a key in their order, each as text."""
        return [shown(each) for each in carried(self.seen.pods[name]) if each.get("key") == key]

    async def tolerating(self, name: str, *wanted: str, key: str = SLA) -> bool:
        """Whether a pod comes to have tolerations of a key, at least these."""
        return await self.seen.until(
            lambda: name in self.seen.pods and set(wanted) <= set(self.tolerated(name, key))
        )


def carried(found: JSON) -> list[JSON]:
    """The tolerations in the spec of a pod."""
    tolerations: list[JSON] = found["spec"].get("tolerations") or []
    return tolerations


def shown(found: JSON) -> str:
    """A toleration as a person would write it, without its key."""
    value = f"{found.get('operator', 'Equal')} {found.get('value', '')}".strip()
    seconds = found.get("tolerationSeconds")
    effect = found.get("effect", "")
    return f"{value}:{effect}" + ("" if seconds is None else f" for {seconds}s")


def guard(seconds: int = GRACE) -> str:
    """A guard as `shown` has it."""
    return f"Exists:NoExecute for {seconds}s"


def wrongs(found: JSON) -> list[str]:
    """What two writers could have spoilt in a pod. A rule's own Exists is not expected here."""
    texts = doubled([found]).get(found["metadata"]["name"], [])
    recorded = found["metadata"].get("annotations", {}).get(RECORD, "")
    tolerations = [each for each in carried(found) if not each.get("key", "").startswith(SYSTEM)]
    for place, each in enumerate(tolerations):
        if each.get("operator") != "Exists" or each.get("tolerationSeconds") is None:
            continue
        key = each.get("key", "")
        if not found["spec"].get("nodeName"):
            texts.append(f"{key} is guarded on a pod without a node")
        if json.dumps(key) not in recorded:
            texts.append(f"the guard of {key} is not recorded")
        if behind := [shown(t) for t in tolerations[place + 1 :] if t.get("key") == key]:
            texts.append(f"behind the guard of {key}: {behind}")
    return texts


def doubled(pods: Iterable[JSON]) -> dict[str, list[str]]:
    """Tolerations that pods have more than once."""
    found = {}
    for each in pods:
        counted = Counter(f"{t.get('key')} {shown(t)}" for t in carried(each))
        if twice := [text for text, count in counted.items() if count > 1]:
            found[each["metadata"]["name"]] = twice
    return found


def logged(process: Process, since: int) -> Iterator[tuple[float, str, str]]:
    """What a part of Kubernetes has logged of pods past a size: when, what, and the pod's name."""
    year = datetime.now().year  # noqa: DTZ005 - the log has local times without a year
    for stamp, what, name in _LOGGED.findall(process.log.read_bytes()[since:].decode()):
        at = datetime.strptime(f"{year}{stamp}", "%Y%m%d %H:%M:%S.%f")  # noqa: DTZ007 - as above
        yield at.timestamp(), what, name


def ruled(name: str, operator: str, value: str, effect: str = "", **more: Any) -> JSON:
    """A pod of the unmodified scheduler with one rule about service levels, in its annotation."""
    seconds = more.pop("seconds", None)
    timed = {} if seconds is None else {"tolerationSeconds": seconds}
    more.setdefault("cpu", "10m")
    return pod(name, toleration(SLA, operator, value, effect, **timed), scheduler=DEFAULT, **more)


def configuration(plane: ControlPlane, name: str, **settings: Any) -> JSON:
    """A configuration with settings of `compile`, and the few of other sections."""
    limits = {"writesPerSecond": settings.pop("writesPerSecond", 400)}
    profiles = settings.pop("profiles", None)
    return {
        "apiVersion": "leeway.scheduling/v1alpha1",
        "kind": "ExtenderConfiguration",
        "compile": {"noExecuteGrace": f"{GRACE}s", **settings},
        "limits": limits,
        **({} if profiles is None else {"profiles": profiles}),
    }


@contextlib.asynccontextmanager
async def compiling(
    cluster: Cluster,
    plane: ControlPlane,
    *flags: str,
    count: int = 1,
    extender: bool = False,
    **settings: Any,
) -> AsyncIterator[Rig]:
    """Run controllers. Without the extender, nobody else wakes pods that wait."""
    if not extender:
        await plane.leeway.stop()
    # Of a controller that was killed: the next one would wait until it runs out.
    await cluster.api.delete(LEASE)
    controllers = []
    for number in range(1, count + 1):
        name = f"controller-{number}"
        file = plane.folder / f"{name}.yaml"
        config = configuration(plane, name, **dict(settings))
        file.write_text(yaml.safe_dump(config), encoding="utf-8")
        controllers.append(Controller(plane, name, file, *flags))
    logged = [each.logged() for each in controllers]
    async with plane.beside(*controllers), watched(cluster) as seen:
        rig = Rig(cluster, seen, controllers)
        assert await eventually(rig.leader, PATIENCE), "nobody leads"
        yield rig
        for each, since in zip(controllers, logged, strict=True):
            assert "Traceback" not in each.tail(since), f"{each.name} failed\n{each.tail(since)}"


@contextlib.asynccontextmanager
async def watched(cluster: Cluster) -> AsyncIterator[Sightings]:
    """A watch of the namespace's pods; it goes on if the API server comes back."""
    seen = Sightings()

    async def watch() -> None:
        while True:
            with contextlib.suppress(OSError, aiohttp.ClientError, ApiServerError):
                listed = await cluster.api.get(cluster.pods_path)
                seen.begin(listed["items"])
                version = listed["metadata"]["resourceVersion"]
                async for event in cluster.api.events(cluster.pods_path, resourceVersion=version):
                    if event["type"] == "ERROR":
                        break
                    seen.see(event)
            await asyncio.sleep(0.05)

    task = asyncio.create_task(watch())
    try:
        yield seen
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@contextlib.asynccontextmanager
async def webhook(cluster: Cluster, port: int) -> AsyncIterator[None]:
    """The webhook that we ship, called at a loopback port; the API server heeds it."""
    found = rendering.kustomized(OVERLAYS / "compile")
    (config,) = (each for each in found if each["kind"] == "MutatingWebhookConfiguration")
    ca = base64.b64encode(cluster.plane.credentials.ca.read_bytes()).decode()
    for each in config["webhooks"]:
        path = each["clientConfig"]["service"]["path"]
        each["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": ca}
    await cluster.api.create(WEBHOOKS, config)
    # It is removed from such a pod, or the pod is refused.
    probe = pod("probe", annotations={RECORD: "[]"}, scheduler=DEFAULT)

    async def heeded() -> bool | None:
        try:
            answer = await cluster.api.create(f"{cluster.pods_path}?dryRun=All", probe)
        except ApiServerError:
            return True
        return None if RECORD in answer["metadata"].get("annotations", {}) else True

    try:
        assert await eventually(heeded, PATIENCE), "the API server does not ask the webhook"
        yield
    finally:
        await cluster.api.delete(f"{WEBHOOKS}/{config['metadata']['name']}")
