"""Whom the API server asks about which pods, by the webhooks of compile mode as shipped.

An API server with the gate of `Gt` asks somebody who notes every question and admits everything.
"""

import asyncio
import base64
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from tests.builders import JSON, PREFIX, toleration
from tests.deploy import rendering
from tests.deploy.rendering import COMPILE
from tests.e2e import api
from tests.e2e.api import Api, ApiServerError, eventually
from tests.e2e.cluster import PATIENCE
from tests.e2e.controlplane import ControlPlane
from tests.e2e.kubectl import kubectl
from tests.e2e.objects import pod
from tests.e2e.processes import free_port

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
COMPILING = "compile.leeway.scheduling"
STRIPPING = "strip-guards.leeway.scheduling"
RECORD = PREFIX + "guarded-keys"
SLA = "node.example.com/sla"
RULE = toleration(SLA, "Gt", "900")
GATE = "TaintTolerationComparisonOperators"


@dataclass
class Noted:
    """Every question since the last look: webhook, operation and pod."""

    questions: list[tuple[str, str, str]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        """Admit whatever it is."""
        asked: JSON = (await request.json())["request"]
        name = asked["namespace"] + "/" + asked["name"]
        self.questions.append((request.match_info["hook"], asked["operation"], name))
        response = {"uid": asked["uid"], "allowed": True}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        answer = web.json_response({**review, "response": response})
        answer.force_close()  # no connection is left over when this server ends
        return answer

    def hooks(self) -> list[str]:
        """The webhooks that were asked, in order; forgotten after that."""
        found = [hook for hook, _, _ in self.questions]
        self.questions.clear()
        return found


@dataclass
class Asking:
    """An API server, who is asked, and the controller's own account."""

    admin: Api
    account: Api
    noted: Noted
    runner: web.AppRunner

    async def create(self, namespace: str, found: JSON) -> list[str]:
        await self.admin.create(f"/api/v1/namespaces/{namespace}/pods", found)
        return self.noted.hooks()

    async def update(self, who: Api, name: str, change: JSON) -> list[str]:
        await who.merge(f"/api/v1/namespaces/default/pods/{name}", change)
        return self.noted.hooks()


@pytest.fixture(scope="module")
def plane(
    new_plane: Callable[..., ControlPlane], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """Nothing but an API server."""
    found = new_plane(tmp_path_factory.mktemp("conditions"), gates={GATE: True})
    try:
        asyncio.run(found.start_api())
        yield found
    finally:
        asyncio.run(found.stop())


@pytest.fixture
async def asking(plane: ControlPlane) -> AsyncIterator[Asking]:
    """The webhooks lead to this process, and no pod is left of the test before."""
    objects = rendering.charted(COMPILE)
    async with plane.connected() as admin, _noting(plane) as (noted, runner, port):
        token = await _account(admin, objects)
        url, ca = f"https://127.0.0.1:{plane.port}", str(plane.credentials.ca)
        async with api.connected(url, token, ca) as account:
            asking = Asking(admin, account, noted, runner)
            ca_bundle = base64.b64encode(plane.credentials.ca.read_bytes()).decode()
            await _install(asking, objects, port, ca_bundle)
            yield asking
        await admin.delete(f"{CONFIGURATIONS}/leeway-controller")
        for namespace in ("default", "kube-system", "leeway"):
            await admin.delete(f"/api/v1/namespaces/{namespace}/pods")


@contextlib.asynccontextmanager
async def _noting(plane: ControlPlane) -> AsyncIterator[tuple[Noted, web.AppRunner, int]]:
    noted, port = Noted(), free_port()
    app = web.Application()
    app.router.add_post("/{hook}", noted.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*plane.credentials.server)
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=context).start()
    try:
        yield noted, runner, port
    finally:
        await runner.cleanup()


async def _account(admin: Api, objects: list[JSON]) -> str:
    """A token of the account, with the rights of the manifests."""
    await admin.ensure("/api/v1/namespaces", rendering.one(objects, "Namespace", "leeway"))
    accounts = "/api/v1/namespaces/leeway/serviceaccounts"
    local = f"{RBAC}/namespaces/leeway"
    name = "leeway-controller"
    for path, kind, each in (
        (accounts, "ServiceAccount", name),
        (f"{RBAC}/clusterroles", "ClusterRole", name),
        (f"{RBAC}/clusterrolebindings", "ClusterRoleBinding", name),
        (f"{local}/roles", "Role", f"{name}-leader-election"),
        (f"{local}/rolebindings", "RoleBinding", f"{name}-leader-election"),
    ):
        await admin.ensure(path, rendering.one(objects, kind, each))
    token = await admin.create(f"{accounts}/{name}/token", {"spec": {}})
    return str(token["status"]["token"])


async def _install(asking: Asking, objects: list[JSON], port: int, bundle: str) -> None:
    """The webhooks as shipped, at our address under their own names; heeded when this returns."""
    config = rendering.one(objects, "MutatingWebhookConfiguration", "leeway-controller")
    for each in config["webhooks"]:
        url = f"https://127.0.0.1:{port}/{each['name']}"
        each["clientConfig"] = {"url": url, "caBundle": bundle}
    await asking.admin.create(CONFIGURATIONS, config)
    probe = pod("probe", RULE)

    async def heeded() -> bool | None:
        await asking.admin.create("/api/v1/namespaces/default/pods?dryRun=All", probe)
        return True if asking.noted.hooks() else None

    assert await eventually(heeded, PATIENCE), "the API server asks nobody"


def with_record(name: str) -> JSON:
    return pod(name, annotations={RECORD: f'["{SLA}"]'})


async def test_a_new_pod_is_asked_about_if_it_carries_rules_or_a_record(asking: Asking) -> None:
    pods: dict[str, tuple[JSON, list[str]]] = {
        "plain": (pod("plain"), []),
        "foreign": (pod("foreign", annotations={"example.com/tolerations": "[]"}), []),
        "equal": (pod("equal", native=[toleration(SLA, "Equal", "950")]), []),
        "exists": (pod("exists", native=[toleration(SLA, "Exists")]), []),
        "rule": (pod("rule", RULE), [COMPILING]),
        "grace": (pod("grace", annotations={PREFIX + "eviction-grace-seconds": "9"}), [COMPILING]),
        "affinity": (pod("affinity", affinity={}), [COMPILING]),
        "native": (pod("native", native=[RULE]), [COMPILING]),
        "copied": (with_record("copied"), [COMPILING, STRIPPING]),
    }

    asked = {name: await asking.create("default", each) for name, (each, _) in pods.items()}

    assert asked == {name: hooks for name, (_, hooks) in pods.items()}


async def test_in_the_namespaces_that_must_start_by_themselves_only_a_record_is_asked_about(
    asking: Asking,
) -> None:
    hardened: dict[str, Any] = {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    for namespace in ("kube-system", "leeway"):
        rule, copied = pod("rule", RULE), with_record("copied")
        for each in (rule, copied):
            each["spec"]["containers"][0]["securityContext"] = hardened

        assert await asking.create(namespace, rule) == []
        assert await asking.create(namespace, copied) == [STRIPPING]


async def test_an_update_is_asked_about_if_the_pod_has_or_had_rules(asking: Asking) -> None:
    labels = {"metadata": {"labels": {"changed": "yes"}}}
    for each in (pod("plain"), pod("rule", RULE), with_record("guarded")):
        await asking.create("default", each)

    assert await asking.update(asking.admin, "plain", labels) == []
    assert await asking.update(asking.admin, "rule", labels) == [COMPILING]
    assert await asking.update(asking.admin, "guarded", labels) == [COMPILING]
    without = {"metadata": {"annotations": None}}
    assert await asking.update(asking.admin, "rule", without) == [COMPILING]
    assert await asking.update(asking.admin, "rule", {"metadata": {"labels": None}}) == []


async def test_the_controllers_own_patches_and_everything_beside_the_pod_are_not_asked_about(
    asking: Asking,
) -> None:
    await asking.create("default", pod("rule", RULE))
    added = {"spec": {"tolerations": [toleration(SLA, "Equal", "950")]}}
    status: JSON = {"status": {"conditions": []}}

    assert await asking.update(asking.account, "rule", added) == []
    assert await asking.update(asking.admin, "rule/status", status) == []
    await asking.admin.delete("/api/v1/namespaces/default/pods/rule")
    assert asking.noted.hooks() == []


async def test_while_nobody_answers_only_a_copied_guard_is_refused(
    asking: Asking, plane: ControlPlane
) -> None:
    """And the API server counts it in the series that an alert reads."""
    await asking.runner.cleanup()

    assert await asking.create("default", pod("plain")) == []
    assert await asking.create("default", pod("rule", RULE)) == []
    with pytest.raises(ApiServerError, match=f"failed calling webhook .*{STRIPPING}"):
        await asking.create("default", with_record("copied"))
    counted = kubectl(plane, "get", "--raw=/metrics")
    assert f'apiserver_admission_webhook_fail_open_count{{name="{COMPILING}"' in counted
    refused = f'error_type="calling_webhook_error",name="{STRIPPING}"'
    assert f"apiserver_admission_webhook_rejection_count{{{refused}" in counted


async def test_the_account_may_do_what_is_documented_and_nothing_else(asking: Asking) -> None:
    allowed = {
        *(
            (verb, "", each, "batch")
            for each in ("nodes", "pods")
            for verb in ("get", "list", "watch")
        ),
        ("patch", "", "pods", "batch"),
        ("create", "", "events", "batch"),
        ("patch", "", "events", "batch"),
        ("create", "coordination.k8s.io", "leases", "leeway"),
        ("get", "coordination.k8s.io", "leases", "leeway"),
        ("update", "coordination.k8s.io", "leases", "leeway"),
    }
    verbs = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
    resources = (
        *(("", each) for each in ("nodes", "nodes/status", "pods", "pods/status", "pods/binding")),
        *(("", each) for each in ("pods/eviction", "events", "secrets", "configmaps")),
        ("coordination.k8s.io", "leases"),
        ("apps", "deployments"),
    )

    found = {
        (verb, group, resource, namespace)
        for verb in verbs
        for group, resource in resources
        for namespace in ("batch", "leeway")
        if await _may(asking.account, verb, group, resource, namespace)
    }

    everywhere = {(verb, group, each, "leeway") for verb, group, each, _ in allowed}
    assert found == allowed | everywhere


async def _may(account: Api, verb: str, group: str, resource: str, namespace: str) -> bool:
    """Whether it may do that to what is called as its Lease; a collection has no name."""
    named = verb in {"get", "update", "patch", "delete"}
    asked = {
        "verb": verb,
        "group": group,
        "resource": resource.partition("/")[0],
        "subresource": resource.partition("/")[2],
        "namespace": namespace,
        "name": "leeway-controller" if named else "",
    }
    review = await account.create(ACCESS_REVIEWS, {"spec": {"resourceAttributes": asked}})
    return bool(review["status"]["allowed"])


async def test_the_account_may_not_touch_the_lease_of_somebody_else(asking: Asking) -> None:
    path = "/apis/coordination.k8s.io/v1/namespaces/leeway/leases/extended-scheduler"
    with pytest.raises(ApiServerError) as caught:
        await asking.account.get(path)

    assert caught.value.status == 403
