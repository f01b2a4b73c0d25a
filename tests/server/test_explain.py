"""POST /explain on the ops listener."""

import asyncio
import json
from typing import Any

import pytest

from extender.config.schema import Config, Limits, ProfileConfig
from extender.errors import NotSyncedError
from extender.plugins import DEFAULT_WEIGHTS
from extender.review.explain.explaining import explaining
from extender.review.explain.inquiry import Inquiry
from extender.review.explain.schema import Explanation
from extender.review.explain.steps import Steps
from extender.server import explain
from tests.builders import (
    JSON,
    node_json,
    pod_json,
    preferred,
    required,
    requirement,
    taint,
    toleration,
)
from tests.serving import BrokenSource, Client, FixedSource, WholeCluster, served

ENABLED = Config(explain=True)
GOLD = node_json("gold", taint("sla", "950"))
PENDING = pod_json(toleration("sla", "Gt", "950"), name="report", namespace="batch")


async def asked(client: Client, body: Any, **more: Any) -> tuple[int, str]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with client.session.post(f"{client.ops}/explain", data=data, **more) as response:
        return response.status, await response.text()


async def explained(client: Client, pod: JSON, node: str | None = None) -> JSON:
    status, text = await asked(client, {"pod": pod, "node": node})
    assert status == 200, text
    answer: JSON = json.loads(text)
    return answer


async def test_there_is_no_such_path_unless_it_is_enabled() -> None:
    async with served(Config(), FixedSource(GOLD)) as client:
        assert (await asked(client, {"pod": PENDING}))[0] == 404


async def test_it_is_not_served_to_the_scheduler_and_takes_no_other_method() -> None:
    async with served(ENABLED, FixedSource(GOLD)) as client:
        assert (await client.post("explain", b"{}"))[0] == 404
        assert (await client.get("/explain"))[0] == 405


async def test_a_pending_pod() -> None:
    async with served(ENABLED, FixedSource(GOLD, node_json("x", taint("y")))) as client:
        answer = await explained(client, PENDING)

    assert (answer["kind"], answer["passing"], answer["nodes"]) == ("Explanation", 0, 2)
    assert answer["fix"]["changes"][0]["summary"] == "`Gt 950` misses sla=950: use 949"
    assert answer["derivation"] is None


async def test_one_node_in_depth() -> None:
    async with served(ENABLED, FixedSource(GOLD)) as client:
        answer = await explained(client, PENDING, "gold")

    (check,) = answer["derivation"]["taints"][0]["tolerations"]
    assert (check["parsedValue"], check["parsedTaint"], check["matches"]) == ("950", "950", False)


async def test_a_pod_that_lives_is_helped_by_its_owner() -> None:
    """The owner is named as far as the pod names it."""
    reference = {"kind": "ReplicaSet", "name": "report-abc", "controller": True}
    pod: JSON = {
        "metadata": {
            "name": "report-abc-x",
            "namespace": "batch",
            "uid": "u",
            "labels": {"pod-template-hash": "abc"},
            "ownerReferences": [reference],
        },
        "spec": {"nodeSelector": {"zone": "A"}},
    }
    async with served(ENABLED, FixedSource(node_json("n", labels={"zone": "a"}))) as client:
        fix = (await explained(client, pod))["fix"]

    assert fix["target"] == {"kind": "Deployment", "namespace": "batch", "name": "report"}
    assert fix["needsNewPod"] is True


async def test_a_workload_and_the_configured_profile() -> None:
    profile = ProfileConfig("extended-scheduler", DEFAULT_WEIGHTS)
    deployment = {
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"schedulerName": "extended-scheduler"}}},
    }
    config = Config(explain=True, profiles=(profile,))
    async with served(config, FixedSource(GOLD)) as client:
        ours = await explained(client, deployment)
        foreign = await explained(client, PENDING)

    assert (ours["pod"]["kind"], ours["passing"]) == ("Deployment", 0)
    assert foreign["passing"] == 1
    assert "only the node-affinity annotation" in foreign["notes"][0]


async def test_the_annotations_of_others_may_be_long() -> None:
    applied = {"kubectl.kubernetes.io/last-applied-configuration": "x" * 20_000}
    async with served(ENABLED, FixedSource(GOLD)) as client:
        answer = await explained(client, pod_json(annotations=applied))

    assert answer["nodes"] == 1


