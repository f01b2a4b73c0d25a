import json

import pytest

from extender.framework.interface import Settings
from extender.review import subjects
from tests.builders import JSON, PREFIX, requirement, toleration
from tests.review.objects import (
    ANNOTATED_AFFINITY,
    ANNOTATED_TOLERATIONS,
    NATIVE_AFFINITY,
    NATIVE_TOLERATIONS,
    preferred,
    required,
    ruled,
    term,
)

POD: JSON = {
    "metadata": {
        "annotations": {
            PREFIX + "tolerations": json.dumps([toleration("a", "Exists")]),
            PREFIX + "node-affinity": json.dumps(required(term(requirement("b", "Exists")))),
            "other": "x",
        }
    },
    "spec": {
        "tolerations": [toleration("c", "Exists")],
        "affinity": {"nodeAffinity": preferred(term(requirement("d", "Exists")))},
    },
}


def paths(document: JSON, group: str = "", kind: str = "Pod") -> list[str]:
    found = subjects.read(ruled(document, group, kind), Settings())
    return [carrier.path for carrier in found]


def test_the_carriers_of_a_pod_in_order() -> None:
    assert paths(POD) == [
        ANNOTATED_AFFINITY,
        ANNOTATED_TOLERATIONS,
        NATIVE_AFFINITY,
        NATIVE_TOLERATIONS,
    ]


def test_the_carriers_of_a_template_have_its_path() -> None:
    assert paths({"spec": {"template": POD}}, "apps", "Deployment") == [
        f"spec.template.{path}" for path in paths(POD)
    ]
    assert paths({"spec": {"jobTemplate": {"spec": {"template": POD}}}}, "batch", "CronJob") == [
        f"spec.jobTemplate.spec.template.{path}" for path in paths(POD)
    ]


def test_the_annotations_of_a_workload_itself_are_no_carriers() -> None:
    assert paths({"metadata": POD["metadata"], "spec": {}}, "apps", "Deployment") == []


@pytest.mark.parametrize(
    ("document", "group", "kind"),
    [
        ({}, "", "Pod"),
        ({"spec": {"affinity": {}}}, "", "Pod"),
        ({"spec": {"affinity": None, "tolerations": None}}, "", "Pod"),
        ({}, "apps", "Deployment"),
        ({}, "batch", "CronJob"),
        ({"spec": {"jobTemplate": {}}}, "batch", "CronJob"),
        ({"spec": {}}, "", "PersistentVolume"),
    ],
)
def test_what_is_not_there_carries_nothing(document: JSON, group: str, kind: str) -> None:
    assert paths(document, group, kind) == []


def test_rules_are_found_in_every_carrier() -> None:
    found = subjects.read(ruled(POD), Settings())
    keys = [rule.key for _, rules in subjects.tolerations(found) for rule in rules]
    terms = [each.match_expressions for each in subjects.terms(found)]

    assert keys == ["a", "c"]
    assert [each[0].key for each in terms if each] == ["b", "d"]


def test_a_preference_that_is_absent_is_no_term() -> None:
    affinity = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}
    found = subjects.read(ruled({"spec": {"affinity": {"nodeAffinity": affinity}}}), Settings())

    assert list(subjects.terms(found)) == []


def test_an_annotation_that_cannot_be_read_says_why() -> None:
    pod = {"metadata": {"annotations": {PREFIX + "tolerations": "[{color: blue}]"}}}
    (carrier,) = subjects.read(ruled(pod), Settings())

    assert carrier.rules is None
    assert carrier.annotated
    assert carrier.problem == (
        "[0].color is not a field of a toleration:"
        " it has key, operator, value, effect, tolerationSeconds, expression"
    )


def test_a_volume_has_its_own_shape() -> None:
    selector = {"required": {"nodeSelectorTerms": [term(requirement("b", "Exists"))]}}
    volume = {
        "metadata": {"annotations": {PREFIX + "node-affinity": json.dumps(selector)}},
        "spec": {"nodeAffinity": selector},
    }
    found = subjects.read(ruled(volume, "", "PersistentVolume"), Settings())

    assert [carrier.path for carrier in found] == [ANNOTATED_AFFINITY, "spec.nodeAffinity"]
    assert len(list(subjects.terms(found))) == 2
