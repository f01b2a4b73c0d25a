"""A profile beside our plugins; every trap of it is in test_examining."""

import msgspec
import pytest

from extender.plugins import DEFAULT_WEIGHTS
from extender.review.doctor import profiles
from extender.review.doctor.profiles import Judged
from extender.review.doctor.scheduler import SchedulerConfiguration, SchedulerProfile

TAINTS_OFF = {"multiPoint": {"disabled": [{"name": "TaintToleration"}]}}


def a_profile(**fields: object) -> SchedulerProfile:
    return msgspec.convert(fields, SchedulerProfile)


@pytest.mark.parametrize(
    ("theirs", "ours", "twice", "nobody"),
    [
        pytest.param({}, DEFAULT_WEIGHTS, True, False, id="both"),
        pytest.param(TAINTS_OFF, DEFAULT_WEIGHTS, False, False, id="we"),
        pytest.param({}, {}, False, False, id="they"),
        pytest.param(TAINTS_OFF, {}, False, True, id="nobody"),
    ],
)
def test_who_enforces_taints(
    theirs: object, ours: dict[str, int], twice: bool, nobody: bool
) -> None:
    judged = Judged("p", a_profile(plugins=theirs), ours)

    assert judged.twice("TaintToleration") is twice
    assert judged.nobody("TaintToleration") is nobody


@pytest.mark.parametrize(
    ("own", "of_all", "expected"),
    [
        (100, None, False),
        (None, 100, False),
        (None, None, True),
        (0, 100, True),
        (50, 100, True),
    ],
)
def test_whether_a_sample_is_offered(own: int | None, of_all: int | None, expected: bool) -> None:
    profile = SchedulerProfile(percentage_of_nodes_to_score=own)
    config = SchedulerConfiguration(percentage_of_nodes_to_score=of_all)

    assert profiles.sampled(profile, config) is expected


def test_the_defaults_of_kube_scheduler_are_wrong_in_every_way() -> None:
    judged = Judged("p", SchedulerProfile(), DEFAULT_WEIGHTS)
    checks = [each.check for each in profiles.check(judged, SchedulerConfiguration())]

    assert checks == [
        "taint-toleration",
        "node-unschedulable",
        "node-affinity-score",
        "topology-spread",
        "topology-spread-weight",
        "preemption-candidates",
        "percentage-of-nodes",
    ]
