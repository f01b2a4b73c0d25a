"""Bytes of the API server to objects, marks and faults."""

import json

import msgspec
import pytest

from extender import plugins
from extender.cluster import resources
from extender.cluster.resources import (
    INITIAL_EVENTS_END,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
    Bookmark,
    Event,
    Fault,
    Resource,
    key_of,
)
from extender.errors import GarbageError
from extender.model.core_v1 import Node, NodeSpec, ObjectMeta, PendingPod, PlacedPod, Taint
from extender.model.storage_v1 import VolumeMeta
from tests.builders import JSON
from tests.cluster.apiserver import PATHS, error, line

EVERY = (NODES, PODS, PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES)

NODE = {
    "kind": "Node",
    "apiVersion": "v1",
    "metadata": {
        "name": "a",
        "resourceVersion": "7",
        "labels": {"zone": "z"},
        "managedFields": [{"manager": "kubelet"}],
        "creationTimestamp": None,
    },
    "spec": {"podCIDR": "10.0.0.0/24", "taints": [{"key": "sla", "value": "950", "effect": "X"}]},
    "status": {"images": [{"names": ["x"], "sizeBytes": 1}]},
}
DECODED = Node(
    ObjectMeta(name="a", resource_version="7", labels={"zone": "z"}),
    NodeSpec(taints=(Taint("sla", "950", "X"),)),
)


def bookmark(**annotations: str) -> dict[str, object]:
    return {"metadata": {"resourceVersion": "9", "annotations": annotations}}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(line("ADDED", NODE), Event("ADDED", DECODED), id="added"),
        pytest.param(line("MODIFIED", NODE), Event("MODIFIED", DECODED), id="modified"),
        pytest.param(line("DELETED", NODE), Event("DELETED", DECODED), id="deleted"),
        pytest.param(
            line("BOOKMARK", {"metadata": {"resourceVersion": "9"}}),
            Bookmark("9", ends_list=False),
            id="a bookmark",
        ),
        pytest.param(
            line("BOOKMARK", bookmark(**{INITIAL_EVENTS_END: "true"})),
            Bookmark("9", ends_list=True),
            id="the bookmark that ends a list",
        ),
        pytest.param(
            line("BOOKMARK", bookmark(**{INITIAL_EVENTS_END: "false"})),
            Bookmark("9", ends_list=False),
            id="a bookmark that says it does not end the list",
        ),
        pytest.param(
            b'{"object":{"metadata":{"resourceVersion":"9"}},"type":"BOOKMARK"}',
            Bookmark("9", ends_list=False),
            id="a bookmark with its keys in another order",
        ),
        pytest.param(error(410), Fault(410, "told to"), id="an error"),
        pytest.param(
            b'{"object":{"code":500,"message":"no"},"type":"ERROR"}',
            Fault(500, "no"),
            id="an error with its keys in another order",
        ),
        pytest.param(
            b'{"type":"ERROR","object":{}}', Fault(0, ""), id="an error that says nothing"
        ),
    ],
)
def test_a_line_of_a_watch(body: bytes, expected: object) -> None:
    assert NODES.decode_event(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"<html>502 Bad Gateway</html>", id="a page of a proxy"),
        pytest.param(line("ADDED", NODE)[:60], id="half a line"),
        pytest.param(line("ADDED", NODE) + b"{}", id="two objects in one line"),
        pytest.param(b'{"type":"ADDED"}', id="no object"),
        pytest.param(b'{"type":"ADDED","object":"a"}', id="text for an object"),
        pytest.param(b'{"type":7,"object":{}}', id="a number for a type"),
        pytest.param(b'{"type":"RENAMED","object":{}}', id="a type that nobody knows"),
        pytest.param(b'{"type":"ADDED","object":{"metadata":{"name":"\xff"}}}', id="bad UTF-8"),
        pytest.param(
            b'{"type":"ADDED","object":{"x":' + b"[" * 100_000, id="nested beyond all measure"
        ),
        pytest.param(
            b'{"type":"ADDED","object":{"spec":{"taints":"none"}}}', id="text where a list is due"
        ),
    ],
)
def test_a_line_that_makes_no_sense_is_garbage(body: bytes) -> None:
    with pytest.raises(GarbageError) as caught:
        NODES.decode_event(body)

    assert len(str(caught.value)) < 1_000


def test_a_page_of_a_list() -> None:
    body = b'{"kind":"NodeList","metadata":{"resourceVersion":"5","continue":"t"},"items":[{}]}'
    page = NODES.decode_page(body)

    assert (page.metadata.resource_version, page.metadata.continue_) == ("5", "t")
    assert page.items == [Node()]


def test_the_last_page_has_no_token_and_may_have_no_items() -> None:
    page = NODES.decode_page(b'{"metadata":{"resourceVersion":"5"},"items":null}')

    assert page.metadata.continue_ == ""
    assert page.items is None


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"metadata":{},"items":{}}', b"<html>"])
def test_a_page_that_is_no_list_is_garbage(body: bytes) -> None:
    with pytest.raises(GarbageError):
        NODES.decode_page(body)


def test_a_pod_without_metadata_is_garbage() -> None:
    with pytest.raises(GarbageError):
        PODS.decode_event(line("ADDED", {"spec": {}}))


