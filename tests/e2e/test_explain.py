"""Stories of a person who asks why a pod is Pending, with a kubeconfig and nothing else."""

import asyncio
import json

from tests.builders import JSON, taint, toleration
from tests.cli import process
from tests.e2e.cluster import Cluster
from tests.e2e.credentials import LEEWAY
from tests.e2e.objects import node, pod

SLA = "node.example.com/sla"


async def explained(cluster: Cluster, name: str, *more: str) -> tuple[int, JSON]:
    """Exit code and answer; the rights of Leeway's own account are enough."""
    kubeconfig = str(cluster.plane.kubeconfig(LEEWAY))
    ended = await asyncio.to_thread(
        process.run,
        "explain",
        "-n",
        cluster.namespace,
        name,
        "--kubeconfig",
        kubeconfig,
        "-o",
        "json",
        *more,
    )
    assert ended.err == ""
    answer: JSON = json.loads(ended.out)
    return ended.code, answer


async def test_the_fix_that_is_told_lets_the_pod_run(cluster: Cluster) -> None:
    """What it says is what the event says, and the pod runs once it is patched as told."""
    await cluster.add(
        node("spot-950", taint(SLA, "950")),
        node("spot-800", taint(SLA, "800")),
        node("cordoned", unschedulable=True),
    )
    event = await cluster.refused(pod("report", toleration(SLA, "Gt", "950")))

    code, answer = await explained(cluster, "report")
    assert code == 1
    assert event.startswith(answer["message"])
    assert answer["fix"]["changes"][0]["summary"] == f"`Gt 950` misses {SLA}=950: use 949"

    await cluster.api.merge(f"{cluster.pods_path}/report", answer["fix"]["patch"])
    assert await cluster.placed("report") == answer["fix"]["node"] == "spot-950"
    code, answer = await explained(cluster, "report", "--node", "spot-950")
    assert (code, answer["derivation"]["code"]) == (0, "Success")
    assert answer["notes"][0].startswith("the pod is already on node spot-950")


async def test_spread_is_counted_as_the_scheduler_does(cluster: Cluster) -> None:
    zones = {f"n-{zone}": {"zone": zone} for zone in "ab"}
    await cluster.add(*(node(name, labels=labels) for name, labels in zones.items()))
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }

    def web(name: str, **more: JSON) -> JSON:
        made = pod(name, labels={"app": "web"})
        made["spec"] |= {"topologySpreadConstraints": [constraint], **more}
        return made

    only_a: JSON = {"zone": "a"}
    await cluster.run(web("web-1", nodeSelector=only_a))
    await cluster.run(web("web-2"))
    await cluster.run(web("web-3"))
    placed = await cluster.placements(3, app="web")
    _, answer = await explained(cluster, "web-3", "--node", "n-a")
    (check,) = answer["derivation"]["spread"]
    counts = {each["name"]: each["pods"] for each in check["domains"]}
    assert counts == {
        "a": list(placed.values()).count("n-a"),
        "b": list(placed.values()).count("n-b"),
    }
