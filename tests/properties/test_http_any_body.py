"""Any body at all is answered, and the server lives on."""

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.builders import JSON, node_json, pod_json, taint
from tests.properties.core_strategies import nodes, pod_parts
from tests.serving import FixedSource, names_request, nodes_request, served_in_thread

SPOT = node_json("spot", taint("sla", "950"))
EXAMPLES = settings(max_examples=150)
FEWER = settings(max_examples=75)

# Lone surrogates, numbers beyond 64 bits and those that JSON cannot say are part of it.
texts = st.text(st.characters(exclude_categories=[]), max_size=8)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
anything: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def scheduler() -> Iterator[http.client.HTTPConnection]:
    with served_in_thread(source=FixedSource(SPOT, node_json("plain"))) as addresses:
        parts = urlsplit(addresses.scheduler)
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port)
        yield connection
        connection.close()


def post(connection: http.client.HTTPConnection, verb: str, body: bytes) -> tuple[int, bytes]:
    connection.request("POST", f"/{verb}", body)
    response = connection.getresponse()
    return response.status, response.read()


def assert_answered(connection: http.client.HTTPConnection, verb: str, body: bytes) -> None:
    status, answer = post(connection, verb, body)
    if status == 200:
        json.loads(answer)
        assert b"internal fault" not in answer  # filter would say it with a 200
    else:
        assert (status, answer.count(b"\n")) == (400, 1), answer
        assert b"Traceback" not in answer
    # And the next one is served.
    request = json.dumps(names_request(pod_json(), "plain")).encode()
    after, plain = post(connection, "filter", request)
    assert after == 200
    assert json.loads(plain)["NodeNames"] == ["plain"]


@EXAMPLES
@given(body=anything.map(json.dumps).map(str.encode))
@example(body=b'{"Pod": {}, "NodeNames": ["\\ud800"]}')
@example(body=b'{"Pod": {}, "Nodes": {"items": [{"metadata": {"name": "\\udfff"}}]}}')
@example(body=b'{"Pod": {"spec": {"schedulerName": "\\ud800"}}, "NodeNames": ["plain"]}')
@example(body=b'{"Pod": {"metadata": {"name": "\\ud800\\n"}}, "NodeNames": ["plain"]}')
def test_any_json_is_answered(scheduler: http.client.HTTPConnection, body: bytes) -> None:
    assert_answered(scheduler, "filter", body)


@EXAMPLES
@given(body=st.binary(max_size=200))
@example(body=b"")
@example(body=b"\x00")
@example(body=b"\xef\xbb\xbf{}")
def test_any_bytes_are_answered(scheduler: http.client.HTTPConnection, body: bytes) -> None:
    assert_answered(scheduler, "filter", body)


@st.composite
def spoilt(draw: st.DrawFn, request: JSON) -> bytes:
    """A request of kube-scheduler's in which one part, somewhere, is something else."""
    copy = json.loads(json.dumps(request))
    place = copy
    while True:
        keys: list[Any] = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = draw(st.sampled_from(keys))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or draw(st.booleans()):
            place[key] = draw(anything)
            return json.dumps(copy).encode()
        place = inner


@st.composite
def requests(draw: st.DrawFn) -> JSON:
    parts = draw(pod_parts())
    pod = pod_json(*parts.pop("tolerations"), **parts)
    cluster = draw(nodes())
    if draw(st.booleans()):
        return nodes_request(pod, *cluster)
    return names_request(pod, "spot", *(node["metadata"]["name"] for node in cluster))


@EXAMPLES
@given(body=requests().flatmap(spoilt))
@pytest.mark.parametrize("verb", ["filter", "prioritize"])
def test_a_request_with_one_part_wrong_is_answered(
    scheduler: http.client.HTTPConnection, verb: str, body: bytes
) -> None:
    assert_answered(scheduler, verb, body)


@st.composite
def preemptions(draw: st.DrawFn) -> JSON:
    parts = draw(pod_parts())
    pod = pod_json(*parts.pop("tolerations"), **parts)
    uids = draw(st.lists(st.sampled_from(["a", "b"]), max_size=2))
    if draw(st.booleans()):
        victims = {"Pods": [{"UID": uid} for uid in uids], "NumPDBViolations": 1}
        return {"Pod": pod, "NodeNameToMetaVictims": {"spot": victims, "plain": victims}}
    whole = {"Pods": [{"metadata": {"uid": uid}} for uid in uids], "NumPDBViolations": 1}
    return {"Pod": pod, "NodeNameToVictims": {"spot": whole, "strange": whole}}


@FEWER
@given(body=preemptions().flatmap(spoilt) | anything.map(json.dumps).map(str.encode))
def test_any_preemption_is_answered(scheduler: http.client.HTTPConnection, body: bytes) -> None:
    assert_answered(scheduler, "preempt", body)


@FEWER
@given(
    tolerations=texts | anything.map(json.dumps),
    affinity=texts | anything.map(json.dumps),
)
def test_any_annotation_is_answered(
    scheduler: http.client.HTTPConnection, tolerations: str, affinity: str
) -> None:
    pod = pod_json(annotated_tolerations=tolerations, annotated_affinity=affinity)
    for verb in ("filter", "prioritize"):
        assert_answered(scheduler, verb, json.dumps(names_request(pod, "plain")).encode())
