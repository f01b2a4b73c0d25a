"""The whole explanation."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from extender.errors import NotFoundError
from extender.review.explain.explaining import explain, explaining
from extender.review.explain.schema import Explanation
from extender.review.explain.templates import Subject
from tests.builders import a_pod, node_json, taint, toleration
from tests.review.explain.asking import an_inquiry, explained

SCHEMA = Path(__file__).parents[3] / "docs/explanation.schema.json"


def test_a_pending_pod_from_top_to_bottom() -> None:
    pod = a_pod(toleration("sla", "Gt", "950"), name="report", namespace="batch", scheduler="s")
    made = explained(pod, node_json("gold", taint("sla", "950")), node_json("x", taint("y")))

    assert (made.pod.namespace, made.pod.name, made.pod.scheduler_name) == ("batch", "report", "s")
    assert (made.nodes, made.passing) == (2, 0)
    assert made.message == (
        "0/2 nodes are available: 1 node(s) had untolerated taint {sla: 950},"
        " 1 node(s) had untolerated taint {y: }."
    )
    assert made.fix is not None
    assert made.fix.node == "gold"
    assert made.fix.patch == {
        "spec": {"tolerations": [{"key": "sla", "operator": "Gt", "value": "949"}]}
    }
    assert made.derivation is None


def test_where_every_node_passes_nothing_is_to_be_fixed() -> None:
    made = explained(a_pod(), node_json("n"))

    assert (made.message, made.fix, made.groups) == ("1/1 nodes are available.", None, ())


def test_an_empty_cluster() -> None:
    assert explained(a_pod()).message == "no nodes available to schedule pods"


def test_a_workload_is_patched_in_its_template() -> None:
    subject = Subject(a_pod(), "CronJob", "nightly", ("spec", "jobTemplate", "spec", "template"))
    inquiry = an_inquiry(a_pod(), node_json("n", taint("x")))
    made = explain(replace(inquiry, subject=subject))

    assert made.fix is not None
    assert made.fix.patch == {
        "spec": {
            "jobTemplate": {
                "spec": {
                    "template": {
                        "spec": {
                            "tolerations": [
                                {"key": "x", "operator": "Exists", "effect": "NoSchedule"}
                            ]
                        }
                    }
                }
            }
        }
    }
    assert (made.pod.kind, made.pod.owner) == ("CronJob", "nightly")


def test_a_node_that_is_not_there_is_a_fault_with_a_hint() -> None:
    with pytest.raises(NotFoundError, match="node 'spot-gld' is not in the cluster; did you mean"):
        explained(a_pod(), node_json("spot-gold"), node="spot-gld")
    with pytest.raises(NotFoundError, match=r"node 'x' is not in the cluster$"):
        explained(a_pod(), node_json("spot-gold"), node="x")


def test_a_derivation_has_the_fix_for_its_own_node() -> None:
    nodes = [node_json("a", taint("x")), node_json("b", taint("y")), node_json("c")]
    made = explained(a_pod(), *nodes, node="b").derivation
    passing = explained(a_pod(), *nodes, node="c").derivation

    assert made is not None
    assert made.fix is not None
    assert (made.fix.node, made.fix.complete) == ("b", True)
    assert passing is not None
    assert (passing.fix, passing.code) == (None, "Success")


def test_it_is_worked_out_in_steps() -> None:
    nodes = [node_json(f"n{i}", taint(f"k{i}")) for i in range(5)]
    inquiry = an_inquiry(a_pod(), *nodes)

    assert sum(1 for _ in explaining(inquiry)) > 10


def test_the_schema_is_the_one_that_is_documented() -> None:
    made = json.dumps(msgspec.json.schema(Explanation), indent=2) + "\n"

    assert SCHEMA.read_text(encoding="utf-8") == made
