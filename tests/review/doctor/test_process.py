"""The scheduler as a whole; every trap of it is in test_examining."""

import msgspec
import pytest

from extender.review.doctor import process
from extender.review.doctor.component import Component
from extender.review.doctor.scheduler import SchedulerConfiguration


def checks(**fields: object) -> list[str]:
    config = msgspec.convert({"podMaxBackoffSeconds": 60, **fields}, SchedulerConfiguration)
    return [each.check for each in process.check(config, "file")]


SECOND = [{"schedulerName": "second"}]


@pytest.mark.parametrize(
    ("election", "expected"),
    [
        pytest.param({}, ["leader-election"], id="the default"),
        pytest.param({"resourceName": "kube-scheduler"}, ["leader-election"], id="by name"),
        pytest.param({"resourceName": "second"}, [], id="its own"),
        pytest.param({"leaderElect": False}, [], id="none"),
        pytest.param(
            {"resourceName": "kube-scheduler", "resourceNamespace": "leeway"},
            [],
            id="in another namespace",
        ),
    ],
)
def test_the_lease_of_a_second_scheduler(election: object, expected: list[str]) -> None:
    assert checks(profiles=SECOND, leaderElection=election) == expected


def test_the_default_lease_is_the_cluster_schedulers_own() -> None:
    assert checks() == []
    assert checks(profiles=[*SECOND, {}]) == ["shared-extender"]


def test_the_version_of_the_image_counts_before_that_of_the_server() -> None:
    started = Component("pod", ("--feature-gates=SchedulerPopFromBackoffQ=false",), {}, (1, 36))

    assert [each.severity for each in process.check_process(started, (1, 30))] == ["info"]
