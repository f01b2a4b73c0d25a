"""When the plugin stands aside, and what it says where a pod cannot be read."""

import msgspec
import pytest

from extender.framework.interface import SKIP, Code, Settings, Status
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from extender.plugins.pod_topology_spread import PodTopologySpread
from tests.builders import a_snapshot, refused
from tests.plugins.pod_topology_spread.test_constraints import spread_pod, written
from tests.plugins.pod_topology_spread.test_filtering import zones

PLUGIN = PodTopologySpread(Settings())
CLUSTER = a_snapshot(zones("a", "b"))


@pytest.mark.parametrize(
    ("pod", "snapshot"),
    [
        pytest.param(msgspec.convert({}, Pod), CLUSTER, id="an empty pod"),
        pytest.param(spread_pod(), CLUSTER, id="no constraint"),
        pytest.param(spread_pod(written()), Snapshot(), id="nobody knows of pods"),
    ],
)
def test_it_stands_aside(pod: Pod, snapshot: Snapshot) -> None:
    assert PLUGIN.pre_filter(pod, snapshot) is SKIP
    assert PLUGIN.pre_score(pod, snapshot) is SKIP


def test_a_selector_that_cannot_be_read_is_an_error_in_upstreams_words() -> None:
    bad = written(labelSelector={"matchExpressions": [{"key": "a", "operator": "In"}]})

    assert PLUGIN.pre_filter(spread_pod(bad), CLUSTER) == Status(
        Code.ERROR,
        (
            "obtaining pod's hard topology spread constraints: values: Invalid value: null:"
            " for 'in', 'notin' operators, values set can't be empty",
        ),
    )


@pytest.mark.parametrize("action", ["DoNotSchedule", "ScheduleAnyway"])
def test_an_annotation_that_cannot_be_read_refuses_every_node(action: str) -> None:
    constraint = written(whenUnsatisfiable=action, nodeTaintsPolicy="Honor")
    pod = spread_pod(constraint, annotated_tolerations="{}")
    ask = PLUGIN.pre_filter if action == "DoNotSchedule" else PLUGIN.pre_score

    assert ask(pod, CLUSTER) == refused(
        "pod annotation scheduling.leeway/tolerations is invalid: Expected `array`, got `object`"
    )


def test_nothing_is_remembered_of_what_changes() -> None:
    assert PLUGIN.signature(spread_pod(written())) is None


def test_a_pod_without_constraints_is_like_any_other_one() -> None:
    assert PLUGIN.signature(spread_pod()) == PLUGIN.signature(Pod()) != None  # noqa: E711
