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
    assert sorted_out(document) == Setup()


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
    ],
)
def test_our_own_pod_is_told_by_its_image_or_command(container: Plain, ours: bool) -> None:
    setup = sorted_out({"kind": "Pod", "spec": {"containers": [container]}})

    assert [pod.scheduler_name for pod in setup.pods] == ["default-scheduler"] * ours
