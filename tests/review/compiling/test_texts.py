"""Every object with rules in a text."""

import msgspec
import pytest

from extender.errors import DocumentError
from extender.framework.interface import Settings
from extender.model.core_v1 import Taint
from extender.native.settings import CompileSettings
from extender.review.compiling.texts import CompiledText, compile_text
from extender.review.compiling.workloads import Facts
from tests import json_patch

RULE = """'[{"key": "sla", "operator": "Gt", "value": "900"}]'"""
POD = f"""\
apiVersion: v1
kind: Pod
metadata: {{name: p, annotations: {{scheduling.leeway/tolerations: {RULE}}}}}
spec: {{}}
"""
VOLUME = "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv}\nspec: {}\n"
FACTS = Facts({Taint("sla", "950", "NoSchedule"): 1})


def compiled(text: str, facts: Facts = FACTS) -> CompiledText:
    return compile_text(text, facts, Settings(), CompileSettings())


def test_objects_know_their_document_and_line() -> None:
    found = compiled(f"{VOLUME}---\n{POD}---\n{POD}")

    assert [(each.document, each.line, each.item.name) for each in found.objects] == [
        (1, 6, "p"),
        (2, 11, "p"),
    ]
    assert all(each.is_stale for each in found.objects)


def test_all_patches_come_to_the_rewritten_text() -> None:
    found = compiled(POD.replace("spec: {}", "spec:\n  affinity:\n    podAffinity: {}"))

    (pod,) = found.objects
    changed = json_patch.applied(pod.item.data, pod.json_patch())  # type: ignore[arg-type]
    (again,) = compiled(found.rewritten()).objects

    assert again.item.data == changed
    assert not again.is_stale


def test_a_patch_removes_what_is_not_needed_any_more() -> None:
    before = compiled(POD).rewritten()
    (pod,) = compiled(before.replace("scheduling.leeway/tolerations", "gone")).objects

    assert [each["op"] for each in pod.json_patch()] == ["remove", "remove"]  # type: ignore[call-overload,index]
    patch = msgspec.to_builtins(pod.merge_patch())
    assert patch["spec"] == {"tolerations": None}
    assert patch["metadata"]["annotations"] == {"scheduling.leeway/compiled": None}


def test_what_validation_refuses_is_not_compiled() -> None:
    found = compiled(POD.replace('"900"', '"9e2"'))

    assert found.objects == ()
    assert {each.severity for each in found.remarks} == {"error"}
    assert found.remarks[0].line == 3


def test_what_cannot_be_parsed_is_a_fault() -> None:
    with pytest.raises(DocumentError):
        compiled("a: [")
