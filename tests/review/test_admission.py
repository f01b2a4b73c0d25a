"""Bytes to a request and back; the rest is asked through the webhook."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.errors import BadRequestError
from extender.framework.interface import Settings
from extender.review import admission, fields
from extender.review.admission import AdmissionRequest
from extender.review.pitfalls import Pitfall
from extender.review.validation import Report
from tests.admitting import UID, review
from tests.builders import JSON

JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
KEYS = st.sampled_from(
    ["metadata", "annotations", "spec", "template", "tolerations", "affinity", "nodeAffinity"]
)
SHAPED = st.recursive(
    JSONS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)


def request(document: JSON) -> AdmissionRequest:
    return admission.decode(json.dumps(document).encode())


def test_no_name_is_an_empty_name() -> None:
    asked = request(review({"metadata": {"generateName": "web-"}}))
    report = Report((fields.forbidden("a", "x"),), (Pitfall("b", "y"),))
    answer = msgspec.json.decode(admission.encode(asked, report))

    assert answer == {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {
            "uid": UID,
            "allowed": False,
            "status": {
                "status": "Failure",
                "code": 422,
                "reason": "Invalid",
                "message": "a: Forbidden: x",
                "details": {
                    "kind": "Pod",
                    "name": "",
                    "causes": [
                        {"reason": "FieldValueForbidden", "field": "a", "message": "Forbidden: x"}
                    ],
                },
            },
            "warnings": ["b: y"],
        },
    }


def test_a_review_without_a_request_is_none() -> None:
    with pytest.raises(BadRequestError, match="cannot be read: it has no request"):
        request({**review({}), "request": None})


def test_a_null_is_what_go_reads() -> None:
    rule = {"key": "sla", "operator": "Gt", "value": None}
    asked = review({"metadata": {"name": None}, "spec": {"tolerations": [rule, None]}})
    asked["request"] |= {"namespace": None, "subResource": None, "name": None}
    empty = review({"metadata": {}, "spec": {"tolerations": [{**rule, "value": ""}, {}]}})

    assert asked_about(asked) == asked_about(empty)
    assert "spec.tolerations[0].value" in asked_about(asked)


def asked_about(document: JSON) -> list[str]:
    found = admission.judged(request(document), Settings())
    assert found is not None
    return [error.field for error in found.report(lambda _: None).errors]


@pytest.mark.parametrize(
    ("kind", "group", "label"),
    [("Pod", "", "Pod"), ("Pod", "example.com", "other"), ("x" * 999, "", "other")],
)
def test_the_label_of_a_kind_is_bounded(kind: str, group: str, label: str) -> None:
    assert admission.kind_label(request(review({}, kind=kind, group=group))) == label


def judge(body: bytes) -> None:
    """What the door does; only BadRequestError may come out of it."""
    try:
        asked = admission.decode(body)
        found = admission.judged(asked, Settings())
    except BadRequestError:
        return
    report = found.report(Settings().programs.failure) if found else Report()
    msgspec.json.decode(admission.encode(asked, report))


@given(st.binary())
def test_any_bytes_are_answered(body: bytes) -> None:
    judge(body)


@given(JSONS)
def test_any_json_is_answered(document: object) -> None:
    judge(json.dumps(document).encode())


@given(SHAPED, SHAPED, st.sampled_from(["Pod", "PersistentVolume"]))
def test_any_object_is_answered(new: object, old: object, kind: str) -> None:
    body = review({}, kind=kind)
    body["request"] |= {"object": new, "oldObject": old}
    judge(json.dumps(body).encode())


@given(st.dictionaries(st.sampled_from(["object", "kind", "uid", "name", "operation"]), JSONS))
def test_any_request_is_answered(parts: dict[str, object]) -> None:
    body = review({})
    body["request"] |= parts
    judge(json.dumps(body).encode())


@given(st.text() | JSONS.map(json.dumps), st.text() | JSONS.map(json.dumps))
def test_any_annotation_is_answered(tolerations: str, affinity: str) -> None:
    annotations = {
        "scheduling.leeway/tolerations": tolerations,
        "scheduling.leeway/node-affinity": affinity,
    }
    judge(json.dumps(review({"metadata": {"annotations": annotations}})).encode())
