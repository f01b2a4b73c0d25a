"""Topology spread through real HTTP over a watched cluster: pods in flight, and bursts of them."""

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from extender.cluster.api import ApiServer
from extender.cluster.live import LiveSource
from extender.config.schema import Config
from extender.plugins import DEFAULT_WEIGHTS, resources
from extender.plugins.pod_topology_spread import REASON, REASON_IN_FLIGHT
from tests.builders import JSON, node_json
from tests.cluster.apiserver import ScriptedServer, a_placed_pod, anonymous, scripted
from tests.serving import Client, names_request, served

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
WEB = {"app": "web"}


def zoned(count: int, zones: Sequence[str] = "abc") -> list[JSON]:
    """Nodes, one zone after the other in turn."""
    return [
        node_json(f"n{i}", labels={ZONE: zones[i % len(zones)], HOST: f"n{i}"})
        for i in range(count)
    ]


def constraint(key: str = ZONE, max_skew: int = 1, labels: Mapping[str, str] | None = None) -> JSON:
    return {
        "maxSkew": max_skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": dict(labels or WEB)},
    }


def spread_pod(name: str, *constraints: JSON, labels: Mapping[str, str] | None = None) -> JSON:
    """A pending pod as kube-scheduler sends it."""
    return {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-of-{name}",
            "labels": dict(labels or WEB),
        },
        "spec": {"topologySpreadConstraints": list(constraints or [constraint()])},
    }


@dataclass
class Run:
    """An extender over a scripted API server, and what the scheduler has done so far."""

    api: ScriptedServer
    source: LiveSource
    client: Client
    nodes: Mapping[str, JSON]
    placed: dict[str, str] = field(default_factory=dict)
    worst: Counter[str] = field(default_factory=Counter)  # skew by topology key

    async def filter(self, pod: JSON, names: Iterable[str] | None = None) -> JSON:
        body = names_request(pod, *(self.nodes if names is None else names))
        answer: JSON = await self.client.ask("filter", body)
        return answer

    def place(self, pod: JSON, node: str) -> None:
        """What the scheduler decides is the truth from now on, whoever has heard of it."""
        self.placed[pod["metadata"]["name"]] = node
        for key in (ZONE, HOST):
            domains = {each["metadata"]["labels"][key] for each in self.nodes.values()}
            counts = Counter(
                self.nodes[on]["metadata"]["labels"][key] for on in self.placed.values()
            )
            skew = max(counts[d] for d in domains) - min(counts[d] for d in domains)
            self.worst[key] = max(self.worst[key], skew)

    def bind(self, pod: JSON, node: str) -> None:
        """The API server tells of it."""
        meta = pod["metadata"]
        self.api.put("pods", a_placed_pod(meta["name"], node, labels=meta["labels"]))

    async def seen(self) -> None:
        """Wait until the extender has seen all that the API server knows."""
        while len(self.source.cache.pods) != len(self.api.objects["pods"]):
            await asyncio.sleep(0.001)


@contextlib.asynccontextmanager
async def running(*nodes: JSON) -> AsyncIterator[Run]:
    async with scripted() as api:
        api.put("nodes", *nodes)
        source = LiveSource(ApiServer(anonymous(api)), resources(DEFAULT_WEIGHTS))
        async with served(Config(), source) as client:
            while source.state().problem is not None:
                await asyncio.sleep(0.001)
            by_name = {node["metadata"]["name"]: node for node in nodes}
            yield Run(api, source, client, by_name)


async def burst(run: Run, pods: Sequence[JSON], delay: float, seed: int = 1) -> int:
    """Schedule pods as kube-scheduler does, one after the other; how often one was put off."""
    chance = random.Random(seed)
    waiting, binding, put_off = list(pods), set[asyncio.Task[None]](), 0

    async def bind_later(pod: JSON, node: str) -> None:
        await asyncio.sleep(chance.uniform(0, delay))
        run.bind(pod, node)

    while waiting:
        pod = waiting.pop(0)
        answer = await run.filter(pod)
        if not answer["NodeNames"]:
            put_off += 1
            waiting.append(pod)
            await asyncio.sleep(0.005)
            continue
        scores = await run.client.ask("prioritize", names_request(pod, *answer["NodeNames"]))
        best = max(each["Score"] for each in scores)
        node = chance.choice([each["Host"] for each in scores if each["Score"] == best])
        run.place(pod, node)
        binding.add(asyncio.create_task(bind_later(pod, node)))
    await asyncio.gather(*binding)
    return put_off


async def test_a_burst_never_exceeds_the_skew_although_binds_are_seen_late() -> None:
    async with running(*zoned(30)) as run:
        put_off = await burst(run, [spread_pod(f"p{i}") for i in range(300)], delay=0.5)
        await run.seen()
        left = run.source.cache.index.in_flight

    assert len(run.placed) == 300
    assert run.worst[ZONE] == 1
    assert left == 0
    print("put off", put_off)
