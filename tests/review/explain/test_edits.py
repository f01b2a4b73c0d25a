"""Pods with one rule changed, and the patch that says so."""

import msgspec
import pytest
from msgspec.structs import replace

from extender.framework import rules
from extender.model.core_v1 import (
    NodeSelector,
    Pod,
    PodSpec,
    Toleration,
    TopologySpreadConstraint,
    Volume,
)
from extender.model.documents import Plain
from extender.review.explain import edits
from extender.review.explain.edits import Editor
from tests.builders import JSON, PREFIX, a_pod, preferred, required, requirement, toleration
from tests.review.explain.asking import SETTINGS

EDITOR = Editor(SETTINGS)


def test_nothing_changed_is_no_patch() -> None:
    assert EDITOR.patch(a_pod(), a_pod()) == {}
    assert EDITOR.patch(Pod(), Pod()) == {}


def test_tolerations_of_either_carrier() -> None:
    pod = a_pod(toleration("a", "Exists"), annotated_tolerations=[toleration("b", "Gt", "1")])
    wanted = [Toleration("c", "Gt", "950")]

    assert EDITOR.patch(pod, EDITOR.with_tolerations(pod, "native", wanted)) == {
        "spec": {"tolerations": [{"key": "c", "operator": "Gt", "value": "950"}]}
    }
    changed = EDITOR.with_tolerations(pod, "annotation", wanted)
    assert EDITOR.patch(pod, changed) == {
        "metadata": {
            "annotations": {f"{PREFIX}tolerations": "- {key: c, operator: Gt, value: '950'}\n"}
        }
    }
    (read,) = rules.written_tolerations(changed, SETTINGS)[1]
    assert edits.brief(read) == edits.brief(wanted[0])


def test_what_a_controller_adds_is_not_in_a_patch() -> None:
    implicit = Toleration("added", "Exists")
    editor = Editor(SETTINGS, (implicit,))
    pod = edits.with_spec(a_pod(), tolerations=(implicit,))
    changed = editor.with_tolerations(pod, "native", [implicit, Toleration("own", "Exists")])

    assert editor.patch(pod, changed) == {
        "spec": {"tolerations": [{"key": "own", "operator": "Exists"}]}
    }


@pytest.mark.parametrize("carrier", ["native", "annotation"])
def test_required_terms_change_and_preferred_ones_stay(carrier: str) -> None:
    written = required([requirement("a", "Exists")]) | preferred((5, [requirement("b", "Exists")]))
    pod = a_pod(affinity=written, annotated_affinity=written)
    changed = EDITOR.with_required(pod, carrier, NodeSelector(()))

    affinity = (
        rules.native_affinity(changed)
        if carrier == "native"
        else rules.annotated_affinity(changed, SETTINGS)
    )
    assert affinity is not None
    assert affinity.required is not None
    assert affinity.required.node_selector_terms == ()
    assert affinity.preferred is not None
    assert affinity.preferred[0].weight == 5


def test_an_affinity_may_be_new() -> None:
    for carrier in ("native", "annotation"):
        changed = EDITOR.with_required(Pod(), carrier, NodeSelector(()))
        assert EDITOR.patch(Pod(), changed)


def test_a_label_that_is_taken_away_is_null_in_the_patch() -> None:
    before = a_pod(node_selector={"a": "1", "b": "2"})
    after = edits.with_spec(before, node_selector={"b": "3"})

    assert EDITOR.patch(before, after) == {"spec": {"nodeSelector": {"b": "3", "a": None}}}


def test_only_the_volumes_that_changed_are_in_a_patch() -> None:
    before = Pod(spec=PodSpec(volumes=(Volume("a"), Volume("b"))))
    after = Pod(spec=PodSpec(volumes=(Volume("a"), Volume("c"))))

    assert EDITOR.patch(before, after) == {"spec": {"volumes": [{"name": "c"}]}}


def test_one_constraint_of_several() -> None:
    first, second = TopologySpreadConstraint(1, "zone"), TopologySpreadConstraint(1, "rack")
    pod = Pod(spec=PodSpec(topology_spread_constraints=(first, second)))
    changed = edits.with_constraint(pod, 1, replace(second, max_skew=3))

    assert changed.spec is not None
    assert changed.spec.topology_spread_constraints == (first, replace(second, max_skew=3))


def test_texts_are_written_as_people_write_them() -> None:
    twice: dict[str, Plain] = {"key": "a", "value": "900"}

    assert edits.text_of([twice, twice]) == "- {key: a, value: '900'}\n- {key: a, value: '900'}\n"
    assert edits.text_of({"long": "x y" * 200 + "\nz"}).startswith("long: |-\n")
    assert edits.line_of(Toleration("k", "Equal", "é", toleration_seconds=0)) == (
        "{key: k, operator: Equal, value: é, tolerationSeconds: 0}"
    )


def test_labels_of_a_struct_are_kept_though_they_are_empty() -> None:
    constraint = msgspec.convert(
        {"labelSelector": {"matchLabels": {"a": ""}}}, TopologySpreadConstraint
    )

    assert edits.brief(constraint) == {"labelSelector": {"matchLabels": {"a": ""}}}


def test_constraints_with_the_same_key_are_replaced_and_not_merged() -> None:
    """A strategic merge finds constraints by their topology key alone."""
    hard = TopologySpreadConstraint(1, "zone", "DoNotSchedule")
    soft = TopologySpreadConstraint(1, "zone", "ScheduleAnyway")
    pod = edits.with_spec(a_pod(), topology_spread_constraints=(hard, soft))
    patch: JSON = EDITOR.patch(pod, edits.with_constraint(pod, 0, replace(hard, max_skew=2)))

    assert patch["spec"]["topologySpreadConstraints"][:2] == [
        {"$patch": "replace"},
        {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
    ]
