"""Documents sorted out; the ordinary ones are in test_examining."""

import pytest

from extender.model.documents import Plain
from extender.review.doctor.setup import Setup


def sorted_out(*documents: Plain) -> Setup:
    setup = Setup()
    for document in documents:
        setup.add("file", document)
    return setup


@pytest.mark.parametrize(
    "document",
    [
        None,
        "text",
        {"kind": "Service"},
        {"kind": ["Pod"]},
        {"kind": "List"},
        {"kind": "ConfigMap"},
        {"kind": "ConfigMap", "data": {"a": 1, "b": "no configuration"}},
        {"kind": "Pod"},
        {"kind": "Pod", "spec": {"containers": "none"}},
        {"kind": "Deployment", "spec": {"template": []}},
        {"kind": "Pod", "spec": {"containers": ["text", {"image": "web:v1.2"}]}},
    ],
)
def test_what_is_none_of_our_business_is_passed_over(document: Plain) -> None:
    found = sorted_out(document)
    found.workloads.clear()  # every pod may have rules

    assert found == Setup()


def test_a_list_is_looked_into() -> None:
    config: Plain = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
    }

    assert len(sorted_out({"kind": "List", "items": [config, config]}).schedulers) == 2


def test_a_config_map_that_is_no_yaml() -> None:
    setup = sorted_out({"kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"k": "kind: [\n"}})

    (problem,) = setup.problems
    assert (problem.check, problem.where) == ("readable", "file: ConfigMap m: k")


def test_a_scheduler_is_told_by_its_command() -> None:
    container: Plain = {
        "image": "mirror/kube-scheduler:1.34.2",
        "command": ["/usr/local/bin/kube-scheduler", "--v=2"],
        "env": [{"name": "A", "value": "b"}, {"name": "C", "valueFrom": {}}, "odd"],
    }
    (process,) = sorted_out({"kind": "Pod", "spec": {"containers": [container]}}).processes

    assert process.version == (1, 34)
    assert process.arguments == ("--v=2",)
    assert process.environment == {"A": "b", "C": ""}


@pytest.mark.parametrize(
    ("container", "ours"),
    [
        ({"image": "registry.example.com/leeway:0.1.0"}, True),
        ({"image": "x", "command": ["/opt/leeway", "serve"]}, True),
        ({"image": "leeway.example.com/web"}, False),
        ({"image": "x", "args": ["serve"]}, False),
        ({"image": "x", "command": ["leeway", "controller"]}, True),
    ],
)
def test_our_own_pod_is_told_by_its_image_or_command(container: Plain, ours: bool) -> None:
    setup = sorted_out({"kind": "Pod", "spec": {"containers": [container]}})

    assert [pod.scheduler_name for pod in setup.pods] == ["default-scheduler"] * ours


def test_a_controller_is_told_by_its_arguments() -> None:
    containers: list[Plain] = [
        {"image": "leeway", "args": [each]} for each in ("controller", "serve")
    ]
    setup = sorted_out({"kind": "Pod", "spec": {"containers": containers}})

    assert [pod.is_controller for pod in setup.pods] == [True, False]
    assert setup.controller_pod == setup.pods[0]


@pytest.mark.parametrize(
    ("sections", "extenders", "controllers"),
    [
        pytest.param({}, 1, 0, id="of an extender"),
        pytest.param({"listen": {"scheduler": "127.0.0.1:1"}}, 1, 0, id="surely of one"),
        pytest.param({"compile": {}}, 0, 1, id="of a controller"),
        pytest.param({"leaderElection": {}, "listen": {"ops": "127.0.0.1:1"}}, 0, 1, id="too"),
        pytest.param({"compile": {}, "listen": {"scheduler": "127.0.0.1:1"}}, 1, 1, id="of both"),
    ],
)
def test_a_configuration_is_told_by_its_sections(
    sections: dict[str, Plain], extenders: int, controllers: int
) -> None:
    kind: dict[str, Plain] = {
        "apiVersion": "leeway.scheduling/v1alpha1",
        "kind": "ExtenderConfiguration",
    }
    setup = sorted_out(kind | sections)

    assert (len(setup.extenders), len(setup.controllers)) == (extenders, controllers)


@pytest.mark.parametrize(
    ("document", "who"),
    [
        ({"kind": "ExtenderConfiguration", "compile": 1}, "leeway controller would not start"),
        ({"kind": "ExtenderConfiguration", "listen": 1}, "leeway serve would not start"),
        (
            {"kind": "MutatingWebhookConfiguration", "webhooks": [{"timeoutSeconds": "2"}]},
            "the API server would not take it",
        ),
    ],
)
def test_who_cannot_read_a_document_is_named(document: Plain, who: str) -> None:
    setup = sorted_out(document)

    assert {problem.check for problem in setup.problems} == {"readable"}
    assert all(problem.why.startswith(who) for problem in setup.problems)
    assert setup.extenders + setup.controllers == []
    assert setup.webhooks == []


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "Namespace", "metadata": []},
        {"kind": "Deployment", "spec": {"template": 1}},
        {"kind": "MutatingWebhookConfiguration", "webhooks": [{"name": "a.example.com"}]},
    ],
)
def test_what_others_check_is_passed_over(document: Plain) -> None:
    assert sorted_out(document) == Setup()


def test_an_api_server_is_told_by_its_command() -> None:
    container: Plain = {"command": ["kube-apiserver", "--v=2"]}
    (found,) = sorted_out({"kind": "Pod", "spec": {"containers": [container]}}).api_servers

    assert found.arguments == ("--v=2",)
