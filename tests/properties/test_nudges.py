"""Whatever order kube-scheduler and Leeway hear of changes in, nobody who fits is left waiting."""

import asyncio
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from extender.config.schema import Config
from extender.verbs.waiting import GRACE
from tests.builders import JSON, node_json, taint, toleration
from tests.cluster.apiserver import a_placed_pod
from tests.waiting import World, a_waiting_pod, spread

NODES = ("a", "b", "c")
VALUES = st.sampled_from(["", "700", "900", "950"])


def a_node(name: str, value: str, *, cordoned: bool = False) -> JSON:
    taints = [taint("sla", value)] if value else []
    return node_json(name, *taints, labels={"zone": name}, unschedulable=cordoned)


def plain(name: str, threshold: str) -> JSON:
    return a_waiting_pod(toleration("sla", "Gt", threshold), name=name)


def evenly(name: str, threshold: str) -> JSON:
    return spread(plain(name, threshold))


# What happens to the cluster: a node changes, comes or goes, or a pod comes to a node or leaves it.
CHANGES = st.one_of(
    st.tuples(st.just("node"), st.sampled_from(NODES), VALUES, st.booleans()),
    st.tuples(st.just("gone"), st.sampled_from(NODES), st.just(""), st.just(False)),
    st.tuples(st.just("pod"), st.sampled_from(NODES), st.just("x"), st.booleans()),
)
Change = tuple[str, str, str, bool]
# Who hears of the next change: the scheduler, Leeway, or time passes and Leeway looks.
TURNS = st.sampled_from(["scheduler", "leeway", "look", "send"])
PODS = st.lists(
    st.builds(
        lambda kind, threshold: (kind, threshold),
        st.sampled_from(["plain", "spread"]),
        st.sampled_from(["0", "800", "940", "1000"]),
    ),
    min_size=1,
    max_size=4,
)


def apply(world: World, change: Change) -> None:
    """One side hears of a change."""
    kind, name, value, flag = change
    if kind == "node":
        world.show(a_node(name, value, cordoned=flag))
    elif kind == "gone":
        world.cache.nodes.remove(name)
    elif flag:
        world.show_pod(a_placed_pod(f"placed-{name}", name, labels={"app": "web"}))
    else:
        world.cache.pods.remove(f"default/placed-{name}")


@dataclass
class Scheduler:
    """kube-scheduler: hears of changes in its own time, and asks about refused pods then."""

    leeway: World
    pods: dict[str, JSON]
    view: World = field(default_factory=World)
    bound: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    seen: int = 0  # of the nudges

    def hear(self, change: Change) -> None:
        """Any event wakes every refused pod."""
        apply(self.view, change)
        self.ask(*self.pods)

    def hear_nudges(self) -> None:
        """A changed condition wakes this pod and no other."""
        for key, _, condition in self.leeway.written[self.seen :]:
            assert condition.status == "True"
            self.ask(key)
        self.seen = len(self.leeway.written)

    def ask(self, *keys: str) -> None:
        for key in keys:
            offered = list(self.view.cache.nodes.objects)
            if key in self.bound or not offered:
                continue
            answer = self.leeway.ask(self.pods[key], *offered)
            self.failed.discard(key)
            if answer.passed:
                self.bound.add(key)
            elif answer.error:
                self.failed.add(key)

    def retry(self) -> None:
        """An error is retried by itself."""
        self.ask(*sorted(self.failed))


def fits(world: World, pod: JSON) -> bool:
    """Whether the pod would pass, asked of a Leeway that knows everything and remembers nothing."""
    fresh = World()
    fresh.cache = world.cache
    return bool(world.cache.nodes.objects) and fresh.ask(pod).passed > 0


@given(
    PODS,
    st.lists(CHANGES, max_size=8),
    st.lists(TURNS, max_size=40),
    st.lists(st.tuples(st.sampled_from(NODES), VALUES), max_size=3),
)
@settings(deadline=None)
def test_nobody_who_fits_is_left_waiting_and_nobody_else_is_woken(
    kinds: list[tuple[str, str]],
    changes: list[Change],
    turns: list[str],
    begin: list[tuple[str, str]],
) -> None:
    leeway = World(Config(nudges_per_second=1_000))
    made = {"plain": plain, "spread": evenly}
    pods = [made[kind](f"p{number}", each) for number, (kind, each) in enumerate(kinds)]
    scheduler = Scheduler(leeway, {f"default/{pod['metadata']['name']}": pod for pod in pods})
    for name, value in begin:
        leeway.show(a_node(name, value))
        scheduler.view.show(a_node(name, value))
    for pod in pods:
        leeway.show_pod(pod)
    scheduler.ask(*scheduler.pods)

    asyncio.run(_played(leeway, scheduler, changes, turns))

    for key, pod in scheduler.pods.items():
        assert leeway.woken().count(key) <= len(changes) + 1
        if key not in scheduler.bound:
            assert not fits(leeway, pod), key


async def _played(
    leeway: World, scheduler: Scheduler, changes: list[Change], turns: list[str]
) -> None:
    to_scheduler, to_leeway = list(changes), list(changes)
    everybody = ["scheduler"] * len(changes) + ["leeway"] * len(changes)
    for turn in [*turns, *everybody]:
        if turn == "scheduler" and to_scheduler:
            scheduler.hear(to_scheduler.pop(0))
        elif turn == "leeway" and to_leeway:
            apply(leeway, to_leeway.pop(0))
        elif turn == "look":
            await leeway.look(GRACE)
        elif turn == "send":
            await _sent(leeway, scheduler)
    # Both have heard of everything. From here on nothing changes but what nudges bring about.
    for _ in range(2_000):
        scheduler.retry()
        again = await leeway.look(GRACE)
        await _sent(leeway, scheduler)
        if not again and not leeway.nudges.has_work:
            return
    raise AssertionError("it never comes to rest")


async def _sent(leeway: World, scheduler: Scheduler) -> None:
    before = len(leeway.written)
    await leeway.send()
    for key, _, _ in leeway.written[before:]:
        assert fits(leeway, scheduler.pods[key]), f"{key} was woken, and fits nowhere"
    scheduler.hear_nudges()


def test_the_simulation_loses_the_race_without_nudges() -> None:
    leeway = World(Config(nudges_per_second=1_000))
    pod = plain("p0", "900")
    scheduler = Scheduler(leeway, {"default/p0": pod})
    for world in (leeway, scheduler.view):
        world.show(a_node("a", "700"))
    leeway.show_pod(pod)
    scheduler.ask("default/p0")
    change: Change = ("node", "a", "950", False)
    scheduler.hear(change)
    apply(leeway, change)

    assert scheduler.bound == set()
    asyncio.run(_played(leeway, scheduler, [], []))
    assert scheduler.bound == {"default/p0"}
