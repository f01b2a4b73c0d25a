"""The manifests as shipped: a real API server takes them, and what they allow is enough."""

import base64
import contextlib
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme
import yaml

from tests.builders import JSON, PREFIX, taint, toleration
from tests.deploy import rendering
from tests.deploy.rendering import (
    ALL_MODES,
    COMPILE,
    EXTENDER_SERVICE,
    OVERLAYS,
    SECOND_SCHEDULER,
)
from tests.deploy.test_notes import notes
from tests.e2e import api, binaries, credentials
from tests.e2e.api import Api, ApiServerError, eventually
from tests.e2e.cluster import PATIENCE, Cluster
from tests.e2e.controlplane import ControlPlane
from tests.e2e.credentials import ADMIN, SCHEDULER
from tests.e2e.kubectl import kubectl
from tests.e2e.objects import node, pod
from tests.e2e.processes import Process, free_port

SLA = "node.example.com/sla"
# Beside the schedulers of the other stories.
DEPLOYED = "deployed-scheduler"

_HASH = re.compile(r"-[a-z0-9]{10}$")
_RIGHTS = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")


def by_kustomize(mode: str) -> list[JSON]:
    """An overlay as the real kustomize renders it."""
    done = subprocess.run(  # noqa: S603 - our own files
        [binaries.obtain() / "kubectl", "kustomize", OVERLAYS / mode],
        capture_output=True,
        text=True,
        check=True,
    )
    return list(yaml.safe_load_all(done.stdout))


def text_of(objects: Iterable[JSON]) -> str:
    return yaml.safe_dump_all(objects)


def without_hashes(objects: Iterable[JSON]) -> dict[tuple[str, str, str, str], JSON]:
    """Objects by what they are, ConfigMaps under their names without a hash."""
    found = {}
    for each in objects:
        if each["kind"] == "ConfigMap":
            each["metadata"]["name"] = _HASH.sub("", each["metadata"]["name"])
        if each["kind"] == "Deployment":
            for volume in each["spec"]["template"]["spec"]["volumes"]:
                if "configMap" in volume:
                    name = volume["configMap"]["name"]
                    volume["configMap"]["name"] = _HASH.sub("", name)
        found[rendering.identity(each)] = each
    return found


@pytest.fixture
async def namespace(cluster: Cluster) -> str:
    """The namespace of the manifests, with the rules for pods that it sets."""
    found = rendering.one(rendering.charted(SECOND_SCHEDULER), "Namespace")
    kubectl(cluster.plane, "apply", "--server-side", "--filename=-", stdin=text_of([found]))
    return str(found["metadata"]["name"])


# --- The API server takes them ---------------------------------------------------------------


@pytest.mark.parametrize("mode", ALL_MODES)
def test_the_overlays_are_what_kustomize_makes_of_them(mode: str) -> None:
    real = without_hashes(by_kustomize(mode))
    ours = without_hashes(rendering.kustomized(OVERLAYS / mode))

    assert sorted(real) == sorted(ours)
    for name, found in real.items():
        assert found == ours[name]


@pytest.mark.parametrize("mode", ALL_MODES)
@pytest.mark.parametrize("tool", ["helm", "kustomize"])
async def test_every_object_is_accepted(
    plane: ControlPlane, namespace: str, mode: str, tool: str
) -> None:
    objects = rendering.charted(mode) if tool == "helm" else by_kustomize(mode)
    # Some names are those of rights that the harness has given to its own Leeway.
    dry_run = ("--server-side", "--dry-run=server", "--force-conflicts", "--filename=-")

    said = kubectl(plane, "apply", *dry_run, stdin=text_of(objects)).splitlines()

    assert len(said) == len(objects)
    assert all(line.endswith("serverside-applied (server dry run)") for line in said)
    assert sum("deployment.apps/leeway" in line for line in said) == 1


async def test_the_static_pod_is_accepted(cluster: Cluster) -> None:
    text = rendering.STATIC_POD.read_text(encoding="utf-8")
    dry_run = ("--server-side", "--dry-run=server", "--filename=-")

    said = kubectl(cluster.plane, "apply", *dry_run, stdin=text)

    assert said == "pod/extended-scheduler serverside-applied (server dry run)\n"


