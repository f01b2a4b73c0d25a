"""The API server's door: shapes of answers, gates, limits, and every fault as an answer."""

import asyncio
import json
import logging
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from extender.config.schema import Config, Limits
from extender.framework.interface import Settings
from extender.match.cel.library.regex import Pattern
from extender.match.cel.plan.patterns import Afford
from extender.match.cel.program import Program, compile_expression
from extender.match.cel.work import Compilation, IsOver
from extender.match.gates import FeatureGates
from extender.review import admission
from extender.review.admission import AdmissionRequest
from extender.review.validation import Review
from extender.server import webhook
from extender.verbs import cel_budget
from tests.admitting import UID, admitting, review
from tests.builders import JSON, PREFIX, toleration
from tests.match.cel import hostile
from tests.review import objects
from tests.review.objects import with_tolerations
from tests.serving import connected, head
from tests.vectors import Row, gates_of, rows

GOOD = with_tolerations(toleration("sla", "Gt", "900", "NoSchedule"))
BAD = with_tolerations(toleration("sla", "Gt", "high"), toleration("zone", "Exists", "x"))
HOSTILE = " && ".join(["taint.value.matches('a')"] * 100)
CHEAP = "taint.key == 'sla'"


def in_bytes(body: Any) -> bytes:
    return msgspec.json.encode(body)


async def test_a_good_pod_is_allowed(tmp_path: Path) -> None:
    async with admitting(tmp_path) as api:
        answer = await api.ask(review(GOOD))

    assert answer == {"uid": UID, "allowed": True}


async def test_a_bad_pod_is_refused_as_upstream_would(tmp_path: Path) -> None:
    first = 'Invalid value: "high": must be a valid decimal integer in canonical form'
    second = 'Invalid value: "high": strconv.ParseInt: parsing "high": invalid syntax'
    third = "Invalid value: \"x\": value must be empty when `operator` is 'Exists'"
    async with admitting(tmp_path) as api:
        answer = await api.ask(review(BAD))

    assert answer == {
        "uid": UID,
        "allowed": False,
        "status": {
            "status": "Failure",
            "code": 422,
            "reason": "Invalid",
            "message": (
                f"[spec.tolerations[0].value: {first}, spec.tolerations[0].value: {second},"
                f" spec.tolerations[1].operator: {third}]"
            ),
            "details": {
                "kind": "Pod",
                "name": "web",
                "causes": [
                    {
                        "reason": "FieldValueInvalid",
                        "field": "spec.tolerations[0].value",
                        "message": first,
                    },
                    {
                        "reason": "FieldValueInvalid",
                        "field": "spec.tolerations[0].value",
                        "message": second,
                    },
                    {
                        "reason": "FieldValueInvalid",
                        "field": "spec.tolerations[1].operator",
                        "message": third,
                    },
                ],
            },
        },
    }


async def test_a_warning_goes_with_the_answer(tmp_path: Path) -> None:
    async with admitting(tmp_path) as api:
        answer = await api.ask(review(with_tolerations(toleration("sla", "Lt", "0"))))

    assert answer["allowed"] is True
    assert answer["warnings"] == [
        "spec.tolerations[0].value: no taint can have a value below 0, so this never matches:"
        " use a larger bound, or Exists"
    ]


async def test_a_misplaced_rule_is_warned_about(tmp_path: Path) -> None:
    deployment = {"metadata": {"name": "web", "annotations": {f"{PREFIX}tolerations": "[]"}}}
    async with admitting(tmp_path) as api:
        answer = await api.ask(review(deployment, kind="Deployment", group="apps"))

    assert answer["allowed"] is True
    assert answer["warnings"] == [
        f"metadata.annotations[{PREFIX}tolerations]: nobody reads it here: move it to"
        " spec.template.metadata.annotations, which pods get"
    ]


@pytest.mark.parametrize("annotated", [False, True], ids=["native", "annotated"])
@pytest.mark.parametrize("name", ["validation", "validation_node_selector"])
async def test_every_row_through_the_webhook(tmp_path: Path, name: str, annotated: bool) -> None:
    by_gates: dict[FeatureGates, list[Row]] = {}
    for row in rows(name):
        by_gates.setdefault(gates_of(row), []).append(row)
    put = objects.of_toleration_row if name == "validation" else objects.of_selector_row
    wrong = []
    for gates, asked in by_gates.items():
        async with admitting(tmp_path, Config(gates=gates)) as api:
            for row in asked:
                answer = await api.ask(review(put(row, annotated=annotated)))
                status = answer.get("status")
                causes = status["details"]["causes"] if status else []
                got = [(each["reason"], f"{each['field']}: {each['message']}") for each in causes]
                messages = objects.expected_messages(row, annotated=annotated)
                types = [error["type"] for error in row["errors"]]
                if got != list(zip(types, messages, strict=True)):
                    wrong.append((row, got))

    assert wrong == []
    assert sum(map(len, by_gates.values())) > 100


