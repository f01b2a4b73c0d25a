"""The source that watches: ready when all is listed, and what it says when it is cut off."""

import asyncio
import gc
import logging
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
import yaml

from extender import plugins
from extender.cluster import api
from extender.cluster.api import ApiServer
from extender.cluster.live import DEGRADED_SECONDS, LiveSource
from extender.cluster.reflector import Backoff
from extender.cluster.resources import Key
from extender.cluster.source import ClusterSource, State, Watching
from extender.errors import NotSyncedError
from extender.metrics import CachedResource
from tests.builders import JSON, node_json, taint
from tests.cluster.apiserver import (
    PATHS,
    Answer,
    Clock,
    End,
    ScriptedServer,
    a_placed_pod,
    anonymous,
    cached_nodes,
    cached_pods,
    eventually,
    scripted,
    true_nodes,
    true_pods,
)

EVERYTHING = frozenset(PATHS.values())


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    """What a source freezes is the whole process, and here that is the tests too."""
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Backoff, "seconds", lambda _: 0.001)


def live_source(
    server: ScriptedServer,
    names: Collection[str] = EVERYTHING,
    *,
    max_staleness: float | None = None,
    restarts: list[tuple[str, str]] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> LiveSource:
    heard = [] if restarts is None else restarts
    return LiveSource(
        ApiServer(anonymous(server)),
        names,
        max_staleness=max_staleness,
        on_restart=lambda resource, reason: heard.append((resource, reason)),
        clock=clock,
    )


def ready(source: LiveSource) -> bool:
    return source.state().problem is None


def volume(name: str, **metadata: str) -> JSON:
    return {"metadata": {"name": name, **metadata}, "spec": {}}


def a_cluster(server: ScriptedServer) -> None:
    server.put("nodes", node_json("a", taint("sla", "950")), node_json("b", unschedulable=True))
    server.put("pods", a_placed_pod("p", "a", labels={"app": "web"}), a_placed_pod("waits"))
    server.put("persistentvolumes", volume("pv-1"), volume("pv-2"))
    server.put("persistentvolumeclaims", volume("data", namespace="default"))
    server.put("storageclasses", {"metadata": {"name": "fast"}, "volumeBindingMode": "Immediate"})


def versions(server: ScriptedServer, resource: str) -> dict[Key, str]:
    """The version of each object that the server has."""
    objects = server.objects[resource]
    return {key: obj["metadata"]["resourceVersion"] for key, obj in objects.items()}


def differences(server: ScriptedServer, source: LiveSource) -> list[str]:
    """The resources in which cache and truth are not the same."""
    wrong = []
    if cached_nodes(source.cache.nodes) != true_nodes(server):
        wrong.append("nodes")
    if cached_pods(source.cache.pods) != true_pods(server):
        wrong.append("pods")
    for name, store in (
        ("persistentvolumes", source.cache.volumes),
        ("persistentvolumeclaims", source.cache.claims),
        ("storageclasses", source.cache.classes),
    ):
        kept = {key: store.get(key) for key in store.keys()}  # noqa: SIM118 - a store is no dict
        found = {key: obj.metadata.resource_version for key, obj in kept.items() if obj}
        if found != versions(server, name):
            wrong.append(name)
    return wrong


async def test_all_five_resources_are_kept_equal_to_the_truth() -> None:
    async with scripted() as server:
        a_cluster(server)
        source = live_source(server)
        async with source.running():
            await eventually(lambda: ready(source))
            listed = differences(server, source)
            server.put("nodes", node_json("c"))
            server.put("pods", a_placed_pod("waits", "c"))
            server.delete("persistentvolumes", "pv-1")
            server.put("persistentvolumeclaims", volume("data", namespace="other"))
            server.delete("storageclasses", "fast")
            await eventually(lambda: not differences(server, source))

    assert listed == []
    assert differences(server, source) == []


@pytest.mark.parametrize(
    "names",
    [
        pytest.param({"nodes"}, id="nodes alone"),
        pytest.param({"nodes", "pods"}, id="nodes and pods"),
        pytest.param(EVERYTHING, id="all five"),
    ],
)
async def test_only_what_is_asked_for_is_watched(names: Collection[str]) -> None:
    async with scripted() as server:
        a_cluster(server)
        source = live_source(server, names)
        async with source.running():
            await eventually(lambda: ready(source))

    assert {asked.resource for asked in server.asked} == set(names)
    assert [each.resource for each in source.cached()] == [n for n in PATHS.values() if n in names]


async def test_all_plugins_together_read_everything() -> None:
    async with scripted() as server:
        source = live_source(server, plugins.resources(plugins.DEFAULT_WEIGHTS))
        async with source.running():
            await eventually(lambda: ready(source))

        snapshot = source.snapshot()

    assert {asked.resource for asked in server.asked} == set(PATHS.values())
    assert snapshot.pods is not None
    assert snapshot.volumes is not None


async def test_what_is_not_watched_is_not_known() -> None:
    async with scripted() as server:
        source = live_source(server, plugins.resources({"TaintToleration"}))
        async with source.running():
            await eventually(lambda: ready(source))
            snapshot = source.snapshot()

    assert {asked.resource for asked in server.asked} == {"nodes"}
    assert snapshot.pods is None
    assert snapshot.volumes is None


async def test_nothing_is_answered_before_all_is_listed() -> None:
    async with scripted() as server:
        a_cluster(server)
        server.on_watch("pods", *[Answer(503)] * 1_000)
        server.on_watch("storageclasses", *[Answer(503)] * 1_000)
        source = live_source(server)
        async with source.running():
            await eventually(lambda: source.state().remark.count(" ") == 5)
            with pytest.raises(NotSyncedError) as caught:
                source.snapshot()
            state, cached = source.state(), source.cached()
            server.behave()
            await eventually(lambda: ready(source))
            snapshot = source.snapshot()

    assert str(caught.value) == "cache not synced: pods, storageclasses not listed yet"
    assert state == State(
        "pods not listed yet; storageclasses not listed yet",
        "2 nodes; 2 persistentvolumes; 1 persistentvolumeclaims",
    )
    assert [each.synced for each in cached] == [True, False, True, True, False]
    assert [each.age is None for each in cached] == [False, True, False, False, True]
    assert sorted(snapshot.nodes) == ["a", "b"]


async def test_what_the_metrics_are_told() -> None:
    async with scripted() as server:
        a_cluster(server)
        source = live_source(server, {"nodes", "pods"})
        before = source.cached()
        async with source.running():
            await eventually(lambda: ready(source))
            nodes, pods = source.cached()

    assert before == [
        CachedResource("nodes", 0, synced=False, age=None),
        CachedResource("pods", 0, synced=False, age=None),
    ]
    assert (nodes.objects, nodes.synced) == (2, True)
    assert (pods.objects, pods.synced) == (1, True)


async def test_a_token_that_is_refused_until_it_is_rotated(tmp_path: Path) -> None:
    file, old, new = tmp_path / "bearer", "old", "new"
    file.write_text(old)
    restarts: list[tuple[str, str]] = []
    async with scripted() as server:
        server.bearer = new
        document = {
            "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "there", "user": "me"}}],
            "clusters": [{"name": "there", "cluster": {"server": server.url}}],
            "users": [{"name": "me", "user": {"tokenFile": str(file)}}],
        }
        (tmp_path / "kubeconfig").write_text(yaml.safe_dump(document))
        source = LiveSource(
            ApiServer(api.from_kubeconfig(str(tmp_path / "kubeconfig"))),
            {"nodes"},
            on_restart=lambda resource, reason: restarts.append((resource, reason)),
        )
        a_cluster(server)
        async with source.running():
            await eventually(lambda: len(restarts) >= 3)
            refused = source.state().problem
            file.write_text(new)
            await eventually(lambda: ready(source))

    assert refused == "nodes not listed yet"
    assert cached_nodes(source.cache.nodes) == true_nodes(server)
    assert set(restarts) == {("nodes", "error")}


async def test_a_lost_server_is_a_remark_and_the_answers_go_on() -> None:
    clock = Clock()
    async with scripted() as server:
        a_cluster(server)
        source = live_source(server, {"nodes"}, clock=clock)
        async with source.running():
            await eventually(lambda: ready(source))
            await server.stop()
            clock.now += DEGRADED_SECONDS
            well = source.state()
            clock.now += 1
            lost, age = source.state(), source.cached()[0].age
            known = sorted(source.snapshot().nodes)
            server.put("nodes", node_json("new"))
            await server.start()
            await eventually(lambda: "new" in source.snapshot().nodes)
            found = source.state()

    assert well == State(None, "2 nodes")
    assert lost == State(None, "degraded, nodes: no contact with the API server for 91 s")
    assert age == DEGRADED_SECONDS + 1
    assert known == ["a", "b"]
    assert found == State(None, "3 nodes")


async def test_past_its_staleness_it_is_not_ready_but_knows_what_it_knew() -> None:
    clock = Clock()
    async with scripted() as server:
        a_cluster(server)
        source = live_source(server, {"nodes", "pods"}, max_staleness=300, clock=clock)
        async with source.running():
            await eventually(lambda: ready(source))
            await server.stop()
            clock.now += 300
            lost = source.state()
            clock.now += 1
            stale, known = source.state(), sorted(source.snapshot().nodes)
            await server.start()
            await eventually(lambda: source.state() == State(None, "2 nodes; 1 pods"))
            found = source.state()

    assert lost.problem is None
    assert lost.remark.count("degraded") == 2
    assert stale.problem == (
        "nodes: no contact with the API server for 301 s;"
        " pods: no contact with the API server for 301 s"
    )
    assert known == ["a", "b"]
    assert found == State(None, "2 nodes; 1 pods")


async def test_a_quiet_server_that_sends_bookmarks_is_not_degraded() -> None:
    clock = Clock()
    async with scripted() as server:
        a_cluster(server)
        source = live_source(server, {"nodes"}, clock=clock)
        async with source.running():
            await eventually(lambda: ready(source))
            clock.now += DEGRADED_SECONDS + 1
            silent = source.state().remark
            server.bookmark()
            await eventually(lambda: "degraded" not in source.state().remark)
            state = source.state()

    assert "degraded" in silent
    assert state == State(None, "2 nodes")


async def test_restarts_are_told_by_resource_and_reason() -> None:
    restarts: list[tuple[str, str]] = []
    async with scripted() as server:
        a_cluster(server)
        source = live_source(server, {"nodes", "pods"}, restarts=restarts)
        async with source.running():
            await eventually(lambda: ready(source))
            server.disturb("pods", End.CLOSE)
            await eventually(lambda: len(restarts) == 1)

    assert restarts == [("pods", "closed")]


async def test_waiting_for_a_node_to_change() -> None:
    async with scripted() as server:
        a_cluster(server)
        source = live_source(server)
        async with source.running():
            await eventually(lambda: ready(source))
            since = source.snapshot().generation
            changed = asyncio.create_task(source.changed({"nodes"}, since, 30))
            server.put("pods", a_placed_pod("q", "a"))
            await eventually(lambda: len(source.cache.pods) == 2)
            before = changed.done()
            server.put("nodes", node_json("a"))

            assert await changed
            assert not before
            assert not await source.changed({"nodes"}, source.snapshot().generation, 0.001)


async def test_no_watch_outlives_its_source() -> None:
    async with scripted() as server:
        a_cluster(server)
        source = live_source(server)
        before = asyncio.all_tasks()
        async with source.running():
            await eventually(lambda: ready(source))
            watches = sum(server.streams(name) for name in EVERYTHING)
        left = {task for task in asyncio.all_tasks() - before if "Reflector" in repr(task)}
        await eventually(lambda: not any(server.streams(name) for name in EVERYTHING))

        assert watches == 5
        assert left == set()
        assert not any(server.streams(name) for name in EVERYTHING)


async def test_a_source_can_be_stopped_before_anything_is_listed() -> None:
    async with scripted() as server:
        await server.stop()
        source = live_source(server)
        async with source.running():
            await asyncio.sleep(0.01)

    assert not ready(source)


async def test_once_all_is_listed_the_collector_is_told_to_leave_it_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "leeway.cluster")
    gc.unfreeze()
    async with scripted() as server:
        a_cluster(server)
        source = live_source(server)
        async with source.running():
            before = gc.get_freeze_count()
            await eventually(lambda: gc.get_freeze_count() > 0)
            frozen, log = gc.get_freeze_count(), caplog.messages[-1]

    assert (before, frozen > 1_000) == (0, True)
    assert log == (
        "cluster listed: 2 nodes; 1 pods; 2 persistentvolumes;"
        " 1 persistentvolumeclaims; 1 storageclasses"
    )


async def test_there_is_nothing_to_reload() -> None:
    async with scripted() as server:
        source: ClusterSource = live_source(server)
        source.reload()

    assert isinstance(source, Watching)
