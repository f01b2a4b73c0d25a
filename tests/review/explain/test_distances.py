"""Which node is the nearest, estimated for all of them."""

from collections.abc import Mapping

from extender.model.core_v1 import Pod
from extender.review.explain import distances
from extender.review.explain.distances import Distances
from extender.review.explain.steps import finished
from tests.builders import JSON, a_pod, node_json, taint, toleration
from tests.review.explain.asking import an_inquiry


def measured(pod: Pod, *nodes: JSON) -> Mapping[str, float]:
    inquiry = an_inquiry(pod, *nodes)
    return finished(Distances(inquiry, list(inquiry.snapshot.nodes.values())).measured())


def test_the_nearest_value_comes_first_and_a_cordon_last() -> None:
    found = measured(
        a_pod(toleration("sla", "Gt", "950")),
        node_json("passes", taint("sla", "951")),
        node_json("near", taint("sla", "950")),
        node_json("far", taint("sla", "10")),
        node_json("other", taint("gpu")),
        node_json("cordoned", taint("sla", "950"), unschedulable=True),
    )

    assert found["passes"] == 0
    assert sorted(found, key=found.__getitem__) == ["passes", "near", "far", "other", "cordoned"]


def test_an_unreadable_annotation_makes_all_nodes_equal() -> None:
    found = measured(a_pod(annotated_tolerations="["), node_json("a", taint("x")), node_json("b"))

    assert found["a"] == found["b"] > 0


def test_many_taint_sets_are_measured_up_to_a_bound() -> None:
    nodes = [node_json(f"n{i}", taint("sla", str(i))) for i in range(distances.MAX_TAINT_SETS + 5)]
    found = measured(a_pod(toleration("sla", "Gt", "1000")), *nodes)

    assert 0 < found["n499"] < found["n0"]
    assert found["n500"] == 3.0
