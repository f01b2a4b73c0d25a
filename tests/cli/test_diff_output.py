"""What a difference looks like, however large it is."""

from typing import Any

from extender.cli import diff_output
from extender.cli.tables import Screen
from extender.model.core_v1 import Taint
from extender.review.diff.changes import NodeChange
from extender.review.diff.comparing import Difference, Evicted, Stranded, WorkloadChange
from extender.review.diff.evictions import Eviction
from extender.review.scan.objects import Ref

POD = Ref("Pod", "ns", "p")
TAINT = Taint("sla", "800", "NoExecute")


def a_change(name: str = "web", **more: object) -> WorkloadChange:
    values: dict[str, object] = {
        "workload": Ref("Deployment", "ns", name),
        "pods": 2,
        "before": 3,
        "after": 2,
        "opened": (),
        "closed": ("n",),
        "reasons": (("because", 1),),
        "stranded": (),
        "evicted": (),
        **more,
    }
    return WorkloadChange(**values)  # type: ignore[arg-type]


def a_difference(*workloads: WorkloadChange, **more: object) -> Difference:
    values: dict[str, object] = {
        "nodes_before": 3,
        "nodes_after": 3,
        "nodes": (),
        "compared": 4,
        "workloads": workloads,
        **more,
    }
    return Difference(**values)  # type: ignore[arg-type]


def lines(found: Difference, on: Screen | None = None) -> list[str]:
    return diff_output.render(found, on or Screen()).splitlines()


def test_nothing_changes() -> None:
    assert lines(a_difference()) == [
        "compared: 4 pods and templates, on 3 nodes",
        "nothing changes",
    ]


def test_pods_of_one_cluster_only_and_other_numbers_of_nodes_are_said() -> None:
    assert lines(a_difference(nodes_after=5, only_before=1, only_after=2))[:2] == [
        "compared: 4 pods and templates, on 3 nodes before and 5 after",
        "not compared: 1 that are only in the first cluster, 2 that are only in the second",
    ]


def test_a_row_has_everything_that_changes() -> None:
    evicted = tuple(Evicted(POD, "n", Eviction(TAINT, seconds)) for seconds in (60, 30))
    change = a_change(
        opened=("a", "b"),
        stranded=(Stranded(POD, "n", "because"),),
        evicted=evicted,
        reasons=(("because", 2), ("also", 1)),
    )
    header, row, *_ = lines(a_difference(change))

    assert header.split()[:2] == ["WORKLOAD", "PODS"]
    assert " ".join(row.split()) == (
        "Deployment ns/web 2 3 -> 2 +2 -1 1 2 after 30 s because and 1 more reason"
    )


def test_who_is_only_evicted_is_told_the_taint() -> None:
    change = a_change(closed=(), reasons=(), evicted=(Evicted(POD, "n", Eviction(TAINT)),))
    _, row, *_ = lines(a_difference(change))

    assert row.endswith("1 at once  taint sla=800:NoExecute")


def test_what_only_opens_needs_no_reason() -> None:
    _, row, *_ = lines(a_difference(a_change(opened=("n",), closed=(), reasons=())))

    assert row.split()[-1] == "-"


def test_a_large_difference_stays_below_60_lines() -> None:
    nodes = tuple(NodeChange(f"n{i}", tuple("abcdef")) for i in range(5_000))
    workloads = [a_change(f"w{i}") for i in range(1_000)]
    found = lines(a_difference(*workloads, nodes=nodes, only_before=1))

    assert len(found) < 60
    assert "n0    a, b, c, d and 2 more" in found
    assert "and 4990 nodes more; -o json lists all" in found
    assert "and 970 workloads more; -o json lists all" in found


def test_data_has_every_pod_and_the_first_names_of_nodes() -> None:
    change = a_change(
        closed=tuple(f"n{i}" for i in range(200)),
        stranded=(Stranded(POD, "n", "because"),),
        evicted=(Evicted(POD, "n", Eviction(TAINT, 5)),),
    )
    found: Any = diff_output.document(a_difference(change))
    (workload,) = found["workloads"]

    assert (workload["closes"], len(workload["closed"])) == (200, 100)
    assert workload["cannotStay"] == [{"pod": "p", "node": "n", "reason": "because"}]
    assert workload["evicted"] == [
        {"pod": "p", "node": "n", "taint": "sla=800:NoExecute", "afterSeconds": 5}
    ]


def test_colours_say_what_is_lost_and_what_is_won() -> None:
    change = a_change(opened=("a",))
    shown = diff_output.render(a_difference(change), Screen(200, colour=True))

    assert "\x1b[32m+1\x1b[0m" in shown
    assert "\x1b[31m-1\x1b[0m" in shown