@pytest.mark.parametrize(
    ("kind", "group", "path"),
    [
        ("Deployment", "apps", "spec.template."),
        ("StatefulSet", "apps", "spec.template."),
        ("DaemonSet", "apps", "spec.template."),
        ("ReplicaSet", "apps", "spec.template."),
        ("Job", "batch", "spec.template."),
        ("CronJob", "batch", "spec.jobTemplate.spec.template."),
    ],
)
async def test_templates_are_judged_under_their_path(
    tmp_path: Path, kind: str, group: str, path: str
) -> None:
    annotated = with_tolerations(toleration("sla", "Gt", "high"), annotated=True)
    template: JSON = {"metadata": annotated["metadata"], "spec": BAD["spec"]}
    spec: JSON = {"template": template}
    if kind == "CronJob":
        spec = {"jobTemplate": {"spec": spec}}
    async with admitting(tmp_path) as api:
        answer = await api.ask(
            review({"metadata": {"name": "web"}, "spec": spec}, kind=kind, group=group)
        )
        counted = api.counted(kind, "false")

    details = answer["status"]["details"]
    assert (details["group"], details["kind"], details["name"]) == (group, kind, "web")
    assert [cause["field"] for cause in details["causes"]] == [
        f"{path}metadata.annotations[{PREFIX}tolerations][0].value",
        f"{path}metadata.annotations[{PREFIX}tolerations][0].value",
        f"{path}spec.tolerations[0].value",
        f"{path}spec.tolerations[0].value",
        f"{path}spec.tolerations[1].operator",
    ]
    assert counted == 1


async def test_volumes_are_judged(tmp_path: Path) -> None:
    selector = {"nodeSelectorTerms": [objects.term({"key": "k", "operator": "Nope"})]}
    annotations = {f"{PREFIX}node-affinity": json.dumps({"required": selector})}
    volume = {
        "metadata": {"name": "disk", "annotations": annotations},
        "spec": {"nodeAffinity": {}},
    }
    async with admitting(tmp_path) as api:
        answer = await api.ask(review(volume, kind="PersistentVolume"))

    assert [
        f"{each['field']}: {each['message']}" for each in answer["status"]["details"]["causes"]
    ] == [
        f"metadata.annotations[{PREFIX}node-affinity].required.nodeSelectorTerms[0]"
        '.matchExpressions[0].operator: Invalid value: "Nope": not a valid selector operator',
        "spec.nodeAffinity.required: Required value: must specify required node constraints",
    ]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(review(None, BAD, operation="DELETE"), id="a deletion"),
        pytest.param(review(BAD, operation="DELETE"), id="a deletion that has an object"),
        pytest.param(review(BAD, operation="CONNECT"), id="a connection"),
        pytest.param(review(None), id="no object"),
        pytest.param(review(BAD, kind="ConfigMap"), id="another kind"),
        pytest.param(review(BAD, group="example.com"), id="the same kind of another group"),
        pytest.param(review(BAD, subResource="status"), id="a subresource"),
        pytest.param(review({"spec": None}), id="no specification"),
        pytest.param(review({"metadata": None}), id="no metadata"),
        pytest.param(review({"spec": {}}, kind="Deployment", group="apps"), id="no template"),
        pytest.param(review({}, kind="CronJob", group="batch"), id="an empty CronJob"),
        pytest.param(
            review({"spec": {"jobTemplate": {}}}, kind="CronJob", group="batch"), id="no job"
        ),
        pytest.param(review({}, kind="PersistentVolume"), id="an empty volume"),
        pytest.param(review(BAD, BAD), id="an update that changes nothing"),
        pytest.param(review({"spec": {}}, BAD), id="an update that takes the rules away"),
    ],
)
async def test_what_is_allowed_as_it_is(tmp_path: Path, body: JSON) -> None:
    async with admitting(tmp_path) as api:
        answer = await api.ask(body)

    assert answer == {"uid": UID, "allowed": True}