async def test_filter_says_the_same() -> None:
    nodes = [node_json(f"n{i}", taint("sla", str(945 + i))) for i in range(10)]
    names = [node["metadata"]["name"] for node in nodes]
    async with served(ENABLED, FixedSource(*nodes)) as client:
        answer = await explained(client, PENDING)
        filtered = await client.ask("filter", {"Pod": PENDING, "NodeNames": names})

    passing = [each["node"] for each in answer["verdicts"] if each["code"] == "Success"]
    assert sorted(passing) == sorted(filtered["NodeNames"])
    assert {
        each["node"]: each["reason"] for each in answer["verdicts"] if each["code"] != "Success"
    } == filtered["FailedAndUnresolvableNodes"]


async def test_what_is_said_is_bounded() -> None:
    nodes = [node_json(f"n{i}", taint(f"k{i}")) for i in range(600)]
    tolerations = [toleration(f"x{i}", "Exists") for i in range(200)]
    async with served(ENABLED, FixedSource(*nodes)) as client:
        answer = await explained(client, pod_json(*tolerations), "n1")

    assert (len(answer["verdicts"]), answer["omitted"]) == (500, 100)
    assert all(group["fix"] is None for group in answer["groups"])
    (check,) = answer["derivation"]["taints"]
    assert len(check["tolerations"]) == 200


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"{", 'the body must be {"pod": {...}, "node": "optional"}: '),
        (b"[]", 'the body must be {"pod": {...}, "node": "optional"}: '),
        (b"{}", 'the body must be {"pod": {...}, "node": "optional"}: '),
        (b'{"pod": "\xff"}', 'the body must be {"pod": {...}, "node": "optional"}: '),
        (b'{"pod": ' + b"[" * 5000 + b"]" * 5000 + b"}", "the body must be"),
        (b'{"pod": 5}', "pod: must be a Pod, or a workload with a pod template"),
        (b'{"pod": {"kind": "Service"}}', "pod: must be one object of the kinds Pod, PodTemplate"),
        (b'{"pod": {"kind": "List", "items": []}}', "pod: must be one object of the kinds"),
        (b'{"pod": {"spec": 5}}', "pod: Pod '': spec must be an object, not 5"),
        (b'{"pod": {"kind": "Job"}}', "pod: Job '': spec.template is missing"),
    ],
)
async def test_a_body_that_makes_no_sense(body: bytes, sentence: str) -> None:
    async with served(ENABLED, FixedSource(GOLD)) as client:
        status, text = await asked(client, body)

    assert status == 400
    assert text.startswith(sentence)
    assert len(text.splitlines()) == 1


async def test_the_limits_of_every_listener() -> None:
    config = Config(explain=True, limits=Limits(request_bytes=64))
    async with served(config, FixedSource(GOLD)) as client:
        assert (await asked(client, b" " * 65))[0] == 413
    async with served(ENABLED, FixedSource(GOLD)) as client:
        assert (await asked(client, b" " * (explain.MAX_BYTES + 1)))[0] == 413
        packed = await asked(client, b"x", headers={"Content-Encoding": "gzip"})
        assert packed[0] == 415


@pytest.mark.parametrize(
    "pod",
    [
        pod_json(*(toleration(f"x{i}", "Exists") for i in range(201))),
        pod_json(annotated_tolerations=" " * 16_385),
        pod_json(affinity=required(*([requirement("a", "Exists")] for _ in range(101)))),
        pod_json(affinity=preferred(*((1, [requirement("a", "Exists")]) for _ in range(101)))),
    ],
    ids=["tolerations", "an annotation", "terms", "preferences"],
)
async def test_too_many_rules_are_for_the_command(pod: JSON) -> None:
    async with served(ENABLED, FixedSource(GOLD)) as client:
        status, text = await asked(client, {"pod": pod})

    assert status == 413
    assert text.endswith("use the command leeway explain\n")


