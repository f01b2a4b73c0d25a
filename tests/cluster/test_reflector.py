"""One resource against a real HTTP server that misbehaves: the store ends up equal to the truth."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field

import pytest

from extender.cluster.api import ApiServer
from extender.cluster.cache import NodeStore, ObjectStore, PodStore, Store
from extender.cluster.reflector import HEALTHY_SECONDS, SLICE, Backoff, Reflector
from extender.cluster.resources import NODES, PERSISTENT_VOLUME_CLAIMS, PODS, Key
from extender.model.core_v1 import Node
from extender.model.storage_v1 import PersistentVolumeClaim
from tests.builders import JSON, node_json, taint
from tests.cluster.apiserver import (
    BREAKS,
    GARBAGE,
    Answer,
    Broken,
    Clock,
    CutOff,
    End,
    Held,
    ScriptedServer,
    a_placed_pod,
    anonymous,
    cached_nodes,
    cached_pods,
    eventually,
    line,
    scripted,
    true_nodes,
    true_pods,
)

# Why the watch ends, and how it is taken up again.
CONSEQUENCES = {
    "closed": ("closed", "watch"),
    "reset": ("error", "watch"),
    "half-closed": ("error", "watch"),
    "a line cut off by the end": ("closed", "watch"),
    "a line cut off by a reset": ("error", "watch"),
    "a garbage line": ("garbage", "streamed list"),
    "bytes that are not UTF-8": ("garbage", "streamed list"),
    "an event of a type that nobody knows": ("garbage", "streamed list"),
    "an ERROR event, 410": ("gone", "streamed list"),
    "an ERROR event, 500": ("error", "streamed list"),
    "silent": ("error", "watch"),
}


@dataclass
class Watch:
    """A reflector at work, and what it did besides filling its store."""

    store: NodeStore
    reflector: Reflector[Node]
    clock: Clock
    restarts: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)


@contextlib.asynccontextmanager
async def running(reflector: Reflector[Node]) -> AsyncIterator[None]:
    task = asyncio.create_task(reflector.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@contextlib.asynccontextmanager
async def watching(
    server: ScriptedServer, *, store: NodeStore | None = None, silence: float = 30.0
) -> AsyncIterator[Watch]:
    """A reflector of the server's nodes that waits for nothing but the server."""
    store = store or NodeStore()
    clock = Clock()
    restarts: list[str] = []
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await asyncio.sleep(0.001)

    reflector = Reflector(
        NODES,
        ApiServer(anonymous(server), watch_read_seconds=silence),
        store,
        on_restart=lambda _, reason: restarts.append(reason),
        clock=clock,
        sleep=sleep,
    )
    async with running(reflector):
        yield Watch(store, reflector, clock, restarts, waits)


def some_nodes(count: int) -> list[JSON]:
    return [node_json(f"node-{i:03}", taint("sla", str(i))) for i in range(count)]


def silence_of(name: str) -> float:
    """Only a silent stream has to be waited for."""
    return 0.2 if name == "silent" else 30.0


def equals_truth(server: ScriptedServer, store: NodeStore) -> Callable[[], bool]:
    return lambda: cached_nodes(store) == true_nodes(server)


def change_everything(server: ScriptedServer) -> None:
    """One node is new, one is changed, one is gone."""
    server.put("nodes", node_json("node-new"), node_json("node-001", unschedulable=True))
    server.delete("nodes", "node-002")


async def test_a_streamed_list_and_then_events() -> None:
    async with scripted() as server:
        server.put("nodes", *some_nodes(3))
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            listed = cached_nodes(watch.store)
            at_first = true_nodes(server)
            change_everything(server)
            await eventually(equals_truth(server, watch.store))

    assert listed == at_first
    assert cached_nodes(watch.store) == true_nodes(server)
    assert server.kinds() == ["streamed list"]
    assert watch.restarts == []


