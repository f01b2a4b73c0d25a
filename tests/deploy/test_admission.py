"""The webhook of chart and component: the same objects, and asked about nothing but our rules."""

from typing import Any

import pytest
import yaml

from extender.config import loading
from extender.match import annotations
from extender.match.gates import COMPARISON_GATE, SEMVER_GATE
from extender.match.operators import TOLERATION
from extender.model.workloads import KINDS
from extender.server import webhook
from tests.deploy import rendering
from tests.deploy.rendering import ADMISSION, JSON, MODES, OVERLAYS, SECOND_SCHEDULER
from tests.deploy.test_manifests import normalised

CONFIGURATION = "ValidatingWebhookConfiguration"


def from_chart(mode: str, **values: str) -> list[JSON]:
    return rendering.charted(mode, admission__enabled="true", **values)


def from_component(mode: str) -> list[JSON]:
    return rendering.with_component(rendering.kustomized(OVERLAYS / mode), ADMISSION)


def hooks(objects: list[JSON]) -> list[JSON]:
    found: list[JSON] = rendering.one(objects, CONFIGURATION)["webhooks"]
    return found


def unordered(value: Any) -> Any:
    """Without the order of lists of named things, which the two tools build in their own."""
    if isinstance(value, dict):
        return {key: unordered(inner) for key, inner in value.items()}
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return sorted(map(unordered, value), key=repr)
    return value


@pytest.mark.parametrize("mode", MODES)
def test_chart_and_component_are_the_same_objects(mode: str) -> None:
    by_helm, by_kustomize = (
        {rendering.identity(each): unordered(normalised(each)) for each in objects}
        for objects in (from_chart(mode), from_component(mode))
    )

    assert sorted(by_helm) == sorted(by_kustomize)
    for name, found in by_helm.items():
        assert found == by_kustomize[name]


def test_it_is_off_unless_switched_on() -> None:
    kinds = {each["kind"] for each in rendering.charted(SECOND_SCHEDULER)}

    assert CONFIGURATION not in kinds


def test_its_port_is_open_until_the_addresses_of_the_api_server_are_known() -> None:
    known = from_chart(
        SECOND_SCHEDULER,
        **{
            "networkPolicy__apiServerCIDRs[0]": "10.0.0.0/28",
            "networkPolicy__apiServerCIDRs[1]": "fd00::/64",
            "networkPolicy__admissionFrom[0].podSelector.matchLabels.app": "agent",
        },
    )

    for objects in (from_chart(SECOND_SCHEDULER), from_component(SECOND_SCHEDULER)):
        assert rendering.peers(objects, "admission") is None
    assert rendering.peers(known, "admission") == [
        {"podSelector": {"matchLabels": {"app": "agent"}}},
        {"ipBlock": {"cidr": "10.0.0.0/28"}},
        {"ipBlock": {"cidr": "fd00::/64"}},
    ]


def names_of(gate: str) -> list[str]:
    return [each.name for each in TOLERATION.values() if each.gate == gate]


