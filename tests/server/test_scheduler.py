"""The scheduler's door: shapes of answers, and every fault as an answer."""

import asyncio
import logging
from typing import Any

import aiohttp
import msgspec
import pytest

from extender import plugins
from extender.errors import NotSyncedError
from extender.framework.interface import NodeFilter, NodeScorer, Settings, Status
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Pod
from tests.builders import JSON, node_json, pod_json, taint, toleration
from tests.serving import (
    BrokenSource,
    FixedSource,
    connected,
    head,
    names_request,
    nodes_request,
    served,
    whole,
)

SPOT = node_json("spot", taint("sla", "950"))
PLAIN = node_json("plain")
VERBS = ("filter", "prioritize", "preempt")


def preempt_request(*names: str) -> JSON:
    victims = {name: {"Pods": [{"UID": f"{name}-victim"}], "NumPDBViolations": 0} for name in names}
    return {"Pod": pod_json(), "NodeNameToVictims": None, "NodeNameToMetaVictims": victims}


def request_of(verb: str, *names: str) -> JSON:
    return preempt_request(*names) if verb == "preempt" else names_request(pod_json(), *names)


def in_bytes(body: Any) -> bytes:
    return msgspec.json.encode(body)


async def test_filter_by_names_answers_in_names() -> None:
    async with served(source=FixedSource(SPOT, PLAIN)) as client:
        answer = await client.ask("filter", names_request(pod_json(), "spot", "plain"))

    assert answer == {
        "Nodes": None,
        "NodeNames": ["plain"],
        "FailedNodes": {},
        "FailedAndUnresolvableNodes": {"spot": "node(s) had untolerated taint {sla: 950}"},
        "Error": "",
    }


async def test_filter_by_nodes_answers_in_nodes() -> None:
    async with served() as client:
        pod = pod_json(toleration("sla", "Gt", "900"))
        answer = await client.ask("filter", nodes_request(pod, SPOT, PLAIN))

    assert answer["Nodes"]["items"] == [SPOT, PLAIN]
    assert answer["NodeNames"] is None
    assert answer["FailedAndUnresolvableNodes"] == {}


@pytest.mark.parametrize("verb", VERBS)
async def test_answers_are_json_of_a_known_length(verb: str) -> None:
    async with (
        served(source=FixedSource(PLAIN)) as client,
        connected(client.scheduler) as connection,
    ):
        await connection.send(whole(verb, in_bytes(request_of(verb, "plain"))))
        reply = await connection.reply()

    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    assert int(reply.headers["content-length"]) == len(reply.body)
    assert "transfer-encoding" not in reply.headers


async def test_one_connection_carries_many_requests_good_and_bad() -> None:
    async with (
        served(source=FixedSource(PLAIN)) as client,
        connected(client.scheduler) as connection,
    ):
        statuses = []
        for verb in VERBS * 10:
            await connection.send(whole(verb, in_bytes(request_of(verb, "plain"))))
            statuses.append((await connection.reply()).status)
            await connection.send(whole(verb, b"{"))
            statuses.append((await connection.reply()).status)

    assert statuses == [200, 400] * 30


async def test_requests_at_once_are_all_answered_for_what_they_asked() -> None:
    nodes = [node_json(f"node-{i}", taint("sla", str(i))) for i in range(40)]
    async with served(source=FixedSource(*nodes)) as client:

        async def passing(bound: int) -> list[str]:
            pod = pod_json(toleration("sla", "Lt", str(bound)))
            names = [node["metadata"]["name"] for node in nodes]
            answer = await client.ask("filter", names_request(pod, *names))
            return list(answer["NodeNames"])

        answers = await asyncio.gather(*map(passing, range(1, 41)))

    assert answers == [[f"node-{i}" for i in range(bound)] for bound in range(1, 41)]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD"])
async def test_a_verb_takes_only_post(verb: str, method: str) -> None:
    async with (
        served() as client,
        client.session.request(method, f"{client.scheduler}/{verb}") as response,
    ):
        assert response.status == 405
        assert response.headers["Allow"] == "POST"


