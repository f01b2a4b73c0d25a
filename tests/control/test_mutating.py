import asyncio
import base64
import json
from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from extender.control import mutating
from extender.control.mutating import MutatingWebhook
from extender.control.planner import Planner
from extender.errors import BadRequestError
from extender.framework.interface import Settings
from extender.metrics import ControllerMetrics
from extender.model.core_v1 import Node
from extender.native.mutation import Mutator
from extender.native.settings import CompileSettings
from extender.native.universe import TaintUniverse
from extender.review import admission
from extender.verbs.cel_budget import CelBudget
from tests import json_patch
from tests.builders import JSON, PREFIX
from tests.control.building import GOLD, RECORD, SYSTEM, equal, guard, node_of, pod_of

RULES = PREFIX + "tolerations"
COSTLY = {"expression": " || ".join(f"taint.value == '{i}'" for i in range(700, 1000))}


def review_of(new: Any, old: Any = None, **request: Any) -> str:
    asked = {
        "uid": "r1",
        "kind": {"group": "", "kind": "Pod"},
        "operation": "UPDATE" if old else "CREATE",
        "object": new,
        "oldObject": old,
        **request,
    }
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}
    return json.dumps(review)


class Asked:
    """A webhook in a cluster with one tainted node, and what it counts."""

    def __init__(self) -> None:
        settings, compiling, taints = Settings(), CompileSettings(), TaintUniverse()
        taints.put("a", msgspec.convert(node_of("a", "950"), Node))
        self.cel = CelBudget(settings)
        self.registry = CollectorRegistry()
        self.webhook = MutatingWebhook(
            Mutator(settings, compiling),
            Planner(settings, compiling, taints, self.cel),
            ControllerMetrics(self.registry),
        )

    async def response(self, new: Any, old: Any = None, **request: Any) -> JSON:
        with self.cel.running():
            return await self.answered(review_of(new, old, **request))

    async def answered(self, review: str) -> JSON:
        answer = await self.webhook.answer(admission.decode(review.encode()))
        response: JSON = json.loads(answer)["response"]
        assert response["uid"] == "r1"
        return response

    async def changed(self, new: JSON, old: JSON | None = None) -> JSON:
        response = await self.response(new, old)
        assert response["allowed"]
        operations = json.loads(base64.b64decode(response.get("patch", "W10=")))
        assert bool(operations) == (response.get("patchType") == "JSONPatch")
        return json_patch.applied(new, operations)

    def counted(self, operation: str, result: str) -> float | None:
        labels = {"operation": operation, "result": result}
        return self.registry.get_sample_value("leeway_compile_mutations_total", labels)


async def test_a_new_pod_comes_in_compiled() -> None:
    asked = Asked()
    changed = await asked.changed(pod_of(GOLD))

    assert changed["spec"]["tolerations"] == [SYSTEM, equal("950")]
    assert asked.counted("CREATE", "compiled") == 1


async def test_a_copied_guard_and_its_record_stay_outside() -> None:
    copied = pod_of(GOLD, native=[SYSTEM, guard(999)], annotations={RECORD: '["sla"]'})
    changed = await Asked().changed(copied)

    assert changed["spec"]["tolerations"] == [SYSTEM, equal("950")]
    assert RECORD not in changed["metadata"]["annotations"]


async def test_an_update_gets_back_what_a_manifest_dropped() -> None:
    old = pod_of(
        GOLD,
        node="a",
        native=[SYSTEM, equal("950", "NoExecute"), guard()],
        annotations={RECORD: '["sla"]'},
    )
    asked = Asked()
    changed = await asked.changed(pod_of(GOLD, node="a"), old)

    assert changed["spec"]["tolerations"] == [SYSTEM, equal("950", "NoExecute"), guard()]
    assert changed["metadata"]["annotations"][RECORD] == '["sla"]'
    assert asked.counted("UPDATE", "restored") == 1


async def test_node_affinity_that_nobody_would_enforce_is_refused() -> None:
    asked = Asked()
    response = await asked.response(pod_of(annotations={PREFIX + "node-affinity": "{}"}))

    assert not response["allowed"]
    assert response["status"]["code"] == 422
    assert response["status"]["message"].startswith(
        "metadata.annotations[scheduling.leeway/node-affinity]: Forbidden: compile mode cannot"
    )
    assert asked.counted("CREATE", "refused") == 1


async def test_costly_expressions_are_worked_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutating, "SECONDS", 60.0)  # however busy the machine is
    changed = await Asked().changed(pod_of(COSTLY))

    assert changed["spec"]["tolerations"] == [SYSTEM, equal("950")]


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param({"kind": {"group": "apps", "kind": "Deployment"}}, id="another kind"),
        pytest.param({"subResource": "status"}, id="a subresource"),
        pytest.param({"operation": "DELETE"}, id="another operation"),
    ],
)
async def test_what_is_not_asked_about_comes_in_as_it_is(request_: JSON) -> None:
    response = await Asked().response(pod_of(GOLD), **request_)

    assert response == {"uid": "r1", "allowed": True}


