"""Topology spread through real HTTP over a watched cluster: pods in flight, and bursts of them."""

import asyncio
import contextlib
import json
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
from extender.server import hold
from extender.verbs.filter import IN_FLIGHT
from tests.builders import JSON, PREFIX, node_json, taint, toleration
from tests.cluster.apiserver import ScriptedServer, a_placed_pod, anonymous, eventually, scripted
from tests.serving import Client, names_request, nodes_request, served

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
WEB = {"app": "web"}
PATIENT = Config(catch_up=5.0)


@pytest.fixture(autouse=True)
def _nobody_wakes_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    # Who is asked about twice in a row is asked about because something has happened.
    monkeypatch.setattr("extender.verbs.waiting.SELF_WAKE_SECONDS", 0.0)


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

    async def passing(self, pod: JSON, *, whole: bool) -> list[str]:
        """The names of all nodes that pass, asked in either mode."""
        if not whole:
            names: list[str] = (await self.filter(pod))["NodeNames"]
            return names
        body = nodes_request(pod, *self.nodes.values())
        nodes = (await self.client.ask("filter", body))["Nodes"]
        return [node["metadata"]["name"] for node in nodes["items"]]

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
        await eventually(lambda: len(self.source.cache.pods) == len(self.api.objects["pods"]))


@contextlib.asynccontextmanager
async def running(*nodes: JSON, config: Config | None = None) -> AsyncIterator[Run]:
    async with scripted() as api:
        api.put("nodes", *nodes)
        source = LiveSource(ApiServer(anonymous(api)), resources(DEFAULT_WEIGHTS))
        async with served(config or Config(), source) as client:
            await eventually(lambda: source.state().problem is None)
            by_name = {node["metadata"]["name"]: node for node in nodes}
            yield Run(api, source, client, by_name)


async def burst(run: Run, pods: Sequence[JSON], delay: float, *, whole: bool = False) -> int:
    """Schedule pods as kube-scheduler does, one after the other; how often one was put off."""
    chance = random.Random(1)  # noqa: S311 - a test, no secret
    waiting, binding, put_off = list(pods), set[asyncio.Task[None]](), 0

    async def bind_later(pod: JSON, node: str) -> None:
        await asyncio.sleep(chance.uniform(0, delay))
        run.bind(pod, node)

    while waiting:
        pod = waiting.pop(0)
        names = await run.passing(pod, whole=whole)
        if not names:
            put_off += 1
            waiting.append(pod)
            await asyncio.sleep(0.005)
            continue
        scores = await run.client.ask("prioritize", names_request(pod, *names))
        best = max((each["Score"] for each in scores), default=0)
        told = {each["Host"]: each["Score"] for each in scores}
        node = chance.choice([name for name in names if told.get(name, 0) == best])
        run.place(pod, node)
        binding.add(asyncio.create_task(bind_later(pod, node)))
    await asyncio.gather(*binding)
    return put_off


async def test_a_burst_never_exceeds_the_skew_although_binds_are_seen_late() -> None:
    """Three hundred replicas, three zones, as fast as it goes; binds take up to half a second."""
    async with running(*zoned(30)) as run:
        put_off = await burst(run, [spread_pod(f"p{i}") for i in range(300)], delay=0.5)
        await run.seen()
        left = run.source.cache.index.in_flight

    assert len(run.placed) == 300
    assert run.worst[ZONE] == 1
    assert (put_off, left) == (0, 0)


@pytest.mark.parametrize("whole", [False, True], ids=["names", "whole nodes"])
async def test_a_burst_over_zones_and_hosts_at_once(whole: bool) -> None:
    both = constraint(ZONE), constraint(HOST)
    async with running(*zoned(12)) as run:
        pods = [spread_pod(f"p{i}", *both) for i in range(60)]
        await burst(run, pods, delay=0.05, whole=whole)

    assert len(run.placed) == 60
    assert run.worst == {ZONE: 1, HOST: 1}