async def test_how_a_list_is_asked_for() -> None:
    async with scripted() as server:
        server.put("nodes", *some_nodes(1))
        async with watching(server) as watch:
            await watch.reflector.synced.wait()

    params = dict(server.asked[0].params)
    seconds = int(params.pop("timeoutSeconds"))

    assert 300 <= seconds <= 600
    assert params == {
        "watch": "1",
        "allowWatchBookmarks": "true",
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
    }
    assert server.asked[0].headers["User-Agent"] == "leeway"
    assert server.asked[0].headers["Accept-Encoding"] == "identity"


async def test_not_synced_before_the_list_has_ended() -> None:
    async with scripted() as server:
        server.put("nodes", *some_nodes(3))
        server.on_watch("nodes", Broken(after=3, steps=(End.SILENT,)))
        async with watching(server) as watch:
            await eventually(lambda: len(watch.store) == 3)
            synced = watch.reflector.synced.is_set()

    assert watch.reflector.objects == 3
    assert not synced


@pytest.mark.parametrize("refusal", [422, 400])
async def test_a_server_without_streamed_lists_is_asked_for_pages(refusal: int) -> None:
    async with scripted() as server:
        server.streams_lists = False
        server.refuses_streamed_lists_with = refusal
        server.put("nodes", *some_nodes(2 * NODES.page + 1))
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            listed_at = server.version
            change_everything(server)
            await eventually(equals_truth(server, watch.store))
            await eventually(server.streams)
            server.disturb("nodes", GARBAGE)
            await eventually(lambda: server.kinds()[-1] == "watch" and len(server.asked) == 9)

    assert cached_nodes(watch.store) == true_nodes(server)
    assert server.kinds() == ["streamed list", *["list", "list", "list", "watch"] * 2]
    assert watch.restarts == ["unsupported", "garbage"]
    pages = [asked.params for asked in server.asked if asked.kind == "list"]
    assert [page["limit"] for page in pages] == [str(NODES.page)] * 6
    assert ["continue" in page for page in pages] == [False, True, True] * 2
    assert not any("resourceVersion" in page for page in pages)
    assert server.asked[4].params["resourceVersion"] == listed_at


@pytest.mark.parametrize("name", BREAKS)
async def test_a_streamed_list_that_breaks_off_is_begun_anew(name: str) -> None:
    async with scripted() as server:
        server.put("nodes", *some_nodes(10))
        server.on_watch("nodes", Broken(after=4, steps=BREAKS[name]))
        async with watching(server, silence=silence_of(name)) as watch:
            await eventually(lambda: len(watch.store) == 4)
            change_everything(server)
            await watch.reflector.synced.wait()
            await eventually(equals_truth(server, watch.store))

    assert cached_nodes(watch.store) == true_nodes(server)
    assert server.kinds()[:2] == ["streamed list", "streamed list"]
    assert watch.restarts[0] == CONSEQUENCES[name][0]


@pytest.mark.parametrize("name", BREAKS)
async def test_a_watch_that_breaks_off_is_taken_up_again(name: str) -> None:
    reason, taken_up = CONSEQUENCES[name]
    async with scripted() as server:
        server.put("nodes", *some_nodes(10))
        async with watching(server, silence=silence_of(name)) as watch:
            await watch.reflector.synced.wait()
            server.disturb("nodes", *BREAKS[name])
            change_everything(server)
            await eventually(lambda: watch.restarts)
            await eventually(equals_truth(server, watch.store))

    assert cached_nodes(watch.store) == true_nodes(server)
    assert watch.restarts[0] == reason
    assert server.kinds()[:2] == ["streamed list", taken_up]


