"""The webhook as shipped, called by a real API server: what it refuses and what it leaves alone."""

import base64
import contextlib
import json
import subprocess
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from tests.builders import JSON, PREFIX, required, requirement, toleration
from tests.deploy import rendering
from tests.deploy.rendering import (
    ADMISSION,
    ALL_MODES,
    COMPILE,
    CONTROLLER_ADMISSION,
    OVERLAYS,
    SECOND_SCHEDULER,
)
from tests.e2e import binaries
from tests.e2e.api import ApiServerError, eventually
from tests.e2e.cluster import PATIENCE, Cluster
from tests.e2e.controlplane import ControlPlane, Leeway
from tests.e2e.credentials import ADMIN
from tests.e2e.objects import pod
from tests.e2e.processes import free_port

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
SLA = "node.kubernetes.io/sla"
BAD = toleration(SLA, "Gt", "high")
GOOD = toleration(SLA, "Gt", "900")


def annotated(*rules: JSON) -> dict[str, str]:
    return {PREFIX + "tolerations": json.dumps(rules)}


def deployment(name: str, *rules: JSON, **metadata: Any) -> JSON:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, **metadata},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels, "annotations": annotated(*rules)},
                "spec": {"containers": [{"name": "main", "image": "registry.example.com/main:1"}]},
            },
        },
    }


def cron_job(name: str, *rules: JSON) -> JSON:
    template = deployment(name, *rules)["spec"]["template"]
    template["spec"]["restartPolicy"] = "Never"
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": name},
        "spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": template}}},
    }


def volume(name: str, affinity: JSON) -> JSON:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": name,
            "annotations": {PREFIX + "node-affinity": json.dumps(affinity)},
        },
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/nowhere"},
        },
    }


