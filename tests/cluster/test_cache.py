"""Events in, snapshots out."""

import asyncio
import gc

import msgspec
import pytest

from extender.cluster import cache
from extender.cluster.cache import NodeStore, ObjectStore, PodStore
from extender.cluster.resources import key_of
from extender.model.core_v1 import Node, PlacedPod
from extender.model.storage_v1 import StorageClass, VolumeMeta
from tests.builders import JSON, node_json, taint
from tests.cluster.apiserver import a_placed_pod, cached_pods


def put_node(store: NodeStore, node: JSON) -> None:
    store.put(node["metadata"]["name"], msgspec.convert(node, Node))


def put_pod(store: PodStore, pod: JSON) -> None:
    # Through bytes, as labels are kept as they were written.
    decoded = msgspec.json.decode(msgspec.json.encode(pod), type=PlacedPod)
    store.put(key_of(decoded.metadata), decoded)


def generation_after(before: JSON, after: JSON) -> int:
    """By how much the generation grows when a node becomes another."""
    store = NodeStore()
    put_node(store, before)
    first = store.snapshot().generation
    put_node(store, after)
    return store.snapshot().generation - first


SLA = taint("sla", "950")
GPU = taint("gpu", effect="PreferNoSchedule")


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(node_json("a", SLA, labels={"zone": "z"}), id="nothing"),
        pytest.param(
            node_json("a", SLA, labels={"zone": "z"})
            | {"status": {"conditions": [{"lastHeartbeatTime": "later"}]}},
            id="a heartbeat",
        ),
        pytest.param(
            {
                "metadata": {
                    "name": "a",
                    "resourceVersion": "8",
                    "labels": {"zone": "z"},
                    "annotations": {"volumes.kubernetes.io/controller-managed": "true"},
                },
                "spec": {"taints": [SLA | {"timeAdded": "2026-01-01T00:00:00Z"}]},
            },
            id="version, annotations and when a taint was added",
        ),
    ],
)
def test_a_change_that_no_plugin_sees_changes_no_generation(after: JSON) -> None:
    assert generation_after(node_json("a", SLA, labels={"zone": "z"}), after) == 0


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(node_json("a", SLA, GPU, labels={"zone": "z"}), id="one taint more"),
        pytest.param(node_json("a", labels={"zone": "z"}), id="one taint less"),
        pytest.param(node_json("a", taint("sla", "949"), labels={"zone": "z"}), id="another value"),
        pytest.param(
            node_json("a", taint("sla", "950", "NoExecute"), labels={"zone": "z"}),
            id="another effect",
        ),
        pytest.param(node_json("a", SLA, labels={"zone": "y"}), id="a label"),
        pytest.param(node_json("a", SLA), id="no labels"),
        pytest.param(node_json("a", SLA, labels={"zone": "z"}, unschedulable=True), id="a cordon"),
    ],
)
def test_a_change_that_a_plugin_sees_changes_the_generation(after: JSON) -> None:
    assert generation_after(node_json("a", SLA, labels={"zone": "z"}), after) == 1


def test_the_order_of_taints_counts_as_the_first_refusal_names_its_taint() -> None:
    before = node_json("a", taint("x"), taint("y"))
    after = node_json("a", taint("y"), taint("x"))

    assert generation_after(before, after) == 1


def test_a_node_that_is_removed_is_gone_from_the_next_snapshot() -> None:
    store = NodeStore()
    put_node(store, node_json("a"))
    before = store.snapshot().generation
    store.remove("a")
    after = store.snapshot()

    assert after.generation == before + 1
    assert dict(after.nodes) == {}
    assert len(store) == 0
    assert store.keys() == []


def test_removing_whom_nobody_knows_changes_nothing() -> None:
    store = NodeStore()
    store.remove("a")

    assert store.snapshot().generation == 0


def test_one_changed_node_leaves_the_others_as_they_are() -> None:
    store = NodeStore()
    for name in "abc":
        put_node(store, node_json(name, SLA))
    before = dict(store.snapshot().nodes)
    put_node(store, node_json("b"))
    after = store.snapshot().nodes

    assert [name for name in before if after[name] is not before[name]] == ["b"]


def test_a_snapshot_cannot_be_changed() -> None:
    snapshot = NodeStore().snapshot()

    with pytest.raises(TypeError):
        snapshot.nodes["a"] = None  # type: ignore[index]


def test_nodes_with_equal_taints_share_them() -> None:
    store = NodeStore()
    for name in "ab":
        put_node(store, node_json(name, SLA, GPU))
    nodes = store.snapshot().nodes

    assert nodes["a"].taints is nodes["b"].taints


async def test_waiting_for_a_change_ends_with_it() -> None:
    store = NodeStore()
    waits = [asyncio.create_task(store.changed(0, 60)) for _ in range(3)]
    await asyncio.sleep(0)
    put_node(store, node_json("a"))

    assert await asyncio.gather(*waits) == [True] * 3


async def test_two_changes_at_once_end_a_wait_once() -> None:
    store = NodeStore()
    wait = asyncio.create_task(store.changed(0, 60))
    await asyncio.sleep(0)
    put_node(store, node_json("a"))
    put_node(store, node_json("b"))

    assert await wait
    assert store.snapshot().generation == 2


async def test_a_change_that_came_before_is_not_waited_for() -> None:
    store = NodeStore()
    put_node(store, node_json("a"))

    assert await store.changed(0, 60)


async def test_waiting_for_a_change_that_does_not_come_ends_too() -> None:
    store = NodeStore()
    put_node(store, node_json("a"))

    assert not await store.changed(1, 0.001)
    # Nobody is woken for nothing afterwards.
    put_node(store, node_json("b"))
    assert store.snapshot().generation == 2


