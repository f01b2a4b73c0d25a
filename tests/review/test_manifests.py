import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from extender.errors import DocumentError
from extender.framework.interface import Settings
from extender.review import manifests
from extender.review.manifests import Judged, Remark
from tests.review.test_admission import SHAPED

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    metadata:
      annotations:
        scheduling.leeway/tolerations: |
          # above 900
          - key: sla
            operator: Gt
            value: "high"
        scheduling.leeway/node-affinity: '{"color": "blue"}'
    spec:
      tolerations:
      - {key: sla, operator: Lt, value: "0"}
"""


def judge(text: str) -> Judged:
    return manifests.judge(text, Settings())


def lines(text: str) -> list[tuple[str, int | None, str]]:
    return [(each.severity, each.line, each.field) for each in judge(text).remarks]


def test_every_remark_has_its_line() -> None:
    template = "spec.template.metadata.annotations"

    assert lines(DEPLOYMENT) == [
        ("error", 14, f"{template}[scheduling.leeway/node-affinity].color"),
        ("error", 13, f"{template}[scheduling.leeway/tolerations][0].value"),
        ("error", 13, f"{template}[scheduling.leeway/tolerations][0].value"),
        ("warning", 17, "spec.template.spec.tolerations[0].value"),
    ]


def test_a_remark_names_its_object() -> None:
    remark = judge(DEPLOYMENT).remarks[-1]

    assert remark == Remark(
        "warning",
        17,
        "Deployment",
        "web",
        "spec.template.spec.tolerations[0].value",
        "no taint can have a value below 0, so this never matches: use a larger bound, or Exists",
    )


def test_documents_and_lists_are_taken_apart() -> None:
    pod = "{metadata: {generateName: w-}, spec: {tolerations: [{operator: Nope}]}}"
    text = f"""\
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  spec: {{tolerations: [{{operator: Nope}}]}}
- kind: ConfigMap
---
apiVersion: v1
kind: PodList
items:
- {pod}
- 7
"""
    found = judge(text)

    assert found.objects == 2
    assert [(each.line, each.name) for each in found.remarks] == [
        *[(7, "")] * 2,
        *[(13, "w-")] * 2,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---\n---\n",
        "just text",
        "- a\n- list\n",
        "replicas: 3\n",
        "kind: 7\n",
        "apiVersion: example.com/v1\nkind: Pod\nspec: {tolerations: wrong}\n",
        "apiVersion: v1\nkind: Deployment\nspec: {template: wrong}\n",
        "kind: List\nitems: {}\n",
    ],
)
def test_what_is_no_object_of_ours_is_skipped(text: str) -> None:
    assert judge(text) == Judged(0, ())


def test_json_is_judged() -> None:
    pod = {"kind": "Pod", "apiVersion": "v1", "spec": {"tolerations": [{"operator": "Nope"}]}}

    assert lines(json.dumps(pod, indent=1))[0] == ("error", 7, "spec.tolerations[0].operator")


def test_json_that_is_no_yaml_has_no_lines() -> None:
    spec = {"tolerations": [{"key": "\N{GRINNING FACE}", "operator": "Exists"}]}
    text = json.dumps({"kind": "Pod", "spec": spec})

    assert "\\ud83d" in text
    assert lines(text) == [("error", None, "spec.tolerations[0].key")]


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (
            "{tolerations: [{key: sla, operator: Gt, value: 950}]}",
            "spec.tolerations[0].value",
            'Invalid value: 950: value must be text: write "950"',
        ),
        (
            "{tolerations: {key: sla}}",
            "spec.tolerations",
            "Invalid value: tolerations must be a list, not a mapping:"
            " begin each entry with a dash",
        ),
    ],
)
def test_a_value_of_a_wrong_type_is_an_error(spec: str, field: str, message: str) -> None:
    (remark,) = judge(f"kind: Pod\nspec:\n  {spec}\n").remarks

    assert (remark.severity, remark.line) == ("error", 3)
    assert (remark.field, remark.message) == (field, message)


def test_an_object_that_is_none_is_an_error_at_its_beginning() -> None:
    (remark,) = judge("kind: Pod\nspec: 7\n").remarks

    assert (remark.line, remark.field) == (2, "spec")


def test_nulls_are_absent_fields() -> None:
    assert judge("kind: Pod\nspec: {tolerations: null, affinity: ~}\n") == Judged(1, ())


@pytest.mark.parametrize("text", ["a: [", "a: *b\n", "kind: Pod\nspec: " + "[" * 40])
def test_what_cannot_be_read_is_a_fault(text: str) -> None:
    with pytest.raises(DocumentError):
        judge(text)


def test_an_annotation_on_one_line_has_that_line() -> None:
    text = "kind: Pod\nmetadata:\n  annotations:\n    scheduling.leeway/tolerations: '[{}]'\n"

    assert lines(text)[0][1] == 4


def test_a_block_that_cannot_be_read_has_the_line_of_its_key() -> None:
    text = "kind: Pod\nmetadata:\n  annotations:\n    scheduling.leeway/tolerations: |\n      [\n"

    assert lines(text) == [("error", 4, "metadata.annotations[scheduling.leeway/tolerations]")]


@given(st.text() | SHAPED.map(lambda data: yaml.safe_dump({"kind": "Pod", "spec": data})))
def test_any_text_is_judged_or_is_a_fault(text: str) -> None:
    try:
        found = judge(text)
    except DocumentError:
        return
    count = text.count("\n") + 1
    assert all(each.line is None or 1 <= each.line <= count for each in found.remarks)
