"""Soft constraints: what is not in the vectors, which have the rule itself."""

import pytest

from extender.framework.interface import SKIP, Settings, Status
from extender.framework.snapshot import LabelsFacet, Snapshot
from extender.model.core_v1 import Pod
from extender.plugins.pod_topology_spread import PodTopologySpread, scoring
from extender.plugins.pod_topology_spread.scoring import IGNORED, NO_LABEL, SoftConstraints
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
    exceptions, rows = asked.exceptions(snapshot.table), snapshot.table.rows
    apart = [exceptions.get(rows[node.name]) for node in nodes]
    keys = list(zip(asked.facet.column(nodes), apart, strict=True))
    raw = asked.score_among(nodes, [1] * len(nodes))

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


def test_nodes_are_alike_in_their_domains_but_for_those_with_pods_where_each_counts_alone() -> None:
    nodes = [node_json(f"n{i}", labels={HOST: f"n{i}", "zone": f"z{i % 2}"}) for i in range(4)]
    placed_pods = [pod_info("p", "n2", labels=WEB), pod_info("q", "gone", labels=WEB)]
    cluster = a_snapshot(nodes, placed_pods)
    by_zone, by_host, by_both = (
        scorer(cluster, a_pod(*constraints))
        for constraints in ((soft(),), (soft(HOST),), (soft(HOST), soft()))
    )

    assert (by_zone.facet, by_zone.exceptions(cluster.table)) == (LabelsFacet(("zone",)), {})
    assert by_host.facet == LabelsFacet(())
    assert list(by_host.exceptions(cluster.table)) == [cluster.table.rows["n2"]]
    assert by_both.facet == LabelsFacet(("zone",))
    assert by_both.exceptions(cluster.table) == by_host.exceptions(cluster.table)


def test_a_node_without_a_hostname_is_an_exception() -> None:
    cluster = a_snapshot([node_json("with", labels={HOST: "with"}), node_json("without")])
    asked = scorer(cluster, a_pod(soft(HOST)))

    assert asked.exceptions(cluster.table) == {cluster.table.rows["without"]: NO_LABEL}


def test_the_worth_of_a_zone_depends_on_how_many_zones_the_candidates_have() -> None:
    """A pod weighs more where there are more domains; it is alone, so it gets all of one."""
    cluster = a_snapshot(zones("a", "b", "c", each=2), placed(a0=4, b0=1))
    asked = scorer(cluster, a_pod(soft()))
    a, b, c = (cluster.nodes[name] for name in ("a0", "b0", "c0"))

    assert asked.score_among([a, b], [1, 1]) == asked.score_among([a, b], [5, 2])
    assert asked.score_among([a, b], [1, 1]) != asked.score_among([a, b, c], [1, 1, 1])[:2]
    assert [asked.score(a).value] == asked.score_among([a], [1])


def test_by_hostname_it_depends_on_how_many_candidates_there_are() -> None:
    nodes = [node_json(name, labels={HOST: name}) for name in ("n1", "n2")]
    cluster = a_snapshot(nodes, [pod_info(f"p{i}", "n1", labels=WEB) for i in range(9)])
    asked = scorer(cluster, a_pod(soft(HOST)))
    both = list(cluster.nodes.values())

    assert asked.score_among(both, [1, 1]) != asked.score_among(both, [9, 9])


def test_a_node_without_a_key_is_worth_nothing() -> None:
    asked = scorer(a_snapshot(zones("a")), a_pod(soft()))

    assert asked.normalize([IGNORED, 0]) == [0, 100]


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
