"""The webhooks of compile mode: nothing is wrong as we ship them, and each change is found."""

import copy
from typing import Any

import msgspec
import pytest

from extender.review.doctor import webhooks
from extender.review.doctor.webhooks import COMPILE, STRIP, FoundWebhooks, WebhookConfiguration
from tests.builders import PREFIX
from tests.deploy import rendering

JSON = dict[str, Any]
NAME = "MutatingWebhookConfiguration leeway-controller: webhooks"


def shipped() -> JSON:
    objects = rendering.kustomized(rendering.OVERLAYS / rendering.COMPILE)
    return copy.deepcopy(
        rendering.one(objects, "MutatingWebhookConfiguration", "leeway-controller")
    )


def found_in(document: JSON, *, live: bool = False) -> FoundWebhooks:
    return FoundWebhooks("x", msgspec.convert(document, WebhookConfiguration), live)


def checked(document: JSON, *, live: bool = False, prefix: str | None = PREFIX) -> list[Any]:
    found = webhooks.check(found_in(document, live=live), prefix)
    return [(p.severity, p.check, p.where.removeprefix(f"x: {NAME}")) for p in found]


def test_the_shipped_webhooks_are_as_they_should_be() -> None:
    found = found_in(shipped())

    assert list(webhooks.check(found, PREFIX)) == []
    assert list(webhooks.check_present("x", [found])) == []


@pytest.mark.parametrize(
    ("index", "change", "expected"),
    [
        (0, {"failurePolicy": "Fail"}, ("error", "webhook-failure-policy", "failurePolicy")),
        (0, {"failurePolicy": None}, ("error", "webhook-failure-policy", "failurePolicy")),
        (1, {"failurePolicy": "Ignore"}, ("error", "webhook-failure-policy", "failurePolicy")),
        (0, {"timeoutSeconds": 3}, ("warning", "webhook-timeout", "timeoutSeconds")),
        (1, {"timeoutSeconds": None}, ("warning", "webhook-timeout", "timeoutSeconds")),
        (
            0,
            {"reinvocationPolicy": None},
            ("warning", "webhook-reinvocation", "reinvocationPolicy"),
        ),
        (0, {"matchConditions": []}, ("warning", "webhook-conditions", "matchConditions")),
        (1, {"matchConditions": None}, ("error", "webhook-conditions", "matchConditions")),
    ],
)
def test_a_setting_that_is_not_ours(
    index: int, change: JSON, expected: tuple[str, str, str]
) -> None:
    document = shipped()
    hook = document["webhooks"][index] | change
    document["webhooks"][index] = {key: value for key, value in hook.items() if value is not None}
    severity, check, field = expected

    assert checked(document) == [(severity, check, f"[{index}].{field}")]


def test_a_guard_may_be_stripped_once_and_in_every_namespace() -> None:
    """The hook that strips guards is like the other one in nothing but its time-out."""
    strips = shipped()["webhooks"][1]

    assert "reinvocationPolicy" not in strips
    assert "namespaceSelector" not in strips


@pytest.mark.parametrize(
    ("selector", "namespaces"),
    [
        ({}, ["kube-system", "leeway"]),
        (None, ["kube-system", "leeway"]),
        (
            {"matchExpressions": [{"key": "a", "operator": "Odd"}]},
            ["kube-system", "leeway"],
        ),
        (
            {
                "matchExpressions": [
                    {
                        "key": "kubernetes.io/metadata.name",
                        "operator": "NotIn",
                        "values": ["leeway"],
                    }
                ]
            },
            ["kube-system"],
        ),
        ({"matchLabels": {"example.com/rules": "on"}}, []),
    ],
)
def test_namespaces_that_must_be_left_out(selector: JSON | None, namespaces: list[str]) -> None:
    document = shipped()
    if selector is None:
        del document["webhooks"][0]["namespaceSelector"]
    else:
        document["webhooks"][0]["namespaceSelector"] = selector
    found = list(webhooks.check(found_in(document), PREFIX))

    assert [p.why.split(":")[0] for p in found] == [
        f"it does not leave out {name}" for name in namespaces
    ]


def test_conditions_for_another_prefix() -> None:
    assert checked(shipped(), prefix="example.com/") == [
        ("error", "webhook-conditions", "[0].matchConditions"),
        ("error", "webhook-conditions", "[1].matchConditions"),
    ]
    assert checked(shipped(), prefix=None) == []


def test_a_ca_is_missed_in_a_cluster_and_not_in_a_manifest() -> None:
    places = ["[0].clientConfig.caBundle", "[1].clientConfig.caBundle"]

    assert checked(shipped(), live=True) == [("error", "webhook-ca", place) for place in places]
    assert checked(shipped()) == []


def test_who_injects_the_ca_is_asked_first() -> None:
    document = shipped()
    own, _ = webhooks.check(found_in(document, live=True), PREFIX)
    document["metadata"]["annotations"] = {"cert-manager.io/inject-ca-from": "a/b"}
    injected, _ = webhooks.check(found_in(document, live=True), PREFIX)

    assert "leeway certs" in own.fix
    assert "cainjector" in injected.fix


def test_a_host_outside_of_the_cluster_may_have_a_public_certificate() -> None:
    document = shipped()
    for hook in document["webhooks"]:
        hook["clientConfig"] = {"url": "https://leeway.example.com/admission/mutate"}

    assert checked(document, live=True) == []


@pytest.mark.parametrize("role", [COMPILE, STRIP])
def test_one_of_the_two_is_missing(role: str) -> None:
    document = shipped()
    document["webhooks"] = [each for each in document["webhooks"] if each["name"] != role]
    (problem,) = webhooks.check_present("x", [found_in(document)])

    assert (problem.severity, problem.check) == ("error", "webhook-missing")
    assert problem.why.startswith(f"there is no {role}")


def test_both_are_missing() -> None:
    assert len(list(webhooks.check_present("x", []))) == 2


@pytest.mark.parametrize("client", ["service", "url"])
def test_a_webhook_under_another_name_is_known_by_its_path(client: str) -> None:
    document = shipped()
    for index, hook in enumerate(document["webhooks"]):
        hook["name"] = f"{index}.example.com"
        if client == "url":
            hook["clientConfig"] = {"url": "https://127.0.0.1:8443/admission/mutate"}

    assert list(webhooks.check_present("x", [found_in(document)])) == []
    assert checked(document) == []


def test_webhooks_of_others_are_none_of_our_business() -> None:
    other = {"webhooks": [{"name": "a.example.com", "clientConfig": {"url": "https://a/mutate"}}]}

    assert not found_in(other).config.has_ours
    assert checked(other, live=True) == []