NO_PODS = [
    pytest.param(7, id="a number"),
    pytest.param({"spec": {"nodeName": 7}}, id="a node that is a number"),
    pytest.param({"metadata": []}, id="a list for an object"),
    pytest.param({"spec": {"tolerations": 7}}, id="a number for a list"),
    pytest.param({"spec": {"tolerations": [7]}}, id="a number for a toleration"),
    pytest.param({"spec": {"tolerations": [{"key": 7}]}}, id="a number for a key"),
    pytest.param(
        {"spec": {"tolerations": [{"tolerationSeconds": "soon"}]}}, id="a text for a number"
    ),
    pytest.param({"metadata": {"annotations": {RULES: 7}}}, id="a number for an annotation"),
    pytest.param({"metadata": {"annotations": [RULES]}}, id="a list of annotations"),
]


@pytest.mark.parametrize("new", NO_PODS)
async def test_an_object_that_is_no_pod_is_a_bad_request(new: Any) -> None:
    with pytest.raises(BadRequestError, match="the object cannot be read"):
        await Asked().response(new)


@pytest.mark.parametrize("old", NO_PODS)
async def test_neither_is_an_old_object(old: Any) -> None:
    with pytest.raises(BadRequestError, match="the oldObject cannot be read"):
        await Asked().response(pod_of(GOLD), old)


async def test_an_update_without_an_old_object_is_a_bad_request() -> None:
    with pytest.raises(BadRequestError, match="the oldObject cannot be read"):
        await Asked().response(pod_of(GOLD), operation="UPDATE")


@pytest.mark.parametrize("field", ["metadata", "tolerations"])
async def test_a_pod_that_is_nested_too_deeply_is_a_bad_request(field: str) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    body = f'{{"uid":"r1","kind":{{"kind":"Pod"}},"operation":"CREATE","object":{POD_OF[field]}}}'
    with pytest.raises(BadRequestError):
        await Asked().answered('{"request":' + body.replace("DEEP", deep) + "}")


POD_OF = {
    "metadata": '{"metadata":{"managedFields":DEEP}}',
    "tolerations": '{"spec":{"tolerations":[{"key":"a","odd":DEEP}]}}',
}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[{", id="no YAML"),
        pytest.param("[" * 5_000 + "]" * 5_000, id="deep"),
        pytest.param("- " * 100_000, id="200 KiB of nested lists"),
        pytest.param("# " + "x" * 250_000, id="250 KiB of nothing"),
        pytest.param(json.dumps([GOLD] * 4_500)[:-1], id="220 KiB that end too early"),
        pytest.param(json.dumps([{"expression": "(" * 10_000}]), id="an expression that is deep"),
        pytest.param(
            json.dumps([{"expression": "[1,2,3].all(a, " * 12 + "true" + ")" * 12}]),
            id="an expression that costs too much",
        ),
        pytest.param(
            json.dumps([{"expression": f"taint.value.matches('{'(a*)*' * 400}b')"}]),
            id="a pattern that costs too much",
        ),
        pytest.param(
            json.dumps([{"expression": f"taint.value == '{n}' && {n} > 1"} for n in range(4_000)]),
            id="4,000 expressions",
        ),
        pytest.param('"\\ud800"', id="half of a character"),
        pytest.param("- {expression: \"taint.key == '\\ud800'\"}", id="and as an expression"),
    ],
)
async def test_a_hostile_annotation_comes_in_as_it_is_and_a_neighbour_is_served(text: str) -> None:
    """What it costs is bounded by the webhook's own time, and the controller says what is wrong."""
    asked = Asked()
    with asked.cel.running():
        hostile, good = await asyncio.gather(
            asked.answered(review_of(pod_of(text))), asked.answered(review_of(pod_of(GOLD)))
        )
        updated = await asked.answered(review_of(pod_of(text), pod_of(text)))

    assert hostile["allowed"]
    assert "patch" not in hostile
    assert updated == {"uid": "r1", "allowed": True}
    assert "patch" in good


async def test_five_thousand_copied_guards_are_removed() -> None:
    keys = [f"k{number}" for number in range(5_000)]
    copied = pod_of(
        GOLD,
        native=[SYSTEM, *(guard(key=key) for key in keys)],
        annotations={RECORD: json.dumps(keys)},
    )
    changed = await Asked().changed(copied)

    assert changed["spec"]["tolerations"] == [SYSTEM, equal("950")]
    assert RECORD not in changed["metadata"]["annotations"]
