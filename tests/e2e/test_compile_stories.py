"""The stories of the proposals with an unmodified scheduler, side by side with the extender's.

Each pod is created twice: for the scheduler that asks the extender, and for the default scheduler,
for which `leeway controller` compiles its rules. Both must find the same nodes.
"""

import asyncio
import contextlib
import random
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator

import aiohttp
import pytest

from tests.builders import JSON, taint, toleration
from tests.e2e.cluster import Cluster
from tests.e2e.compiling import GRACE, SETTLED, SLA, Rig, carried, compiling, webhook
from tests.e2e.controlplane import ControlPlane, Leeway
from tests.e2e.objects import DEFAULT, EXTENDED, deployment, node, pod

pytestmark = pytest.mark.usefixtures("default_scheduler")

SCORE = "node.example.com/gpu-compute-score"
PRICE = "node.example.com/price"
KERNEL = "node.example.com/kernel-version"
CNI = "node.example.com/cni-version"
HOST = "kubernetes.io/hostname"
CORDONED = "node.kubernetes.io/unschedulable"
SIDES = (EXTENDED, DEFAULT)


@pytest.fixture
async def rig(cluster: Cluster, plane: ControlPlane) -> AsyncIterator[Rig]:
    async with compiling(cluster, plane, extender=True) as made:
        yield made


def expression(text: str) -> JSON:
    return {"expression": text}


@pytest.mark.parametrize(
    ("nodes", "rules", "expected"),
    [
        pytest.param(
            {level: [taint(SLA, level)] for level in ("999", "950", "800")},
            [toleration(SLA, "Gt", "950", "NoSchedule")],
            {"999"},
            id="5471-1: batch work takes spot nodes above a service level",
        ),
        pytest.param(
            {
                "cheap-bad": [taint(PRICE, "12"), taint(SLA, "500")],
                "cheap-good": [taint(PRICE, "18"), taint(SLA, "960")],
                "dear-good": [taint(PRICE, "90"), taint(SLA, "999")],
            },
            [toleration(PRICE, "Lt", "20"), toleration(SLA, "Gt", "950")],
            {"cheap-good"},
            id="5471-3: training balances price and service level",
        ),
        pytest.param(
            {"inference": [taint(SCORE, "400")], "training": [taint(SCORE, "900")]},
            [toleration(SCORE, "Gt", "800")],
            {"training"},
            id="5471-3: training takes the tiers that are fast enough",
        ),
        pytest.param(
            {
                "dev": [taint("env.example.com/dev", "true")],
                "staging": [taint("env.example.com/staging", "true")],
                "gpu": [taint("gpu.example.com/a100", "true")],
            },
            [expression("taint.key.startsWith('env.example.com/')")],
            {"dev", "staging"},
            id="5500-1: one toleration covers every environment of a team",
        ),
        pytest.param(
            {
                "same": [taint(KERNEL, "5.15.0")],
                "before": [taint(KERNEL, "5.15.0-91-generic")],
                "rhel": [taint(KERNEL, "5.14.0-427.el9_4.x86_64")],
                "newer": [taint(KERNEL, "6.8.0")],
            },
            [
                expression(
                    f"taint.key == '{KERNEL}' &&"
                    " semver(taint.value).isGreaterThan(semver('5.15.0'))"
                )
            ],
            {"newer"},
            id="5500-2: a kernel must be newer than a version",
        ),
        pytest.param(
            {
                "here": [taint("zone-a1-rack-03", "true")],
                "there": [taint("zone-b1-rack-03", "true")],
            },
            [expression("taint.key.matches('^zone-a[12]-rack-[0-9]+$')")],
            {"here"},
            id="5500-3: racks are told by a pattern",
        ),
        pytest.param(
            {"old": [taint(CNI, "1.9.3")], "upgraded": [taint(CNI, "v1.10.1")]},
            [toleration(CNI, "SemverGt", "1.10.0", "NoSchedule")],
            {"upgraded"},
            id="5721-2: work waits for a newer network plugin",
        ),
    ],
)
async def test_placed_as_with_the_extender(
    rig: Rig, nodes: dict[str, list[JSON]], rules: list[JSON], expected: set[str]
) -> None:
    """Four replicas for each scheduler, so that a node that should not be among them is found."""
    await rig.cluster.add(*(node(name, *taints) for name, taints in nodes.items()))

    for side in SIDES:
        for i in range(4):
            await rig.cluster.create(pod(f"{side}-{i}", *rules, labels={"s": side}, scheduler=side))
    placed = {side: set((await rig.cluster.placements(4, s=side)).values()) for side in SIDES}

    assert placed[EXTENDED] <= expected
    assert placed[DEFAULT] <= expected


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        pytest.param(
            taint(SLA, "950"), taint(SLA, "951"), toleration(SLA, "Gt", "950"), id="a service level"
        ),
        pytest.param(
            taint(CNI, "1.9.3"),
            taint(CNI, "v1.10.1"),
            toleration(CNI, "SemverGt", "1.10.0"),
            id="a version",
        ),
        pytest.param(
            taint("env.example.org/dev"),
            taint("env.example.com/dev"),
            expression("taint.key.startsWith('env.example.com/')"),
            id="an expression",
        ),
    ],
)
async def test_refused_and_freed_as_with_the_extender(
    rig: Rig, before: JSON, after: JSON, rule: JSON
) -> None:
    await rig.cluster.add(node("target", before))
    for side in SIDES:
        await rig.cluster.refused(pod(side, rule, scheduler=side))
    await rig.cluster.taint("target", after)

    assert {side: await rig.cluster.placed(side) for side in SIDES} == dict.fromkeys(
        SIDES, "target"
    )