def test_what_is_read_of_a_pod() -> None:
    pod = {
        "metadata": {"name": "web", "namespace": "shop", "uid": "u", "labels": {"app": "web"}},
        "spec": {"nodeName": "a", "containers": [{"name": "c"}]},
        "status": {"phase": "Running", "nominatedNodeName": "b", "podIP": "10.0.0.1"},
    }
    event = PODS.decode_event(line("ADDED", pod))

    assert isinstance(event, Event)
    found = event.object
    assert isinstance(found, PlacedPod)
    meta = found.metadata
    assert (meta.namespace, meta.name, meta.uid) == ("shop", "web", "u")
    assert bytes(meta.labels) == b'{"app":"web"}'
    assert meta.deletion_timestamp is None
    assert (found.spec.node_name, found.status.nominated_node_name) == ("a", "b")
    assert found.status.phase == "Running"


def test_what_is_read_of_a_volume() -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z"]}]}
    affinity = {"required": {"nodeSelectorTerms": [term]}}
    volume = {"metadata": {"name": "pv"}, "spec": {"capacity": {}, "nodeAffinity": affinity}}
    event = PERSISTENT_VOLUMES.decode_event(line("ADDED", volume))

    assert isinstance(event, Event)
    found = event.object.spec.node_affinity
    assert found is not None
    assert found.required is not None
    terms = found.required.node_selector_terms
    assert terms is not None
    assert [each.key for each in terms[0].match_expressions or ()] == ["zone"]


def test_what_is_read_of_a_claim() -> None:
    spec = {"volumeName": "pv", "storageClassName": "fast", "resources": {}}
    claim = {"metadata": {"name": "c", "namespace": "n"}, "spec": spec, "status": {"phase": "X"}}
    event = PERSISTENT_VOLUME_CLAIMS.decode_event(line("ADDED", claim))

    assert isinstance(event, Event)
    found = event.object
    assert (found.spec.volume_name, found.spec.storage_class_name) == ("pv", "fast")
    assert found.status.phase == "X"


def test_what_is_read_of_a_class() -> None:
    kind = {"metadata": {"name": "fast"}, "volumeBindingMode": "WaitForFirstConsumer"}
    event = STORAGE_CLASSES.decode_event(line("ADDED", kind))

    assert isinstance(event, Event)
    assert event.object.volume_binding_mode == "WaitForFirstConsumer"


def test_a_key_is_namespace_and_name() -> None:
    assert key_of(VolumeMeta(name="data", namespace="shop")) == "shop/data"
    assert key_of(ObjectMeta(name="a")) == "a"


@pytest.mark.parametrize("resource", EVERY, ids=lambda each: each.name)
def test_a_resource_is_where_the_api_server_serves_it(resource: Resource[Node]) -> None:
    assert PATHS[resource.path] == resource.name
    # One page is decoded in one go.
    assert 0 < resource.page <= 500


def test_only_pods_are_selected_by_their_fields() -> None:
    assert [each.name for each in EVERY if each.params] == ["pods"]


def test_what_plugins_read_can_be_watched() -> None:
    known = {each.name for each in vars(resources).values() if isinstance(each, Resource)}

    assert known == {each.name for each in EVERY}
    assert plugins.resources(plugins.DEFAULT_WEIGHTS) <= known


# --- Pods without a node -----------------------------------------------------------------------

WAITS = {
    "metadata": {"name": "waits", "namespace": "default", "annotations": {"a": "b"}},
    "spec": {"schedulerName": "ours"},
}
PLACED = {"metadata": {"name": "placed", "namespace": "default"}, "spec": {"nodeName": "a"}}


def page_of(*pods: JSON) -> list[PlacedPod]:
    body = {"metadata": {"resourceVersion": "1"}, "items": list(pods)}
    return PODS.decode_page(msgspec.json.encode(body)).items or []


def event_of(pod: JSON) -> PlacedPod:
    event = PODS.decode_event(msgspec.json.encode({"type": "ADDED", "object": pod}))
    assert isinstance(event, Event)
    return event.object


def test_a_pod_without_a_node_comes_with_its_rules() -> None:
    assert [type(pod) for pod in page_of(WAITS, PLACED)] == [PendingPod, PlacedPod]
    assert [type(pod) for pod in page_of(PLACED)] == [PlacedPod]
    assert [type(event_of(pod)) for pod in (WAITS, PLACED)] == [PendingPod, PlacedPod]
    detailed = event_of(WAITS)
    assert isinstance(detailed, PendingPod)
    assert detailed.spec.scheduler_name == "ours"
    assert detailed.metadata.annotations == {"a": "b"}


def test_a_pod_whose_rules_nobody_can_read_does_not_end_the_watch() -> None:
    odd = WAITS | {"spec": {"tolerations": "many"}}

    assert [type(pod) for pod in page_of(odd, PLACED)] == [PlacedPod, PlacedPod]
    assert type(event_of(odd)) is PlacedPod


def test_a_null_is_what_go_reads_in_lists_and_watches() -> None:
    node = {**NODE, "metadata": {"name": "a", "uid": None, "labels": {"zone": None}}}
    node["spec"] = {"unschedulable": None, "taints": [{"key": "sla", "value": None}, None]}
    decoded = Node(ObjectMeta("a", labels={"zone": ""}), NodeSpec(taints=(Taint("sla"), Taint())))
    pod = {"metadata": {"name": "p", "namespace": None}, "spec": {"nodeName": None}, "status": None}

    page = NODES.decode_page(json.dumps({"metadata": {"continue": None}, "items": [node]}).encode())
    event = NODES.decode_event(line("ADDED", node))
    assert page.items == [decoded]
    assert event == Event("ADDED", decoded)
    assert PODS.decode_event(line("ADDED", pod)).object.status.phase == ""  # type: ignore[union-attr]
    mark = {"metadata": {"resourceVersion": None, "annotations": {"a": None}}}
    assert NODES.decode_event(line("BOOKMARK", mark)) == Bookmark("", ends_list=False)