@pytest.mark.parametrize("mode", ALL_MODES)
async def test_the_pod_is_allowed_where_only_hardened_pods_are(
    plane: ControlPlane, namespace: str, mode: str
) -> None:
    """A Deployment is only warned about; its pods are what a namespace refuses."""
    template = rendering.deployment(rendering.charted(mode))["spec"]["template"]
    found = {"apiVersion": "v1", "kind": "Pod", **template}
    found["metadata"] = {**template["metadata"], "name": "tried", "namespace": namespace}
    path = f"/api/v1/namespaces/{namespace}/pods?dryRun=All"

    async with plane.connected() as admin:
        accepted = await admin.create(path, found)
        found["spec"] = {**found["spec"], "securityContext": {}}
        with pytest.raises(ApiServerError, match="violates PodSecurity"):
            await admin.create(path, found)

    assert accepted["spec"]["priority"] == 2_000_000_000


# --- What they start works with what they allow ----------------------------------------------


@dataclass
class Installation:
    """A chart that is installed, with the identities of its service account and its scheduler.

    `leeway_port` is the port of the scheduler, or of the API server's webhooks.
    """

    plane: ControlPlane
    folder: Path
    objects: list[JSON]
    token: str
    leeway_port: int
    ops_port: int

    @property
    def account(self) -> Path:
        """A kubeconfig of the service account."""
        return self._kubeconfig("deployed", self.token)

    @property
    def operator(self) -> Path:
        """A kubeconfig of the scheduler that the operator runs."""
        return self._kubeconfig("operator", self.plane.credentials.tokens[SCHEDULER])

    def _kubeconfig(self, name: str, token: str) -> Path:
        server = f"https://127.0.0.1:{self.plane.port}"
        cluster = {"server": server, "certificate-authority": str(self.plane.credentials.ca)}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "loopback", "cluster": cluster}],
            "users": [{"name": name, "user": {"token": token}}],
            "contexts": [{"name": "it", "context": {"cluster": "loopback", "user": name}}],
            "current-context": "it",
        }
        file = self.folder / f"{name}.kubeconfig"
        file.write_text(yaml.safe_dump(content), encoding="utf-8")
        return file

    def leeway(self) -> Process:
        """Leeway with the arguments and the configuration of the manifest, on other ports."""
        arguments = rendering.container(self.objects, "leeway")["args"]
        config: JSON = yaml.safe_load(rendering.extender_config(self.objects))
        for files in config.get("tls", {}).values():
            for key, file in files.items():
                files[key] = str(self.folder / f"server-{Path(file).name}")
        file = self._configured(arguments, config)
        # An extender is called by schedulers, a controller by the API server.
        (called,) = set(config["listen"]) - {"ops"}
        return Process(
            "deployed-leeway",
            [
                Path(sys.executable).with_name("leeway"),
                *(file if "--config" in each else each for each in arguments),
                f"--{called}-listen=127.0.0.1:{self.leeway_port}",
                f"--ops-listen=127.0.0.1:{self.ops_port}",
                f"--kubeconfig={self.account}",
            ],
            log=self.plane.folder / "deployed-leeway.log",
            is_ready=lambda: credentials.plainly_answers(self.ops_port, "/readyz"),
        )

    def scheduler(self, arguments: list[str], kubeconfig: Path) -> Process:
        """kube-scheduler with the configuration of the manifest, on another port."""
        config = rendering.scheduler_config(self.objects)
        config["clientConnection"] = {"kubeconfig": str(kubeconfig)}
        extender = config["extenders"][0]
        scheme = extender["urlPrefix"].partition("://")[0]
        extender["urlPrefix"] = f"{scheme}://127.0.0.1:{self.leeway_port}"
        for key in ("caFile", "certFile", "keyFile"):
            if "tlsConfig" in extender:
                name = Path(extender["tlsConfig"][key]).name
                extender["tlsConfig"][key] = str(self.folder / f"client-{name}")
        file = self._configured(arguments, config)
        port = free_port()
        certificate, key_file = self.plane.credentials.server
        return Process(
            DEPLOYED,
            [
                binaries.obtain() / "kube-scheduler",
                *(file if "--config" in each else each for each in arguments),
                "--bind-address=127.0.0.1",
                f"--secure-port={port}",
                f"--tls-cert-file={certificate}",
                f"--tls-private-key-file={key_file}",
                f"--authentication-kubeconfig={kubeconfig}",
                f"--authorization-kubeconfig={kubeconfig}",
            ],
            log=self.plane.folder / f"{DEPLOYED}.log",
            is_ready=lambda: self.plane.credentials.answers(port, "/healthz"),
        )

    def _configured(self, arguments: list[str], config: JSON) -> str:
        """The file that the arguments name, in a folder of ours; the flag that names it."""
        flag = next(each for each in arguments if "--config" in each)
        file = self.folder / Path(flag).name
        file.write_text(yaml.safe_dump(config), encoding="utf-8")
        return f"--config={file}"


