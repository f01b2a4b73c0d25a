"""Whose verdicts differ between two clusters, and who could not stay."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.framework.interface import Code, Settings
from extender.match.gates import FeatureGates
from extender.model.core_v1 import Taint
from extender.review.diff import comparing
from extender.review.diff.comparing import GONE, Evicted, Stranded, WorkloadChange
from extender.review.diff.evictions import Eviction
from extender.review.scan.objects import Ref
from tests.builders import (
    JSON,
    filtered,
    node_json,
    required,
    requirement,
    taint,
    toleration,
)
from tests.properties import core_strategies as core
from tests.review.diff.clusters import compared, running, side

GOLD, BRONZE = node_json("gold", taint("sla", "950")), node_json("bronze", taint("sla", "800"))
DROPPED = node_json("gold", taint("sla", "800"))
UNTOLERATED = "node(s) had untolerated taint {sla: 800}"
RULE = toleration("sla", "Gt", "900")


def web(number: int, node: str = "", *tolerations: JSON) -> JSON:
    return running(f"web-{number}", node, *tolerations, owner=("StatefulSet", "web"))


def test_nothing_differs_between_a_cluster_and_itself() -> None:
    same = side([GOLD, BRONZE], [web(0, "gold", RULE), web(1, "", RULE)])
    found = compared(same, same)

    assert (found.workloads, found.nodes, found.compared) == ((), (), 2)


def test_a_node_that_drops_closes_and_strands() -> None:
    pods = [web(0, "gold", RULE), web(1, "gold", RULE), web(2, "", RULE)]
    found = compared(side([GOLD, BRONZE], pods), side([DROPPED, BRONZE], pods))
    refs = [Ref("Pod", "default", f"web-{i}") for i in range(2)]

    assert found.workloads == (
        WorkloadChange(
            workload=Ref("StatefulSet", "default", "web"),
            pods=3,
            before=1,
            after=0,
            opened=(),
            closed=("gold",),
            reasons=((UNTOLERATED, 1),),
            stranded=tuple(Stranded(ref, "gold", UNTOLERATED) for ref in refs),
            evicted=(),
        ),
    )
    assert (found.stranded, found.evicted) == (2, 0)
    assert [each.name for each in found.nodes] == ["gold"]


def test_a_node_that_rises_opens() -> None:
    pods = [web(0, "", RULE)]
    (change,) = compared(side([DROPPED], pods), side([GOLD], pods)).workloads

    assert (change.opened, change.closed, change.stranded) == (("gold",), (), ())


def test_a_node_that_is_gone_strands_its_pods() -> None:
    pods = [web(0, "gold", RULE)]
    (change,) = compared(side([GOLD], pods), side([BRONZE], pods)).workloads

    assert change.stranded == (Stranded(Ref("Pod", "default", "web-0"), "gold", GONE),)
    assert change.reasons == ((GONE, 1),)


def test_who_could_not_be_placed_before_is_not_stranded_now() -> None:
    pods = [web(0, "bronze", RULE)]
    worse = node_json("bronze", taint("sla", "700"))

    assert compared(side([BRONZE], pods), side([worse], pods)).workloads == ()


def test_a_no_execute_taint_evicts_and_strands() -> None:
    evicting = node_json("gold", taint("sla", "800", "NoExecute"))
    pods = [web(0, "gold", RULE)]
    (change,) = compared(side([GOLD], pods), side([evicting], pods)).workloads
    ref = Ref("Pod", "default", "web-0")

    assert change.evicted == (Evicted(ref, "gold", Eviction(Taint("sla", "800", "NoExecute"))),)
    assert [each.ref for each in change.stranded] == [ref]


def test_a_pod_that_moved_is_not_evicted_from_where_it_was() -> None:
    evicting = node_json("gold", taint("x", "", "NoExecute"))
    before = side([GOLD, BRONZE], [web(0, "gold", RULE)])
    after = side([evicting, BRONZE], [web(0, "bronze", RULE)])
    (change,) = compared(before, after).workloads

    assert change.evicted == ()


def test_a_gate_that_is_turned_off() -> None:
    pods = [web(0, "gold", RULE)]
    off = Settings(gates=FeatureGates(comparison_operators=False))
    (change,) = compared(side([GOLD], pods), side([GOLD], pods, off)).workloads

    assert (change.before, change.after, len(change.stranded)) == (1, 0, 1)


def test_pods_of_one_cluster_only_are_counted_and_not_compared() -> None:
    before = side([GOLD], [web(0), web(1)])
    after = side([GOLD], [web(1), web(2), web(3)])
    found = compared(before, after)

    assert (found.compared, found.only_before, found.only_after) == (1, 1, 2)


def test_pods_without_an_owner_are_one_line() -> None:
    pods = [running(f"bare-{i}", "gold", RULE) for i in range(3)]
    (change,) = compared(side([GOLD], pods), side([DROPPED], pods)).workloads
    (alone,) = compared(side([GOLD], pods[:1]), side([DROPPED], pods[:1])).workloads

    assert (str(change.workload), change.pods) == ("Pod default/*", 3)
    assert str(alone.workload) == "Pod default/bare-0"


def test_who_is_hurt_most_comes_first() -> None:
    pods = [
        running("opened", "", toleration("sla", "Lt", "900"), owner=("Job", "opened")),
        running("waits", "", RULE, owner=("Job", "waits")),
        running("runs", "gold", RULE, owner=("Job", "runs")),
    ]
    found = compared(side([GOLD], pods), side([DROPPED], pods))

    assert [change.workload.name for change in found.workloads] == ["runs", "waits", "opened"]


def test_a_daemon_is_judged_on_its_own_node() -> None:
    def daemon(name: str, node: str) -> JSON:
        return running(name, node, RULE, owner=("DaemonSet", "agent"))

    pods = [daemon("a", "gold"), daemon("b", "open")]
    nodes = [node_json("open"), node_json("more")]
    (change,) = compared(side([GOLD, *nodes], pods), side([DROPPED, *nodes], pods)).workloads

    assert (change.before, change.after, change.closed) == (2, 1, ("gold",))
    assert change.reasons == ((UNTOLERATED, 1),)


SPREAD = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def zone(name: str, *taints: JSON) -> JSON:
    return node_json(name, *taints, labels={"zone": name})


def spread(name: str, node: str, app: str = "web") -> JSON:
    return running(name, node, labels={"app": app}, spread=[SPREAD], owner=("Job", "web"))


def test_a_running_pod_does_not_count_against_itself() -> None:
    """Two replicas in one zone and one in the other: each could be placed again where it runs."""
    pods = [spread("a-0", "a"), spread("a-1", "a"), spread("b-0", "b")]
    before = side([zone("a"), zone("b")], pods)
    after = side([zone("a", taint("x")), zone("b")], pods)
    (change,) = compared(before, after).workloads

    assert [each.ref.name for each in change.stranded] == ["a-0", "a-1"]
    assert compared(before, before).workloads == ()


def test_a_spread_that_becomes_uneven_strands() -> None:
    """The zone of the pods is full as soon as another zone is there to be filled."""
    pods = [spread(f"web-{i}", "a") for i in range(3)]
    (change,) = compared(side([zone("a")], pods), side([zone("a"), zone("b")], pods)).workloads

    assert change.opened == ("b",)
    assert len(change.stranded) == 3


def test_a_spread_that_was_uneven_before_strands_nobody() -> None:
    pods = [spread(f"web-{i}", "a") for i in range(3)]
    nodes = [zone("a"), zone("b")]
    (change,) = compared(side(nodes, pods), side([*nodes, zone("c")], pods)).workloads

    assert (change.opened, change.stranded) == (("c",), ())


ELSEWHERE = required([requirement("zone", "In", "b")])


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param({"annotated_tolerations": [toleration("x", "Exists")]}, id="annotation"),
        pytest.param({"affinity": ELSEWHERE}, id="affinity"),
        pytest.param({"annotated_affinity": ELSEWHERE}, id="annotated affinity"),
        pytest.param({"node_selector": {"zone": "b"}}, id="selector"),
    ],
)
def test_pods_of_a_workload_that_differ_in_one_rule_are_judged_apart(rules: JSON) -> None:
    """The taint closes the node to the plain pod only."""
    pods = [
        running("ruled", "", owner=("Job", "j"), **rules),
        running("plain", "", owner=("Job", "j")),
    ]
    found = compared(side([zone("a")], pods), side([zone("a", taint("x"))], pods))

    assert [(each.pods, each.closed) for each in found.workloads] == [(1, ("a",))]


def test_pods_that_a_constraint_tells_apart_are_judged_apart() -> None:
    pods = [spread("runs", "a"), spread("waits", ""), spread("other", "", "other")]
    found = compared(side([zone("a")], pods), side([zone("a"), zone("b")], pods))

    assert [(each.pods, each.closed) for each in found.workloads] == [(2, ("a",)), (1, ())]


def test_pods_with_claims_of_their_own_are_judged_apart() -> None:
    def pod(name: str) -> JSON:
        made = running(name, "", owner=("Job", "j"))
        made["spec"]["volumes"] = [{"name": "v", "ephemeral": {}}]
        return made

    owner = {"kind": "Pod", "name": "a", "uid": "uid-a", "controller": True}
    storage = [
        {
            "kind": "StorageClass",
            "metadata": {"name": "late"},
            "volumeBindingMode": "WaitForFirstConsumer",
        },
        {
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "a-v", "namespace": "default", "ownerReferences": [owner]},
            "spec": {"storageClassName": "late"},
        },
    ]
    pods = [pod("b"), pod("a")]
    before, after = (
        side([each], pods, storage=storage) for each in (node_json("n"), node_json("n", taint("x")))
    )

    assert [change.pods for change in compared(before, after).workloads] == [1]


def test_progress_is_told_in_pods() -> None:
    done: list[int] = []
    same = side([GOLD], [web(0), web(1), running("other")])
    comparing.compare(same, same, done.append)

    assert sum(done) == 3


def passing(of: comparing.Side, name: str) -> set[str]:
    """The nodes that pass for a pod, as a filter call says."""
    pod = of.members[Ref("Pod", "default", name)].pod
    nodes = list(of.snapshot.nodes.values())
    result = filtered(of.profile_of(pod), pod, nodes, of.snapshot)
    return {
        node.name
        for node, status in zip(nodes, result.statuses(), strict=True)
        if status.code is Code.SUCCESS
    }


def made(name: str, node: str, parts: Any) -> JSON:
    rest = {key: part for key, part in parts.items() if key != "tolerations"}
    return running(name, node, *parts["tolerations"], owner=("Job", "j"), **rest)


@given(
    core.nodes(),
    core.nodes(),
    st.lists(core.pod_parts(), min_size=2, max_size=2),
    st.lists(st.sampled_from(["", *core.NAMES]), min_size=2, max_size=2),
)
def test_the_difference_is_that_of_two_filter_calls(
    before: list[JSON], after: list[JSON], parts: list[Any], nodes: list[str]
) -> None:
    pods = [made(f"p{i}", nodes[i], parts[i]) for i in range(2)]
    old, new = side(before, pods), side(after, pods)
    found = compared(old, new)
    was = [passing(old, f"p{i}") for i in range(2)]
    now = [passing(new, f"p{i}") for i in range(2)]
    changed = {(frozenset(now[i] - was[i]), frozenset(was[i] - now[i])) for i in range(2)} - {
        (frozenset(), frozenset())
    }

    assert changed <= {(frozenset(c.opened), frozenset(c.closed)) for c in found.workloads}
    assert found.stranded == sum(nodes[i] in was[i] - now[i] for i in range(2))
