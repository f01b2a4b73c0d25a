"""kube-scheduler's configuration."""

import msgspec
import pytest

from extender.review.doctor.scheduler import Plugins, SchedulerConfiguration

ON = [{"name": "P"}]
ALL = [{"name": "*"}]


@pytest.mark.parametrize(
    ("plugins", "runs"),
    [
        pytest.param({}, True, id="by default"),
        pytest.param({"multiPoint": {"disabled": ON}}, False, id="off at multiPoint"),
        pytest.param({"multiPoint": {"disabled": ALL}}, False, id="all off at multiPoint"),
        pytest.param({"multiPoint": {"disabled": ALL, "enabled": ON}}, True, id="on again"),
        pytest.param({"filter": {"disabled": ON}}, False, id="off at the point"),
        pytest.param({"filter": {"disabled": ALL}}, False, id="all off at the point"),
        pytest.param({"score": {"disabled": ON}}, True, id="off at another point"),
        pytest.param(
            {"multiPoint": {"disabled": ON}, "filter": {"enabled": ON}}, True, id="on at the point"
        ),
        pytest.param(
            {"multiPoint": {"enabled": ON}, "filter": {"disabled": ON}},
            False,
            id="off at the point",
        ),
    ],
)
def test_whether_a_plugin_runs(plugins: object, runs: bool) -> None:
    assert msgspec.convert(plugins, Plugins).runs("P", "filter") is runs


def test_without_profiles_there_is_the_default_one() -> None:
    (profile,) = SchedulerConfiguration().all_profiles()

    assert profile.scheduler_name == "default-scheduler"
    assert profile.arguments("DefaultPreemption") == {}
