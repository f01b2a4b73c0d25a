import pytest

from extender.framework.interface import SUCCESS, Settings, Status
from extender.framework.snapshot import UNSCHEDULABLE
from extender.match.findings import Finding
from extender.match.gates import FeatureGates
from extender.model.core_v1 import Pod
from extender.plugins.node_unschedulable import REASON, NodeUnschedulable
from tests.builders import (
    PREFIX,
    a_node,
    a_pod,
    judge,
    node_json,
    question_of,
    refused,
    some_nodes,
    taint,
    toleration,
)
from tests.vectors import Row, assert_every_row, gates_of

KEY = "node.kubernetes.io/unschedulable"
PLUGIN = NodeUnschedulable(Settings())
CORDONED = a_node("cordoned", unschedulable=True)


def status_of(row: Row, pod: Pod) -> tuple[str, list[str]]:
    (node,) = some_nodes(
        node_json(
            row["node"]["name"], *row["node"]["taints"], unschedulable=row["node"]["unschedulable"]
        )
    )
    status = judge(NodeUnschedulable(Settings(gates=gates_of(row))), pod, node)
    return status.code.value, list(status.reasons)


def answer(row: Row) -> tuple[str, list[str]]:
    return row["status"], row["reasons"]


def test_every_cordoned_node_is_judged_as_in_go() -> None:
    assert_every_row(
        "unschedulable", lambda row: status_of(row, a_pod(*row["pod_tolerations"])), answer
    )


def test_every_cordoned_node_is_judged_as_in_go_by_annotation() -> None:
    def ask(row: Row) -> tuple[str, list[str]]:
        return status_of(row, a_pod(annotated_tolerations=row["pod_tolerations"]))

    assert_every_row("unschedulable", ask, answer)


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(a_pod(), refused(REASON), id="no toleration"),
        pytest.param(Pod(), refused(REASON), id="a pod of nothing"),
        pytest.param(a_pod(toleration(KEY, "Exists")), SUCCESS, id="tolerated natively"),
        pytest.param(
            a_pod(annotated_tolerations=[toleration(KEY, "Exists")]),
            SUCCESS,
            id="tolerated by annotation",
        ),
        pytest.param(a_pod(toleration("", "Exists")), SUCCESS, id="everything is tolerated"),
        pytest.param(a_pod(toleration(KEY, "Equal", "")), SUCCESS, id="equal to nothing"),
        pytest.param(a_pod(toleration(KEY, "Equal", "x")), refused(REASON), id="equal to text"),
        pytest.param(
            a_pod(toleration(KEY, "Exists", effect="NoExecute")), refused(REASON), id="other effect"
        ),
        pytest.param(a_pod(toleration("", "Lt", "1")), refused(REASON), id="below a number"),
        pytest.param(a_pod({"expression": f"taint.key == '{KEY}'"}), SUCCESS, id="by expression"),
        pytest.param(
            a_pod({"expression": "taint.value != ''"}), refused(REASON), id="not by expression"
        ),
        pytest.param(
            a_pod(toleration(KEY, "Exists"), annotated_tolerations="{"),
            refused(
                f"pod annotation {PREFIX}tolerations is invalid: line 2: did not find expected node"
                " content"
            ),
            id="an annotation that cannot be read refuses, tolerated or not",
        ),
    ],
)
def test_filter_of_a_cordoned_node(pod: Pod, expected: Status) -> None:
    assert judge(PLUGIN, pod, CORDONED) == expected


def test_a_node_that_is_not_cordoned_passes() -> None:
    assert judge(PLUGIN, a_pod(), a_node("free")) == SUCCESS
    assert judge(PLUGIN, a_pod(), a_node("tainted", taint(KEY))) == SUCCESS


def test_the_taint_is_fixed_whatever_the_node_carries() -> None:
    node = a_node("cordoned", taint(KEY, "x", "NoExecute"), unschedulable=True)

    assert judge(PLUGIN, a_pod(toleration(KEY, "Equal", "x")), node) == refused(REASON)
    assert judge(PLUGIN, a_pod(toleration(KEY, "", "", "NoSchedule")), node) == SUCCESS


def test_a_tolerated_cordon_is_no_affair_of_noexecute() -> None:
    pod = a_pod(annotated_tolerations=[toleration(KEY, "Exists", effect="NoSchedule")])

    for no_execute in ("narrow", "join"):
        plugin = NodeUnschedulable(Settings(no_execute=no_execute))
        assert judge(plugin, pod, CORDONED) == SUCCESS


def test_it_reads_nothing_else_of_a_node() -> None:
    assert question_of(PLUGIN, a_pod()).facet is UNSCHEDULABLE


def test_what_does_not_parse_is_noticed() -> None:
    pod = a_pod(toleration("sla", "Gt", "high"), toleration(KEY, "Lt", "5"))
    gates = FeatureGates(comparison_operators=False)

    assert question_of(PLUGIN, pod).findings == {
        Finding("toleration", "integer", "sla", "high"),
        Finding("taint", "integer", KEY, ""),
    }
    assert question_of(NodeUnschedulable(Settings(gates=gates)), pod).findings == frozenset()
