"""What cures a refusal by pods in domains."""

import msgspec
import pytest

from extender.framework.pods.cohorts import PodInfo
from extender.model.core_v1 import ObjectMeta, Pod
from extender.review.explain.fixes import Planner
from extender.review.explain.steps import finished
from tests.builders import a_snapshot, let_pass, node_json
from tests.review.explain.asking import SETTINGS, an_inquiry, change_of, explained, fix_of
from tests.review.explain.spread.test_derivation import PODS, nodes, spreading


@pytest.mark.parametrize(
    ("zones", "pods", "fullness"),
    [
        (
            "aab",
            PODS[:2],
            "2 pods, the fewest of any domain are 0, maxSkew is 1; there is room in b",
        ),
        (
            "aabcdef",
            PODS[:2],
            "2 pods, the fewest of any domain are 0, maxSkew is 1; there is room in b, c, d and 2"
            " more",
        ),
    ],
)
def test_a_full_domain_says_where_there_is_room(
    zones: str, pods: list[PodInfo], fullness: str
) -> None:
    cluster = [node_json(f"n{i}", labels={"zone": zone}) for i, zone in enumerate(zones)]
    fix = fix_of(spreading(), *cluster, pods=pods)
    (change,) = fix.changes

    assert change.summary == f"a is full ({fullness}): allow a skew of 3"
    assert (change.path, change.before, change.after) == (
        "spec.topologySpreadConstraints[0].maxSkew",
        "1",
        "3",
    )


def test_too_few_domains_leave_no_room() -> None:
    pod = spreading(minDomains=2)
    change = change_of(pod, node_json("n0", labels={"zone": "a"}), pods=PODS[:1])

    assert change.summary == (
        "a is full (1 pod, the fewest of any domain are 0, maxSkew is 1, and no domain has room):"
        " allow a skew of 2"
    )


def test_the_other_constraints_stay() -> None:
    soft = {"topologyKey": "rack", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}
    written = msgspec.to_builtins(spreading())
    hard = written["spec"]["topologySpreadConstraints"]
    written["spec"]["topologySpreadConstraints"] = [soft, *hard]
    pod = msgspec.convert(written, Pod)
    change = change_of(pod, *nodes(), pods=PODS)

    assert change.path == "spec.topologySpreadConstraints[1].maxSkew"


def test_a_missing_label_is_the_operators() -> None:
    fix = fix_of(spreading(), node_json("x"), pods=PODS)

    assert (fix.changes, fix.advice) == ((), ("label the node with zone",))


def test_a_constraint_that_cannot_be_read_has_no_cure() -> None:
    pod = spreading(labelSelector={"matchExpressions": [{"key": "a", "operator": "Bogus"}]})
    explanation = explained(pod, *nodes())

    assert [(group.code, group.fix) for group in explanation.groups] == [("Error", None)]
    assert explanation.message.startswith("PodTopologySpread: obtaining pod's hard topology")


def test_pods_in_flight_are_waited_for() -> None:
    inquiry = an_inquiry(spreading(), *nodes())
    snapshot = a_snapshot(nodes(), PODS[:1], reserves=True)
    assert snapshot.pods is not None
    planner = Planner(inquiry.profile, SETTINGS, snapshot)
    finished(planner.plans(inquiry.pod, snapshot.nodes["n0"]))  # from now on it is counted
    other = msgspec.structs.replace(
        spreading(), metadata=ObjectMeta("o", "default", "o", labels={"app": "web"})
    )
    snapshot.pods.answered(other, let_pass(snapshot.table, "n2", "n3"))
    plan = finished(planner.plans(inquiry.pod, snapshot.nodes["n2"]))[0]

    assert plan.advice == ("wait: pods in flight may arrive there, and the scheduler will retry",)