@pytest.mark.parametrize("in_stream", [False, True], ids=["HTTP 410", "an ERROR event"])
async def test_a_version_that_is_gone_is_listed_anew(in_stream: bool) -> None:
    async with scripted() as server:
        server.tells_gone_in_stream = in_stream
        server.put("nodes", *some_nodes(3 * SLICE))
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            await server.stop()
            for i in range(3, 3 * SLICE):
                server.delete("nodes", f"node-{i:03}")
            change_everything(server)
            server.compact()
            await server.start()
            await eventually(equals_truth(server, watch.store))

    assert cached_nodes(watch.store) == true_nodes(server)
    assert "gone" in watch.restarts
    assert server.kinds() == ["streamed list", "watch", "streamed list"]
    # Each failed connection waits; what the server has forgotten is listed at once.
    assert len(watch.waits) == len(watch.restarts) - 1


async def test_a_continue_token_that_expires_begins_the_list_anew() -> None:
    async with scripted() as server:
        server.streams_lists = False
        server.put("nodes", *some_nodes(3 * NODES.page))
        until = asyncio.Event()
        server.on_list("nodes", None, Held(until))
        async with watching(server) as watch:
            await eventually(lambda: server.kinds().count("list") == 2)
            change_everything(server)
            server.compact()
            until.set()
            await eventually(equals_truth(server, watch.store))

    assert cached_nodes(watch.store) == true_nodes(server)
    assert watch.restarts == ["unsupported", "gone"]


async def test_changes_during_a_slow_list_are_told_by_the_watch() -> None:
    async with scripted() as server:
        server.streams_lists = False
        server.put("nodes", *some_nodes(2 * NODES.page))
        until = asyncio.Event()
        server.on_list("nodes", None, Held(until))
        async with watching(server) as watch:
            await eventually(lambda: server.kinds().count("list") == 2)
            change_everything(server)
            until.set()
            await eventually(equals_truth(server, watch.store))

    assert cached_nodes(watch.store) == true_nodes(server)
    assert server.kinds() == ["streamed list", "list", "list", "watch"]


@pytest.mark.parametrize("page", [0, 1], ids=["the first page", "a later page"])
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        pytest.param(Answer(410), "gone", id="410"),
        pytest.param(Answer(429), "error", id="429"),
        pytest.param(Answer(500), "error", id="500"),
        pytest.param(Answer(503), "error", id="503"),
        pytest.param(Answer(403), "error", id="403"),
        pytest.param(Answer(400), "unsupported", id="400"),
        pytest.param(CutOff(), "error", id="a body that breaks off"),
        pytest.param(Answer(200), "garbage", id="an answer that is no list"),
    ],
)
async def test_a_page_that_fails_begins_the_list_anew(
    fault: Answer | CutOff, reason: str, page: int
) -> None:
    async with scripted() as server:
        server.streams_lists = False
        server.put("nodes", *some_nodes(2 * NODES.page))
        server.on_list("nodes", *([None] * page), fault)
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            await eventually(equals_truth(server, watch.store))

    assert cached_nodes(watch.store) == true_nodes(server)
    assert watch.restarts == ["unsupported", reason]


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503, 504])
async def test_a_watch_that_is_refused_is_asked_for_again(status: int) -> None:
    async with scripted() as server:
        server.on_watch("nodes", Answer(status))
        server.put("nodes", *some_nodes(3))
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            server.on_watch("nodes", *[Answer(status)] * 3)
            server.disturb("nodes", End.CLOSE)
            change_everything(server)
            await eventually(equals_truth(server, watch.store))

    assert cached_nodes(watch.store) == true_nodes(server)
    assert watch.restarts == ["error", "closed", "error", "error", "error"]
    assert server.kinds() == ["streamed list"] * 2 + ["watch"] * 4


async def test_an_answer_without_a_version_does_not_empty_the_store() -> None:
    async with scripted() as server:
        server.streams_lists = False
        server.put("nodes", *some_nodes(3))
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            await eventually(server.streams)
            server.on_list("nodes", *[Answer(200)] * 3)
            server.disturb("nodes", GARBAGE)
            sizes = set()
            while watch.restarts.count("garbage") < 4:
                sizes.add(len(watch.store))
                await asyncio.sleep(0.001)

    assert sizes == {3}


