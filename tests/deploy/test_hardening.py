"""What every mode has in common: the pods are nobody, the ports are closed, replicas are kept."""

from pathlib import Path

import pytest
import yaml

from extender.config import loading
from tests.deploy import rendering
from tests.deploy.rendering import (
    ALL_MODES,
    COMPILE,
    EXTENDER_SERVICE,
    JSON,
    SECOND_SCHEDULER,
)
from tests.deploy.test_manifests import Render, from_chart, from_overlay, settings

# The port beside the one for probes and metrics.
CALLED = {
    SECOND_SCHEDULER: "scheduler-ops",
    EXTENDER_SERVICE: "scheduler",
    COMPILE: "admission",
}


@pytest.fixture(params=ALL_MODES)
def mode(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


@pytest.fixture(params=[from_chart, from_overlay], ids=["helm", "kustomize"])
def objects(request: pytest.FixtureRequest, mode: str) -> list[JSON]:
    render: Render = request.param
    return render(mode)


def test_what_is_named_in_arguments_is_mounted(objects: list[JSON]) -> None:
    configs = {"leeway": rendering.extender_config(objects)}
    for each in rendering.pod_spec(objects)["containers"]:
        mounts = {mount["mountPath"]: mount["name"] for mount in each["volumeMounts"]}
        file = next(a.removeprefix("--config=") for a in each["args"] if "--config" in a)
        folder, _, name = file.rpartition("/")
        volume = next(
            v for v in rendering.pod_spec(objects)["volumes"] if v["name"] == mounts[folder]
        )

        assert name in rendering.one(objects, "ConfigMap", volume["configMap"]["name"])["data"]
        for named in settings(yaml.safe_load(configs.get(each["name"], ""))):
            for key in ("certFile", "keyFile", "clientCAFile"):
                if key in named:
                    assert named[key].rpartition("/")[0] in mounts


def test_the_pod_is_nobody(objects: list[JSON]) -> None:
    assert rendering.pod_spec(objects)["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "runAsGroup": 65532,
        "fsGroup": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def test_every_container_is_hardened(objects: list[JSON]) -> None:
    for each in rendering.pod_spec(objects)["containers"]:
        assert each["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert all(mount["readOnly"] for mount in each["volumeMounts"])


def test_nothing_of_the_host_is_shared(objects: list[JSON], mode: str) -> None:
    spec = rendering.pod_spec(objects)
    volumes = {kind for volume in spec["volumes"] for kind in volume if kind != "name"}
    certificates = {"secret"} if mode == COMPILE else {"projected"}

    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
    assert volumes <= {"configMap"} | certificates


def test_the_namespace_refuses_what_is_not_hardened(objects: list[JSON]) -> None:
    labels = rendering.one(objects, "Namespace")["metadata"]["labels"]

    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_no_role_has_a_wildcard_and_no_secret_is_shipped(objects: list[JSON]) -> None:
    for each in objects:
        assert each["kind"] != "Secret"
        for rule in each.get("rules", ()):
            assert "*" not in str(rule)


def test_every_container_has_requests_and_leeway_a_bound(objects: list[JSON]) -> None:
    for each in rendering.pod_spec(objects)["containers"]:
        assert set(each["resources"]["requests"]) == {"cpu", "memory"}
        assert "cpu" not in each["resources"].get("limits", {})
    assert "memory" in rendering.container(objects, "leeway")["resources"]["limits"]


def test_probes_ask_the_ops_port(objects: list[JSON]) -> None:
    leeway = rendering.container(objects, "leeway")
    asked = {probe: leeway[f"{probe}Probe"]["httpGet"] for probe in ("startup", "liveness")}

    assert {"name": "ops", "containerPort": 8080} in leeway["ports"]
    assert set(map(str, asked.values())) == {str({"path": "/livez", "port": "ops"})}
    assert leeway["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "ops"}


def test_selectors_select_the_pods(objects: list[JSON]) -> None:
    labels = rendering.deployment(objects)["spec"]["template"]["metadata"]["labels"]
    selectors = [
        each["matchLabels"]
        for found in objects
        for each in settings(found)
        if "matchLabels" in each
    ]
    services = [each["spec"]["selector"] for each in objects if each["kind"] == "Service"]

    assert len(selectors) == 6  # deployment, budget, two policies, two spread constraints
    assert all(each.items() <= labels.items() for each in (*selectors, *services))


def test_a_policy_lets_in_scrapers_and_one_caller_and_lets_out_to_the_api_server(
    objects: list[JSON], mode: str
) -> None:
    policies = [each["spec"] for each in objects if each["kind"] == "NetworkPolicy"]
    let_in = [
        port["port"] for each in policies for rule in each["ingress"] for port in rule["ports"]
    ]
    let_out = [rule for each in policies for rule in each.get("egress", ())]
    named = [
        port["name"] for each in rendering.pod_spec(objects)["containers"] for port in each["ports"]
    ]

    assert sorted(let_in) == sorted(named) == sorted(["ops", CALLED[mode]])
    assert [port["port"] for rule in let_out for port in rule["ports"]] == [443, 6443]
    assert ["Ingress", "Egress"] in [each["policyTypes"] for each in policies]


def test_metrics_are_for_the_own_namespace_unless_others_are_named(
    objects: list[JSON], mode: str
) -> None:
    assert rendering.peers(objects, "ops") == [{"podSelector": {}}]
    if mode == SECOND_SCHEDULER:
        assert rendering.peers(objects, "scheduler-ops") == [{"podSelector": {}}]


def test_who_is_named_scrapes_metrics_instead(mode: str) -> None:
    name = "metricsFrom[0].namespaceSelector.matchLabels.team"
    objects = rendering.charted(mode, **{f"networkPolicy__{name}": "monitoring"})

    assert rendering.peers(objects, "ops") == [
        {"namespaceSelector": {"matchLabels": {"team": "monitoring"}}}
    ]


def test_room_for_bodies_fits_into_the_memory_limit(objects: list[JSON]) -> None:
    config = yaml.safe_load(rendering.extender_config(objects))
    limit = rendering.container(objects, "leeway")["resources"]["limits"]["memory"]
    limits = loading.from_data(config).limits

    assert limits.in_flight_bytes >= 2 * limits.request_bytes
    held = limits.in_flight_bytes + limits.cache_bytes
    assert held <= int(limit.removesuffix("Mi")) * 2**20 // 2


def test_replicas_are_spread_kept_and_important(objects: list[JSON]) -> None:
    deployment = rendering.deployment(objects)["spec"]
    spec = rendering.pod_spec(objects)
    (quota,) = (each["spec"] for each in objects if each["kind"] == "ResourceQuota")
    (budget,) = (each["spec"] for each in objects if each["kind"] == "PodDisruptionBudget")

    assert deployment["replicas"] == 2
    assert deployment["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    assert [each["topologyKey"] for each in spec["topologySpreadConstraints"]] == [
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
    ]
    assert (budget["maxUnavailable"], budget["unhealthyPodEvictionPolicy"]) == (1, "AlwaysAllow")
    assert quota["scopeSelector"]["matchExpressions"][0]["values"] == [spec["priorityClassName"]]


def test_a_quota_has_room_for_an_extender_and_a_controller_in_rolling_updates(
    objects: list[JSON], mode: str
) -> None:
    """A quota counts the pods of both, if they share the namespace."""
    (quota,) = (each["spec"] for each in objects if each["kind"] == "ResourceQuota")
    other = SECOND_SCHEDULER if mode == COMPILE else COMPILE
    pods = sum(
        rendering.deployment(each)["spec"]["replicas"] for each in (objects, from_chart(other))
    )

    assert int(quota["hard"]["pods"]) >= 2 * pods


def test_a_leaving_pod_has_time_to_finish(objects: list[JSON], tmp_path: Path) -> None:
    file = tmp_path / "extender-config.yaml"
    file.write_text(rendering.extender_config(objects), encoding="utf-8")
    stop = rendering.container(objects, "leeway").get("lifecycle", {}).get("preStop", {})
    held = int(stop.get("exec", {"command": ["sleep", "0"]})["command"][1])

    drain = loading.load(file, {}).limits.drain_timeout
    assert rendering.pod_spec(objects)["terminationGracePeriodSeconds"] >= held + drain + 5
