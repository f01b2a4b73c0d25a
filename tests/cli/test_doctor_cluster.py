"""What `leeway doctor` asks an API server about compile mode, through its real command line."""

import asyncio
import base64
import json
import os
import signal
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml

from extender.cli import controller
from extender.cluster.api import ApiServer
from extender.config.schema import Address, Config, Listen
from tests.builders import JSON, PREFIX
from tests.cli import pages, process
from tests.cluster.apiserver import (
    INSTALLED,
    WEBHOOKS,
    Answer,
    ScriptedServer,
    anonymous,
    eventually,
    scripted,
)
from tests.cluster.test_api import kubeconfig
from tests.deploy import rendering

ACCOUNT = "system:serviceaccount:leeway:leeway-controller"
CONFIG = "deploy/kustomize/overlays/compile/extender-config.yaml"
NEVER = ("delete pods", "create pods", "patch pods/status", "update pods", "patch nodes")
WHITELIST = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"


@pytest.fixture
async def cluster() -> AsyncIterator[ScriptedServer]:
    """Compile mode as it is installed, with a leader."""
    async with scripted() as server:
        hooks = rendering.one(
            rendering.kustomized(rendering.OVERLAYS / rendering.COMPILE),
            "MutatingWebhookConfiguration",
            "leeway-controller",
        )
        ca = base64.b64encode(trustme.CA().cert_pem.bytes()).decode()
        for each in hooks["webhooks"]:
            each["clientConfig"]["caBundle"] = ca
        server.put(WEBHOOKS, hooks)
        server.put("namespaces", {"metadata": {"name": "default"}})
        lead(server)
        server.forbidden = {(each, ACCOUNT) for each in NEVER}
        yield server


def lead(server: ScriptedServer, holder: str = "one", ago: float = 1.0) -> None:
    renewed = (datetime.now(UTC) - timedelta(seconds=ago)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed}
    metadata = {"name": "leeway-controller", "namespace": "leeway"}
    server.put("leases", {"metadata": metadata, "spec": spec})


async def doctor(server: ScriptedServer, folder: Path, *arguments: str) -> tuple[int, Any]:
    given = ("--kubeconfig", kubeconfig(folder, server), "-o", "json", *arguments)
    ended = await asyncio.to_thread(process.run_here, "doctor", *given, cwd=pages.ROOT)
    assert ended.err == ""
    return ended.code, json.loads(ended.out)


async def found(server: ScriptedServer, folder: Path, *arguments: str) -> list[tuple[str, str]]:
    page = (await doctor(server, folder, CONFIG, "--as", ACCOUNT, *arguments))[1]
    return [(each["check"], each["where"]) for each in page["problems"]]


async def test_what_we_install_is_well(cluster: ScriptedServer, tmp_path: Path) -> None:
    code, page = await doctor(cluster, tmp_path, CONFIG, "--as", ACCOUNT)

    assert (code, page["problems"]) == (0, [])
    assert page["notChecked"] == [
        "no manifest of kube-apiserver was given: whether it runs PodTolerationRestriction was"
        " not checked",
        "whether the controller is ready, because no running one was given (--extender)",
    ]
    # The rights of the controller, those that it must not have, and no others.
    assert len(cluster.reviews) == 12 + 6


@pytest.mark.parametrize(
    ("holder", "ago", "why"),
    [("", 1, "nobody holds it"), ("one", 60, "one has not renewed it for 6")],
)
async def test_nobody_leads(
    cluster: ScriptedServer, tmp_path: Path, holder: str, ago: float, why: str
) -> None:
    lead(cluster, holder, ago)
    code, page = await doctor(cluster, tmp_path, CONFIG)

    assert code == 1
    assert [(p["check"], p["where"]) for p in page["problems"]] == [
        ("no-leader", "Lease leeway/leeway-controller")
    ]
    assert page["problems"][0]["why"].startswith(why)


async def test_a_lease_that_is_missing_or_cannot_be_dated(
    cluster: ScriptedServer, tmp_path: Path
) -> None:
    expected = [("no-leader", "Lease leeway/leeway-controller")]
    metadata = {"name": "leeway-controller", "namespace": "leeway"}
    spec = {"holderIdentity": "one", "renewTime": "yesterday"}
    cluster.put("leases", {"metadata": metadata, "spec": spec})

    assert await found(cluster, tmp_path) == expected
    cluster.delete("leases", "leeway-controller", "leeway")
    assert await found(cluster, tmp_path) == expected


async def test_a_controller_that_is_alone_has_no_lease(
    cluster: ScriptedServer, tmp_path: Path
) -> None:
    config: JSON = yaml.safe_load((pages.ROOT / CONFIG).read_text("utf-8"))
    config["leaderElection"]["leaderElect"] = False
    file = tmp_path / "alone.yaml"
    file.write_text(yaml.safe_dump(config))
    cluster.delete("leases", "leeway-controller", "leeway")
    code, page = await doctor(cluster, tmp_path, str(file))

    assert (code, page["problems"]) == (0, [])
    assert "the leader, because leaderElection.leaderElect is false" in page["notChecked"]


async def test_webhooks_of_the_cluster(cluster: ScriptedServer, tmp_path: Path) -> None:
    hooks = cluster.objects[WEBHOOKS]["leeway-controller"]
    hooks["webhooks"][0] |= {"failurePolicy": "Fail"}
    hooks["webhooks"][1]["clientConfig"]["caBundle"] = ""
    cluster.put(WEBHOOKS, hooks)
    where = "cluster: MutatingWebhookConfiguration leeway-controller: webhooks"

    assert await found(cluster, tmp_path) == [
        ("webhook-failure-policy", f"{where}[0].failurePolicy"),
        ("webhook-ca", f"{where}[1].clientConfig.caBundle"),
    ]
    cluster.delete(WEBHOOKS, "leeway-controller")
    assert await found(cluster, tmp_path) == [("webhook-missing", "cluster")] * 2


