"""Compile mode: a controller beside whatever else runs, with its webhooks and no scheduler."""

from typing import Any

import pytest
import yaml

from extender.config import loading
from extender.config.schema import Config, LeaderElection
from extender.match import annotations
from extender.match.gates import COMPARISON_GATE, SEMVER_GATE
from extender.match.operators import TOLERATION
from extender.model.core_v1 import Taint
from extender.native.settings import CompileSettings
from extender.server import webhook
from tests.deploy import rendering
from tests.deploy.rendering import (
    ADMISSION,
    COMPILE,
    CONTROLLER_ADMISSION,
    EXTENDER_SERVICE,
    JSON,
    MODES,
    OVERLAYS,
    SECOND_SCHEDULER,
    HelmError,
)
from tests.deploy.test_admission import unordered
from tests.deploy.test_manifests import from_chart, from_overlay, normalised

NAME = "leeway-controller"
CONFIGURATION = "MutatingWebhookConfiguration"
VALIDATING = "ValidatingWebhookConfiguration"


@pytest.fixture(params=[from_chart, from_overlay], ids=["helm", "kustomize"])
def objects(request: pytest.FixtureRequest) -> list[JSON]:
    found: list[JSON] = request.param(COMPILE)
    return found


def charted(**values: str) -> list[JSON]:
    return rendering.charted(COMPILE, **values)


def loaded(objects: list[JSON]) -> Config:
    return loading.from_data(yaml.safe_load(rendering.extender_config(objects)))


def hooks(objects: list[JSON], kind: str = CONFIGURATION) -> dict[str, JSON]:
    found = rendering.one(objects, kind, NAME)["webhooks"]
    return {each["name"].partition(".")[0]: each for each in found}


def conditions(hook: JSON) -> dict[str, str]:
    return {each["name"]: each["expression"] for each in hook["matchConditions"]}


# --- What is installed -----------------------------------------------------------------------


def test_it_is_these_objects_and_none_of_a_scheduler(objects: list[JSON]) -> None:
    assert sorted((each["kind"], each["metadata"]["name"]) for each in objects) == [
        ("ClusterRole", NAME),
        ("ClusterRoleBinding", NAME),
        ("ConfigMap", f"{NAME}-config"),
        ("Deployment", NAME),
        ("MutatingWebhookConfiguration", NAME),
        ("Namespace", "leeway"),
        ("NetworkPolicy", NAME),
        ("NetworkPolicy", f"{NAME}-admission"),
        ("PodDisruptionBudget", NAME),
        ("ResourceQuota", f"{NAME}-critical-pods"),
        ("Role", f"{NAME}-leader-election"),
        ("RoleBinding", f"{NAME}-leader-election"),
        ("Service", f"{NAME}-admission"),
        ("ServiceAccount", NAME),
    ]
    assert "kube-scheduler" not in yaml.safe_dump_all(objects)


def test_one_container_runs_the_controller_in_two_replicas(objects: list[JSON]) -> None:
    (container,) = rendering.pod_spec(objects)["containers"]

    assert rendering.deployment(objects)["spec"]["replicas"] == 2
    assert container["args"] == ["controller", "--config=/etc/leeway/config/extender-config.yaml"]
    assert rendering.pod_spec(objects)["schedulerName"] == "default-scheduler"
    assert rendering.pod_spec(objects)["serviceAccountName"] == NAME