def test_every_kind_is_asked_about_once() -> None:
    asked = [
        (group, resource)
        for hook in hooks(from_component(SECOND_SCHEDULER))
        for rule in hook["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    ]

    # Claims are checked by `leeway validate` alone, as docs/compile.md says.
    wanted = [each for each in KINDS if each[0] != "resource.k8s.io"]
    assert sorted(asked) == sorted((group, f"{kind.lower()}s") for group, kind in wanted)


def test_it_cannot_hold_up_the_cluster() -> None:
    for hook in hooks(from_component(SECOND_SCHEDULER)):
        assert hook["failurePolicy"] == "Ignore"
        assert hook["sideEffects"] == "None"
        assert hook["timeoutSeconds"] <= 5
        if hook["rules"][0]["scope"] == "Namespaced":
            (left_out,) = hook["namespaceSelector"]["matchExpressions"]
            assert left_out == {
                "key": "kubernetes.io/metadata.name",
                "operator": "NotIn",
                "values": ["kube-system", "leeway"],
            }


def test_it_is_asked_about_objects_with_our_rules_only() -> None:
    for hook in hooks(from_component(SECOND_SCHEDULER)):
        (condition,) = hook["matchConditions"]
        text = condition["expression"]
        assert "name.startsWith('scheduling.leeway/')" in text
        for operator in names_of(SEMVER_GATE):
            assert f"'{operator}'" in text
        if hook["name"].startswith("volumes"):
            continue
        for operator in names_of(COMPARISON_GATE):
            assert f"'{operator}'" in text
        assert "each.?expression.hasValue()" in text
        assert "object.?metadata.?annotations" in text  # where nobody reads them
        assert "jobTemplate.?metadata" in text or not hook["name"].startswith("cronjobs")
    assert annotations.TOLERATIONS == "tolerations"


def test_an_older_release_whose_values_are_used_again_is_asked_about_no_more_than_before() -> None:
    """`helm upgrade --reuse-values` has no values that are new."""
    objects = from_chart(SECOND_SCHEDULER, leeway__annotationPrefix="null")

    assert hooks(objects) == hooks(from_chart(SECOND_SCHEDULER))
    assert "annotationPrefix" not in rendering.extender_config(objects)


def test_webhook_and_configuration_have_the_same_prefix() -> None:
    objects = from_chart(SECOND_SCHEDULER, leeway__annotationPrefix="rules.example.com/")
    config = loading.from_data(yaml.safe_load(rendering.extender_config(objects)))

    assert config.annotation_prefix == "rules.example.com/"
    for hook in hooks(objects):
        (condition,) = hook["matchConditions"]
        assert "name.startsWith('rules.example.com/')" in condition["expression"]


def test_the_service_leads_to_the_listener() -> None:
    objects = from_component(SECOND_SCHEDULER)
    container = rendering.container(objects, "leeway")
    (port,) = rendering.one(objects, "Service", "leeway-admission")["spec"]["ports"]
    service = hooks(objects)[0]["clientConfig"]["service"]

    assert service == {
        "name": "leeway-admission",
        "namespace": "leeway",
        "path": webhook.PATH,
        "port": port["port"],
    }
    assert {"name": port["targetPort"], "containerPort": 8443} in container["ports"]
    assert "--admission-listen=0.0.0.0:8443" in container["args"]


def test_cert_manager_makes_the_certificate_and_injects_its_ca() -> None:
    objects = from_chart(SECOND_SCHEDULER, admission__certManager__enabled="true")
    certificate = rendering.one(objects, "Certificate", "leeway-admission")
    annotations = rendering.one(objects, CONFIGURATION)["metadata"]["annotations"]

    assert annotations == {"cert-manager.io/inject-ca-from": "leeway/leeway-admission"}
    assert certificate["spec"]["secretName"] == "leeway-admission-tls"
    assert certificate["spec"]["dnsNames"] == ["leeway-admission.leeway.svc"]


def test_a_bundle_and_a_policy_of_ones_own() -> None:
    objects = from_chart(
        SECOND_SCHEDULER, admission__caBundle="Q0E=", admission__failurePolicy="Fail"
    )

    assert {hook["clientConfig"]["caBundle"] for hook in hooks(objects)} == {"Q0E="}
    assert {hook["failurePolicy"] for hook in hooks(objects)} == {"Fail"}


def test_the_chart_refuses_another_policy() -> None:
    with pytest.raises(rendering.HelmError, match="failurePolicy"):
        from_chart(SECOND_SCHEDULER, admission__failurePolicy="Maybe")


def test_the_component_is_applied_whole() -> None:
    component = yaml.safe_load((ADMISSION / "kustomization.yaml").read_text(encoding="utf-8"))
    listed = {*component["resources"], *(each["path"] for each in component["patches"])}

    assert listed == {f.name for f in ADMISSION.glob("*.yaml") if f.name != "kustomization.yaml"}
