"""Soft constraints: what is not in the vectors, which have the rule itself."""

import pytest

from extender.framework.interface import SKIP, Settings, Status
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from extender.plugins.pod_topology_spread import PodTopologySpread, scoring
from extender.plugins.pod_topology_spread.scoring import IGNORED, SoftConstraints
from tests.builders import JSON, a_snapshot, node_json, pod_info
from tests.plugins.pod_topology_spread.test_filtering import WEB, a_pod, constraint, placed, zones

HOST = "kubernetes.io/hostname"


def soft(key: str = "zone", **more: object) -> JSON:
    return constraint(key, whenUnsatisfiable="ScheduleAnyway", **more)


def scorer(snapshot: Snapshot, pod: Pod) -> SoftConstraints:
    found = PodTopologySpread(Settings()).pre_score(pod, snapshot)
    assert isinstance(found, SoftConstraints), found
    return found


def scores(snapshot: Snapshot, pod: Pod) -> dict[str, int]:
    asked = scorer(snapshot, pod)
    nodes = list(snapshot.nodes.values())
    keys = asked.facet.column(nodes)
    raw = [asked.score(node).value for node in nodes]

    # Equal keys promise equal scores.
    assert len(set(zip(keys, raw, strict=True))) == len(set(keys))
    return dict(zip(snapshot.nodes, asked.normalize(raw), strict=True))


def test_the_emptiest_zone_is_the_best() -> None:
    cluster = a_snapshot(zones("a", "b", "c"), placed(a0=2, b0=1))

    assert scores(cluster, a_pod(soft())) == {"a0": 0, "b0": 33, "c0": 100}


def test_by_hostname_each_node_counts_for_itself() -> None:
    nodes = [node_json(name, labels={HOST: name}) for name in ("n1", "n2")]
    cluster = a_snapshot(nodes, [pod_info("p", "n1", labels=WEB)])

    assert scores(cluster, a_pod(soft(HOST))) == {"n1": 0, "n2": 100}


def test_a_node_without_a_key_has_nothing_and_does_not_matter() -> None:
    cluster = a_snapshot([*zones("a", "b"), node_json("odd")], placed(a0=1, odd=5))

    assert scores(cluster, a_pod(soft())) == {"a0": 0, "b0": 100, "odd": 0}


def test_without_any_key_nobody_has_anything() -> None:
    cluster = a_snapshot([node_json("odd"), node_json("even")])

    assert scores(cluster, a_pod(soft())) == {"odd": 0, "even": 0}


def test_without_any_pod_all_are_equal() -> None:
    cluster = a_snapshot(zones("a", "b"))

    assert scores(cluster, a_pod(soft())) == {"a0": 100, "b0": 100}


def test_hard_constraints_do_not_score() -> None:
    cluster = a_snapshot(zones("a", "b"))

    assert PodTopologySpread(Settings()).pre_score(a_pod(constraint()), cluster) is SKIP


@pytest.mark.parametrize(
    ("value", "rounded"),
    [(0.49, 0), (0.5, 1), (1.5, 2), (2.5, 3), (-0.5, -1), (-1.49, -1), (-2.5, -3)],
)
def test_halves_are_rounded_away_from_zero(value: float, rounded: int) -> None:
    assert scoring._rounded(value) == rounded


@pytest.mark.parametrize(
    ("dividend", "divisor", "quotient"),
    [(7, 2, 3), (-7, 2, -3), (7, -2, -3), (-7, -2, 3), (0, 5, 0)],
)
def test_integers_are_divided_towards_zero(dividend: int, divisor: int, quotient: int) -> None:
    assert scoring._quotient(dividend, divisor) == quotient


def test_a_question_is_its_own_facet_and_equal_to_no_other() -> None:
    cluster = a_snapshot(zones("a"))
    one, two = scorer(cluster, a_pod(soft())), scorer(cluster, a_pod(soft()))

    assert len({hash(one.facet), hash(two.facet)}) == 2
    assert one.normalize([IGNORED, 0]) == [0, 100]


def test_sums_below_zero_are_what_upstream_makes_of_them() -> None:
    """It takes a maxSkew of 0, which no API server lets through."""
    asked = scorer(a_snapshot(zones("a")), a_pod(soft()))

    assert asked.normalize([-1, -2, IGNORED]) == [0, 100, 0]
    assert asked.normalize([-1, -2, 4]) == [0, 100, -50]


def test_a_selector_that_cannot_be_read_is_said() -> None:
    bad = soft(labelSelector={"matchExpressions": [{"key": "a", "operator": "Like"}]})
    found = PodTopologySpread(Settings()).pre_score(a_pod(bad), a_snapshot(zones("a")))

    assert isinstance(found, Status)
    assert found.reasons[0].startswith("obtaining pod's soft topology spread constraints")