def test_its_rights_are_those_of_the_contract(objects: list[JSON]) -> None:
    cluster = rendering.one(objects, "ClusterRole", NAME)["rules"]
    own = rendering.one(objects, "Role", f"{NAME}-leader-election")
    election = loaded(objects).leader_election
    lease = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}

    assert cluster == [
        {"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["patch"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
    ]
    assert own["metadata"]["namespace"] == election.namespace
    assert own["rules"] == [
        {**lease, "verbs": ["create"]},
        {**lease, "verbs": ["get", "update"], "resourceNames": [election.name]},
    ]


def test_nobody_but_its_account_has_these_rights_and_it_has_no_others(objects: list[JSON]) -> None:
    bound = {
        (each["kind"], each["metadata"].get("namespace", ""), each["roleRef"]["name"]): [
            (subject["kind"], subject["namespace"], subject["name"]) for subject in each["subjects"]
        ]
        for each in objects
        if "roleRef" in each
    }

    account = [("ServiceAccount", "leeway", NAME)]
    assert bound == {
        ("ClusterRoleBinding", "", NAME): account,
        ("RoleBinding", "leeway", f"{NAME}-leader-election"): account,
    }


# --- Beside an extender ----------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("render", [from_chart, from_overlay], ids=["helm", "kustomize"])
def test_an_extender_in_the_same_namespace_shares_nothing_but_the_namespace(
    render: Any, mode: str
) -> None:
    controller, extender = (
        {rendering.identity(each): each for each in render(each_mode)}
        for each_mode in (COMPILE, mode)
    )

    shared = controller.keys() & extender.keys()
    assert {kind for _, kind, _, _ in shared} == {"Namespace"}
    assert CONFIGURATION not in {kind for _, kind, _, _ in extender}
    for name in shared:
        assert controller[name] == extender[name]


@pytest.mark.parametrize("mode", MODES)
def test_no_selector_of_one_selects_the_pods_of_the_other(mode: str) -> None:
    """Two budgets for one pod would stop every drain."""
    (controller, selector), (extender, other) = (
        (
            rendering.deployment(from_overlay(each))["spec"]["template"]["metadata"]["labels"],
            rendering.deployment(from_overlay(each))["spec"]["selector"]["matchLabels"],
        )
        for each in (COMPILE, mode)
    )

    assert not other.items() <= controller.items()
    assert not selector.items() <= extender.items()


@pytest.mark.parametrize("release", ["leeway", "leeway-controller", "gpu"])
def test_the_name_of_a_release_is_not_said_twice(release: str) -> None:
    (name,) = (
        each["metadata"]["name"]
        for each in charted(release=release)
        if each["kind"] == "Deployment"
    )

    assert name == {"gpu": "gpu-leeway-controller"}.get(release, NAME)


@pytest.mark.parametrize("release", ["a" * 53, f"leeway-{'a' * 46}"])
def test_a_long_name_of_a_release_gives_names_that_are_allowed(release: str) -> None:
    names = {each["kind"]: each["metadata"]["name"] for each in charted(release=release)}

    assert len(names["Service"]) <= 63
    assert names["Service"].endswith("-controller-admission")


def test_the_secrets_of_the_two_have_names_of_their_own() -> None:
    def secret(mode: str) -> str:
        found = rendering.charted(mode, admission__enabled="true")
        volumes = rendering.pod_spec(found)["volumes"]
        (name,) = (each["secret"]["secretName"] for each in volumes if "secret" in each)
        return str(name)

    assert secret(COMPILE) == "leeway-controller-tls"
    assert secret(SECOND_SCHEDULER) == secret(EXTENDER_SERVICE) == "leeway-admission-tls"


def test_the_webhook_lets_pods_of_an_extender_carry_node_affinity() -> None:
    objects = charted(
        compile__schedulerNames="{default-scheduler,extended-scheduler}",
        compile__extenderSchedulerNames="{extended-scheduler}",
    )
    config = loaded(objects)

    assert [each.scheduler_name for each in config.profiles] == ["extended-scheduler"]
    assert config.compile.scheduler_names == {"default-scheduler", "extended-scheduler"}


# --- Its configuration -----------------------------------------------------------------------


def test_the_configuration_is_the_programs_defaults(objects: list[JSON]) -> None:
    config = loaded(objects)

    assert config.compile == CompileSettings()
    assert config.leader_election == LeaderElection()
    assert config.limits.writes_per_second == Config().limits.writes_per_second
    assert config.annotation_prefix == Config().annotation_prefix
    assert config.profiles == ()
    assert (str(config.listen.ops), str(config.listen.admission)) == (
        "0.0.0.0:8080",
        "0.0.0.0:8443",
    )
    assert config.scheduler_tls is None
    assert config.admission_tls is not None


def test_every_value_reaches_the_configuration() -> None:
    values = {
        "compile__schedulerNames": "{batch,web}",
        "compile__extraTaints": "{sla=990:NoSchedule,spot:NoExecute}",
        "compile__maxTolerations": "7",
        "compile__protectedTaints": "{example.com/,secret}",
        "compile__noExecuteGrace": "1m30s",
        "compile__writesPerSecond": "9",
        "leeway__annotationPrefix": "rules.example.com/",
        "leeway__featureGates__TaintTolerationCEL": "false",
        "leeway__maxStaleness": "10m",
    }
    config = loaded(charted(**values))

    assert config.compile == CompileSettings(
        scheduler_names=frozenset({"batch", "web"}),
        extra_taints=(Taint("sla", "990", "NoSchedule"), Taint("spot", "", "NoExecute")),
        max_tolerations=7,
        protected_taints=("example.com/", "secret"),
        no_execute_grace=90,
    )
    assert config.limits.writes_per_second == 9
    assert config.annotation_prefix == "rules.example.com/"
    assert not config.gates.cel
    assert config.max_staleness == 600


def test_all_scheduler_names_and_no_protected_taints_can_be_said() -> None:
    text = rendering.helm(
        "template",
        "leeway",
        str(rendering.CHART),
        "--set=mode=compile,image.repository=example.com/leeway",
        "--set-json=compile.schedulerNames=[],compile.protectedTaints=[]",
    )
    settings = loaded([each for each in yaml.safe_load_all(text) if each]).compile

    assert settings.scheduler_names == frozenset()
    assert settings.protected_taints == ()


def test_the_lease_is_in_the_namespace_of_the_release() -> None:
    text = rendering.helm(
        "template",
        "gpu",
        str(rendering.CHART),
        "--namespace=scheduling",
        "--set=mode=compile,image.repository=example.com/leeway",
    )
    objects = [each for each in yaml.safe_load_all(text) if each]
    hook = next(each for each in objects if each["kind"] == CONFIGURATION)["webhooks"][0]

    assert loaded(objects).leader_election == LeaderElection("scheduling", "gpu-leeway-controller")
    assert "'system:serviceaccount:scheduling:gpu-leeway-controller'" in str(conditions(hook))
    assert "[kube-system, scheduling]" in str(hook["namespaceSelector"]).replace("'", "")
    assert {each["metadata"].get("namespace", "scheduling") for each in objects} == {"scheduling"}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        pytest.param({"compile__schedulerName": "x"}, "schedulerName", id="misspelt key"),
        pytest.param({"compile__schedulerNames": "{Not a name}"}, "schedulerNames", id="no name"),
        pytest.param({"compile__schedulerNames": "{a,a}"}, "schedulerNames", id="a name twice"),
        pytest.param({"compile__schedulerNames": "null"}, "schedulerNames", id="null is not all"),
        pytest.param({"compile__extraTaints": "{sla=990}"}, "extraTaints", id="no effect"),
        pytest.param(
            {"compile__extraTaints": "{sla=990:Never}"}, "extraTaints", id="unknown effect"
        ),
        pytest.param({"compile__extraTaints": "sla=9:NoExecute"}, "extraTaints", id="not a list"),
        pytest.param({"compile__maxTolerations": "0"}, "maxTolerations", id="nothing to add"),
        pytest.param({"compile__maxTolerations": "1001"}, "maxTolerations", id="far too many"),
        pytest.param({"compile__protectedTaints": "{a b}"}, "protectedTaints", id="no key"),
        pytest.param({"compile__noExecuteGrace": "30"}, "noExecuteGrace", id="no unit"),
        pytest.param({"compile__noExecuteGrace": "50ms"}, "noExecuteGrace", id="not whole seconds"),
        pytest.param({"compile__noExecuteGrace": "soon"}, "noExecuteGrace", id="not a duration"),
        pytest.param({"compile__writesPerSecond": "0"}, "writesPerSecond", id="never writes"),
        pytest.param({"leeway__annotationPrefix": "a'b/"}, "annotationPrefix", id="quote in CEL"),
        pytest.param({"leeway__annotationPrefix": "example.com"}, "annotationPrefix", id="no /"),
    ],
)
def test_the_chart_refuses(values: dict[str, str], words: str) -> None:
    with pytest.raises(HelmError, match=words):
        charted(**values)