async def test_a_server_that_goes_away_and_comes_back() -> None:
    async with scripted() as server:
        server.put("nodes", *some_nodes(5))
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            await server.stop()
            await eventually(lambda: len(watch.restarts) >= 3)
            kept = len(watch.store)
            change_everything(server)
            await server.start()
            await eventually(equals_truth(server, watch.store))

    assert cached_nodes(watch.store) == true_nodes(server)
    assert kept == 5
    assert set(watch.restarts) == {"error"}
    assert server.kinds() == ["streamed list", "watch"]


async def test_a_watch_goes_on_from_the_last_bookmark() -> None:
    async with scripted() as server:
        server.put("nodes", *some_nodes(1))
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            server.put("pods", *(a_placed_pod(f"pod-{i}", "node-000") for i in range(10)))
            server.bookmark()
            server.disturb("nodes", End.CLOSE)
            # Too late for whoever goes on from the last event of a node.
            server.compact()
            await eventually(lambda: server.kinds()[1:] and server.streams() == 1)

    assert server.kinds() == ["streamed list", "watch"]
    assert server.asked[1].params["resourceVersion"] == server.version
    assert watch.restarts == ["closed"]


async def test_no_version_of_an_unfinished_list_is_one_to_go_on_from() -> None:
    async with scripted() as server:
        server.put("nodes", *some_nodes(10))
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            server.on_watch("nodes", Broken(after=4, steps=(End.CLOSE,)))
            server.disturb("nodes", GARBAGE)
            await eventually(lambda: len(server.kinds()) == 3 and server.streams() == 1)
            await eventually(equals_truth(server, watch.store))

    assert cached_nodes(watch.store) == true_nodes(server)
    assert server.kinds() == ["streamed list"] * 3


async def test_a_node_that_comes_back_while_a_list_streams_in_stays() -> None:
    async with scripted() as server:
        server.put("nodes", *some_nodes(3))
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            # Told between the objects of the list and the bookmark that ends it.
            gone = b'{"type":"DELETED","object":{"metadata":{"name":"node-001"}}}\n'
            back = b'{"type":"ADDED","object":{"metadata":{"name":"node-001"},"spec":{}}}\n'
            server.on_watch("nodes", Broken(after=3, steps=(gone, back)))
            server.disturb("nodes", GARBAGE)
            await eventually(lambda: server.kinds() == ["streamed list"] * 2)
            server.put("nodes", node_json("node-new"))
            await eventually(lambda: "node-new" in watch.store.snapshot().nodes)

    assert sorted(watch.store.snapshot().nodes) == ["node-000", "node-001", "node-002", "node-new"]


@pytest.mark.parametrize("kind", ["ADDED", "DELETED"])
@pytest.mark.parametrize("obj", [{}, {"metadata": {"resourceVersion": "7"}}], ids=str)
async def test_an_object_that_does_not_say_who_it_is_is_garbage(kind: str, obj: JSON) -> None:
    async with scripted() as server:
        server.put("nodes", *some_nodes(3))
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            server.disturb("nodes", line(kind, obj))
            change_everything(server)
            await eventually(equals_truth(server, watch.store))

    assert cached_nodes(watch.store) == true_nodes(server)
    assert watch.restarts == ["garbage"]


async def test_lines_that_arrive_in_pieces_are_put_together() -> None:
    async with scripted() as server:
        server.piece = 7
        server.put("nodes", *some_nodes(5))
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            change_everything(server)
            await eventually(equals_truth(server, watch.store))

    assert cached_nodes(watch.store) == true_nodes(server)
    assert watch.restarts == []


