"""Whether memory stays flat over 100,000 requests, each with rules that nobody has asked about.

Every request is about another pod with other rules, in another order of nodes. Every twentieth
is about all nodes, the others about a hundred of them that change. Now and then a pod fits
nowhere, a name is unknown, or a node changes.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from bench import processes, workloads
from bench.asks import VERBS, Ask, Names
from bench.cases import Scripts
from bench.cluster import name_of
from bench.events import Events
from bench.processes import Child

FEW_NAMES: Final = 100
ALL_EVERY: Final = 20
UNKNOWN_EVERY: Final = 7
REFUSED_EVERY: Final = 25
EVENT_EVERY: Final = 200
SAMPLES: Final = 100
# Growth over the second half; by then every cache is full.
GROWTH_GOAL_MB: Final = 10.0
RSS_GOAL_MB: Final = 250.0


@dataclass
class Endurance:
    """Asks, and looks at the memory of the server now and then."""

    folder: Path
    requests: int = 100_000
    nodes: int = 5_000
    pods: int = 5_000
    seed: int = 1
    seen: list[tuple[int, float]] = field(default_factory=list)

    def measure(self) -> dict[str, Any]:
        """Memory in MB over the requests."""
        with ExitStack() as stack:
            api = stack.enter_context(
                processes.apiserver(self.nodes, pods=self.pods, seed=self.seed)
            )
            server = stack.enter_context(processes.watching(self.folder, api))
            begun = perf_counter()
            self._ask(server, stack.enter_context(closing(Events(api.addresses[0]))))
            seconds = perf_counter() - begun
            peak = server.peak()
        full = max(rss for asked, rss in self.seen if asked <= max(self.requests // 2, 1))
        return {
            "requests": self.requests,
            "nodes": self.nodes,
            "pods": self.pods,
            "seconds": round(seconds, 1),
            "rss": [[asked, round(rss, 1)] for asked, rss in self.seen],
            "by_half": round(full, 1),
            "at_the_end": round(self.seen[-1][1], 1),
            "peak": round(peak, 1),
            "growth": round(self.seen[-1][1] - full, 1),
            "goal": GROWTH_GOAL_MB,
            "rss_goal": RSS_GOAL_MB,
        }

    def _ask(self, server: Child, events: Events) -> None:
        every = max(1, self.requests // SAMPLES)
        self.seen.append((0, server.rss()))
        for number, ask in enumerate(self._asks(), 1):
            if number % EVENT_EVERY == 0:
                events.one()
            server.connection.post(f"/{ask.verb}", ask.body)
            if number % every == 0:
                self.seen.append((number, server.rss()))

    def _asks(self) -> Iterator[Ask]:
        scripts = Scripts(self.nodes, 0, self.seed)
        for number in range(self.requests):
            refused = number % REFUSED_EVERY == 0
            rules = workloads.refused_rules if refused else workloads.mixed_rules
            verb = "filter" if refused else VERBS[number % 2]
            names = scripts.names
            if number % ALL_EVERY:
                names = Names(self._some_names(number), names.chance)
            yield names.ask(verb, scripts.new_workload(rules).pod())

    def _some_names(self, number: int) -> list[str]:
        """A window of the nodes that moves on; some have a node that nobody has heard of."""
        some = [name_of((number + each) % self.nodes) for each in range(FEW_NAMES)]
        # A pod that fits nowhere gets an error if a name is unknown: leave it to the others.
        if number % UNKNOWN_EVERY == 0 and number % REFUSED_EVERY:
            some.append(f"unknown-{number:07}")
        return some