@pytest.mark.parametrize(
    ("listener", "method", "path"),
    [
        *(
            pytest.param("scheduler", "GET", path, id=f"{path} on the scheduler listener")
            for path in ("/livez", "/readyz", "/metrics", "/version", "/status", "/")
        ),
        *(
            pytest.param("ops", method, f"/{verb}", id=f"{method} /{verb} on the ops listener")
            for verb in VERBS
            for method in ("POST", "GET")
        ),
    ],
)
async def test_each_listener_knows_only_its_own_paths(
    listener: str, method: str, path: str
) -> None:
    async with (
        served() as client,
        client.session.request(method, getattr(client, listener) + path) as response,
    ):
        assert response.status == 404


DEEP = b"[" * 100_000
IN_POD = b'{"Pod": {"metadata": {"x": ' + DEEP + b"]" * 100_000 + b'}}, "NodeNames": []}'


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(b"", "ExtenderArgs is not JSON", id="an empty body"),
        pytest.param(b"{", "ExtenderArgs is not JSON", id="half an object"),
        pytest.param(b"nonsense", "ExtenderArgs is not JSON", id="no JSON at all"),
        pytest.param(b'{"Pod": NaN}', "ExtenderArgs is not JSON", id="not a number"),
        pytest.param(
            b'{"Pod": {}, "NodeNames": []} x', "ExtenderArgs is not JSON", id="trailing bytes"
        ),
        pytest.param(
            b'{"Pod": {}, "NodeNames": []}{}', "ExtenderArgs is not JSON", id="a second document"
        ),
        pytest.param(
            b'{"Pod": {}, "NodeNames": ["\xff"]}', "the body is not UTF-8", id="bad UTF-8 in a name"
        ),
        pytest.param(
            b'{"Pod": {"ignored": "\xc3"}, "NodeNames": []}',
            "the body is not UTF-8",
            id="bad UTF-8 in a field that nobody reads",
        ),
        pytest.param(
            b'{"Pod": {}, "NodeNames": [], "x": "\xed\xa0\x80"}',
            "the body is not UTF-8",
            id="an encoded surrogate",
        ),
        pytest.param(DEEP, "ExtenderArgs", id="100,000 lists in each other"),
        pytest.param(DEEP + b"]" * 100_000, "ExtenderArgs", id="100,000 lists, all closed"),
        pytest.param(IN_POD, "ExtenderArgs is nested too deeply", id="too deep inside the pod"),
        pytest.param(b'{"a":' * 100_000, "ExtenderArgs", id="100,000 objects in each other"),
        pytest.param(b"[]", "ExtenderArgs: Expected `object`, got `array`", id="a list"),
        pytest.param(b"null", "ExtenderArgs: Expected `object`, got `null`", id="null"),
        pytest.param(
            b'{"Pod": "web-0", "NodeNames": []}',
            "ExtenderArgs: Expected `object | null`, got `str` - at `$.Pod`",
            id="text for a pod",
        ),
        pytest.param(
            b'{"Pod": {"spec": {"tolerations": [{}, {"key": 5}]}}, "NodeNames": []}',
            "ExtenderArgs: Expected `str`, got `int` - at `$.Pod.spec.tolerations[1].key`",
            id="a number for a key",
        ),
        pytest.param(
            b'{"Pod": {}, "NodeNames": ["a", 7]}',
            "ExtenderArgs: Expected `str`, got `int` - at `$.NodeNames[1]`",
            id="a number for a name",
        ),
        pytest.param(
            b'{"Pod": {}, "NodeNames": "a"}',
            "ExtenderArgs: Expected `array | null`, got `str` - at `$.NodeNames`",
            id="text for the names",
        ),
        pytest.param(
            b'{"Pod": {}, "Nodes": {"items": [{}, {"spec": {"taints": {}}}]}}',
            "ExtenderArgs: Nodes.items[1]: Expected `array | null`, got `object`"
            " - at `$.spec.taints`",
            id="an object for the taints of a node",
        ),
        pytest.param(
            b'{"Pod": {}, "Nodes": {"items": [5]}}',
            "ExtenderArgs: Nodes.items[0]: Expected `object | null`, got `int`",
            id="a number for a node",
        ),
        pytest.param(b'{"NodeNames": ["a"]}', "ExtenderArgs: Pod is missing", id="no pod"),
        pytest.param(
            b'{"Pod": null, "NodeNames": ["a"]}', "ExtenderArgs: Pod is missing", id="a null pod"
        ),
        pytest.param(b"{}", "ExtenderArgs: Pod is missing", id="an empty object"),
        pytest.param(
            b'{"Pod": {}}', "ExtenderArgs: neither Nodes nor NodeNames is given", id="no list"
        ),
        pytest.param(
            b'{"Pod": {}, "Nodes": null, "NodeNames": null}',
            "ExtenderArgs: neither Nodes nor NodeNames is given",
            id="both lists null",
        ),
    ],
)
@pytest.mark.parametrize("verb", ["filter", "prioritize"])
async def test_a_body_that_makes_no_sense(verb: str, body: bytes, says: str) -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        status, sentence = await client.post(verb, body)
        after = await client.ask("filter", names_request(pod_json(), "plain"))

    assert status == 400
    assert sentence.startswith(says)
    assert sentence.count("\n") == 1
    assert after["NodeNames"] == ["plain"]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(b"{", "ExtenderPreemptionArgs is not JSON", id="half an object"),
        pytest.param(b'{"Pod": {}} {}', "ExtenderPreemptionArgs is not JSON", id="trailing bytes"),
        pytest.param(b'{"x": "\xff"}', "the body is not UTF-8", id="bad UTF-8"),
        pytest.param(DEEP, "ExtenderPreemptionArgs", id="too deep"),
        pytest.param(b"{}", "ExtenderPreemptionArgs: Pod is missing", id="no pod"),
        pytest.param(
            b'{"Pod": {}, "NodeNameToMetaVictims": {"a": {"Pods": [{"UID": 1}]}}}',
            "ExtenderPreemptionArgs: Expected `str`, got `int` - at"
            " `$.NodeNameToMetaVictims[...].Pods[0].UID`",
            id="a number for a UID",
        ),
    ],
)
async def test_a_preemption_that_makes_no_sense(body: bytes, says: str) -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        status, sentence = await client.post("preempt", body)

    assert status == 400
    assert sentence.startswith(says)