def test_a_cluster_without_conditions_for_webhooks_is_refused_in_one_sentence() -> None:
    with pytest.raises(HelmError, match=r"needs Kubernetes 1\.30 or newer") as caught:
        rendering.helm(
            "template",
            "leeway",
            str(rendering.CHART),
            "--kube-version=v1.29.9",
            "--set=mode=compile,image.repository=example.com/leeway",
        )

    assert "this cluster has v1.29.9." in str(caught.value)


# --- Its webhooks ----------------------------------------------------------------------------


def test_a_pod_waits_for_the_controller_but_never_for_a_webhook(objects: list[JSON]) -> None:
    hook = hooks(objects)["compile"]

    assert hook["name"] == "compile.leeway.scheduling"
    assert hook["rules"] == [
        {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["CREATE", "UPDATE"],
            "resources": ["pods"],
            "scope": "Namespaced",
        }
    ]
    assert (hook["failurePolicy"], hook["timeoutSeconds"]) == ("Ignore", 2)
    assert (hook["reinvocationPolicy"], hook["sideEffects"]) == ("IfNeeded", "None")
    assert hook["namespaceSelector"] == {
        "matchExpressions": [
            {
                "key": "kubernetes.io/metadata.name",
                "operator": "NotIn",
                "values": ["kube-system", "leeway"],
            }
        ]
    }