@pytest.mark.parametrize("streams_lists", [True, False], ids=["streamed", "in pages"])
async def test_an_object_of_several_megabytes(streams_lists: bool) -> None:
    big = node_json("node-big", taint("sla", "950"))
    big["metadata"]["annotations"] = {"example.com/blob": "x" * 5_000_000}
    async with scripted() as server:
        server.streams_lists = streams_lists
        server.put("nodes", *some_nodes(3), big)
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            server.put("nodes", big | {"spec": {"unschedulable": True}})
            change_everything(server)
            await eventually(equals_truth(server, watch.store))

    assert cached_nodes(watch.store) == true_nodes(server)
    assert watch.restarts == ([] if streams_lists else ["unsupported"])


async def test_pods_that_end_are_told_as_deleted() -> None:
    store = PodStore()
    async with scripted() as server:
        server.put(
            "pods",
            a_placed_pod("runs", "a"),
            a_placed_pod("ends", "a"),
            a_placed_pod("fails", "a"),
            a_placed_pod("is-over", "a", phase="Succeeded"),
            a_placed_pod("waits"),
            a_placed_pod("is-nominated", nominated="b", phase="Pending"),
        )
        reflector = Reflector(PODS, ApiServer(anonymous(server)), store)
        task = asyncio.create_task(reflector.run())
        await reflector.synced.wait()
        listed = cached_pods(store)
        at_first = true_pods(server)
        server.put(
            "pods",
            a_placed_pod("ends", "a", phase="Succeeded"),
            a_placed_pod("fails", "a", phase="Failed"),
            a_placed_pod("waits", "b", labels={"app": "web"}),
        )
        await eventually(lambda: cached_pods(store) == true_pods(server))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    assert listed == at_first
    assert cached_pods(store) == true_pods(server)
    expected = ["default/is-nominated", "default/runs", "default/waits"]
    assert sorted(store.keys()) == expected
    selector = "status.phase!=Succeeded,status.phase!=Failed"
    assert server.asked[0].params["fieldSelector"] == selector


