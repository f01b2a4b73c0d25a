"""Stories of scan and doctor beside a real control plane."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.builders import JSON, PREFIX, required, requirement, taint, toleration
from tests.cli import process
from tests.e2e.api import eventually
from tests.e2e.cluster import PATIENCE, Cluster
from tests.e2e.controlplane import ControlPlane
from tests.e2e.credentials import ADMIN, LEEWAY, SCHEDULER
from tests.e2e.objects import EXTENDED, deployment, node, pod

SLA = "node.example.com/sla"
KERNEL = "node.example.com/kernel"
ABOVE = toleration(SLA, "Gt", "900")


async def leeway(*arguments: str) -> process.Ended:
    command = (str(Path(sys.executable).with_name("leeway")),)
    return await asyncio.to_thread(process.run, *arguments, command=command)


async def data(*arguments: str) -> tuple[int, Any]:
    ended = await leeway(*arguments, "-o", "json")
    assert ended.err == ""
    return ended.code, json.loads(ended.out)


async def test_doctor_finds_nothing_wrong_with_what_we_recommend_and_sees_who_calls(
    cluster: Cluster, plane: ControlPlane
) -> None:
    await cluster.add(node("free"), node("other"))
    await cluster.run(pod("one"))

    code, page = await data(
        "doctor",
        str(plane.folder / f"{EXTENDED}.yaml"),
        f"--kubeconfig={plane.kubeconfig(ADMIN)}",
        f"--as={LEEWAY}",
        f"--scheduler-as={SCHEDULER}",
        f"--extender=http://127.0.0.1:{plane.leeway.ops_port}",
        f"--listener=127.0.0.1:{plane.leeway.port}",
    )

    assert page["problems"] == []
    assert code == 0
    called = {(each["verb"], each["mode"]) for each in page["callers"]}
    assert ("filter", "names") in called
    assert all(each["userAgent"].startswith("Go-http-client") for each in page["callers"])


async def test_doctor_sees_that_the_scheduler_runs_with_another_configuration(
    cluster: Cluster, plane: ControlPlane, tmp_path: Path
) -> None:
    lonely = plane.new_leeway("leeway-lonely")
    config: JSON = yaml.safe_load((plane.folder / f"{EXTENDED}.yaml").read_text("utf-8"))
    config["extenders"][0]["ignorable"] = True
    path = f"/api/v1/namespaces/{cluster.namespace}/configmaps"
    text = yaml.safe_dump(config)
    await cluster.api.create(path, {"metadata": {"name": "conf"}, "data": {"scheduler": text}})

    async with plane.beside(lonely):
        code, page = await data(
            "doctor",
            f"--namespace={cluster.namespace}",
            f"--kubeconfig={plane.kubeconfig(ADMIN)}",
            f"--extender=http://127.0.0.1:{lonely.ops_port}",
            "configmap/conf:scheduler",
        )

    assert code == 1
    assert [each["check"] for each in page["problems"]] == ["ignorable", "never-called"]


async def test_doctor_asks_the_api_server_what_somebody_may_do(
    cluster: Cluster, plane: ControlPlane
) -> None:
    admin = f"--kubeconfig={plane.kubeconfig(ADMIN)}"
    own = f"--kubeconfig={plane.kubeconfig(LEEWAY)}"
    nobody = "--as=system:serviceaccount:kube-system:nobody"

    assert (await data("doctor", own))[0] == 0
    code, page = await data("doctor", admin, nobody)
    assert code == 1
    assert {each["where"] for each in page["problems"]} == {
        "nodes",
        "pods",
        "persistentvolumes",
        "persistentvolumeclaims",
        "storageclasses.storage.k8s.io",
        "patch pods/status",
    }
    config = str(plane.folder / f"{EXTENDED}.yaml")
    code, page = await data("doctor", admin, config, "--scheduler-as=nobody")
    assert code == 1
    assert {each["check"] for each in page["problems"]} == {"scheduler-rights"}
    assert len(page["problems"]) == 7
    refused = await leeway("doctor", own, nobody)
    assert (refused.code, refused.out) == (2, "")
    assert "cannot impersonate" in refused.err


async def test_scan_counts_what_a_deployment_has_made_and_says_why_a_pod_waits(
    cluster: Cluster, plane: ControlPlane
) -> None:
    await cluster.add(node("gold", taint(SLA, "950")), node("odd", taint(SLA, "high")))
    await cluster.deploy(deployment("web", 2, ABOVE))
    await cluster.placements(2, app="web")
    await cluster.refused(pod("stuck", toleration(SLA, "Gt", "1000")))

    code, page = await data("scan", f"--kubeconfig={plane.kubeconfig(ADMIN)}")
    rules = {each["name"]: each for each in page["rules"]}

    assert code == 3
    assert rules["web"]["kind"] == "Deployment"
    assert rules["web"]["objects"] == {"Deployment": 1, "ReplicaSet": 1, "Pod": 2}
    assert rules["stuck"]["objects"] == {"Pod": 1}
    assert page["pending"][0]["reasons"] == {
        f"node(s) had untolerated taint {{{SLA}: 950}}": 1,
        f"node(s) had untolerated taint {{{SLA}: high}}": 1,
    }
    assert {each["value"] for each in page["unreadableValues"]} == {"high"}
    assert page["notListed"] == []


async def test_scan_names_what_it_may_not_list(cluster: Cluster, plane: ControlPlane) -> None:
    await cluster.add(node("gold", taint(SLA, "950")))
    await cluster.run(pod("above", ABOVE))

    code, page = await data("scan", f"--kubeconfig={plane.kubeconfig(LEEWAY)}")

    assert code == 3
    assert [each["resource"] for each in page["notListed"]] == [
        "deployments",
        "statefulsets",
        "daemonsets",
        "replicasets",
        "jobs",
        "cronjobs",
    ]
    assert [each["name"] for each in page["rules"]] == ["above"]


async def test_scan_knows_what_the_daemonset_controller_does(
    cluster: Cluster, plane: ControlPlane
) -> None:
    """It makes pods by native rules alone, and scan says beforehand for which nodes."""
    await cluster.add(
        node("gold", taint(SLA, "950"), labels={KERNEL: "6.8.0"}),
        node("new", labels={KERNEL: "6.8.0"}),
        node("old", labels={KERNEL: "5.15.0"}),
    )
    newer = required([requirement(KERNEL, "SemverGt", "6.0.0")])
    template = pod("agent", ABOVE, affinity=newer, labels={"app": "agent"})
    path = f"/apis/apps/v1/namespaces/{cluster.namespace}/daemonsets"
    selector = {"matchLabels": {"app": "agent"}}
    daemons = {"selector": selector, "template": _template(template)}
    await cluster.api.create(path, {"metadata": {"name": "agent"}, "spec": daemons})

    async def pinned() -> set[str] | None:
        items = (await cluster.api.get(cluster.pods_path, labelSelector="app=agent"))["items"]
        return {_node_of(each) for each in items} if len(items) == 2 else None

    try:
        made = await eventually(pinned, PATIENCE)
        code, page = await data("scan", f"--kubeconfig={plane.kubeconfig(ADMIN)}")
    finally:
        await cluster.api.delete(path)

    assert code == 3
    (found,) = page["daemonSets"]
    assert found["withoutPod"] == ["gold"]
    assert found["podStaysPending"] == ["old"]
    assert made == {"new", "old"}


def _template(made: JSON) -> JSON:
    kept = {"labels": made["metadata"]["labels"], "annotations": made["metadata"]["annotations"]}
    assert any(name.startswith(PREFIX) for name in kept["annotations"])
    return {"metadata": kept, "spec": made["spec"] | {"restartPolicy": "Always"}}


def _node_of(made: JSON) -> str:
    affinity = made["spec"]["affinity"]["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return str(terms[0]["matchFields"][0]["values"][0])
