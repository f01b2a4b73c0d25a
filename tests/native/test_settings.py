"""Which taints a rule without a key does not reach."""

import pytest

from extender.native.settings import DEFAULT_PROTECTED, CompileSettings


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        pytest.param("node-role.kubernetes.io/control-plane", True, id="below a prefix"),
        pytest.param("karpenter.sh/disrupted", True, id="below another prefix"),
        pytest.param("karpenter.sh", False, id="a prefix without its slash is another key"),
        pytest.param("my.karpenter.sh/disrupted", False, id="a prefix stands at the start"),
        pytest.param("ToBeDeletedByClusterAutoscaler", True, id="an exact key"),
        pytest.param("ToBeDeletedByClusterAutoscaler2", False, id="more than an exact key"),
        pytest.param("node.kubernetes.io/not-ready", True, id="a condition"),
        pytest.param("node.kubernetes.io/out-of-service", True, id="another condition"),
        pytest.param("node.kubernetes.io/mine", False, id="no condition of Kubernetes"),
        pytest.param("sla", False, id="a key of one's own"),
    ],
)
def test_protected_by_default(key: str, expected: bool) -> None:
    assert CompileSettings().is_protected(key) is expected


@pytest.mark.parametrize(
    "condition",
    [
        "not-ready",
        "unreachable",
        "unschedulable",
        "memory-pressure",
        "disk-pressure",
        "pid-pressure",
        "network-unavailable",
        "out-of-service",
    ],
)
def test_conditions_are_protected_whatever_is_configured(condition: str) -> None:
    settings = CompileSettings(protected_taints=("sla",))

    assert settings.is_protected(f"node.kubernetes.io/{condition}")


def test_a_list_of_ones_own_replaces_the_default() -> None:
    settings = CompileSettings(protected_taints=("sla", "example.org/"))

    assert settings.is_protected("sla")
    assert settings.is_protected("example.org/sla")
    assert not any(settings.is_protected(entry) for entry in DEFAULT_PROTECTED)
