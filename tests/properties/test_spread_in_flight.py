"""However late binds are seen, and in whatever order, no placement breaks a constraint."""

import random
from collections import Counter
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from extender.framework import runner
from extender.framework.interface import SUCCESS, Profile, Settings
from extender.framework.pods import PodInfo
from extender.model.core_v1 import Pod
from extender.plugins.pod_topology_spread import PodTopologySpread
from tests.builders import a_snapshot, node_json

WEB = {"app": "web"}
PROFILE = Profile("test", (PodTopologySpread(Settings()),), ())


class Scheduler:
    """Places pods one after the other; binds come to be seen when they like."""

    def __init__(self, zones: int, hosts: int, skews: dict[str, int], seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - a test, no secret
        self.skews = skews
        self.cluster = a_snapshot(
            [
                node_json(f"n{i}", labels={"zone": f"z{i % zones}", "host": f"n{i}"})
                for i in range(zones * hosts)
            ],
            reserves=True,
        )
        self.placed: dict[str, str] = {}
        self.unseen: dict[str, str] = {}
        self.put_off = 0

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

    def schedule(self, number: int) -> bool:
        """As the verb does it; whether the pod was placed."""
        pods, pod = self.cluster.pods, self.pod(number)
        assert pods is not None
        candidates = list(self.cluster.nodes.values())
        self.chance.shuffle(candidates)
        result = runner.run_filter(
            PROFILE, pod, self.cluster, candidates, clock=lambda: 0.0, narrow=True
        )
        passing = [n for n, s in zip(candidates, result.statuses, strict=True) if s is SUCCESS]
        waits = any(status.unsettled for status in result.statuses)
        pods.answered(pod, passing, waits=waits and not passing)
        if not passing:
            # Nobody is refused for good because of pods in flight.
            assert waits
            assert self.unseen
            self.put_off += 1
            return False
        node = self.chance.choice(passing).name
        self.placed[f"p{number}"] = self.unseen[f"p{number}"] = node
        return True

    def see(self) -> None:
        """One of the binds arrives."""
        pods = self.cluster.pods
        assert pods is not None
        name = self.chance.choice(sorted(self.unseen))
        node = self.unseen.pop(name)
        pods.put(PodInfo("default", name, name, node, "", False, WEB), None)

    def skew(self, key: str) -> int:
        counts = Counter(self.cluster.nodes[node].labels[key] for node in self.placed.values())
        every = {node.labels[key] for node in self.cluster.nodes.values()}
        return max(counts[domain] for domain in every) - min(counts[domain] for domain in every)


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