async def installed(plane: ControlPlane, folder: Path, mode: str, **values: str) -> Installation:
    """The rights of a chart given to its service account, and a token of that."""
    objects = rendering.charted(mode, release="deployed", schedulerName=DEPLOYED, **values)
    rights = [each for each in objects if each["kind"] in _RIGHTS]
    kubectl(plane, "apply", "--server-side", "--filename=-", stdin=text_of(rights))
    account = rendering.pod_spec(objects)["serviceAccountName"]
    path = f"/api/v1/namespaces/leeway/serviceaccounts/{account}/token"
    async with plane.connected() as admin:
        token = await admin.create(path, {"spec": {}})
    return Installation(plane, folder, objects, token["status"]["token"], free_port(), free_port())


def uninstall(installation: Installation) -> None:
    rights = [each for each in installation.objects if each["kind"] in _RIGHTS]
    kubectl(installation.plane, "delete", "--wait=false", "--filename=-", stdin=text_of(rights))


async def places_pods(cluster: Cluster, installation: Installation) -> None:
    """A tolerated node is taken, an untolerated one refused, and the lease is its own."""
    placed = await cluster.run(pod("fits", toleration(SLA, "Gt", "900"), scheduler=DEPLOYED))
    refused = await cluster.refused(pod("waits", toleration(SLA, "Gt", "990"), scheduler=DEPLOYED))
    lease = await cluster.api.get(
        f"/apis/coordination.k8s.io/v1/namespaces/leeway/leases/{DEPLOYED}"
    )

    assert placed == "gold"
    assert f"untolerated taint {{{SLA}: 950}}" in refused
    assert lease["spec"]["holderIdentity"]
    log = (installation.plane.folder / f"{DEPLOYED}.log").read_text(encoding="utf-8")
    assert "forbidden" not in log.lower()