async def test_inference_moves_away_when_the_service_level_drops(rig: Rig) -> None:
    """The second story of KEP-5471, by the annotation alone: no other mode can do that."""
    await rig.cluster.add(
        *(node(name, taint(SLA, "990", "NoExecute")) for name in ("first", "second")),
        node("low", taint(SLA, "700", "NoExecute")),
    )
    above = toleration(SLA, "Gt", "950", "NoExecute")
    await rig.cluster.deploy(deployment("inference", 4, above, scheduler=DEFAULT))
    before = await rig.cluster.placements(4, app="inference")
    assert set(before.values()) <= {"first", "second"}
    names = list(before)
    assert await rig.seen.until(
        lambda: all(f"Exists:NoExecute for {GRACE}s" in rig.tolerated(name) for name in names)
    )

    await rig.cluster.taint("first", taint(SLA, "500", "NoExecute"))
    moved = {name for name, on in before.items() if on == "first"}
    assert await rig.seen.until(lambda: moved <= set(rig.seen.deleted))
    after = await rig.cluster.placements(4, app="inference")

    assert set(after.values()) == {"second"}
    assert set(rig.seen.deleted) == moved


def replica(number: int, side: str) -> JSON:
    """One pod of the manual test of KEP-3094, which tolerates nodes above a threshold."""
    made = pod(
        f"{side}-{number}", toleration(SLA, "Gt", "900"), labels={"app": side}, scheduler=side
    )
    made["spec"]["topologySpreadConstraints"] = [
        {
            "maxSkew": 1,
            "topologyKey": HOST,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": side}},
            "nodeTaintsPolicy": "Honor",
        }
    ]
    return made


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        pytest.param("950", {"spot": 2, "plain": 2}, id="a node that is tolerated counts"),
        pytest.param("800", {"plain": 4}, id="a node that is not tolerated does not count"),
    ],
)
async def test_replicas_are_spread_as_with_the_extender(
    rig: Rig, level: str, expected: dict[str, int]
) -> None:
    """KEP-3094 with an extended toleration: in-tree topology spread sees what was compiled.

    The plain node is cordoned at first, so that no pod is bound before its rules are compiled.
    """
    await rig.cluster.add(node("spot", taint(SLA, level)), node("plain", cpu="8"))
    await rig.cluster.cordon("plain")

    for side in SIDES:
        await rig.cluster.create(*(replica(i, side) for i in range(4)))
    assert await rig.seen.until(lambda: len(rig.seen.refused) == 8 or level == "950")
    for i in range(4 if level == "950" else 0):
        assert await rig.tolerating(f"{DEFAULT}-{i}", "Equal 950:NoSchedule")
    await rig.cluster.cordon("plain", on=False)

    for side in SIDES:
        placed = await rig.cluster.placements(4, app=side)
        assert Counter(placed.values()) == expected