def test_a_copied_guard_is_never_let_in(objects: list[JSON]) -> None:
    hook = hooks(objects)["strip-guards"]

    assert hook["name"] == "strip-guards.leeway.scheduling"
    assert [each["operations"] for each in hook["rules"]] == [["CREATE"]]
    assert [each["resources"] for each in hook["rules"]] == [["pods"]]
    assert (hook["failurePolicy"], hook["timeoutSeconds"]) == ("Fail", 2)
    assert hook["sideEffects"] == "None"
    assert "namespaceSelector" not in hook
    record = loaded(objects).annotation_prefix + annotations.GUARDED_KEYS
    assert conditions(hook) == {
        "has-guards": f"'{record}' in object.?metadata.?annotations.orValue({{}})"
    }


def test_only_pods_with_rules_are_asked_about_and_never_for_the_controller(
    objects: list[JSON],
) -> None:
    found = conditions(hooks(objects)["compile"])
    account = rendering.pod_spec(objects)["serviceAccountName"]
    rules = found.pop("has-extended-rules")

    assert found == {
        "is-not-the-controller": (
            f"request.userInfo.username != 'system:serviceaccount:leeway:{account}'"
        )
    }
    assert f"name.startsWith('{loaded(objects).annotation_prefix}')" in rules
    assert "each.?expression.hasValue()" in rules
    for operator in TOLERATION.values():
        assert (f"'{operator.name}'" in rules) == (operator.gate in {COMPARISON_GATE, SEMVER_GATE})


def test_webhooks_and_configuration_have_the_same_prefix() -> None:
    objects = charted(leeway__annotationPrefix="rules.example.com/", admission__enabled="true")
    texts = [
        text
        for kind in (CONFIGURATION, VALIDATING)
        for hook in hooks(objects, kind).values()
        for name, text in conditions(hook).items()
        if name != "is-not-the-controller"
    ]

    assert len(texts) == 6
    assert all("'rules.example.com/" in text for text in texts)
    assert "scheduling.leeway/" not in str(texts)
    assert loaded(objects).annotation_prefix == "rules.example.com/"