async def test_a_second_scheduler_places_pods_with_the_rights_of_its_chart(
    cluster: Cluster, plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    installation = await installed(plane, tmp_path, SECOND_SCHEDULER)
    await cluster.add(node("gold", taint(SLA, "950")), node("bronze", taint(SLA, "800")))
    arguments = rendering.container(installation.objects, "kube-scheduler")["args"]
    scheduler = installation.scheduler(arguments, installation.account)

    async with plane.beside(installation.leeway(), scheduler):
        await places_pods(cluster, installation)
    uninstall(installation)


async def test_a_service_serves_a_scheduler_that_shows_its_certificate(
    cluster: Cluster, plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    installation = await installed(plane, tmp_path, EXTENDER_SERVICE, scheduler__user=SCHEDULER)
    sign(
        tmp_path,
        rendering.scheduler_config(installation.objects)["extenders"][0]["tlsConfig"]["serverName"],
    )
    await cluster.add(node("gold", taint(SLA, "950")), node("bronze", taint(SLA, "800")))
    (static_pod,) = rendering.loaded(rendering.STATIC_POD)
    arguments = [
        each
        for each in static_pod["spec"]["containers"][0]["args"]
        if each.startswith(("--config", "--feature-gates"))
    ]
    scheduler = installation.scheduler(arguments, installation.operator)

    async with plane.beside(installation.leeway(), scheduler):
        await places_pods(cluster, installation)
        await may_read_what_it_watches_only(plane, installation.token)
    uninstall(installation)


def sign(folder: Path, server_name: str) -> None:
    """The files of both sides, for the name under which Leeway is called."""
    authority = trustme.CA()
    for side, name in {"server": server_name, "client": "scheduler.example.com"}.items():
        certificate = authority.issue_cert(name)
        authority.cert_pem.write_to_path(str(folder / f"{side}-ca.crt"))
        certificate.cert_chain_pems[0].write_to_path(str(folder / f"{side}-tls.crt"))
        certificate.private_key_pem.write_to_path(str(folder / f"{side}-tls.key"))


async def may_read_what_it_watches_only(plane: ControlPlane, token: str) -> None:
    url, ca = f"https://127.0.0.1:{plane.port}", str(plane.credentials.ca)
    async with api.connected(url, token, ca) as account:
        assert (await account.get("/api/v1/nodes"))["items"]
        assert (await account.get("/api/v1/pods"))["items"]
        for path in ("/api/v1/secrets", "/api/v1/configmaps", "/apis/apps/v1/deployments"):
            await is_forbidden(account, path)


async def is_forbidden(account: Api, path: str) -> None:
    with pytest.raises(ApiServerError) as caught:
        await account.get(path)
    assert caught.value.status == 403


# --- Compile mode ----------------------------------------------------------------------------

CONTROLLER = "deployed-leeway-controller"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
RULE = toleration(SLA, "Gt", "900", "NoExecute")
EQUAL = {"key": SLA, "operator": "Equal", "value": "950", "effect": "NoExecute"}
GUARD = {"key": SLA, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}


@contextlib.asynccontextmanager
async def controlling(plane: ControlPlane, folder: Path) -> AsyncIterator[Installation]:
    """A controller that runs as its chart says, and that no webhook leads to yet."""
    installation = await installed(plane, folder, COMPILE)
    sign(folder, "127.0.0.1")
    async with plane.beside(installation.leeway()):
        try:
            yield installation
        finally:
            async with plane.connected() as admin:
                await admin.delete(f"{WEBHOOKS}/{CONTROLLER}")
    uninstall(installation)


def about_sla(found: JSON) -> list[JSON]:
    """Without the tolerations of node conditions, which the API server adds to every pod."""
    return [each for each in found["spec"].get("tolerations", ()) if each["key"] == SLA]


async def tolerates(cluster: Cluster, name: str, *expected: JSON) -> None:
    """The pod comes to have these tolerations, in this order."""

    async def found() -> bool | None:
        pod = await cluster.pod(name)
        assert pod is not None
        return True if about_sla(pod) == list(expected) else None

    assert await eventually(found, PATIENCE), await cluster.pod(name)


async def test_a_controller_compiles_pods_with_the_rights_of_its_chart(
    cluster: Cluster, plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    """Without its webhooks: it patches a pod that waits and one that runs, and writes an event."""
    await cluster.add(node("gold", taint(SLA, "950", "NoExecute")))
    async with controlling(plane, tmp_path):
        await cluster.create(
            pod("waits", RULE, scheduler="default-scheduler"),
            pod("broken", annotations={PREFIX + "tolerations": "{"}, scheduler="default-scheduler"),
            pod("other", RULE, scheduler="nobody"),
        )
        await tolerates(cluster, "waits", EQUAL)
        target = {"target": {"kind": "Node", "name": "gold"}, "metadata": {"name": "waits"}}
        await cluster.api.create(f"{cluster.pods_path}/waits/binding", target)
        await tolerates(cluster, "waits", EQUAL, GUARD)
        assert "tolerations" in await cluster.event("broken", "LeewayRuleInvalid")
        lease = await cluster.api.get(
            f"/apis/coordination.k8s.io/v1/namespaces/leeway/leases/{CONTROLLER}"
        )
        await tolerates(cluster, "other")

    log = (plane.folder / "deployed-leeway.log").read_text(encoding="utf-8")
    assert lease["spec"]["holderIdentity"]
    assert "403" not in log


async def test_its_webhooks_compile_a_new_pod_and_strip_a_copied_guard(
    cluster: Cluster, plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    await cluster.add(node("gold", taint(SLA, "950", "NoExecute")))
    record = {PREFIX + "guarded-keys": f'["{SLA}"]'}
    copied = pod("copied", RULE, native=[GUARD], annotations=record, scheduler="default-scheduler")
    async with controlling(plane, tmp_path) as installation:
        config = rendering.one(installation.objects, "MutatingWebhookConfiguration", CONTROLLER)
        bundle = base64.b64encode((tmp_path / "server-ca.crt").read_bytes()).decode()
        for each in config["webhooks"]:
            path = each["clientConfig"]["service"]["path"]
            url = f"https://127.0.0.1:{installation.leeway_port}{path}"
            each["clientConfig"] = {"url": url, "caBundle": bundle}
        await cluster.api.create(WEBHOOKS, config)

        async def stripped() -> JSON | None:
            made = await cluster.api.create(f"{cluster.pods_path}?dryRun=All", copied)
            return made if about_sla(made) == [EQUAL] else None

        made = await eventually(stripped, PATIENCE)

    assert made is not None, "the API server does not ask the webhooks"
    assert set(made["metadata"]["annotations"]) == {PREFIX + "tolerations"}


@pytest.mark.parametrize("validating", [False, True], ids=["compile", "and validate"])
def test_the_command_of_the_notes_makes_a_certificate_that_the_webhooks_trust(
    plane: ControlPlane, namespace: str, tmp_path: Path, validating: bool
) -> None:
    values = {"admission__enabled": str(validating).lower()}
    hooks = [
        each
        for each in rendering.charted(COMPILE, **values)
        if each["kind"].endswith("WebhookConfiguration")
    ]
    kubectl(plane, "create", "--filename=-", stdin=text_of(hooks))
    said = notes(tmp_path, COMPILE, **values)
    command = next(line.strip() for line in said.splitlines() if "leeway certs" in line)
    programs = f"{binaries.obtain()}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    kubeconfig = str(plane.kubeconfig(ADMIN))
    try:
        subprocess.run(  # noqa: S603 - the command that we recommend
            ["/bin/bash", "-o", "pipefail", "-c", command],
            env={"PATH": programs, "KUBECONFIG": kubeconfig, "HOME": str(tmp_path)},
            check=True,
        )
        found = [
            yaml.safe_load(kubectl(plane, "get", each["kind"], "leeway-controller", "-o", "yaml"))
            for each in hooks
        ]
        secret = kubectl(
            plane, "-n", "leeway", "get", "secret", "leeway-controller-tls", "-o", "yaml"
        )
    finally:
        kubectl(plane, "delete", "--filename=-", stdin=text_of(hooks))
        kubectl(plane, "-n", "leeway", "delete", "secret", "leeway-controller-tls")

    assert len(found) == 1 + validating
    (ca,) = {hook["clientConfig"]["caBundle"] for each in found for hook in each["webhooks"]}
    assert yaml.safe_load(secret)["data"]["ca.crt"] == ca


def test_the_kustomization_of_the_installation_page_trusts_the_certificate(
    plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    page = (rendering.ROOT / "docs/install.md").read_text(encoding="utf-8")
    (shown,) = (
        block.partition("\n```")[0]
        for block in page.split("```yaml\n")[1:]
        if "overlays/compile" in block.partition("\n```")[0]
    )
    command = next(line for line in page.splitlines() if "overlays/compile/webhook.yaml" in line)
    (tmp_path / "kustomization.yaml").write_text(shown, encoding="utf-8")
    (tmp_path / "leeway").symlink_to(rendering.ROOT, target_is_directory=True)
    program, *arguments = command.removeprefix("$ ").split()
    subprocess.run(  # noqa: S603 - the command that we recommend
        [Path(sys.executable).with_name(program), *arguments], cwd=tmp_path, check=True
    )

    text = kubectl(plane, "kustomize", tmp_path)
    said = kubectl(plane, "apply", "--server-side", "--dry-run=server", "--filename=-", stdin=text)
    objects = list(yaml.safe_load_all(text))
    hooks = rendering.one(objects, "MutatingWebhookConfiguration", "leeway-controller")["webhooks"]
    (volume,) = (each for each in rendering.pod_spec(objects)["volumes"] if "secret" in each)

    ca = base64.b64encode((tmp_path / "certs/ca.crt").read_bytes()).decode()
    assert [hook["clientConfig"]["caBundle"] for hook in hooks] == [ca, ca]
    assert set(rendering.one(objects, "Secret", volume["secret"]["secretName"])["data"]) == {
        "tls.crt",
        "tls.key",
    }
    assert len(said.splitlines()) == len(objects)