# --- Random clusters -------------------------------------------------------------------------

CLUSTERS = 50
CLUSTER = "cluster"
GATE = "example.com/compiled-first"
VALUES = {
    SLA: ("100", "700", "900", "950", "0950", "high", ""),
    CNI: ("1.9.3", "v1.10.1", "1.10.1-rc.1", "2.0", "latest"),
    "env.example.com/dev": ("true", "false"),
    "dedicated": ("batch", "db"),
}
RULES = (
    toleration(SLA, "Gt", "700"),
    toleration(SLA, "Gt", "899", "NoSchedule"),
    toleration(SLA, "Lt", "900"),
    toleration(SLA, "Lt", "500", "NoExecute"),
    toleration(CNI, "SemverGt", "1.10.0"),
    toleration(CNI, "SemverLt", "1.10.1", "NoSchedule"),
    toleration(CNI, "SemverEq", "2.0.0", "NoExecute"),
    toleration("dedicated", "Equal", "batch"),
    toleration("dedicated", "Exists", effect="NoSchedule"),
    toleration(CORDONED, "Exists", effect="NoSchedule"),
    expression("taint.key.startsWith('env.') && taint.value == 'true'"),
    expression("taint.key == 'dedicated' || taint.value.startsWith('9')"),
    expression("taint.kye == 'does not compile'"),
)
NATIVE = (
    toleration("dedicated", "Equal", "db", "NoSchedule"),
    toleration("env.example.com/dev", "Exists", effect="NoExecute"),
)


class RandomCluster:
    """Some nodes with taints, and a pod with rules that may only use these nodes."""

    def __init__(self, number: int) -> None:
        numbers = random.Random(f"compile {number}")  # noqa: S311 - the same in each run
        self.name = f"random-{number}"
        self.nodes = [
            node(
                f"{self.name}-{i}",
                *_taints(numbers),
                labels={CLUSTER: self.name},
                unschedulable=numbers.random() < 0.1,
            )
            for i in range(numbers.randint(2, 5))
        ]
        rules = numbers.sample(RULES, numbers.randint(1, 3))
        native = numbers.sample(NATIVE, numbers.randint(0, 1))
        self.pod = pod(self.name, *rules, native=native, scheduler=DEFAULT, cpu="10m")
        self.pod["spec"] |= {
            "nodeSelector": {CLUSTER: self.name},
            "schedulingGates": [{"name": GATE}],
        }

    def feasible(self, tolerations: list[JSON]) -> set[str]:
        """The nodes that upstream's rule allows a pod with these tolerations."""
        return {
            each["metadata"]["name"]
            for each in self.nodes
            if all(any(tolerates(t, found) for t in tolerations) for found in _hard(each))
        }


def _taints(numbers: random.Random) -> Iterator[JSON]:
    effects = ("NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule")
    for key in numbers.sample(sorted(VALUES), numbers.randint(0, 3)):
        yield taint(key, numbers.choice(VALUES[key]), numbers.choice(effects))


def _hard(found: JSON) -> list[JSON]:
    """What keeps pods off a node; a cordon is judged like the taint that goes with it."""
    taints = [each for each in found["spec"]["taints"] if each["effect"] != "PreferNoSchedule"]
    return taints + [taint(CORDONED)] * found["spec"]["unschedulable"]


