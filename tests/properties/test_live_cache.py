"""Whatever changes, and whatever breaks in whatever order: in the end the cache is the truth."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from extender.cluster.api import ApiServer
from extender.cluster.cache import NodeStore, PodStore
from extender.cluster.reflector import Reflector
from extender.cluster.resources import NODES, PODS
from tests.builders import node_json, taint
from tests.cluster.apiserver import (
    BREAKS,
    Answer,
    Broken,
    CutOff,
    ScriptedServer,
    a_placed_pod,
    anonymous,
    cached_nodes,
    cached_pods,
    eventually,
    key_of,
    scripted,
    true_nodes,
    true_pods,
)

# Longer than an answer takes. A connection that asyncio accepts while a server stops is never
# answered, so that the first is needed now and then; the second is waited for each time.
SILENCE_SECONDS = 1.0
SHORT_SILENCE_SECONDS = 0.15

RESOURCES = st.sampled_from(["nodes", "pods"])
NAMES = st.sampled_from([f"n{i}" for i in range(5)])
PHASES = st.sampled_from(["Pending", "Running", "Succeeded", "Failed"])
STATUSES = st.sampled_from([400, 401, 403, 410, 422, 429, 500, 503])
NOISY_BREAKS = st.sampled_from([name for name in BREAKS if name != "silent"])


@dataclass(frozen=True)
class Step:
    """Something that happens, and how it reads in a failing example."""

    text: str
    take: Callable[[ScriptedServer], object]
    pause: float = 0.0  # what the client is given before the next step

    def __repr__(self) -> str:
        return f"{self.text}, {self.pause} s"


def put_node(name: str, value: str, cordoned: bool) -> Step:
    node = node_json(name, taint("sla", value), labels={"v": value}, unschedulable=cordoned)
    return Step(f"put node {name} {value}", lambda server: server.put("nodes", node))


def put_pod(name: str, node: str, nominated: str, phase: str) -> Step:
    pod = a_placed_pod(name, node, nominated=nominated, phase=phase, labels={"on": node})
    return Step(f"put pod {name} {node} {phase}", lambda server: server.put("pods", pod))


def delete(resource: str, name: str) -> Step:
    def take(server: ScriptedServer) -> None:
        namespace = "default" if resource == "pods" else ""
        if key_of(name, namespace) in server.objects[resource]:
            server.delete(resource, name, namespace)

    return Step(f"delete {resource} {name}", take)


def disturb(resource: str, name: str) -> Step:
    return Step(f"{resource}: {name}, now", lambda server: server.disturb(resource, *BREAKS[name]))


def break_next(resource: str, name: str, after: int) -> Step:
    broken = Broken(after, BREAKS[name])
    return Step(
        f"{resource}: {name}, after {after}", lambda server: server.on_watch(resource, broken)
    )


def refuse(resource: str, status: int) -> Step:
    def take(server: ScriptedServer) -> None:
        server.on_watch(resource, Answer(status))
        server.on_list(resource, Answer(status))

    return Step(f"{resource}: HTTP {status}", take)


def spoil_pages(resource: str, page: int, status: int) -> Step:
    def take(server: ScriptedServer) -> None:
        fault = Answer(status) if status else CutOff()
        server.on_list(resource, *([None] * page), fault)

    return Step(f"{resource}: page {page} {status or 'cut off'}", take)


def switch(attribute: str, value: object) -> Step:
    return Step(f"{attribute} = {value}", lambda server: setattr(server, attribute, value))


def simple(name: str) -> Step:
    return Step(name, lambda server: getattr(server, name)())


CHANGES = st.one_of(
    st.builds(put_node, NAMES, st.sampled_from(["1", "2"]), st.booleans()),
    st.builds(put_pod, NAMES, st.one_of(st.just(""), NAMES), st.just(""), PHASES),
    st.builds(put_pod, NAMES, st.just(""), NAMES, PHASES),
    st.builds(delete, RESOURCES, NAMES),
    st.just(simple("bookmark")),
)
FAULTS = st.one_of(
    st.builds(disturb, RESOURCES, NOISY_BREAKS),
    st.builds(break_next, RESOURCES, NOISY_BREAKS, st.integers(0, 6)),
    st.builds(refuse, RESOURCES, STATUSES),
    st.builds(spoil_pages, RESOURCES, st.integers(0, 3), st.sampled_from([0, 410, 500])),
    st.just(simple("compact")),
    st.just(simple("restart")),
    st.builds(switch, st.just("streams_lists"), st.booleans()),
    st.builds(switch, st.just("tells_gone_in_stream"), st.booleans()),
    st.builds(switch, st.just("piece"), st.sampled_from([None, 11])),
)
# A client that is given no time misses things, one that is given some sees them happen.
SCRIPTS = st.lists(
    st.builds(replace, st.one_of(CHANGES, FAULTS), pause=st.sampled_from([0, 0.001, 0.004])),
    min_size=10,
    max_size=30,
)


async def play(
    script: list[Step], silence: float, *, listed_first: bool
) -> tuple[ScriptedServer, NodeStore, PodStore]:
    nodes, pods = NodeStore(), PodStore()

    async def sleep(_: float) -> None:
        await asyncio.sleep(0.0005)

    async with scripted() as server:
        api = ApiServer(anonymous(server), watch_read_seconds=silence)
        reflectors = (
            Reflector(NODES, api, nodes, sleep=sleep),
            Reflector(PODS, api, pods, sleep=sleep),
        )
        tasks = [asyncio.create_task(each.run()) for each in reflectors]
        try:
            if listed_first:
                await asyncio.gather(*(each.synced.wait() for each in reflectors))
            for step in script:
                if step.text == "restart":
                    await server.stop()
                    await server.start()
                else:
                    step.take(server)
                await asyncio.sleep(step.pause)
            server.behave()
            await eventually(
                lambda: (
                    all(each.synced.is_set() for each in reflectors)
                    and cached_nodes(nodes) == true_nodes(server)
                    and cached_pods(pods) == true_pods(server)
                )
            )
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    return server, nodes, pods


def small_pages(play_it: Callable[[], None]) -> None:
    """With pages of two, so that a list of five has several."""
    pages = NODES.page, PODS.page
    NODES.page = PODS.page = 2
    try:
        play_it()
    finally:
        NODES.page, PODS.page = pages


def check(script: list[Step], silence: float, *, listed_first: bool) -> None:
    server, nodes, pods = asyncio.run(play(script, silence, listed_first=listed_first))

    assert cached_nodes(nodes) == true_nodes(server)
    assert cached_pods(pods) == true_pods(server)


# What depends on timing cannot be made smaller; a failing script is shown as it was played.
PHASES_BUT_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)


@settings(deadline=None, max_examples=60, phases=PHASES_BUT_SHRINKING)
@given(script=SCRIPTS, listed_first=st.booleans())
def test_in_the_end_the_cache_is_the_truth(script: list[Step], listed_first: bool) -> None:
    small_pages(lambda: check(script, SILENCE_SECONDS, listed_first=listed_first))


@settings(deadline=None, max_examples=8, phases=PHASES_BUT_SHRINKING)
@given(before=SCRIPTS, resource=RESOURCES, after=SCRIPTS)
def test_also_when_a_stream_falls_silent(
    before: list[Step], resource: str, after: list[Step]
) -> None:
    script = [*before, disturb(resource, "silent"), *after]

    small_pages(lambda: check(script, SHORT_SILENCE_SECONDS, listed_first=True))