def test_both_lead_to_the_listener_of_every_replica(objects: list[JSON]) -> None:
    (port,) = rendering.one(objects, "Service", f"{NAME}-admission")["spec"]["ports"]
    container = rendering.container(objects, "leeway")
    listen = loaded(objects).listen.admission

    for hook in hooks(objects).values():
        assert hook["clientConfig"] == {
            "service": {
                "name": f"{NAME}-admission",
                "namespace": "leeway",
                "path": "/admission/mutate",
                "port": port["port"],
            }
        }
    assert listen is not None
    assert {"name": port["targetPort"], "containerPort": listen.port} in container["ports"]
    assert container["lifecycle"]["preStop"]["exec"]["command"] == ["sleep", "5"]


# --- Certificates ----------------------------------------------------------------------------


def test_the_certificate_is_mounted_where_the_configuration_expects_it(
    objects: list[JSON],
) -> None:
    files = loaded(objects).admission_tls
    mounts = {
        each["mountPath"]: each["name"]
        for each in rendering.container(objects, "leeway")["volumeMounts"]
    }
    volumes = {each["name"]: each for each in rendering.pod_spec(objects)["volumes"]}

    assert files is not None
    assert (files.cert_file, files.key_file) == (
        "/etc/leeway/admission/tls.crt",
        "/etc/leeway/admission/tls.key",
    )
    assert volumes[mounts["/etc/leeway/admission"]]["secret"] == {
        "secretName": "leeway-controller-tls",
        "defaultMode": 0o440,
    }


def test_cert_manager_makes_the_certificate_and_injects_its_ca() -> None:
    objects = charted(admission__certManager__enabled="true", admission__enabled="true")
    certificate = rendering.one(objects, "Certificate", f"{NAME}-admission")["spec"]

    for kind in (CONFIGURATION, VALIDATING):
        injected = rendering.one(objects, kind, NAME)["metadata"]["annotations"]
        assert injected == {"cert-manager.io/inject-ca-from": f"leeway/{NAME}-admission"}
    assert certificate["secretName"] == "leeway-controller-tls"
    assert certificate["dnsNames"] == [f"{NAME}-admission.leeway.svc"]
    assert rendering.one(objects, "Issuer", f"{NAME}-admission")["spec"] == {"selfSigned": {}}


def test_a_bundle_of_ones_own_is_trusted_by_every_webhook() -> None:
    objects = charted(admission__caBundle="Q0E=", admission__enabled="true")
    found = [*hooks(objects).values(), *hooks(objects, VALIDATING).values()]

    assert {hook["clientConfig"]["caBundle"] for hook in found} == {"Q0E="}


# --- The validating webhook beside it --------------------------------------------------------


def test_chart_and_component_are_the_same_objects() -> None:
    by_helm, by_kustomize = (
        {rendering.identity(each): unordered(normalised(each)) for each in objects}
        for objects in (
            charted(admission__enabled="true"),
            rendering.with_component(from_overlay(COMPILE), CONTROLLER_ADMISSION),
        )
    )

    assert by_helm == by_kustomize


def test_it_judges_as_beside_an_extender() -> None:
    (beside,) = rendering.loaded(ADMISSION / "webhook.yaml")
    (own,) = rendering.loaded(CONTROLLER_ADMISSION / "webhook.yaml")
    for hook in own["webhooks"]:
        assert hook["clientConfig"]["service"]["path"] == webhook.PATH
        hook["clientConfig"]["service"]["name"] = "leeway-admission"

    assert own["webhooks"] == beside["webhooks"]


def test_it_is_off_unless_switched_on_and_changes_nothing_else() -> None:
    off = {rendering.identity(each): each for each in charted()}
    on = {rendering.identity(each): each for each in charted(admission__enabled="true")}

    assert {kind for _, kind, _, _ in on.keys() - off.keys()} == {VALIDATING}
    assert all(on[name] == found for name, found in off.items())


@pytest.mark.parametrize(
    "folder", [OVERLAYS / COMPILE, CONTROLLER_ADMISSION], ids=lambda path: path.name
)
def test_every_file_is_applied(folder: Any) -> None:
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))
    generated = [
        file for each in kustomization.get("configMapGenerator", ()) for file in each["files"]
    ]

    assert sorted([*kustomization["resources"], *generated]) == sorted(
        file.name for file in folder.glob("*.yaml") if file.name != "kustomization.yaml"
    )