async def test_objects_of_one_name_in_two_namespaces_are_two() -> None:
    store: ObjectStore[PersistentVolumeClaim] = ObjectStore()
    async with scripted() as server:
        for namespace in ("a", "b"):
            claim = {"metadata": {"name": "data", "namespace": namespace}, "spec": {}}
            server.put("persistentvolumeclaims", claim)
        reflector = Reflector(PERSISTENT_VOLUME_CLAIMS, ApiServer(anonymous(server)), store)
        task = asyncio.create_task(reflector.run())
        await reflector.synced.wait()
        server.delete("persistentvolumeclaims", "data", "a")
        await eventually(lambda: len(store) == 1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    assert list(store.keys()) == ["b/data"]


class FragileStore:
    """Breaks when it is given one particular node for the first time."""

    def __init__(self, breaks_on: str) -> None:
        self.nodes: dict[Key, Node] = {}
        self._breaks_on = breaks_on

    def put(self, key: Key, obj: Node) -> None:
        if key == self._breaks_on:
            self._breaks_on = ""
            raise ZeroDivisionError
        self.nodes[key] = obj

    def remove(self, key: Key) -> None:
        self.nodes.pop(key, None)

    def keys(self) -> list[Key]:
        return list(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)


async def test_a_fault_of_our_own_is_logged_and_mended_by_a_list(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store: Store[Node] = FragileStore("node-new")
    restarts: list[tuple[str, str]] = []

    async def no_wait(_: float) -> None:
        await asyncio.sleep(0.001)

    async with scripted() as server:
        server.put("nodes", *some_nodes(3))
        reflector = Reflector(
            NODES,
            ApiServer(anonymous(server)),
            store,
            on_restart=lambda resource, reason: restarts.append((resource, reason)),
            sleep=no_wait,
        )
        async with running(reflector):
            await reflector.synced.wait()
            change_everything(server)
            await eventually(lambda: set(store.keys()) == set(server.objects["nodes"]))

    assert set(store.keys()) == set(server.objects["nodes"])
    assert restarts == [("nodes", "fault")]
    assert server.kinds() == ["streamed list"] * 2
    assert "ZeroDivisionError" in caplog.text


async def test_a_relist_removes_many_nodes_in_slices_and_only_those() -> None:
    async with scripted() as server:
        server.put("nodes", *some_nodes(5 * SLICE))
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            generation = watch.store.snapshot().generation
            await server.stop()
            for i in range(SLICE, 5 * SLICE):
                server.delete("nodes", f"node-{i:03}")
            server.compact()
            await server.start()
            await eventually(equals_truth(server, watch.store))
            changes = watch.store.snapshot().generation - generation

    assert cached_nodes(watch.store) == true_nodes(server)
    # A node that was there before and after has not changed.
    assert changes == 4 * SLICE


async def test_age_is_the_time_since_anything_was_heard() -> None:
    ages: list[float | None] = []
    async with scripted() as server:
        server.on_watch("nodes", Answer(503))
        async with watching(server) as watch:
            ages.append(watch.reflector.age())
            await watch.reflector.synced.wait()
            watch.clock.now += 40
            ages.append(watch.reflector.age())
            server.bookmark()
            await eventually(lambda: watch.reflector.age() == 0)
            ages.append(watch.reflector.age())
            await server.stop()
            watch.clock.now += 70
            await eventually(lambda: "error" in watch.restarts[1:])
            ages.append(watch.reflector.age())

    assert ages == [None, 40, 0, 70]


async def test_waits_grow_while_the_server_is_away() -> None:
    async with scripted() as server:
        server.put("nodes", *some_nodes(1))
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            await server.stop()
            await eventually(lambda: len(watch.waits) >= 10)

    bounds = [min(0.2 * 2**i, 10.0) for i in range(10)]
    assert all(bound / 2 <= wait <= bound for wait, bound in zip(watch.waits, bounds, strict=False))


async def test_a_watch_that_the_server_ends_in_time_is_taken_up_without_a_wait() -> None:
    async with scripted() as server:
        server.put("nodes", *some_nodes(1))
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            for _ in range(3):
                before = len(server.asked)
                watch.clock.now += HEALTHY_SECONDS + 1
                server.disturb("nodes", End.CLOSE)
                await eventually(lambda: len(server.asked) > before and server.streams() == 1)  # noqa: B023

    assert watch.restarts == ["closed"] * 3
    assert watch.waits == []


async def test_a_watch_that_ends_at_once_is_not_taken_up_at_once() -> None:
    async with scripted() as server:
        server.on_watch("nodes", *[Broken(after=0, steps=(End.CLOSE,))] * 5)
        async with watching(server) as watch:
            await watch.reflector.synced.wait()

    assert watch.restarts == ["closed"] * 5
    assert len(watch.waits) == 5


async def test_a_connection_that_lasted_ends_the_growing_of_waits() -> None:
    async with scripted() as server:
        server.on_watch("nodes", *[Answer(500)] * 6)
        async with watching(server) as watch:
            await watch.reflector.synced.wait()
            watch.clock.now += HEALTHY_SECONDS + 1
            server.disturb("nodes", End.ABORT)
            await eventually(lambda: len(watch.waits) == 7)

    assert watch.waits[5] > 1
    assert watch.waits[6] <= 0.2


def waits_of(backoff: Backoff, count: int) -> Iterable[float]:
    return [backoff.seconds() for _ in range(count)]


def test_a_backoff_doubles_up_to_its_most_and_is_never_quite_the_same() -> None:
    backoff = Backoff(first=1.0, most=8.0)
    waits = waits_of(backoff, 6)
    backoff.reset()
    again = waits_of(backoff, 6)

    assert all(m / 2 <= w <= m for w, m in zip(waits, [1, 2, 4, 8, 8, 8], strict=True))
    assert all(m / 2 <= w <= m for w, m in zip(again, [1, 2, 4, 8, 8, 8], strict=True))
    assert waits != again
