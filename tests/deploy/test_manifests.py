"""Chart and overlays are the same objects, safe by their settings, and fall into no known trap."""

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from extender import __version__, plugins
from extender.cluster import resources
from extender.cluster.resources import Resource
from extender.config import loading
from tests.deploy import rendering
from tests.deploy.rendering import (
    ALL_MODES,
    CHART,
    EXTENDER_SERVICE,
    JSON,
    MODES,
    OVERLAYS,
    PLACEHOLDER,
    SECOND_SCHEDULER,
    HelmError,
)

Render = Callable[[str], list[JSON]]

# What helm adds to say that it was helm, and what stands for a ConfigMap's hash in its name.
_ONLY_HELM = {"helm.sh/chart", "app.kubernetes.io/version", "app.kubernetes.io/managed-by"}
_CHECKSUM = "checksum/config"


def from_chart(mode: str) -> list[JSON]:
    return rendering.charted(mode)


def from_overlay(mode: str) -> list[JSON]:
    return rendering.kustomized(OVERLAYS / mode)


@pytest.fixture(params=[from_chart, from_overlay], ids=["helm", "kustomize"])
def render(request: pytest.FixtureRequest) -> Render:
    chosen: Render = request.param
    return chosen


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


@pytest.fixture
def objects(render: Render, mode: str) -> list[JSON]:
    return render(mode)


def normalised(found: JSON) -> JSON:
    """An object without what only one of the two tools adds, its files read."""
    plain = copy.deepcopy(found)
    metadata = [plain["metadata"]]
    if plain["kind"] == "Deployment":
        metadata.append(plain["spec"]["template"]["metadata"])
    for each in metadata:
        for name in _ONLY_HELM:
            each["labels"].pop(name, None)
        each.get("annotations", {}).pop(_CHECKSUM, None)
    if plain["kind"] == "ConfigMap":
        plain["data"] = {name: yaml.safe_load(text) for name, text in plain["data"].items()}
    return plain