class BrokenPlugin:
    """Breaks wherever it is asked, with a message that nobody outside should read."""

    name = "TaintToleration"

    def __init__(self, _settings: Settings) -> None:
        pass

    def signature(self, _pod: Pod) -> None:
        return None

    def pre_filter(self, _pod: Pod, _snapshot: Snapshot) -> NodeFilter | Status:
        raise RuntimeError("secret particulars")

    def pre_score(self, _pod: Pod, _snapshot: Snapshot) -> NodeScorer | Status:
        raise RuntimeError("secret particulars")


@pytest.fixture
def _broken_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = plugins.Descriptor(BrokenPlugin.name, BrokenPlugin, BrokenPlugin)
    monkeypatch.setattr(plugins, "PLUGINS", (broken,))


def assert_no_particulars(text: str) -> None:
    for forbidden in ("secret particulars", "Traceback", "RuntimeError(", 'File "', "<", "0x"):
        assert forbidden not in text


def assert_nothing_judged(answer: JSON, error: str) -> None:
    assert answer["Error"] == error
    assert not answer["NodeNames"]
    assert not (answer["Nodes"] or {}).get("items")
    assert answer["FailedNodes"] == {}
    assert answer["FailedAndUnresolvableNodes"] == {}


NOT_SYNCED = NotSyncedError("the cluster is not known yet")
INTERNAL = "internal fault (RuntimeError): see the log of the extender"


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        pytest.param(NOT_SYNCED, "the cluster is not known yet", id="not synced"),
        pytest.param(RuntimeError("secret particulars"), INTERNAL, id="an internal fault"),
    ],
)
async def test_filter_says_in_its_answer_what_went_wrong(fault: Exception, sentence: str) -> None:
    source = BrokenSource(fault, PLAIN)
    async with served(source=source) as client:
        answer = await client.ask("filter", names_request(pod_json(), "plain"))
        source.fault = None
        after = await client.ask("filter", names_request(pod_json(), "plain"))

    assert_nothing_judged(answer, sentence)
    assert after["NodeNames"] == ["plain"]


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        pytest.param(NOT_SYNCED, "the cluster is not known yet", id="not synced"),
        pytest.param(RuntimeError("secret particulars"), INTERNAL, id="an internal fault"),
    ],
)
@pytest.mark.parametrize("verb", ["prioritize", "preempt"])
async def test_other_verbs_answer_500_with_one_sentence(
    verb: str, fault: Exception, sentence: str
) -> None:
    source = BrokenSource(fault, PLAIN)
    async with served(source=source) as client:
        answer = await client.post(verb, in_bytes(request_of(verb, "plain")))
        source.fault = None
        after = await client.post(verb, in_bytes(request_of(verb, "plain")))

    assert answer == (500, sentence + "\n")
    assert after[0] == 200


