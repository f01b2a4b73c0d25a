"""However late binds are seen, and in whatever order, no placement breaks a constraint."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from extender.framework.interface import SUCCESS, Profile, Settings
from extender.framework.pods.cohorts import PodInfo
from extender.framework.pods.index import PodIndex
from extender.framework.runner import Runner
from extender.framework.snapshot import NodeInfo
from extender.model.core_v1 import Pod
from extender.plugins.pod_topology_spread import PodTopologySpread
from tests.builders import a_snapshot, filtered, node_json

WEB = {"app": "web"}
PROFILE = Profile("test", (PodTopologySpread(Settings()),), ())


class Scheduler:
    """Places pods one after the other; binds come to be seen when they like."""

    def __init__(self, zones: int, hosts: int, skews: dict[str, int], seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - a test, no secret
        self.skews = skews
        self.nodes = [
            node_json(f"n{i}", labels={"zone": f"z{i % zones}", "host": f"n{i}"})
            for i in range(zones * hosts)
        ]
        self.cluster = a_snapshot(self.nodes, reserves=True)
        self.runner = Runner(clock=lambda: 0.0)
        self.placed: dict[str, str] = {}
        self.unseen: dict[str, str] = {}

    def pod(self, number: int) -> Pod:
        constraints = [
            {
                "maxSkew": skew,
                "topologyKey": key,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": WEB},
            }
            for key, skew in self.skews.items()
        ]
        metadata = {"name": f"p{number}", "namespace": "default", "uid": f"p{number}"}
        spec: dict[str, Any] = {"topologySpreadConstraints": constraints}
        return msgspec.convert({"metadata": metadata | {"labels": WEB}, "spec": spec}, Pod)

    @property
    def pods(self) -> PodIndex:
        assert self.cluster.pods is not None
        return self.cluster.pods

    def schedule(self, number: int, fitting: str = "") -> bool:
        """As the verb does it, with nodes that fit otherwise; whether the pod was placed."""
        candidates = [
            n for n in self.cluster.nodes.values() if not fitting or n.labels["zone"] in fitting
        ]
        self.chance.shuffle(candidates)
        return self.ask(number, candidates)

    def ask(self, number: int, candidates: Sequence[NodeInfo]) -> bool:
        """One call, and what the scheduler makes of it; whether the pod was placed."""
        pod = self.pod(number)
        table = self.cluster.table
        found = table.find([node.name for node in candidates])
        result = self.runner.filter(PROFILE, pod, self.cluster, table, found)
        statuses = result.statuses()
        passing = [n for n, s in zip(candidates, statuses, strict=True) if s is SUCCESS]
        waits = any(status.unsettled for status in statuses)
        assert waits == result.is_unsettled()
        self.pods.answered(
            pod, table.passing(found) if passing else None, waits=waits and not passing
        )
        if not passing:
            # Nobody is refused for good because of pods in flight.
            assert self.unseen or not waits
            assert waits or not self.fits_what_is_seen(pod, candidates)
            return False
        node = self.chance.choice(passing)
        self.placed[f"p{number}"] = self.unseen[f"p{number}"] = node.name
        for key, allowed in self.skews.items():
            counts = self.counts(key)
            assert counts[node.labels[key]] - min(counts.values()) <= allowed
        return True

    def delete(self) -> None:
        """A pod goes, whether or not it was seen to arrive."""
        name = self.chance.choice(sorted(self.placed))
        if name not in self.unseen:
            self.pods.remove(self.info(name))
        del self.placed[name]
        self.unseen.pop(name, None)
        self.pods.gone(f"default/{name}", name)

    def fits_what_is_seen(self, pod: Pod, candidates: Sequence[NodeInfo]) -> bool:
        """Whether the pod would be let pass if none of those in flight ever arrived."""
        seen = self.placed.keys() - self.unseen.keys()
        cluster = a_snapshot(self.nodes, [self.info(name) for name in seen])
        return SUCCESS in filtered(PROFILE, pod, candidates, cluster).statuses()

    def info(self, name: str) -> PodInfo:
        return PodInfo("default", name, name, self.placed[name], "", False, WEB)

    def see(self) -> None:
        """One of the binds arrives."""
        name = self.chance.choice(sorted(self.unseen))
        del self.unseen[name]
        self.pods.put(self.info(name), None)

    def counts(self, key: str) -> Mapping[str, int]:
        """The truth, whoever has seen it."""
        counts = {node.labels[key]: 0 for node in self.cluster.nodes.values()}
        for node in self.placed.values():
            counts[self.cluster.nodes[node].labels[key]] += 1
        return counts

    def skew(self, key: str) -> int:
        counts = self.counts(key).values()
        return max(counts) - min(counts)


@given(
    zones=st.integers(2, 4),
    hosts=st.integers(1, 3),
    skews=st.sampled_from([{"zone": 1}, {"zone": 2}, {"host": 1}, {"zone": 1, "host": 1}]),
    binds=st.lists(st.booleans(), max_size=120),
    seed=st.integers(0, 1_000),
)
def test_no_placement_breaks_a_constraint_and_nobody_waits_for_ever(
    zones: int, hosts: int, skews: dict[str, int], binds: list[bool], seed: int
) -> None:
    scheduler = Scheduler(zones, hosts, skews, seed)
    number = 0
    for sees in [*binds, *[True, False] * 40]:
        if sees and scheduler.unseen:
            scheduler.see()
        elif scheduler.schedule(number):
            number += 1
            for key, allowed in skews.items():
                assert scheduler.skew(key) <= allowed
    while scheduler.unseen:
        scheduler.see()

    assert scheduler.schedule(number)
    assert number > 0


@given(
    steps=st.lists(st.sampled_from(["new", "new", "nominated", "see", "delete"]), max_size=80),
    skews=st.sampled_from([{"zone": 1}, {"zone": 2}, {"zone": 1, "host": 1}]),
    seed=st.integers(0, 1_000),
)
def test_no_placement_breaks_a_constraint_whatever_becomes_of_the_others(
    steps: list[str], skews: dict[str, int], seed: int
) -> None:
    """A nominated node has a call of its own first; pods are deleted, in flight or not."""
    scheduler = Scheduler(zones=3, hosts=2, skews=skews, seed=seed)
    for number, step in enumerate(steps):
        if step == "see" and scheduler.unseen:
            scheduler.see()
        elif step == "delete" and scheduler.placed:
            scheduler.delete()
        elif step == "nominated":
            node = scheduler.chance.choice(list(scheduler.cluster.nodes.values()))
            if not scheduler.ask(number, [node]):
                scheduler.schedule(number)
        else:
            scheduler.schedule(number)


@given(
    fitting=st.lists(st.sampled_from(["z0", "z1", "z0 z1", ""]), min_size=1, max_size=60),
    binds=st.lists(st.booleans(), min_size=60, max_size=60),
    seed=st.integers(0, 1_000),
)
def test_who_is_refused_for_good_is_so_without_those_in_flight(
    fitting: list[str], binds: list[bool], seed: int
) -> None:
    """Some zones have no room: pods come to be refused, while others are on their way."""
    scheduler = Scheduler(zones=3, hosts=2, skews={"zone": 1}, seed=seed)
    for number, (zones, sees) in enumerate(zip(fitting, binds, strict=False)):
        scheduler.schedule(number, zones)
        if sees and scheduler.unseen:
            scheduler.see()

        assert scheduler.skew("zone") <= 1


def test_a_pod_in_flight_that_fails_does_no_harm_while_others_can_make_up_for_it() -> None:
    """It is counted where it is not: the next pods go to the zone that has seen the fewest."""
    scheduler = Scheduler(zones=3, hosts=1, skews={"zone": 1}, seed=1)
    for number in range(2):
        scheduler.schedule(number)
        scheduler.see()
    scheduler.schedule(2)
    scheduler.placed.popitem()
    scheduler.unseen.popitem()
    for number in range(10, 30):
        assert scheduler.schedule(number)
        assert scheduler.skew("zone") <= 1