async def test_the_ca_of_a_webhook_has_its_dates(cluster: ScriptedServer, tmp_path: Path) -> None:
    hooks = cluster.objects[WEBHOOKS]["leeway-controller"]
    hooks["webhooks"][0]["clientConfig"]["caBundle"] = "Q0E="
    cluster.put(WEBHOOKS, hooks)

    assert [check for check, _ in await found(cluster, tmp_path)] == ["certificate"]


async def test_namespaces_with_a_whitelist(cluster: ScriptedServer, tmp_path: Path) -> None:
    allowed = json.dumps([{"key": "a", "operator": "Exists"}])
    annotations = {WHITELIST: allowed}
    cluster.put("namespaces", {"metadata": {"name": "tenant", "annotations": annotations}})

    assert await found(cluster, tmp_path) == [("toleration-whitelist", "namespaces: tenant")]


async def test_rights_that_are_missing_and_rights_too_many(
    cluster: ScriptedServer, tmp_path: Path
) -> None:
    cluster.forbidden = {(each, ACCOUNT) for each in (*NEVER[1:], "update leases", "patch events")}

    assert await found(cluster, tmp_path) == [
        ("controller-rights", "patch events"),
        ("controller-rights", "update leases.coordination.k8s.io leeway-controller in leeway"),
        ("excess-rights", "delete pods"),
    ]


async def test_without_an_account_nobody_is_told_that_they_may_too_much(
    cluster: ScriptedServer, tmp_path: Path
) -> None:
    code, page = await doctor(cluster, tmp_path, CONFIG)

    assert (code, page["problems"]) == (0, [])
    assert any(line.startswith("whether the controller may do more") for line in page["notChecked"])


async def test_beside_an_extender_the_account_is_the_extenders(
    cluster: ScriptedServer, tmp_path: Path
) -> None:
    other = "deploy/kustomize/overlays/second-scheduler/extender-config.yaml"
    cluster.forbidden = {("list pods", ACCOUNT)}
    _, page = await doctor(cluster, tmp_path, CONFIG, other, "--as", ACCOUNT)

    assert [p["check"] for p in page["problems"]] == ["rights"]
    assert any(line.startswith("the rights of the controller") for line in page["notChecked"])


async def test_pods_are_listed_only_if_a_gate_is_off(
    cluster: ScriptedServer, tmp_path: Path
) -> None:
    rules = json.dumps([{"key": "a", "operator": "Gt", "value": "1"}])
    metadata = {"name": "p", "namespace": "n", "annotations": {f"{PREFIX}tolerations": rules}}
    cluster.put("pods", {"metadata": metadata, "spec": {}}, {"metadata": {"name": "other"}})
    gates = {"TaintTolerationComparisonOperators": False}
    config: JSON = yaml.safe_load((pages.ROOT / CONFIG).read_text("utf-8"))
    file = tmp_path / "off.yaml"
    file.write_text(yaml.safe_dump(config | {"featureGates": gates}))

    assert await found(cluster, tmp_path) == []
    assert cluster.kinds("pods") == []
    _, page = await doctor(cluster, tmp_path, str(file))
    assert [p["check"] for p in page["problems"]] == ["gate-off"]
    assert "such as Pod n/p" in page["problems"][0]["why"]
    offline = process.run_here("doctor", str(file), cwd=pages.ROOT)
    assert "not checked: whether pods use a feature gate that is off" in offline.out


async def test_what_may_not_be_read_is_named(cluster: ScriptedServer, tmp_path: Path) -> None:
    for resource in INSTALLED.values():
        cluster.on_list(resource, Answer(403, "forbidden"))
    cluster.on_lease(Answer(403, "forbidden"))
    code, page = await doctor(cluster, tmp_path, CONFIG, "--as", ACCOUNT)

    assert (code, page["problems"]) == (0, [])
    refused = [line.split(",")[0] for line in page["notChecked"] if "refuses" in line]
    assert refused == [
        "the mutating webhooks of the cluster",
        "toleration whitelists of namespaces",
        "the leader",
    ]


# --- A running controller ------------------------------------------------------------------------


async def test_a_controller_that_leads(
    cluster: ScriptedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.delete("leases", "leeway-controller", "leeway")
    config = Config(listen=Listen(ops=Address("127.0.0.1", 0)))
    running = asyncio.create_task(controller._control(config, ApiServer(anonymous(cluster))))
    await eventually(lambda: cluster.objects["leases"], 10)
    await asyncio.sleep(0)
    url = "http://" + capsys.readouterr().out.split()[3]
    try:
        code, page = await doctor(cluster, tmp_path, "--extender", url, "--as", ACCOUNT)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        await running

    assert (code, page["problems"]) == (0, [])
    assert page["running"] == {
        "address": url,
        "command": "controller",
        "version": page["running"]["version"],
        "leader": "leading",
    }
    assert page["notChecked"][0].startswith("no configuration of the controller was given")
    assert not any("who calls" in line for line in page["notChecked"])


def test_a_controller_that_reaches_no_api_server(tmp_path: Path) -> None:
    with process.controlling(tmp_path) as (_, line):
        url = "http://" + line.split()[3]
        scheduler = "deploy/examples/scheduler-config.yaml"
        ended = process.run_here(
            "doctor", "--extender", url, "-o", "json", scheduler, cwd=pages.ROOT
        )
    page = json.loads(ended.out)

    assert ended.code == 1
    assert [p["check"] for p in page["problems"]] == ["ready", "no-leader"]
    assert page["running"]["command"] == "controller"
    assert f"who calls Leeway, because a controller answers at {url}" in page["notChecked"]