async def test_an_update_may_keep_an_operator_whose_gate_is_off(tmp_path: Path) -> None:
    config = Config(gates=replace(FeatureGates(), comparison_operators=False))
    kept = with_tolerations(toleration("sla", "Gt", "950", "NoSchedule"))
    async with admitting(tmp_path, config) as api:
        created = await api.ask(review(GOOD))
        updated = await api.ask(review(kept, GOOD))
        spoiled = await api.ask(review(BAD, GOOD))

    assert created["status"]["message"] == (
        'spec.tolerations[0].operator: Unsupported value: "Gt":'
        ' supported values: "Equal", "Exists", "Lt", "Gt"'
    )
    assert updated["allowed"] is True
    assert spoiled["allowed"] is False


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(b"", "the AdmissionReview cannot be read", id="empty"),
        pytest.param(b"{", "the AdmissionReview cannot be read", id="half"),
        pytest.param(b"[]", "the AdmissionReview cannot be read", id="a list"),
        pytest.param(b"{}", "the AdmissionReview cannot be read", id="nothing in it"),
        pytest.param(b"\xff{}", "the body is not UTF-8", id="not UTF-8"),
        pytest.param(b"[" * 100_000, "the AdmissionReview cannot be read", id="deep"),
        pytest.param(
            b'{"x":' * 100_000, "the AdmissionReview is nested too deeply", id="deep in a key"
        ),
        pytest.param(in_bytes(review(GOOD)) + b"x", "cannot be read", id="trailing bytes"),
        pytest.param(
            in_bytes(review(GOOD) | {"apiVersion": "admission.k8s.io/v1beta1"}),
            "the body is 'AdmissionReview' of 'admission.k8s.io/v1beta1', not an AdmissionReview of"
            " admission.k8s.io/v1",
            id="another version",
        ),
        pytest.param(
            in_bytes(review(GOOD) | {"kind": "Pod"}), "the body is 'Pod'", id="another kind"
        ),
        pytest.param(in_bytes(review(GOOD) | {"request": None}), "cannot be read", id="no request"),
        pytest.param(
            in_bytes(review({"spec": {"tolerations": "Gt"}})),
            "the object cannot be read: Expected `array | null`, got `str` - at `$.spec.toler",
            id="an object of wrong types",
        ),
        pytest.param(
            in_bytes(review(GOOD, {"spec": 7})),
            "the oldObject cannot be read",
            id="an old object of wrong types",
        ),
    ],
)
async def test_a_body_that_makes_no_sense_is_400_and_a_sentence(
    tmp_path: Path, body: bytes, says: str
) -> None:
    async with admitting(tmp_path) as api:
        status, text = await api.post(body)
        again = await api.ask(review(GOOD))
        counted = api.counted("", "", "400")

    assert status == 400
    assert says in text
    assert text.count("\n") == 1
    assert "Traceback" not in text
    assert again["allowed"] is True
    assert counted == 1


async def test_the_limits_of_the_scheduler_listener_hold_here_too(tmp_path: Path) -> None:
    config = Config(limits=Limits(request_bytes=10_000))
    async with admitting(tmp_path, config) as api:
        too_large, _ = await api.post(b"x" * 10_001)
        packed, text = await api.post(b"x", headers={"Content-Encoding": "gzip"})
        elsewhere, _ = await api.post(in_bytes(review(GOOD)), path="/filter")
        async with api.session.get(f"{api.admission}/admission/validate", ssl=api.tls) as response:
            got = response.status

    assert too_large == 413
    assert (packed, text.count("\n")) == (415, 1)
    assert elsewhere == 404
    assert got == 405


async def test_an_internal_fault_is_500_and_goes_to_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("secret")

    async with admitting(tmp_path) as api:
        with monkeypatch.context() as patch:
            patch.setattr(admission, "judged", broken)
            status, text = await api.post(in_bytes(review(GOOD)))
        again = await api.ask(review(GOOD))

    assert status == 500
    assert text == "internal fault (ZeroDivisionError): see the log of the extender\n"
    assert "secret" in caplog.text
    assert again["allowed"] is True


async def test_costly_expressions_do_not_hold_up_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one review waits for the compiler another one is answered."""
    answered = threading.Event()

    def slow(text: str, afford: Afford) -> Program:
        if text != CHEAP:
            assert answered.wait(30)
        return compile_expression(text, afford)

    monkeypatch.setattr(cel_budget, "compile_expression", slow)
    costly = with_tolerations({"expression": f"{HOSTILE} && taint.key"})
    cheap = with_tolerations({"expression": CHEAP})
    async with admitting(tmp_path) as api:
        waiting = asyncio.create_task(api.ask(review(costly)))
        meanwhile = await api.ask(review(cheap))
        unfinished = not waiting.done()
        answered.set()
        answer = await waiting

    assert meanwhile["allowed"] is True
    assert unfinished
    assert "compilation failed: ERROR: <input>:1:" in answer["status"]["message"]


@pytest.mark.parametrize(
    ("letters", "problem"),
    [
        pytest.param(200, "it takes more than 20000 instructions", id="too large"),
        pytest.param(16, "may take 400000 instructions in all", id="as large as may be"),
    ],
)
async def test_large_patterns_are_compiled_beside_the_loop(
    letters: int, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In portions, between which others have their turn, and only as many as one object may."""
    threads: list[str] = []
    compile_ = Pattern.compile
    portions: list[float] = []
    go_on = Compilation.go_on

    def noted(pattern: Pattern) -> None:
        threads.append(threading.current_thread().name)
        compile_(pattern)

    def counted(compilation: Compilation, allowance: float, *more: IsOver) -> bool:
        portions.append(allowance)
        return go_on(compilation, allowance, *more)

    monkeypatch.setattr(Pattern, "compile", noted)
    monkeypatch.setattr(Compilation, "go_on", counted)
    monkeypatch.setattr(cel_budget, "PORTION", 1_000_000)
    rules = [{"expression": each} for each in hostile.patterns(100, letters)]
    async with admitting(tmp_path) as api:
        answer = await api.ask(review(with_tolerations(*rules)))

    assert problem in answer["status"]["message"]
    assert threads == ([] if letters == 200 else ["cel_0"] * 20)
    # A hundred texts take 1,080,000 without what they compile to.
    assert portions == [1_000_000] * (2 if letters == 200 else 6)


