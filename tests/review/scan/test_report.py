"""Everything put together."""

import pytest

from extender import plugins
from extender.framework.interface import Settings
from extender.native.settings import CompileSettings
from extender.review.doctor import problems
from extender.review.scan import report
from extender.review.scan.objects import Ref
from extender.review.scan.report import Report
from tests.builders import JSON, PREFIX, a_snapshot, node_json, taint, toleration
from tests.review.scan.scanning import a_pod, an_inventory, owned_by, workload

RULE = toleration("sla", "Gt", "900")
WEB = Ref("Deployment", "default", "web")


def reported(
    *documents: JSON,
    nodes: list[JSON] | None = None,
    missing: dict[str, str] | None = None,
    schedulers: frozenset[str] = frozenset(),
    compiles: frozenset[str] = frozenset({"default-scheduler"}),
) -> Report:
    profile = plugins.profile("p", plugins.DEFAULT_WEIGHTS, Settings())
    return report.build(
        an_inventory(*documents),
        a_snapshot(nodes or []),
        {},
        profile_of=lambda _pod: profile,
        schedulers=schedulers,
        compile_settings=CompileSettings(scheduler_names=compiles),
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


# --- Compile mode ------------------------------------------------------------------------------

SPOT = node_json("spot", taint("sla", "950"), taint("tier", "7", "NoExecute"))
EQUAL = toleration("sla", "Equal", "950", "NoSchedule")


def test_pods_with_rules_are_compared_with_what_compile_mode_makes_of_them() -> None:
    found = reported(
        a_pod("web-a", EQUAL, annotated_tolerations=[RULE], owner=owned_by("Deployment", "web")),
        a_pod("web-b", annotated_tolerations=[RULE], owner=owned_by("Deployment", "web")),
        a_pod("plain", EQUAL),
        a_pod("theirs", annotated_tolerations=[RULE], scheduler="theirs"),
        workload("Deployment", "web", annotated_tolerations=[RULE]),
        nodes=[SPOT],
    )

    assert [(each.ref.name, each.workload, each.found.state) for each in found.compiled] == [
        ("web-a", WEB, "current"),
        ("web-b", WEB, "behind"),
    ]


def test_what_compile_mode_has_yet_to_do_does_not_change_the_exit_code() -> None:
    found = reported(
        a_pod("behind", annotated_tolerations=[RULE]),
        a_pod("narrowed", EQUAL, annotated_tolerations=[toleration("sla", "Gt", "960")]),
        nodes=[SPOT, node_json("open")],
    )

    assert {each.found.state for each in found.compiled} == {"behind", "current"}
    assert problems.exit_code(found.severities()) == 0


@pytest.mark.parametrize(
    ("compiles", "pod", "silent"),
    [
        pytest.param({"default-scheduler"}, a_pod("p", EQUAL), False, id="nobody is compiled"),
        pytest.param(
            {"default-scheduler"},
            a_pod("p", EQUAL, annotated_tolerations=[RULE]),
            True,
            id="somebody is compiled",
        ),
        pytest.param(set(), a_pod("p", EQUAL, annotated_tolerations=[RULE]), True, id="all are"),
        pytest.param(
            {"another"},
            a_pod("p", EQUAL, annotated_tolerations=[RULE], scheduler="another"),
            False,
            id="of another scheduler",
        ),
    ],
)
def test_compile_mode_reads_what_no_profile_does(
    compiles: set[str], pod: JSON, silent: bool
) -> None:
    rules = [RULE, toleration("tier", "Gt", "5", "NoExecute")]
    found = reported(
        pod,
        workload("Deployment", "web", annotated_tolerations=rules),
        workload("DaemonSet", "agent", annotated_tolerations=rules),
        nodes=[SPOT],
        schedulers=frozenset({"extended", "another"}),
        compiles=frozenset(compiles),
    )
    told = {ref.name for ref, _ in found.unread}, {each.ref.name for each in found.evicted}

    # A DaemonSet is never compiled.
    names = {"agent"} if silent else {"agent", "web"}
    assert told == (names, names)


def test_a_mistake_is_told_of_whoever_wrote_it() -> None:
    name = f"{PREFIX}tolerations"
    deployment = workload("Deployment", "web")
    deployment["metadata"]["annotations"] = {name: "[]"}
    # The Deployment controller copies the annotations of a Deployment to its ReplicaSets.
    replicas = workload("ReplicaSet", "web-1", owner=owned_by("Deployment", "web"))
    replicas["metadata"]["annotations"] = {name: "[]"}
    both, alone = reported(deployment, replicas), reported(replicas, replicas)

    assert [(ref, path) for ref, path, _ in both.mistakes] == [
        (WEB, f"metadata.annotations[{name}]")
    ]
    assert [ref for ref, *_ in alone.mistakes] == [WEB]
    assert problems.exit_code(both.severities()) == 3


def test_without_nodes_no_pod_is_judged() -> None:
    found = reported(a_pod("p", RULE), a_pod("q"))

    assert (found.pending, found.passing, found.unjudged) == ([], 0, 2)
    assert reported(a_pod("p"), nodes=[node_json("n")]).unjudged == 0