def tolerates(found: JSON, against: JSON) -> bool:
    """Upstream's rule for a plain toleration, v1.36 component-helpers/scheduling/corev1."""
    if found.get("effect", "") not in ("", against["effect"]):
        return False
    if found.get("key", "") not in ("", against["key"]):
        return False
    operator = found.get("operator", "Equal")
    assert operator in ("Equal", "Exists"), f"{operator} is not plain"
    return bool(operator == "Exists" or found.get("value", "") == against["value"])


async def filtered(leeway: Leeway, plane: ControlPlane, made: RandomCluster) -> set[str]:
    """The nodes that the extender lets pass for the pod as its author wrote it."""
    files = plane.credentials
    tls = ssl.create_default_context(cafile=str(files.ca))
    tls.load_cert_chain(*files.client)
    names = [each["metadata"]["name"] for each in made.nodes]
    body = {"Pod": made.pod, "NodeNames": names}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{leeway.url}/filter", json=body, ssl=tls) as response,
    ):
        answer = await response.json()
    assert not answer.get("Error"), answer
    return set(answer["NodeNames"])


@pytest.mark.parametrize("by", ["webhook", "controller"])
async def test_the_same_nodes_are_feasible_on_random_clusters(
    cluster: Cluster, plane: ControlPlane, by: str, record_property: Callable[[str, object], None]
) -> None:
    """All of them at the same time. NoExecute is judged as compile mode does: joined."""
    clusters = [RandomCluster(number) for number in range(CLUSTERS)]
    joining = plane.folder / "joining.yaml"
    joining.write_text(
        "apiVersion: leeway.scheduling/v1alpha1\nkind: ExtenderConfiguration\nnoExecute: join\n",
        encoding="utf-8",
    )
    leeway = plane.new_leeway("leeway-joining", f"--config={joining}", "--nudges-per-second=0")
    async with (
        compiling(cluster, plane, maxTolerations=500) as rig,
        plane.beside(leeway),
        contextlib.AsyncExitStack() as hooks,
    ):
        if by == "webhook":
            await hooks.enter_async_context(webhook(cluster, rig.controller.port))
        await cluster.add(*(each for made in clusters for each in made.nodes))
        await rig.knows_nodes(sum(len(made.nodes) for made in clusters), leeway)
        expected = {made.name: await filtered(leeway, plane, made) for made in clusters}
        created = [await cluster.api.create(cluster.pods_path, made.pod) for made in clusters]
        at_once = {
            made.name: made.feasible(carried(found))
            for made, found in zip(clusters, created, strict=True)
        }

        def compiled() -> dict[str, set[str]]:
            return {
                made.name: made.feasible(carried(rig.seen.pods[made.name]))
                for made in clusters
                if made.name in rig.seen.pods
            }

        await rig.seen.until(lambda: compiled() == expected, 20)
        assert compiled() == expected
        assert by == "controller" or at_once == expected
        await asyncio.gather(*(release(cluster, made.name) for made in clusters))
        done = rig.seen.bound.keys, rig.seen.refused.keys
        await rig.seen.until(lambda: len(done[0]() | done[1]()) == CLUSTERS)
        await asyncio.sleep(SETTLED)

        placed = {name: found["spec"].get("nodeName") for name, found in rig.seen.pods.items()}
        nowhere = {name for name, nodes in expected.items() if not nodes}
        record_property("pods that fit nowhere", len(nowhere))
        assert {name for name, on in placed.items() if on is None} == nowhere
        assert [
            name for name in placed.keys() - nowhere if placed[name] not in expected[name]
        ] == []
        assert {name: compiled()[name] for name in nowhere} == {name: set() for name in nowhere}
        assert rig.seen.deleted == {}
    assert 5 <= len(nowhere) <= CLUSTERS - 5


async def release(cluster: Cluster, name: str) -> None:
    """Let the scheduler see a pod."""
    await cluster.api.merge(f"{cluster.pods_path}/{name}", {"spec": {"schedulingGates": None}})