async def test_few_characters_with_large_patterns_go_to_the_thread_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What patterns cost shows when an expression is parsed, and the loop stops there."""
    threads: list[str] = []
    compile_ = Pattern.compile

    def noted(pattern: Pattern) -> None:
        threads.append(threading.current_thread().name)
        compile_(pattern)

    monkeypatch.setattr(Pattern, "compile", noted)
    rules = [{"expression": each} for each in hostile.patterns(5, 16)]
    async with admitting(tmp_path) as api:
        answer = await api.ask(review(with_tolerations(*rules)))

    assert answer["allowed"] is True
    assert threads == ["cel_0"] * 5


async def test_a_large_review_is_judged_beside_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a large review is judged another one is answered."""
    answered = threading.Event()
    judged = admission.judged

    def slow(asked: AdmissionRequest, settings: Settings) -> Review | None:
        if len(bytes(asked.object)) > webhook.INLINE_BYTES:
            assert answered.wait(30)
        return judged(asked, settings)

    monkeypatch.setattr(admission, "judged", slow)
    many = with_tolerations(*[toleration("sla", "Nope")] * 2_000)
    async with admitting(tmp_path) as api:
        waiting = asyncio.create_task(api.ask(review(many)))
        meanwhile = await api.ask(review(GOOD))
        unfinished = not waiting.done()
        answered.set()
        answer = await waiting

    assert meanwhile["allowed"] is True
    assert unfinished
    assert len(answer["status"]["details"]["causes"]) == 100


async def test_a_review_whose_client_has_gone_is_compiled_no_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, gone = threading.Event(), threading.Event()
    compiled: list[str] = []

    def slow(text: str, afford: Afford) -> Program:
        compiled.append(text)
        begun.set()
        assert gone.wait(30)
        return compile_expression(text, afford)

    monkeypatch.setattr(cel_budget, "compile_expression", slow)
    texts = [f"{HOSTILE} && taint.key == '{number}'" for number in range(5)]
    costly = with_tolerations(*({"expression": text} for text in texts))
    async with admitting(tmp_path) as api:
        asking = asyncio.create_task(api.ask(review(costly)))
        await asyncio.to_thread(begun.wait, 30)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await asyncio.sleep(0.1)  # until the server sees that the connection is closed
        gone.set()
        answer = await api.ask(review(with_tolerations({"expression": f"{HOSTILE} || true"})))

    assert answer["allowed"] is True
    assert compiled == [texts[0], f"{HOSTILE} || true"]


async def test_a_review_is_never_larger_than_the_api_server_sends(tmp_path: Path) -> None:
    async with (
        admitting(tmp_path) as api,
        connected(api.admission, api.tls) as connection,
    ):
        length = f"Content-Length: {webhook.MAX_BYTES + 1}"
        await connection.send(head("admission/validate", length))
        reply = await connection.reply()

    assert reply.status == 413


async def test_what_is_answered_is_logged_and_measured(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, webhook.log.name)
    async with admitting(tmp_path) as api:
        await api.ask(review(BAD))
        await api.ask(review(GOOD))
        await api.ask(review(GOOD, kind="ConfigMap"))
        counted = [api.counted("Pod", "false"), api.counted("Pod", "true")]
        other = api.counted("other", "true")
        seconds = api.metrics.registry.get_sample_value(
            "leeway_admission_request_duration_seconds_count"
        )

    fields = [getattr(record, "fields", {}) for record in caplog.records]
    assert fields[0] | {"ms": 0} == {
        "kind": "Pod",
        "object": "default/web",
        "operation": "CREATE",
        "allowed": False,
        "warnings": 0,
        "ms": 0,
        "error": (
            'spec.tolerations[0].value: Invalid value: "high": must be a valid decimal integer in'
            " canonical form"
        ),
    }
    assert counted == [1, 1]
    assert other == 1
    assert seconds == 3
