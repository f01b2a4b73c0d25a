"""Everything put together."""

import pytest

from extender import plugins
from extender.framework.interface import Settings
from extender.review.doctor import problems
from extender.review.scan import report
from extender.review.scan.objects import Ref
from extender.review.scan.report import Report
from tests.builders import JSON, a_snapshot, node_json, taint, toleration
from tests.review.scan.scanning import a_pod, an_inventory, owned_by, workload

RULE = toleration("sla", "Gt", "900")
WEB = Ref("Deployment", "default", "web")


def reported(
    *documents: JSON, nodes: list[JSON] | None = None, missing: dict[str, str] | None = None
) -> Report:
    profile = plugins.profile("p", plugins.DEFAULT_WEIGHTS, Settings())
    return report.build(
        an_inventory(*documents),
        a_snapshot(nodes or []),
        {},
        profile_of=lambda _pod: profile,
        schedulers=frozenset(),
        missing=missing or {},
    )


def test_what_a_workload_has_made_is_counted_with_it() -> None:
    owner = owned_by("ReplicaSet", "web-1")
    found = reported(
        a_pod("web-1-a", RULE, owner=owner, node="n"),
        a_pod("web-1-b", RULE, owner=owner, node="n"),
        workload("ReplicaSet", "web-1", RULE, owner=owned_by("Deployment", "web")),
        workload("Deployment", "web", RULE),
    )

    (use,) = found.uses
    assert (use.workload, use.operator) == (WEB, "Gt")
    assert use.objects == {"Pod": 2, "ReplicaSet": 1, "Deployment": 1}


def test_rules_are_in_the_order_of_the_gates() -> None:
    found = reported(
        workload("Job", "a", annotated_tolerations=[{"key": "a", "operator": "Exists"}]),
        workload("Job", "b", {"expression": "true"}),
        workload("Job", "c", toleration("v", "SemverEq", "1")),
        workload("Job", "d", RULE),
        workload("Job", "e", toleration("x", "Lt", "5")),
    )

    assert [use.workload.name for use in found.uses] == ["d", "e", "c", "b", "a"]


def test_a_broken_annotation_is_told_once_a_workload() -> None:
    found = reported(
        a_pod("p", owner=owned_by("Deployment", "web"), annotated_tolerations="["),
        workload("Deployment", "web", annotated_tolerations="["),
    )

    assert [ref for ref, _, _ in found.broken] == [WEB]


@pytest.mark.parametrize(
    ("found", "code"),
    [
        pytest.param(reported(workload("Job", "a", RULE)), 0, id="rules alone are no finding"),
        pytest.param(reported(a_pod("p"), nodes=[node_json("n")]), 0, id="pending, but not by us"),
        pytest.param(reported(a_pod("p")), 0, id="no nodes are known"),
        pytest.param(
            reported(a_pod("p"), nodes=[node_json("n", taint("x"))]), 3, id="pending by us"
        ),
        pytest.param(
            reported(workload("Job", "a", RULE), nodes=[node_json("n", taint("sla", "x"))]),
            3,
            id="a taint that cannot be read",
        ),
        pytest.param(
            reported(workload("Job", "a", toleration("sla", "Gt", "x"))), 1, id="a broken rule"
        ),
        pytest.param(
            reported(workload("Job", "a", annotated_affinity="[")), 1, id="a broken annotation"
        ),
        pytest.param(reported(missing={"pods": "forbidden"}), 3, id="not everything was listed"),
        pytest.param(
            reported(workload("DaemonSet", "d", annotated_tolerations=[RULE])), 0, id="no matter"
        ),
        pytest.param(
            reported(
                workload("DaemonSet", "d", annotated_tolerations=[RULE]),
                nodes=[node_json("n", taint("sla", "950"))],
            ),
            3,
            id="a DaemonSet without a pod",
        ),
    ],
)
def test_the_exit_code(found: Report, code: int) -> None:
    assert problems.exit_code(found.severities()) == code


def test_pods_that_wait_for_something_else_are_only_counted() -> None:
    found = reported(a_pod("a"), a_pod("b", RULE), nodes=[node_json("n")])

    assert (found.pending, found.passing) == ([], 2)