async def test_without_a_source_only_whole_nodes_can_be_judged() -> None:
    async with served() as client:
        by_name = await client.ask("filter", names_request(pod_json(), "plain"))
        refused = [
            await client.post(verb, in_bytes(request_of(verb, "plain")))
            for verb in ("prioritize", "preempt")
        ]
        whole_nodes = await client.ask("filter", nodes_request(pod_json(), PLAIN))
        scores = await client.ask("prioritize", nodes_request(pod_json(), PLAIN))

    assert by_name["Error"].startswith("no cluster source: node names cannot be resolved")
    assert by_name["NodeNames"] == []
    assert [status for status, _ in refused] == [500, 500]
    assert all(text.startswith("no cluster source") for _, text in refused)
    assert all(text.count("\n") == 1 for _, text in refused)
    assert whole_nodes["Nodes"]["items"] == [PLAIN]
    assert scores == []


async def test_without_a_source_a_preemption_with_whole_pods_finds_no_node() -> None:
    victims = {"plain": {"Pods": [{"metadata": {"uid": "a"}}], "NumPDBViolations": 0}}
    async with served() as client:
        answer = await client.ask("preempt", {"Pod": pod_json(), "NodeNameToVictims": victims})

    assert answer == {"NodeNameToMetaVictims": {}}


@pytest.mark.usefixtures("_broken_plugin")
@pytest.mark.parametrize("mode", ["names", "nodes"])
async def test_a_plugin_that_breaks_makes_filter_an_error(mode: str) -> None:
    pod = pod_json()
    body = names_request(pod, "plain") if mode == "names" else nodes_request(pod, PLAIN)
    async with served(source=FixedSource(PLAIN)) as client:
        answer = await client.ask("filter", body)

    assert_nothing_judged(answer, "TaintToleration: internal fault (RuntimeError)")
    assert answer["NodeNames" if mode == "nodes" else "Nodes"] is None


@pytest.mark.usefixtures("_broken_plugin")
async def test_a_plugin_that_breaks_makes_preempt_500() -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        status, text = await client.post("preempt", in_bytes(request_of("preempt", "plain")))

    assert status == 500
    assert text == "TaintToleration: internal fault (RuntimeError)\n"


@pytest.mark.usefixtures("_broken_plugin")
async def test_a_plugin_that_breaks_has_no_say_in_prioritize() -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        answer = await client.ask("prioritize", request_of("prioritize", "plain"))

    assert answer == []


