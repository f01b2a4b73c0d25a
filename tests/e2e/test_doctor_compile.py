"""Doctor beside a real control plane, on which compile mode is installed step by step."""

import json
from typing import Any

from tests.e2e.cluster import Cluster
from tests.e2e.compiling import LEASE, WEBHOOKS, compiling, webhook
from tests.e2e.controlplane import ControlPlane
from tests.e2e.credentials import ADMIN, CONTROLLER, LEEWAY
from tests.e2e.test_scan_doctor import data

WHITELIST = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
HOOKS = f"{WEBHOOKS}/leeway-controller"


async def asked(plane: ControlPlane, *more: str, user: str = ADMIN) -> tuple[int, Any]:
    """What doctor says to a user, by the configuration of the controller."""
    file, admin = plane.folder / "controller-1.yaml", plane.kubeconfig(user)
    return await data("doctor", str(file), f"--kubeconfig={admin}", *more)


async def checks(plane: ControlPlane, *more: str) -> list[tuple[str, str]]:
    _, page = await asked(plane, f"--as={CONTROLLER}", *more)
    return [(each["check"], each["where"]) for each in page["problems"]]


async def test_doctor_finds_what_is_wrong_with_compile_mode(
    cluster: Cluster, plane: ControlPlane
) -> None:
    missing = [("webhook-missing", "cluster")] * 2
    no_leader = ("no-leader", "Lease leeway/leeway-controller")
    async with compiling(cluster, plane, noExecuteGrace="30s") as rig:
        running = f"--extender=http://127.0.0.1:{rig.controller.ops_port}"
        assert await checks(plane, running) == missing

        async with webhook(cluster, rig.controller.port):
            code, page = await asked(plane, f"--as={CONTROLLER}", running)
            assert (code, page["problems"]) == (0, [])
            assert (page["running"]["command"], page["running"]["leader"]) == (
                "controller",
                "leading",
            )

            await _set_policy(cluster, "Fail")
            where = "cluster: MutatingWebhookConfiguration leeway-controller: webhooks[0]"
            assert await checks(plane) == [("webhook-failure-policy", f"{where}.failurePolicy")]
            await _set_policy(cluster, "Ignore")

            await _whitelist(cluster, json.dumps([{"key": "a", "operator": "Exists"}]))
            assert await checks(plane) == [
                ("toleration-whitelist", f"namespaces: {cluster.namespace}")
            ]
            await _whitelist(cluster, json.dumps([{"operator": "Exists"}]))
            assert await checks(plane) == []

    # Who stops in order gives the Lease up.
    assert await checks(plane) == [no_leader, *missing]
    await cluster.api.delete(LEASE)
    assert await checks(plane) == [no_leader, *missing]


async def test_doctor_knows_the_rights_of_a_controller(
    cluster: Cluster, plane: ControlPlane
) -> None:
    async with (
        compiling(cluster, plane, noExecuteGrace="30s") as rig,
        webhook(cluster, rig.controller.port),
    ):
        _, page = await asked(plane, f"--as={LEEWAY}")
        own, own_page = await asked(plane, user=CONTROLLER)

    found = [(each["check"], each["where"]) for each in page["problems"]]
    assert found == [
        ("controller-rights", "patch pods"),
        ("controller-rights", "create events"),
        ("controller-rights", "patch events"),
        ("controller-rights", "create leases.coordination.k8s.io in leeway"),
        ("controller-rights", "get leases.coordination.k8s.io leeway-controller in leeway"),
        ("controller-rights", "update leases.coordination.k8s.io leeway-controller in leeway"),
        ("excess-rights", "patch pods/status"),
    ]
    # The controller may read its Lease, and neither webhooks nor namespaces.
    assert (own, own_page["problems"]) == (0, [])
    refused = [line.split(",")[0] for line in own_page["notChecked"] if "refuses" in line]
    assert refused == [
        "the mutating webhooks of the cluster",
        "toleration whitelists of namespaces",
    ]


async def _set_policy(cluster: Cluster, policy: str) -> None:
    hooks = (await cluster.api.get(HOOKS))["webhooks"]
    hooks[0]["failurePolicy"] = policy
    await cluster.api.merge(HOOKS, {"webhooks": hooks})


async def _whitelist(cluster: Cluster, text: str) -> None:
    annotated = {"metadata": {"annotations": {WHITELIST: text}}}
    await cluster.api.merge(f"/api/v1/namespaces/{cluster.namespace}", annotated)