async def test_faults_are_sentences() -> None:
    async with served(ENABLED, FixedSource(GOLD)) as client:
        assert await asked(client, {"pod": PENDING, "node": "gld"}) == (
            422,
            "node 'gld' is not in the cluster; did you mean gold?\n",
        )
    async with served(ENABLED) as client:
        status, text = await asked(client, {"pod": PENDING})
        assert (status, text.startswith("no cluster source")) == (503, True)
    async with served(ENABLED, BrokenSource(NotSyncedError("not yet"), GOLD)) as client:
        assert await asked(client, {"pod": PENDING}) == (503, "not yet\n")
    async with served(ENABLED, BrokenSource(RuntimeError("secret"), GOLD)) as client:
        status, text = await asked(client, {"pod": PENDING})
        assert status == 500
        assert text == "internal fault (RuntimeError): see the log of the extender\n"


async def test_expressions_are_worked_on_beside_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("extender.verbs.cel_budget.LOOP_ALLOWANCE", 0)
    expression = "taint.key.size() > 1 && taint.value == '950'"
    pod = pod_json(annotated_tolerations=[{"expression": expression}])
    unreadable = pod_json(annotated_tolerations="[")
    nodes = [node_json(f"n{i}", taint("sla", str(i))) for i in range(30)]
    async with served(ENABLED, FixedSource(*nodes)) as client:
        answer = await explained(client, pod, "n1")
        broken = await explained(client, unreadable)

    assert answer["derivation"]["taints"][0]["tolerations"][0]["cost"] > 0
    assert broken["fix"]["advice"] == ["correct the annotation: every node is refused until then"]


async def test_too_costly_expressions_are_told_to_ask_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("extender.verbs.cel_budget.CALL_ALLOWANCE", 0)
    monkeypatch.setattr("extender.verbs.cel_budget.LOOP_ALLOWANCE", 0)
    pod = pod_json(annotated_tolerations=[{"expression": "taint.key == 'a'"}])
    async with served(ENABLED, FixedSource(GOLD)) as client:
        status, text = await asked(client, {"pod": pod, "node": "gold"})

    assert status == 503
    assert "take more work than one call may do" in text


async def test_others_have_their_turn_and_not_too_many_wait() -> None:
    nodes = [node_json(f"n{i}", taint("sla", str(i))) for i in range(300)]
    order: list[str] = []
    async with served(ENABLED, FixedSource(*nodes)) as client:

        async def explanation() -> int:
            status, _ = await asked(client, {"pod": PENDING})
            order.extend(["explain"] * (status == 200))  # who is turned away is told at once
            return status

        asking = [asyncio.create_task(explanation()) for _ in range(8)]
        await asyncio.sleep(0)
        while "explain" not in order:
            assert (await client.get("/livez"))[0] == 200
            order.append("livez")
        statuses = await asyncio.gather(*asking)

    assert order[0] == "livez"
    assert set(statuses) <= {200, 503}
    assert statuses.count(200) >= explain.MAX_WAITING


async def test_an_explanation_ends_when_its_client_has_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, steps = asyncio.Event(), [0]
    real = explaining

    def endless(inquiry: Inquiry) -> Steps[Explanation]:
        while inquiry.pod.metadata is not None and inquiry.pod.metadata.name == "endless":
            steps[0] += 1
            begun.set()
            yield
        return (yield from real(inquiry))

    monkeypatch.setattr(explain, "explaining", endless)
    async with served(ENABLED, FixedSource(GOLD)) as client:
        for _ in range(explain.MAX_WAITING + 1):
            begun.clear()
            body = {"pod": pod_json(name="endless")}
            asking = asyncio.create_task(asked(client, body))
            await begun.wait()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        answer = await explained(client, PENDING)
        made = steps[0]
        await asyncio.sleep(0.05)

    assert answer["nodes"] == 1
    assert steps[0] == made


async def test_a_question_that_compares_too_much_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(explain, "MAX_WORK", 5)
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    pod = pod_json(toleration("sla", "Gt", "950"))
    pod["spec"]["topologySpreadConstraints"] = [constraint]
    cluster = WholeCluster()
    cluster.become(nodes=[node_json(f"n{i}", labels={"zone": "a"}) for i in range(9)])
    async with served(ENABLED, cluster) as client:
        status, text = await asked(client, {"pod": pod, "node": "n1"})

    assert status == 413
    assert "more comparisons over these nodes than one call may do" in text
