"""When the plugin stands aside, and what it says where a pod cannot be read."""

import msgspec
import pytest

from extender.errors import BudgetError
from extender.framework.interface import SKIP, Code, Profile, Settings, Status
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from extender.plugins.pod_topology_spread import (
    REASON_MISSING_LABEL,
    REASON_TOO_LARGE,
    REASON_TOO_MANY,
    PodTopologySpread,
    plugin,
)
from extender.plugins.pod_topology_spread.constraints import MAX_CONDITIONS, MAX_CONSTRAINTS
from extender.plugins.pod_topology_spread.filtering import HardConstraints
from extender.plugins.pod_topology_spread.scoring import SoftConstraints
from tests.builders import JSON, a_snapshot, filtered, node_json, refused, scored
from tests.plugins.pod_topology_spread.test_constraints import spread_pod, written
from tests.plugins.pod_topology_spread.test_filtering import placed, zones

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
        "pod annotation scheduling.leeway/tolerations is invalid: must be a list,"
        " not a mapping: begin each entry with a dash"
    )


def test_nothing_is_remembered_of_what_changes() -> None:
    assert PLUGIN.signature(spread_pod(written())) is None


def test_a_pod_without_constraints_is_like_any_other_one() -> None:
    assert PLUGIN.signature(spread_pod()) == PLUGIN.signature(Pod()) != None  # noqa: E711


# --- Bounds --------------------------------------------------------------------------------------

ACTIONS = ["DoNotSchedule", "ScheduleAnyway"]


def asked(constraints: list[JSON], action: str) -> object:
    pod = spread_pod(*(each | {"whenUnsatisfiable": action} for each in constraints))
    return (PLUGIN.pre_filter if action == ACTIONS[0] else PLUGIN.pre_score)(pod, CLUSTER)


def too_much(reason: str, action: str) -> Status:
    return refused(reason) if action == ACTIONS[0] else Status(Code.ERROR, (reason,))


@pytest.mark.parametrize("action", ACTIONS)
def test_more_constraints_than_a_pod_needs_are_refused(action: str) -> None:
    many = [written(topologyKey=f"key-{number}") for number in range(MAX_CONSTRAINTS + 1)]

    assert asked(many, action) == too_much(REASON_TOO_MANY, action)
    assert isinstance(asked(many[1:], action), HardConstraints | SoftConstraints)


LARGE: dict[str, JSON] = {
    "values": {
        "labelSelector": {
            "matchExpressions": [
                {"key": "a", "operator": "In", "values": list(map(str, range(MAX_CONDITIONS - 1)))}
            ]
        }
    },
    "labels": {"labelSelector": {"matchLabels": {f"k{n}": "v" for n in range(MAX_CONDITIONS)}}},
    "keys of labels": {"matchLabelKeys": [f"k{n}" for n in range(MAX_CONDITIONS)]},
}


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("large", LARGE.values(), ids=LARGE)
def test_selectors_that_are_larger_than_a_pod_needs_are_refused(large: JSON, action: str) -> None:
    constraint = written(**({"labelSelector": None} | large))
    one_more = written(topologyKey="host", labelSelector={"matchLabels": {"app": "web"}})

    assert isinstance(asked([constraint], action), HardConstraints | SoftConstraints)
    assert asked([constraint, one_more], action) == too_much(REASON_TOO_LARGE, action)


def test_the_two_kinds_have_bounds_of_their_own() -> None:
    soft = [
        written(topologyKey=f"key-{number}", whenUnsatisfiable=ACTIONS[1])
        for number in range(MAX_CONSTRAINTS + 1)
    ]

    assert isinstance(PLUGIN.pre_filter(spread_pod(written(), *soft), CLUSTER), HardConstraints)


def test_a_key_that_no_node_has_costs_nothing() -> None:
    """No node carries every key, so no pod is counted and every node lacks a label."""
    settings = Settings()
    settings.budget.left = 0
    keys = [written(), *(written(topologyKey=f"key-{number}") for number in range(9))]
    cluster = a_snapshot([*zones("a", "b", each=2), node_json("odd")], placed(a0=3))
    profile = Profile("x", (PodTopologySpread(settings),), ())
    found = filtered(profile, spread_pod(*keys), cluster.nodes.values(), cluster).statuses()

    assert [status.reasons for status in found] == [(REASON_MISSING_LABEL,)] * 5


def test_a_node_of_the_request_may_have_a_key_that_no_node_is_known_to_have() -> None:
    question = PLUGIN.pre_filter(spread_pod(written(topologyKey="rack"), written()), CLUSTER)
    assert isinstance(question, HardConstraints)
    (full, half) = a_snapshot(
        [
            node_json("full", labels={"rack": "r", "zone": "a"}),
            node_json("half", labels={"rack": "r"}),
        ]
    ).nodes.values()

    assert question.filter(full).code is Code.SUCCESS
    assert question.filter(half).reasons == (REASON_MISSING_LABEL,)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_pod_whose_counts_take_too_long_goes_on_in_the_next_call(
    action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin, "MAX_WORK", 33)
    settings = Settings()
    cluster = a_snapshot(zones("a", "b", each=4))
    pod = spread_pod(
        written(whenUnsatisfiable=action),
        written(whenUnsatisfiable=action, topologyKey="host", labelSelector=None),
    )
    judge = PodTopologySpread(settings)
    ask = judge.pre_filter if action == ACTIONS[0] else judge.pre_score

    tries = 0
    while tries < 9:
        tries += 1
        try:
            ask(pod, cluster)
        except BudgetError:
            continue
        break
    assert 1 < tries < 9


def test_a_score_that_takes_too_long_is_neutral(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "MAX_WORK", 1)
    cluster = a_snapshot(zones("a", "b"), placed(a0=3))
    pod = spread_pod(written(whenUnsatisfiable=ACTIONS[1]))
    profile = Profile("x", (), ((PLUGIN, 1),))
    found = scored(profile, pod, cluster.nodes.values(), cluster)

    assert found.scores() == [0, 0]
    assert [type(fault) for fault in found.stats.faults] == [BudgetError]


def test_what_the_counts_take_is_taken_from_the_call() -> None:
    settings = Settings()
    settings.budget.left = 1_000
    PodTopologySpread(settings).pre_filter(spread_pod(written()), CLUSTER)

    assert settings.budget.left < 1_000