def settings(value: Any) -> Iterator[JSON]:
    """Every mapping inside of a value."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from settings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from settings(inner)


# --- Helm and kustomize ----------------------------------------------------------------------


@pytest.mark.parametrize("mode", ALL_MODES)
def test_chart_and_overlay_are_the_same_objects(mode: str) -> None:
    by_helm, by_kustomize = (
        {rendering.identity(each): normalised(each) for each in render(mode)}
        for render in (from_chart, from_overlay)
    )

    assert sorted(by_helm) == sorted(by_kustomize)
    for name, found in by_helm.items():
        assert found == by_kustomize[name]


@pytest.mark.parametrize("mode", ALL_MODES)
def test_the_comments_of_a_configuration_are_the_same_in_both(mode: str) -> None:
    """They are shown to whoever fetches the ConfigMap."""
    by_helm, by_kustomize = (
        {
            (each["metadata"]["name"], file): text.strip()
            for each in render(mode)
            if each["kind"] == "ConfigMap"
            for file, text in each["data"].items()
        }
        for render in (from_chart, from_overlay)
    )

    assert by_helm == by_kustomize


@pytest.mark.parametrize("mode", ALL_MODES)
def test_versions_are_the_programs(render: Render, mode: str) -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    image = rendering.container(render(mode), "leeway")["image"]

    assert chart["version"] == chart["appVersion"] == __version__
    assert image == f"{PLACEHOLDER}:{__version__}"


def test_a_base_is_applied_whole() -> None:
    base = OVERLAYS.parent / "base"
    listed = yaml.safe_load((base / "kustomization.yaml").read_text(encoding="utf-8"))["resources"]

    assert sorted(listed) == sorted(
        file.name for file in base.glob("*.yaml") if file.name != "kustomization.yaml"
    )


# --- The chart's own words -------------------------------------------------------------------


def test_the_chart_names_no_image_repository_and_says_so_in_one_sentence() -> None:
    with pytest.raises(HelmError) as caught:
        rendering.charted(SECOND_SCHEDULER, image__repository="")

    sentence = next(line for line in str(caught.value).splitlines() if "image.repository" in line)
    assert sentence.endswith("name it with --set image.repository=REGISTRY/leeway.")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        pytest.param({"mode": "both"}, "mode", id="unknown mode"),
        pytest.param({"replica": "3"}, "replica", id="misspelt key"),
        pytest.param(
            {"schedulerName": "default-scheduler"}, "schedulerName", id="the cluster's scheduler"
        ),
        pytest.param({"scheduler__url": "http://leeway:8888"}, "url", id="without TLS"),
        pytest.param(
            {"scheduler__image__tag": "latest"},
            "must begin with the version",
            id="tag without a version",
        ),
    ],
)
def test_the_chart_refuses(values: dict[str, str], words: str) -> None:
    mode = values.pop("mode", SECOND_SCHEDULER)
    with pytest.raises(HelmError, match=words):
        rendering.charted(mode, **values)


@pytest.mark.parametrize(
    ("version", "gates"),
    [
        ("v1.28.15", ["SchedulerQueueingHints=true"]),
        ("v1.31.9-gke.100", ["SchedulerQueueingHints=true"]),
        ("v1.32.0", []),
        ("v1.33.1-eks-1", []),
        ("v1.36.3", []),
    ],
)
def test_the_gates_are_those_that_the_version_knows(version: str, gates: list[str]) -> None:
    arguments = rendering.container(
        rendering.charted(SECOND_SCHEDULER, scheduler__image__tag=version), "kube-scheduler"
    )["args"]

    assert [each for each in arguments if "gates" in each] == [
        f"--feature-gates={gate}" for gate in gates
    ]


def test_the_scheduler_is_of_the_clusters_version() -> None:
    text = rendering.helm(
        "template",
        "leeway",
        str(CHART),
        "--set=image.repository=example.com/leeway",
        "--kube-version=v1.34.1-eks-113cf36",
    )

    assert "image: registry.k8s.io/kube-scheduler:v1.34.1\n" in text


def test_a_pinned_address_is_called_under_the_name_of_the_certificate() -> None:
    found = rendering.charted(EXTENDER_SERVICE, service__clusterIP="10.96.0.53")
    extender = rendering.scheduler_config(found)["extenders"][0]

    assert rendering.one(found, "Service")["spec"]["clusterIP"] == "10.96.0.53"
    assert extender["urlPrefix"] == "https://10.96.0.53:8888"
    assert extender["tlsConfig"]["serverName"] == "leeway.leeway.svc"


def test_cert_manager_signs_what_the_pod_mounts_and_the_scheduler_is_called() -> None:
    found = rendering.charted(EXTENDER_SERVICE, tls__certManager__enabled="true")
    server = rendering.one(found, "Certificate")
    client = rendering.one(found, "Certificate", "leeway-scheduler-client")

    assert server["spec"]["secretName"] == "leeway-tls"
    assert server["spec"]["dnsNames"] == ["leeway.leeway.svc"]
    assert server["spec"]["usages"] == ["server auth"]
    assert client["spec"]["usages"] == ["client auth"]
    assert server["spec"]["issuerRef"] == client["spec"]["issuerRef"]


def test_a_pod_monitor_scrapes_the_ops_port() -> None:
    found = rendering.charted(SECOND_SCHEDULER, metrics__podMonitor__enabled="true")
    monitor = rendering.one(found, "PodMonitor")["spec"]
    template = rendering.one(found, "Deployment")["spec"]["template"]["metadata"]

    assert monitor["podMetricsEndpoints"][0]["port"] == "ops"
    assert monitor["selector"]["matchLabels"].items() <= template["labels"].items()


def test_another_release_name_and_namespace_reach_everything() -> None:
    text = rendering.helm(
        "template",
        "gpu",
        str(CHART),
        "--namespace=scheduling",
        "--set=image.repository=example.com/leeway,mode=extender-service",
    )
    found = [each for each in yaml.safe_load_all(text) if each]
    namespaces = {each["metadata"].get("namespace", "scheduling") for each in found}

    assert {each["metadata"]["name"].partition("-leeway")[0] for each in found} == {"gpu"}
    assert namespaces == {"scheduling"}
    assert "https://gpu-leeway.scheduling.svc:8888" in text
    assert all(
        subject["namespace"] == "scheduling"
        for each in found
        for subject in each.get("subjects", ())
        if subject["kind"] == "ServiceAccount"
    )


def test_the_values_that_are_documented_are_those_of_the_schema() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    schema = yaml.safe_load((CHART / "values.schema.json").read_text(encoding="utf-8"))

    assert set(schema["properties"]) - {"global"} == set(values)
    for key, value in values.items():
        known = schema["properties"][key].get("properties")
        if known is not None:
            assert set(known) == set(value), key


# --- The scheduler's configuration, trap by trap ---------------------------------------------


@pytest.fixture
def config(objects: list[JSON]) -> JSON:
    return rendering.scheduler_config(objects)


@pytest.fixture
def extender(config: JSON) -> JSON:
    assert len(config["extenders"]) == 1
    found: JSON = config["extenders"][0]
    return found


@pytest.fixture
def profile(config: JSON) -> JSON:
    assert len(config["profiles"]) == 1
    found: JSON = config["profiles"][0]
    return found


def test_trap_1_leeway_enforces_all_taints_and_nothing_counts_twice(profile: JSON) -> None:
    assert profile["plugins"] == {
        "multiPoint": {"disabled": [{"name": "TaintToleration"}, {"name": "NodeUnschedulable"}]},
        "preFilter": {"disabled": [{"name": "PodTopologySpread"}]},
        "filter": {"disabled": [{"name": "PodTopologySpread"}]},
        "score": {"disabled": [{"name": "NodeAffinity"}]},
    }


def test_trap_2_preemption_asks_leeway_about_every_candidate(profile: JSON, extender: JSON) -> None:
    assert extender["preemptVerb"] == "preempt"
    assert profile["pluginConfig"] == [
        {"name": "DefaultPreemption", "args": {"minCandidateNodesPercentage": 100}}
    ]


def test_trap_3_leeway_is_asked_about_every_node(profile: JSON) -> None:
    assert profile["percentageOfNodesToScore"] == 100


def test_trap_4_names_travel_instead_of_nodes(extender: JSON) -> None:
    assert extender["nodeCacheCapable"] is True
    assert extender["filterVerb"] == "filter"
    assert extender["prioritizeVerb"] == "prioritize"


def test_trap_5_leeway_is_never_ignored_and_never_waited_for_long(extender: JSON) -> None:
    assert extender["ignorable"] is False
    assert "managedResources" not in extender
    assert extender["httpTimeout"] == "5s"
    assert "bindVerb" not in extender


def test_trap_6_refused_pods_back_off_and_soft_taints_weigh_as_in_tree(
    config: JSON, extender: JSON
) -> None:
    assert config["podMaxBackoffSeconds"] == 60
    assert extender["weight"] == plugins.DEFAULT_WEIGHTS["TaintToleration"]


def test_trap_6_a_pod_that_is_woken_need_not_wait_for_its_back_off(render: Render) -> None:
    arguments = rendering.container(render(SECOND_SCHEDULER), "kube-scheduler")["args"]

    assert not [each for each in arguments if "SchedulerPopFromBackoffQ" in each]


def test_trap_7_the_lease_is_its_own_and_allowed(objects: list[JSON], config: JSON) -> None:
    election = config["leaderElection"]
    role = rendering.one(objects, "Role", "leeway-leader-election")

    assert election["leaderElect"] is True
    assert election["resourceName"] != "kube-scheduler"
    assert role["metadata"]["namespace"] == election["resourceNamespace"]
    assert role["rules"] == [
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "resourceNames": [election["resourceName"]],
            "verbs": ["get", "update"],
        },
    ]


def test_trap_7_a_second_scheduler_has_the_rights_of_a_scheduler(render: Render) -> None:
    bound = {
        (each["kind"], each["metadata"].get("namespace", ""), each["roleRef"]["name"])
        for each in render(SECOND_SCHEDULER)
        if "roleRef" in each
        and {"kind": "ServiceAccount", "name": "leeway", "namespace": "leeway"} in each["subjects"]
    }

    assert bound == {
        ("ClusterRoleBinding", "", "leeway"),
        ("ClusterRoleBinding", "", "system:kube-scheduler"),
        ("ClusterRoleBinding", "", "system:volume-scheduler"),
        ("RoleBinding", "kube-system", "extension-apiserver-authentication-reader"),
        ("RoleBinding", "leeway", "leeway-leader-election"),
    }


def test_trap_7_a_service_has_no_rights_but_its_own(render: Render) -> None:
    bound = {
        each["roleRef"]["name"]: [subject["name"] for subject in each["subjects"]]
        for each in render(EXTENDER_SERVICE)
        if "roleRef" in each
    }

    assert bound == {"leeway": ["leeway"], "leeway-leader-election": ["system:kube-scheduler"]}


def test_trap_7_leeway_is_not_placed_by_leeway(objects: list[JSON], profile: JSON) -> None:
    assert rendering.pod_spec(objects)["schedulerName"] == "default-scheduler"
    assert profile["schedulerName"] != "default-scheduler"


def test_trap_8_a_sidecar_is_asked_on_loopback_only(render: Render) -> None:
    found = render(SECOND_SCHEDULER)
    extender = rendering.scheduler_config(found)["extenders"][0]
    listen = yaml.safe_load(rendering.extender_config(found))["listen"]
    ports = [port["name"] for port in rendering.container(found, "leeway")["ports"]]

    assert extender["urlPrefix"] == f"http://{listen['scheduler']}" == "http://127.0.0.1:8888"
    assert extender["enableHTTPS"] is False
    assert "tlsConfig" not in extender
    assert ports == ["ops"]


def test_trap_8_a_service_and_its_scheduler_both_show_certificates(render: Render) -> None:
    found = render(EXTENDER_SERVICE)
    extender = rendering.scheduler_config(found)["extenders"][0]
    tls = yaml.safe_load(rendering.extender_config(found))["tls"]["scheduler"]

    assert extender["urlPrefix"].startswith("https://")
    assert extender["enableHTTPS"] is True
    assert set(extender["tlsConfig"]) == {"serverName", "caFile", "certFile", "keyFile"}
    assert set(tls) == {"certFile", "keyFile", "clientCAFile"}


# --- Leeway's configuration ------------------------------------------------------------------


def test_leeway_takes_its_configuration(objects: list[JSON], tmp_path: Path) -> None:
    file = tmp_path / "extender-config.yaml"
    file.write_text(rendering.extender_config(objects), encoding="utf-8")
    loaded = loading.load(file, {})
    profile = rendering.scheduler_config(objects)["profiles"][0]

    assert [each.scheduler_name for each in loaded.profiles] == [profile["schedulerName"]]
    assert dict(loaded.profiles[0].weights) == {**plugins.DEFAULT_WEIGHTS, "PodTopologySpread": 0}
    assert loaded.listen.ops.port == 8080
    assert loaded.listen.scheduler.port == 8888


def test_leeway_may_read_what_it_watches_and_wake_pods_and_nothing_else(
    objects: list[JSON], tmp_path: Path
) -> None:
    file = tmp_path / "extender-config.yaml"
    file.write_text(rendering.extender_config(objects), encoding="utf-8")
    names = plugins.resources(loading.load(file, {}).profiles[0].weights)
    known = {each.name for each in vars(resources).values() if isinstance(each, Resource)}

    assert set(names) <= known
    assert rendering.one(objects, "ClusterRole")["rules"] == [
        {
            "apiGroups": [""],
            "resources": sorted(names - {"storageclasses"}),
            "verbs": ["get", "list", "watch"],
        },
        {
            "apiGroups": ["storage.k8s.io"],
            "resources": ["storageclasses"],
            "verbs": ["get", "list", "watch"],
        },
        {"apiGroups": [""], "resources": ["pods/status"], "verbs": ["patch"]},
    ]


def test_who_wakes_nobody_needs_no_right_to_write() -> None:
    objects = rendering.charted(SECOND_SCHEDULER, leeway__nudgesPerSecond="0")
    rules = rendering.one(objects, "ClusterRole", "leeway")["rules"]

    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "list", "watch"}


# --- The scheduler that an operator runs -------------------------------------------------------


@pytest.fixture
def static_pod() -> JSON:
    (found,) = rendering.loaded(rendering.STATIC_POD)
    return found


def test_the_static_pod_mounts_what_the_configuration_names(static_pod: JSON) -> None:
    (scheduler,) = static_pod["spec"]["containers"]
    mounted = {mount["mountPath"] for mount in scheduler["volumeMounts"]}
    hosts = {volume["hostPath"]["path"] for volume in static_pod["spec"]["volumes"]}
    config = rendering.scheduler_config(from_overlay(EXTENDER_SERVICE))
    tls = config["extenders"][0]["tlsConfig"]
    files = [config["clientConnection"]["kubeconfig"]]
    files += [tls[key] for key in ("caFile", "certFile", "keyFile")]
    files += [arg.split("=")[1] for arg in scheduler["args"] if arg.startswith("--config")]

    assert mounted == hosts
    assert all(file in mounted or str(Path(file).parent) in mounted for file in files)


def test_the_static_pod_keeps_out_of_the_way_of_the_clusters_scheduler(static_pod: JSON) -> None:
    (scheduler,) = static_pod["spec"]["containers"]
    sidecar = rendering.container(from_overlay(SECOND_SCHEDULER), "kube-scheduler")

    assert "--secure-port=10269" in scheduler["args"]
    assert scheduler["image"] == sidecar["image"]
    assert scheduler["securityContext"] == sidecar["securityContext"]
    assert {scheduler[probe]["httpGet"]["port"] for probe in ("startupProbe", "livenessProbe")} == {
        10269
    }