@pytest.mark.usefixtures("_broken_plugin")
@pytest.mark.parametrize("verb", VERBS)
async def test_the_cause_of_a_broken_plugin_is_in_the_log(
    verb: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        _, text = await client.post(verb, in_bytes(request_of(verb, "plain")))

    assert_no_particulars(text)
    assert "secret particulars" in caplog.text
    assert "Traceback" in caplog.text


@pytest.mark.parametrize("verb", VERBS)
async def test_the_cause_of_an_internal_fault_is_in_the_log_and_not_in_the_answer(
    verb: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(source=BrokenSource(RuntimeError("secret particulars"))) as client:
        _, text = await client.post(verb, in_bytes(request_of(verb, "plain")))

    assert_no_particulars(text)
    assert "secret particulars" in caplog.text
    assert "Traceback" in caplog.text


async def test_one_record_a_request_without_the_names_of_nodes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, logger="leeway")
    async with served(source=FixedSource(SPOT, PLAIN)) as client:
        pod = pod_json(name="job-7", namespace="batch")
        await client.ask("filter", names_request(pod, "spot", "plain", "stranger"))
        await client.ask("prioritize", nodes_request(pod, PLAIN))
        await client.ask("preempt", preempt_request("spot"))
        await client.post("filter", b"{")

    records = [record for record in caplog.records if record.name == "leeway.scheduler"]
    fields = [record.__dict__["fields"] for record in records]
    assert [record.getMessage() for record in records] == [
        "filter",
        "prioritize",
        "preempt",
        "filter",
    ]
    assert [record.levelname for record in records] == ["DEBUG", "DEBUG", "DEBUG", "WARNING"]
    assert all(each.pop("ms") >= 0 for each in fields[:3])
    assert fields[:3] == [
        {"mode": "names", "pod": "batch/job-7", "nodes": 3, "passed": 1},
        {"mode": "nodes", "pod": "batch/job-7", "nodes": 1, "passed": 1},
        {"mode": "names", "pod": "default/web-0", "nodes": 1, "passed": 0},
    ]
    assert (fields[3]["code"], fields[3]["remote"]) == (400, "127.0.0.1")
    for name in ("spot", "plain", "stranger"):
        assert name not in str(fields)


async def test_values_that_cannot_be_read_are_told_only_when_asked_for_detail(
    caplog: pytest.LogCaptureFixture,
) -> None:
    request = nodes_request(
        pod_json(toleration("sla", "Gt", "900")), node_json("n", taint("sla", "high"))
    )
    async with served() as client:
        caplog.set_level(logging.INFO, logger="leeway")
        await client.ask("filter", request)
        quiet = caplog.messages[:]
        caplog.set_level(logging.DEBUG, logger="leeway")
        await client.ask("filter", request)

    assert quiet == []
    assert caplog.messages == ["unreadable value", "filter"]
    assert caplog.records[-2].__dict__["fields"] == {
        "source": "taint",
        "kind": "integer",
        "key": "sla",
        "value": "high",
        "expression": "",
        "problem": "",
    }


async def test_an_answer_with_an_error_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    async with served(source=FixedSource()) as client:
        await client.ask("filter", names_request({}, "stranger"))

    (record,) = (record for record in caplog.records if record.name == "leeway.scheduler")
    fields = record.__dict__["fields"]
    assert record.levelname == "WARNING"
    assert fields["error"] == "1 node(s) not yet known to the extender"
    assert fields["pod"] == "/"


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", id="a TLS greeting"),
        pytest.param(b"GARBAGE\r\n\r\n", id="no HTTP at all"),
        pytest.param(b"POST /filter HTTP/1.1\r\nbroken\r\n\r\n", id="a broken header"),
        pytest.param(
            b"POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
            id="a negative length",
        ),
        pytest.param(
            b"POST /filter HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
            id="a header of 100,000 bytes",
        ),
    ],
)
async def test_what_is_not_http_never_sees_a_traceback(raw: bytes) -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        async with connected(client.scheduler) as connection:
            await connection.send(raw)
            connection.writer.write_eof()
            answer = (await connection.reader.read()).decode("latin-1")
        after = await client.ask("filter", names_request(pod_json(), "plain"))

    assert answer == "" or answer.startswith(("HTTP/1.1 400", "HTTP/1.1 431"))
    assert "Traceback" not in answer
    assert 'File "' not in answer
    assert after["NodeNames"] == ["plain"]


async def test_a_client_that_speaks_tls_to_a_plain_listener_fails_alone() -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        secure = client.scheduler.replace("http:", "https:")
        with pytest.raises(aiohttp.ClientError):
            async with client.session.post(f"{secure}/filter", data=b"{}"):
                pass
        after = await client.ask("filter", names_request(pod_json(), "plain"))

    assert after["NodeNames"] == ["plain"]


async def test_a_path_may_have_a_query() -> None:
    async with served(source=FixedSource(PLAIN)) as client:
        answer = await client.ask("filter?timeout=5s", names_request(pod_json(), "plain"))

    assert answer["NodeNames"] == ["plain"]


async def test_only_one_thing_can_be_expected() -> None:
    async with served() as client, connected(client.scheduler) as connection:
        await connection.send(head("filter", "Content-Length: 2", "Expect: a miracle"))
        assert (await connection.reply()).status == 417