async def test_calls_that_come_at_once_are_judged_one_after_the_other() -> None:
    async with running(*zoned(6)) as run:

        async def schedule(pod: JSON) -> None:
            answer = await run.filter(pod)
            while not answer["NodeNames"]:
                answer = await run.filter(pod)
            node = answer["NodeNames"][-1]
            run.place(pod, node)
            await asyncio.sleep(0.01)
            run.bind(pod, node)

        async with asyncio.TaskGroup() as tasks:
            for i in range(60):
                tasks.create_task(schedule(spread_pod(f"p{i}")))

    assert len(run.placed) == 60
    assert run.worst[ZONE] <= 1


async def test_a_pod_alone_gets_what_upstream_would_say() -> None:
    async with running(*zoned(3)) as run:
        first = await run.filter(spread_pod("p0"))
        again = await run.filter(spread_pod("p0"))
        run.bind(spread_pod("p0"), "n0")
        await run.seen()
        second = await run.filter(spread_pod("p1"))

    assert first["NodeNames"] == again["NodeNames"] == ["n0", "n1", "n2"]
    assert second["NodeNames"] == ["n1", "n2"]
    assert second["FailedAndUnresolvableNodes"] == {"n0": REASON}


async def test_while_a_pod_is_in_flight_the_next_one_waits_and_then_goes_to_one_zone() -> None:
    async with running(*zoned(6)) as run:
        await run.filter(spread_pod("p0"))
        waiting = asyncio.create_task(run.filter(spread_pod("p1")))
        await eventually(lambda: run.source.cache.index.in_flight == 2)
        run.bind(spread_pod("p0"), "n0")
        answer = await waiting

    zones = [["n1", "n4"], ["n2", "n5"]]
    assert answer["NodeNames"] in zones
    zones.remove(answer["NodeNames"])
    assert answer["FailedAndUnresolvableNodes"] == {
        "n0": REASON,
        "n3": REASON,
        **dict.fromkeys(zones[0], REASON_IN_FLIGHT),
    }


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a second."""
    monkeypatch.setattr(hold, "IN_FLIGHT_SECONDS", 0.2)


@pytest.mark.usefixtures("impatient")
async def test_a_pod_in_flight_that_does_not_arrive_makes_an_error_and_no_refusal() -> None:
    """Nobody would tell kube-scheduler to ask again, but an error it retries by itself."""
    async with running(*zoned(3)) as run:
        await run.filter(spread_pod("p0"))
        stuck = await run.filter(spread_pod("p1"))
        run.api.put("pods", a_placed_pod("p0", phase="Pending", labels=WEB))
        run.api.delete("pods", "p0", "default")
        await eventually(lambda: run.source.cache.index.in_flight == 1)
        free = await run.filter(spread_pod("p1"))

    assert stuck["Error"] == IN_FLIGHT
    assert stuck["NodeNames"] == []
    assert stuck["FailedAndUnresolvableNodes"] == {}
    assert len(free["NodeNames"]) == 1


@pytest.mark.usefixtures("impatient")
async def test_who_is_refused_only_for_a_pod_in_flight_is_not_refused_before_it_is_seen() -> None:
    """If it failed nobody would tell kube-scheduler; once it is there, a refusal is one."""
    async with running(*zoned(2, "ab")) as run:
        await run.filter(spread_pod("p0"), ["n0"])
        stuck = await run.filter(spread_pod("p1"), ["n0"])
        run.bind(spread_pod("p0"), "n0")
        await run.seen()
        refused = await run.filter(spread_pod("p1"), ["n0"])

    assert (stuck["Error"], stuck["FailedAndUnresolvableNodes"]) == (IN_FLIGHT, {})
    assert (refused["Error"], refused["FailedAndUnresolvableNodes"]) == ("", {"n0": REASON})


async def test_a_pod_without_constraints_counts_in_flight_for_those_that_have_some() -> None:
    """Also for one that is the first to count, and asks after the other was let pass."""
    plain = spread_pod("plain")
    del plain["spec"]["topologySpreadConstraints"]
    async with running(*zoned(3)) as run:
        run.bind(spread_pod("p0"), "n0")
        await run.seen()
        await run.filter(plain, ["n1"])
        answer = await run.filter(spread_pod("p1"))

    assert answer["NodeNames"] == ["n2"]


async def test_whole_nodes_are_judged_with_the_pods_of_the_cluster() -> None:
    async with running(*zoned(3)) as run:
        run.bind(spread_pod("p0"), "n0")
        await run.seen()
        nodes = list(run.nodes.values())
        answer = await run.client.ask("filter", nodes_request(spread_pod("p1"), *nodes))

    assert [node["metadata"]["name"] for node in answer["Nodes"]["items"]] == ["n1", "n2"]


async def test_a_refusal_is_held_for_a_pod_that_leaves() -> None:
    async with running(*zoned(2, "ab"), config=PATIENT) as run:
        run.bind(spread_pod("p0"), "n0")
        await run.seen()
        assert (await run.filter(spread_pod("p1"), ["n0"]))["NodeNames"] == []
        waiting = asyncio.create_task(run.filter(spread_pod("p1"), ["n0"]))
        await asyncio.sleep(0.005)
        run.api.delete("pods", "p0", "default")
        answer = await waiting

    assert answer["NodeNames"] == ["n0"]


async def test_victims_make_room_and_a_missing_label_is_not_cured() -> None:
    nodes = [*zoned(2, "ab"), node_json("odd")]
    victims = {
        name: {"Pods": [{"UID": f"uid-of-{uid}"}], "NumPDBViolations": 0}
        for name, uid in (("n0", "p0"), ("n1", "p2"), ("odd", "p3"))
    }
    async with running(*nodes) as run:
        for name, node in (("p0", "n0"), ("p1", "n0"), ("p2", "n1"), ("p3", "odd")):
            run.bind(spread_pod(name), node)
        await run.seen()
        pod = spread_pod("urgent")
        answer = await run.client.ask("preempt", {"Pod": pod, "NodeNameToMetaVictims": victims})
        useless = victims["n0"] | {"Pods": [{"UID": "uid-of-somebody-else"}]}
        none = await run.client.ask(
            "preempt", {"Pod": pod, "NodeNameToMetaVictims": {"n0": useless}}
        )

    assert list(answer["NodeNameToMetaVictims"]) == ["n0", "n1"]
    assert none == {"NodeNameToMetaVictims": {}}


@pytest.mark.parametrize(
    ("sla", "policy", "expected"),
    [
        pytest.param("800", "Honor", [["plain"]] * 3, id="below the threshold it does not count"),
        pytest.param(
            "950",
            "Honor",
            [["spot", "plain"], ["spot"], ["spot", "plain"]],
            id="above it, it is a domain like any other",
        ),
        pytest.param("800", "Ignore", [["plain"], [], []], id="ignored, it counts and refuses"),
        pytest.param("800", None, [["plain"], [], []], id="ignored is the default"),
    ],
)
async def test_the_manual_test_of_kep_3094_with_a_threshold(
    sla: str, policy: str | None, expected: list[list[str]]
) -> None:
    spot = node_json("spot", taint("sla", sla), labels={HOST: "spot"})
    plain = node_json("plain", labels={HOST: "plain"})
    found = []
    async with running(spot, plain) as run:
        for i in range(3):
            pod = spread_pod(f"p{i}", constraint(HOST) | {"nodeTaintsPolicy": policy})
            above = json.dumps([toleration("sla", "Gt", "900")])
            pod["metadata"]["annotations"] = {PREFIX + "tolerations": above}
            names = (await run.filter(pod))["NodeNames"]
            found.append(names)
            if names:
                run.bind(pod, "plain" if i == 0 else names[0])
                await run.seen()

    assert found == expected
