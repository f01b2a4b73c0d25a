"""Hard constraints: the verdicts, and what pods in flight, nominees and victims do to them."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from extender.framework.interface import SUCCESS, Profile, Settings, Status
from extender.framework.pods.cohorts import PodInfo
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import ClaimSource, Pod, Volume
from extender.plugins.pod_topology_spread import PodTopologySpread
from extender.plugins.pod_topology_spread.filtering import (
    MISSING_LABEL,
    SHARE,
    SKEWED,
    UNSETTLED,
    HardConstraints,
)
from tests.builders import JSON, a_snapshot, filtered, let_pass, node_json, pod_info, taint

WEB = {"app": "web"}
NAMES = {SUCCESS: "passes", SKEWED: "skewed", MISSING_LABEL: "missing"}


def constraint(key: str = "zone", **more: Any) -> JSON:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": WEB},
        **more,
    }


def a_pod(
    *constraints: JSON,
    name: str = "new",
    priority: int = 0,
    labels: Mapping[str, str] = WEB,
) -> Pod:
    return msgspec.convert(
        {
            "metadata": {
                "name": name,
                "namespace": "default",
                "uid": f"uid-{name}",
                "labels": dict(labels),
            },
            "spec": {
                "priority": priority,
                "topologySpreadConstraints": list(constraints or [constraint()]),
            },
        },
        Pod,
    )


def zones(*names: str, each: int = 1) -> list[JSON]:
    """Nodes called by zone and number: `a0`, `a1`, `b0` and so on."""
    return [
        node_json(f"{zone}{i}", labels={"zone": zone, "host": f"{zone}{i}"})
        for zone in names
        for i in range(each)
    ]


def placed(**counts: int) -> list[PodInfo]:
    return [
        pod_info(f"{node}-{i}", node, labels=WEB)
        for node, count in counts.items()
        for i in range(count)
    ]


def question(snapshot: Snapshot, pod: Pod) -> HardConstraints:
    found = PodTopologySpread(Settings()).pre_filter(pod, snapshot)
    assert isinstance(found, HardConstraints), found
    return found


def verdicts(snapshot: Snapshot, pod: Pod) -> dict[str, str]:
    """The verdict on each node in a word; a node where only a pod in flight stands is unsettled."""
    asked = question(snapshot, pod)
    nodes = list(snapshot.nodes.values())
    statuses = [asked.filter(node) for node in nodes]

    for part in asked.parts:
        said = [part.filter(node) for node in nodes]
        keys = part.facet.column(nodes)
        # Equal keys promise equal verdicts, and a batch is judged as one by one.
        assert len({*zip(keys, map(id, said), strict=True)}) == len({*keys})
        usual, others = part.by_key()
        keys = [node.labels.get(part.constraint.key) for node in nodes]
        assert [id(others.get(key, usual)) for key in keys] == [*map(id, said)]
    return {
        node.name: "unsettled" if status is UNSETTLED else NAMES[status]
        for node, status in zip(nodes, statuses, strict=True)
    }


def test_a_domain_that_has_too_many_is_refused_and_a_node_without_one_too() -> None:
    cluster = a_snapshot([*zones("a", "b"), node_json("odd")], placed(a0=1))

    assert verdicts(cluster, a_pod()) == {"a0": "skewed", "b0": "passes", "odd": "missing"}


def test_the_first_constraint_that_refuses_decides() -> None:
    nodes = [*zones("a", "b"), node_json("c0", labels={"zone": "a"})]
    cluster = a_snapshot(nodes, placed(a0=1))
    pod = a_pod(constraint(), constraint("host", maxSkew=9))

    assert verdicts(cluster, pod) == {"a0": "skewed", "b0": "passes", "c0": "skewed"}
    assert verdicts(cluster, a_pod(constraint("host", maxSkew=9), constraint())) == {
        "a0": "skewed",
        "b0": "passes",
        "c0": "missing",
    }


def test_a_domain_whose_nodes_do_not_count_is_judged_all_the_same() -> None:
    """The zone of a tainted node is no domain: the others must not wait for it."""
    nodes = [*zones("a", "b"), node_json("c0", taint("x"), labels={"zone": "c", "host": "c0"})]
    cluster = a_snapshot(nodes, placed(a0=2, b0=3, c0=1))
    pod = a_pod(constraint(nodeTaintsPolicy="Honor"))

    assert verdicts(cluster, pod) == {"a0": "passes", "b0": "skewed", "c0": "passes"}
    assert verdicts(cluster, a_pod()) == {"a0": "skewed", "b0": "skewed", "c0": "passes"}


def test_too_few_domains_count_as_empty_ones() -> None:
    cluster = a_snapshot(zones("a", "b"), placed(a0=1, b0=1))

    assert verdicts(cluster, a_pod(constraint(minDomains=2))) == {"a0": "passes", "b0": "passes"}
    assert verdicts(cluster, a_pod(constraint(minDomains=3))) == {"a0": "skewed", "b0": "skewed"}


def test_without_any_domain_nothing_is_refused() -> None:
    cluster = a_snapshot([node_json("c0", taint("x"), labels={"zone": "c", "host": "c0"})])

    assert verdicts(cluster, a_pod(constraint(nodeTaintsPolicy="Honor"))) == {"c0": "passes"}


def test_a_skew_of_nothing_is_never_reached() -> None:
    """No API server lets it through; upstream refuses every node then."""
    cluster = a_snapshot(zones("a", "b"))

    assert verdicts(cluster, a_pod(constraint(maxSkew=0))) == {"a0": "skewed", "b0": "skewed"}


# --- In flight -----------------------------------------------------------------------------------


def in_flight(
    snapshot: Snapshot, nodes: str, name: str = "other", labels: Mapping[str, str] = WEB
) -> None:
    """Another pod was let pass on these nodes."""
    assert snapshot.pods is not None
    # Somebody asks for the first time, so that it is counted from now on.
    PodTopologySpread(Settings()).pre_filter(a_pod(), snapshot)
    pod = a_pod(name=name, labels=labels)
    snapshot.pods.answered(pod, let_pass(snapshot.table, *nodes.split()))


@pytest.mark.parametrize(
    ("flights", "expected"),
    [
        pytest.param(["a0"], "skewed passes passes", id="to one node"),
        pytest.param(["a0 a1"], "skewed passes passes", id="to one of two nodes of a zone"),
        pytest.param(["a0", "b0", "c0"], "passes passes passes", id="one to each zone"),
        pytest.param(
            ["a0 b0"], "unsettled unsettled passes", id="to one of two zones, nobody knows which"
        ),
        pytest.param(["a0 b0 c0"], "unsettled unsettled unsettled", id="to any zone"),
        pytest.param(["a0 b0", "c0"], "unsettled unsettled skewed", id="one known, one not"),
    ],
)
def test_pods_in_flight_count(flights: list[str], expected: str) -> None:
    cluster = a_snapshot(zones("a", "b", "c", each=2), reserves=True)
    for i, nodes in enumerate(flights):
        in_flight(cluster, nodes, f"other-{i}")
    found = verdicts(cluster, a_pod())

    assert [found[name] for name in ("a0", "b0", "c0")] == expected.split()
    assert [found[name] for name in ("a1", "b1", "c1")] == expected.split()


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        pytest.param({}, {"a0"}, id="without the pod in flight there is room"),
        pytest.param({"a0": 1}, set(), id="there is none without it either"),
        pytest.param({"a0": 1, "b0": 1, "c0": 1}, {"a0"}, id="where each zone has as many"),
    ],
)
def test_a_refusal_stands_if_it_does_so_without_pods_in_flight(
    there: dict[str, int], expected: set[str]
) -> None:
    """If one in flight fails, nobody tells kube-scheduler that there is room after all."""
    cluster = a_snapshot(zones("a", "b", "c"), placed(**there), reserves=True)
    in_flight(cluster, "a0")
    asked = question(cluster, a_pod())
    found = {name: asked.filter(node) for name, node in cluster.nodes.items()}

    assert found["a0"] == SKEWED
    assert {name for name, status in found.items() if status.unsettled} == expected


def test_a_refusal_for_a_nominated_pod_stands_although_another_is_in_flight() -> None:
    nominated = pod_info("urgent", nominated="a0", labels=WEB, priority=9)
    cluster = a_snapshot(zones("a", "b"), [nominated], reserves=True)
    in_flight(cluster, "a0")

    assert question(cluster, a_pod()).filter(cluster.nodes["a0"]).unsettled is False


def test_an_uncertain_pod_does_no_harm_where_there_is_room_for_it() -> None:
    cluster = a_snapshot(zones("a", "b", "c"), reserves=True)
    in_flight(cluster, "a0 b0 c0")

    assert set(verdicts(cluster, a_pod(constraint(maxSkew=2))).values()) == {"passes"}


def test_the_only_empty_zone_is_open_to_two_pods_on_their_way() -> None:
    """Whether or not the other one arrives, no zone gets ahead of the rest by more than one."""
    nodes = zones("a", "b", "c")
    cluster = a_snapshot(nodes, placed(a0=2, b0=2, c0=1), reserves=True)
    in_flight(cluster, "b0 c0")

    assert verdicts(cluster, a_pod()) == {"a0": "skewed", "b0": "skewed", "c0": "passes"}


def test_where_no_node_counts_no_pod_is_too_many() -> None:
    """As upstream has it for a number that no API server lets through."""
    cluster = a_snapshot([node_json("a0", taint("x"), labels={"zone": "a"})], placed(a0=9))
    honors = constraint(nodeTaintsPolicy="Honor", minDomains=0)

    assert verdicts(cluster, a_pod(honors)) == {"a0": "passes"}


def test_one_domain_alone_is_never_skewed() -> None:
    cluster = a_snapshot(zones("a", each=2), placed(a0=3), reserves=True)
    in_flight(cluster, "a0 a1")
    pod = a_pod(constraint(), constraint("host", maxSkew=5))

    assert set(verdicts(cluster, pod).values()) == {"passes"}


def test_a_pod_does_not_stand_in_its_own_way() -> None:
    cluster = a_snapshot(zones("a", "b"), reserves=True)
    in_flight(cluster, "a0 b0", name="new")

    assert set(verdicts(cluster, a_pod()).values()) == {"passes"}


def test_a_pod_in_flight_to_a_node_that_does_not_count_counts_nowhere() -> None:
    nodes = [*zones("a", "b"), node_json("c0", taint("x"), labels={"zone": "c", "host": "c0"})]
    cluster = a_snapshot(nodes, reserves=True)
    in_flight(cluster, "c0", "certain")
    pod = a_pod(constraint(nodeTaintsPolicy="Honor"))

    assert set(verdicts(cluster, pod).values()) == {"passes"}

    in_flight(cluster, "a0 c0", "uncertain")

    assert verdicts(cluster, pod) == {"a0": "unsettled", "b0": "passes", "c0": "passes"}


def test_pods_that_are_not_meant_do_not_count_in_flight() -> None:
    cluster = a_snapshot(zones("a", "b"), reserves=True)
    in_flight(cluster, "a0", labels={"app": "db"})

    assert set(verdicts(cluster, a_pod()).values()) == {"passes"}


# --- Nominated -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("priority", "expected"),
    [
        pytest.param(10, "passes", id="a pod of higher priority does not look at it"),
        pytest.param(5, "skewed", id="one of the same priority does"),
        pytest.param(0, "skewed", id="and one of lower priority"),
    ],
)
def test_a_nominated_pod_counts_on_its_node(priority: int, expected: str) -> None:
    waiting = pod_info("urgent", nominated="a0", labels=WEB, priority=5)
    cluster = a_snapshot(zones("a", "b"), [waiting], reserves=True)

    assert verdicts(cluster, a_pod(priority=priority)) == {"a0": expected, "b0": "passes"}


def test_a_nominated_pod_counts_once_and_not_for_itself() -> None:
    waiting = pod_info("urgent", nominated="a0", labels=WEB)
    elsewhere = pod_info("lost", nominated="gone", labels=WEB)
    cluster = a_snapshot(zones("a", "b"), [waiting, elsewhere], reserves=True)

    assert set(verdicts(cluster, a_pod(name="urgent")).values()) == {"passes"}

    in_flight(cluster, "b0", name="urgent")

    assert verdicts(cluster, a_pod()) == {"a0": "passes", "b0": "skewed"}


# --- Narrowing -----------------------------------------------------------------------------------


def narrowed(snapshot: Snapshot, pod: Pod) -> list[str]:
    """The nodes that are kept of those that pass."""
    question(snapshot, pod)
    profile = Profile("test", (PodTopologySpread(Settings()),), ())
    nodes = list(snapshot.nodes.values())
    statuses = filtered(profile, pod, nodes, snapshot, narrow=True).statuses()
    return [node.name for node, status in zip(nodes, statuses, strict=True) if status is SUCCESS]


def test_a_pod_alone_has_every_choice() -> None:
    cluster = a_snapshot(zones("a", "b", each=2), reserves=True)

    assert narrowed(cluster, a_pod()) == ["a0", "a1", "b0", "b1"]


def test_while_others_are_in_flight_a_pod_goes_to_one_zone() -> None:
    cluster = a_snapshot(zones("a", "b", "c", each=2), reserves=True)
    in_flight(cluster, "a0 a1")

    assert narrowed(cluster, a_pod()) in (["b0", "b1"], ["c0", "c1"])


def test_a_pod_that_had_to_wait_goes_to_one_zone_too() -> None:
    cluster = a_snapshot(zones("a", "b"), reserves=True)
    question(cluster, a_pod())
    assert cluster.pods is not None
    cluster.pods.answered(a_pod(), None, waits=True)

    assert narrowed(cluster, a_pod()) in (["a0"], ["b0"])


@pytest.mark.parametrize(
    ("reserves", "kept"),
    [
        pytest.param(True, 1, id="where others would wait for it"),
        pytest.param(False, 2, id="where nobody is seen to arrive"),
    ],
)
def test_a_pod_whose_volume_is_still_to_be_made_is_slow(reserves: bool, kept: int) -> None:
    cluster = a_snapshot(zones("a", "b"), reserves=reserves)
    volume = Volume("data", ClaimSource("data"))
    pod = a_pod()
    assert pod.spec is not None
    slow = msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, volumes=(volume,)))

    assert len(narrowed(cluster, slow)) == kept


def test_a_pod_that_does_not_count_itself_has_every_choice() -> None:
    cluster = a_snapshot(zones("a", "b", "c"), reserves=True)
    in_flight(cluster, "a0")

    assert narrowed(cluster, a_pod(labels={"app": "visitor"})) == ["a0", "b0", "c0"]


def test_the_zone_with_the_fewest_pods_is_chosen() -> None:
    cluster = a_snapshot(zones("a", "b", "c"), placed(a0=1), reserves=True)
    in_flight(cluster, "b0")

    assert narrowed(cluster, a_pod(constraint(maxSkew=2))) == ["c0"]


def test_among_equals_lots_are_drawn_by_the_number_of_nodes() -> None:
    """The second pods of many small workloads do not all end up in one zone."""
    cluster = a_snapshot([*zones("a", "b"), *zones("c", each=2)], reserves=True)
    in_flight(cluster, "a0")
    chosen = [narrowed(cluster, a_pod(name=f"web-{i}"))[0] for i in range(300)]
    found = Counter(name[0] for name in chosen)

    assert narrowed(cluster, a_pod(name="web-7")) == narrowed(cluster, a_pod(name="web-7"))
    assert set(found) == {"b", "c"}
    assert 1.5 < found["c"] / found["b"] < 2.5


def test_in_doubt_a_pod_goes_where_the_fewest_were_seen() -> None:
    """A pod in flight may fail: then the zone that waits for it is the one that lacks a pod."""
    cluster = a_snapshot(zones("a", "b", "c"), placed(a0=1, c0=1), reserves=True)
    in_flight(cluster, "b0")

    assert narrowed(cluster, a_pod()) == ["b0"]


def test_of_many_hosts_a_part_is_left_for_the_pods_to_come() -> None:
    cluster = a_snapshot(zones("a", each=10 * SHARE), reserves=True)
    in_flight(cluster, "a0")
    pod = a_pod(constraint("host"))
    first = narrowed(cluster, pod)
    in_flight(cluster, " ".join(first), "second")
    second = narrowed(cluster, pod)

    assert len(first) == 9
    assert not set(first) & set(second)
    assert "a0" not in first


def test_a_zone_is_chosen_before_a_host() -> None:
    cluster = a_snapshot(zones("a", "b", each=3), reserves=True)
    in_flight(cluster, "a0")
    pod = a_pod(constraint("host"), constraint())

    assert narrowed(cluster, pod) in (["b0"], ["b1"], ["b2"])


# --- Victims -------------------------------------------------------------------------------------


def without(snapshot: Snapshot, pod: Pod, node: str, *victims: str) -> Status:
    asked = question(snapshot, pod)
    said = (part.without(snapshot.nodes[node], list(victims)) for part in asked.parts)
    return next((status for status in said if status is not SUCCESS), SUCCESS)


def test_victims_do_not_count_any_more() -> None:
    others = pod_info("db", "a0"), pod_info("elsewhere", "a0", namespace="shop", labels=WEB)
    cluster = a_snapshot(zones("a", "b"), [*placed(a0=2), *others])

    assert without(cluster, a_pod(), "a0", "uid-a0-0", "uid-a0-1") is SUCCESS
    assert without(cluster, a_pod(), "a0", "uid-a0-0", "uid-db") is SKEWED
    assert without(cluster, a_pod(), "a0", "uid-a0-0", "uid-elsewhere") is SKEWED
    assert without(cluster, a_pod(), "a0", "uid-of-nobody") is SKEWED
    assert without(cluster, a_pod(), "b0", "uid-a0-0") is SUCCESS


def test_the_fewest_pods_are_counted_without_victims_as_well() -> None:
    """Evicting from a zone makes no room in it if it becomes the emptiest one."""
    cluster = a_snapshot(zones("a", "b", "c"), placed(a0=2, b0=1, c0=1))

    assert without(cluster, a_pod(), "a0", "uid-a0-0") is SUCCESS
    assert without(cluster, a_pod(constraint(minDomains=9)), "a0", "uid-a0-0") is SKEWED


def test_no_eviction_adds_a_label() -> None:
    cluster = a_snapshot([*zones("a"), node_json("odd")], placed(odd=1))

    assert without(cluster, a_pod(), "odd", "uid-odd-0") is MISSING_LABEL


def test_victims_in_a_domain_that_does_not_count_are_judged_by_the_others() -> None:
    nodes = [*zones("a", "b"), node_json("c0", taint("x"), labels={"zone": "c", "host": "c0"})]
    cluster = a_snapshot(nodes, placed(a0=2, b0=2, c0=9))
    pod = a_pod(constraint(nodeTaintsPolicy="Honor"))

    assert without(cluster, pod, "c0", "uid-c0-0") is SUCCESS


def test_victims_on_a_node_that_does_not_count_change_nothing() -> None:
    nodes = [
        *zones("a", "b"),
        node_json("a9", taint("x"), labels={"zone": "a", "host": "a9"}),
    ]
    cluster = a_snapshot(nodes, placed(a0=1, a9=1))
    pod = a_pod(constraint(nodeTaintsPolicy="Honor"))

    assert without(cluster, pod, "a9", "uid-a9-0") is SKEWED
    assert without(cluster, pod, "a0", "uid-a0-0") is SUCCESS


# --- For a person --------------------------------------------------------------------------------


def test_a_constraint_accounts_for_its_verdict() -> None:
    waiting = pod_info("urgent", nominated="a0", labels=WEB)
    nodes = [*zones("a", "b", "c"), node_json("odd")]
    cluster = a_snapshot(nodes, [*placed(a0=2, b0=1), waiting], reserves=True)
    in_flight(cluster, "a0", "certain")
    in_flight(cluster, "a0 b0", "uncertain")
    (skew,) = question(cluster, a_pod()).parts
    account, odd = skew.account(cluster.nodes["a0"]), skew.account(cluster.nodes["odd"])

    assert account.verdict == SKEWED
    assert (account.domain, account.included) == ("a", True)
    assert account.counts == {"a": 3, "b": 1, "c": 0}
    assert account.sizes == {"a": 1, "b": 1, "c": 1}
    # Two are seen, one is in flight to the zone and one nominated to it; one may turn up.
    assert (account.matching, account.in_flight, account.maybe) == (4, 2, 1)
    assert (account.itself, account.minimum, account.skew) == (1, 0, 5)
    assert (odd.verdict, odd.domain, odd.included) == (MISSING_LABEL, None, False)
    assert (odd.matching, odd.maybe) == (0, 0)