def kubectl(
    cluster: Cluster, *arguments: str, stdin: Any = None, namespace: str | None = None
) -> tuple[int, str]:
    """Exit code and all that kubectl prints as an administrator."""
    within = cluster.namespace if namespace is None else namespace
    done = subprocess.run(  # noqa: S603 - our own arguments
        [
            binaries.obtain() / "kubectl",
            f"--kubeconfig={cluster.plane.kubeconfig(ADMIN)}",
            *([f"--namespace={within}"] if within else []),
            *arguments,
        ],
        input=json.dumps(stdin) if stdin else "",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def apply(cluster: Cluster, found: JSON, *more: str) -> tuple[int, str]:
    return kubectl(cluster, "apply", "--filename=-", *more, stdin=found)


class Webhook:
    """A Leeway that the API server asks, by the configuration of the chart."""

    def __init__(self, cluster: Cluster, leeway: Leeway, port: int) -> None:
        self._cluster = cluster
        self._port = port
        self.leeway = leeway

    async def install(self) -> None:
        """Put the configuration in place, and wait until it is heeded."""
        found = rendering.charted(SECOND_SCHEDULER, admission__enabled="true")
        config = rendering.one(found, "ValidatingWebhookConfiguration")
        ca = base64.b64encode(self._cluster.plane.credentials.ca.read_bytes()).decode()
        for each in config["webhooks"]:
            path = each["clientConfig"]["service"]["path"]
            url = f"https://127.0.0.1:{self._port}{path}"
            each["clientConfig"] = {"url": url, "caBundle": ca}
        await self._cluster.api.create(CONFIGURATIONS, config)
        broken = pod("probe", annotations={PREFIX + "tolerations": "{"})

        async def heeded() -> bool | None:
            try:
                await self._cluster.api.create(f"{self._cluster.pods_path}?dryRun=All", broken)
            except ApiServerError as exc:
                return True if exc.status == HTTPStatus.UNPROCESSABLE_ENTITY else None
            return None

        assert await eventually(heeded, PATIENCE), "the API server does not ask the webhook"

    async def remove(self) -> None:
        await self._cluster.api.delete(f"{CONFIGURATIONS}/leeway")

    async def asked(self) -> dict[str, float]:
        """How often the webhook was asked, by kind."""
        found: dict[str, float] = {}
        for line in (await _metrics(self.leeway)).splitlines():
            if line.startswith("leeway_admission_requests_total{"):
                kind = line.partition('kind="')[2].partition('"')[0]
                found[kind] = found.get(kind, 0) + float(line.rpartition(" ")[2])
        return found


async def _metrics(leeway: Leeway) -> str:
    url = f"http://127.0.0.1:{leeway.ops_port}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return await response.text()


Prepare = Callable[..., contextlib.AbstractAsyncContextManager[Webhook]]


@pytest.fixture
def webhook(cluster: Cluster, plane: ControlPlane) -> Prepare:
    """Makes a webhook, with flags of its Leeway."""

    @contextlib.asynccontextmanager
    async def prepared(*flags: str) -> AsyncIterator[Webhook]:
        port = free_port()
        leeway = plane.new_leeway("admitting", f"--admission-listen=127.0.0.1:{port}", *flags)
        async with plane.beside(leeway):
            made = Webhook(cluster, leeway, port)
            try:
                yield made
            finally:
                await made.remove()

    return prepared


async def test_what_is_wrong_is_refused_in_the_words_that_kubectl_prints(
    cluster: Cluster, webhook: Prepare
) -> None:
    async with webhook() as hook:
        await hook.install()
        refused = apply(cluster, deployment("web", BAD))
        admitted = apply(cluster, deployment("web", GOOD))
        warned = apply(cluster, deployment("warned", toleration(SLA, "Lt", "0")))
        of_cron_job = apply(cluster, cron_job("nightly", {"expression": "taint.kye == ''"}))
        of_volume = apply(cluster, volume("disk", {"required": {"nodeSelectorTerms": []}}))
        of_pod = apply(cluster, pod("one", affinity=required([requirement("k", "SemverGt", "x")])))

    field = f"spec.template.metadata.annotations[{PREFIX}tolerations][0].value"
    assert refused[0] == 1
    assert refused[1] == (
        'The Deployment "web" is invalid: \n'
        f'* {field}: Invalid value: "high": must be a valid decimal integer in canonical form\n'
        f'* {field}: Invalid value: "high": strconv.ParseInt: parsing "high": invalid syntax\n'
    )
    assert admitted == (0, "deployment.apps/web created\n")
    assert warned == (
        0,
        f"Warning: {field}: no taint can have a value below 0, so this never matches: use a larger"
        " bound, or Exists\ndeployment.apps/warned created\n",
    )
    assert of_cron_job[0] == 1
    assert f"spec.jobTemplate.{field.removesuffix('value')}expression" in of_cron_job[1]
    assert "undefined field 'kye'" in of_cron_job[1]
    assert of_volume[0] == of_pod[0] == 1
    assert "nodeSelectorTerms: Required value: must have at least one" in of_volume[1]
    assert 'values[0]: Invalid value: "x": Invalid character(s) found in major' in of_pod[1]


async def test_an_update_may_keep_what_was_there_with_its_gate_off(
    cluster: Cluster, webhook: Prepare
) -> None:
    async with webhook("--feature-gates=TaintTolerationComparisonOperators=false") as hook:
        before = apply(cluster, deployment("web", GOOD))
        await hook.install()
        kept = apply(cluster, deployment("web", GOOD, labels={"changed": "yes"}))
        changed = apply(cluster, deployment("web", toleration(SLA, "Gt", "950")))
        new = apply(cluster, deployment("other", GOOD))
        removed = apply(cluster, deployment("web"))

    assert before[0] == kept[0] == changed[0] == removed[0] == 0
    assert kept[1] == "deployment.apps/web configured\n"
    assert new[0] == 1
    assert 'Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"' in new[1]


async def test_nobody_is_held_up_while_the_webhook_is_away(
    cluster: Cluster, webhook: Prepare
) -> None:
    async with webhook() as hook:
        await hook.install()
        refused = apply(cluster, deployment("web", BAD))
        await hook.leeway.stop()
        unjudged = apply(cluster, deployment("web", BAD))
        ordinary = apply(cluster, deployment("plain"))

    assert refused[0] == 1
    assert unjudged == (0, "deployment.apps/web created\n")
    assert ordinary == (0, "deployment.apps/plain created\n")


async def test_what_carries_no_rules_and_what_runs_the_cluster_is_not_asked_about(
    cluster: Cluster, webhook: Prepare
) -> None:
    plain = deployment("plain")
    del plain["spec"]["template"]["metadata"]["annotations"]
    plain["spec"]["template"]["spec"]["tolerations"] = [toleration("a", "Exists")]
    async with webhook() as hook:
        await hook.install()
        before = await hook.asked()
        ordinary = apply(cluster, plain)
        in_system = apply(cluster, deployment("system", BAD), "--namespace=kube-system")
        status = await cluster.api.merge(
            "/apis/apps/v1/namespaces/kube-system/deployments/system", {"spec": {"replicas": 0}}
        )
        await cluster.api.delete("/apis/apps/v1/namespaces/kube-system/deployments/system")
        after = await hook.asked()

    assert ordinary[0] == in_system[0] == 0
    assert status["metadata"]["name"] == "system"
    assert after == before


@pytest.mark.parametrize("mode", ALL_MODES)
@pytest.mark.parametrize("tool", ["helm", "kustomize"])
async def test_every_object_is_accepted(
    cluster: Cluster, tmp_path: Path, mode: str, tool: str
) -> None:
    namespace = rendering.one(rendering.charted(SECOND_SCHEDULER), "Namespace")
    assert apply(cluster, namespace, "--server-side")[0] == 0
    if tool == "helm":
        objects = rendering.charted(mode, admission__enabled="true")
    else:
        text = kubectl(cluster, "kustomize", str(with_component(tmp_path, mode)))[1]
        objects = list(yaml.safe_load_all(text))
    code, said = kubectl(
        cluster,
        *("apply", "--server-side", "--dry-run=server", "--force-conflicts", "--filename=-"),
        stdin={"apiVersion": "v1", "kind": "List", "items": objects},
        namespace="",
    )
    lines = said.splitlines()

    assert code == 0, said
    assert len(lines) == len(objects)
    assert all(line.endswith("serverside-applied (server dry run)") for line in lines)
    assert any("validatingwebhookconfiguration" in line for line in lines)


def with_component(folder: Path, mode: str) -> Path:
    """An overlay of a user's own: one of ours with the component."""
    shown = folder / "deploy/kustomize"
    shown.parent.mkdir(parents=True)
    shown.symlink_to(OVERLAYS.parent, target_is_directory=True)
    mine = folder / "mine"
    mine.mkdir()
    component = CONTROLLER_ADMISSION if mode == COMPILE else ADMISSION
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [f"../deploy/kustomize/overlays/{mode}"],
        "components": [f"../deploy/kustomize/components/{component.name}"],
    }
    (mine / "kustomization.yaml").write_text(yaml.safe_dump(kustomization), encoding="utf-8")
    return mine