async def test_a_heartbeat_wakes_nobody() -> None:
    store = NodeStore()
    put_node(store, node_json("a"))
    wait = asyncio.create_task(store.changed(1, 0.02))
    await asyncio.sleep(0)
    put_node(store, node_json("a") | {"status": {"conditions": []}})

    assert not await wait


async def test_a_wait_that_is_cancelled_leaves_nothing_behind() -> None:
    store = NodeStore()
    wait = asyncio.create_task(store.changed(0, 60))
    await asyncio.sleep(0)
    wait.cancel()
    with pytest.raises(asyncio.CancelledError):
        await wait
    put_node(store, node_json("a"))

    assert store.snapshot().generation == 1


@pytest.mark.parametrize(
    ("pod", "counts"),
    [
        pytest.param(a_placed_pod("p", "a"), True, id="on a node"),
        pytest.param(a_placed_pod("p", "a", phase="Pending"), True, id="bound, not started"),
        pytest.param(a_placed_pod("p", nominated="a", phase="Pending"), True, id="nominated"),
        pytest.param(a_placed_pod("p", "a", terminating=True), True, id="terminating"),
        pytest.param(a_placed_pod("p", phase="Pending"), False, id="waits for a node"),
        pytest.param(a_placed_pod("p", "a", phase="Succeeded"), False, id="has succeeded"),
        pytest.param(a_placed_pod("p", "a", phase="Failed"), False, id="has failed"),
        pytest.param(
            a_placed_pod("p", "a", nominated="b", phase="Failed"), False, id="nominated and failed"
        ),
    ],
)
def test_which_pods_count(pod: JSON, counts: bool) -> None:
    fresh, replaced = PodStore(), PodStore()
    put_pod(replaced, a_placed_pod("p", "elsewhere"))
    put_pod(fresh, pod)
    put_pod(replaced, pod)

    assert (len(fresh), len(replaced)) == (counts, counts)
    assert cached_pods(fresh) == cached_pods(replaced)


def test_what_is_kept_of_a_pod() -> None:
    store = PodStore()
    put_pod(
        store,
        a_placed_pod(
            "p", "a", nominated="b", namespace="shop", labels={"x": "y"}, terminating=True
        ),
    )

    assert cached_pods(store) == {"shop/p": ("uid-of-p", "a", "b", True, {"x": "y"})}


def test_a_pod_that_is_removed_is_gone_and_one_that_never_was_is_no_fault() -> None:
    store = PodStore()
    put_pod(store, a_placed_pod("p", "a"))
    store.remove("default/p")
    store.remove("default/never-there")

    assert store.keys() == []
    assert store.get("default/p") is None


def test_pods_of_a_workload_share_their_labels_and_the_name_of_their_node() -> None:
    store = PodStore()
    for name in ("p", "q"):
        put_pod(store, a_placed_pod(name, "a", labels={"app": "web"}))
    one, two = store.get("default/p"), store.get("default/q")

    assert one is not None
    assert two is not None
    assert one.labels is two.labels
    assert one.node_name is two.node_name
    assert one.namespace is two.namespace


@pytest.mark.parametrize("labels", [None, {}], ids=["none", "an empty map"])
def test_a_pod_without_labels(labels: dict[str, str] | None) -> None:
    store = PodStore()
    put_pod(store, a_placed_pod("p", "a", labels=labels))
    pod = store.get("default/p")

    assert pod is not None
    assert pod.labels == {}


def test_label_sets_that_no_pod_has_any_more_do_not_pile_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cache, "MAX_LABEL_SETS", 10)
    store = PodStore()
    for i in range(105):
        put_pod(store, a_placed_pod("p", "a", labels={"pod-template-hash": str(i)}))

    assert len(store._labels) <= 10
    pod = store.get("default/p")
    assert pod is not None
    assert pod.labels == {"pod-template-hash": "104"}


def test_the_collector_has_nothing_to_look_at_in_nodes_and_pods() -> None:
    nodes, pods = NodeStore(), PodStore()
    put_node(nodes, node_json("a", SLA, labels={"zone": "z"}))
    put_pod(pods, a_placed_pod("p", "a", labels={"app": "web"}))
    node, pod = nodes.snapshot().nodes["a"], pods.get("default/p")

    assert not gc.is_tracked(node)
    assert not gc.is_tracked(node.labels)
    assert pod is not None
    assert not gc.is_tracked(pod)
    assert not gc.is_tracked(pod.labels)


def test_a_change_does_not_bring_a_whole_store_back_to_the_collector() -> None:
    nodes, pods = NodeStore(), PodStore()
    for name in "abc":
        put_node(nodes, node_json(name, SLA))
        put_pod(pods, a_placed_pod(name, "a"))
    gc.collect()
    put_node(nodes, node_json("a"))
    put_node(nodes, node_json("new"))
    put_pod(pods, a_placed_pod("a", "b"))
    put_pod(pods, a_placed_pod("new", "b"))

    assert not gc.is_tracked(nodes._objects)
    assert not gc.is_tracked(pods._objects)


def test_objects_are_kept_as_they_are() -> None:
    store: ObjectStore[StorageClass] = ObjectStore()
    slow = StorageClass(VolumeMeta(name="slow"))
    fast = StorageClass(VolumeMeta(name="fast"))
    store.put("slow", slow)
    store.put("fast", slow)
    store.put("fast", fast)
    store.remove("slow")
    store.remove("never-there")

    assert store.keys() == ["fast"]
    assert store.get("fast") is fast
    assert store.get("slow") is None
    assert len(store) == 1
