"""Whether memory stays flat over 100,000 requests.

The requests are such that every cache is filled and turned over: always other pods, every fourth
of a workload that nobody has seen, every fiftieth about all nodes, each verb in turn, now and
then one that fits nowhere, and a node that changes.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from bench import processes, workloads
from bench.cases import VERBS, Scripts
from bench.cluster import name_of
from bench.events import Events
from bench.processes import Child
from bench.workloads import Names

FEW_NAMES: Final = 100
NEW_EVERY: Final = 4
ALL_EVERY: Final = 50
REFUSED_EVERY: Final = 25
EVENT_EVERY: Final = 200
SAMPLES: Final = 100
# Growth over the second half; by then every cache is full, that of 16,384 versions last.
GROWTH_GOAL_MB: Final = 10.0


@dataclass
class Endurance:
    """Asks, and looks at the memory of the server now and then."""

    folder: Path
    requests: int = 100_000
    nodes: int = 5_000
    seed: int = 1
    seen: list[tuple[int, float]] = field(default_factory=list)

    def measure(self) -> dict[str, Any]:
        """Memory in MB over the requests."""
        with ExitStack() as stack:
            api = stack.enter_context(processes.apiserver(self.nodes, seed=self.seed))
            server = stack.enter_context(processes.watching(self.folder, api))
            begun = perf_counter()
            self._ask(server, stack.enter_context(closing(Events(api.addresses[0]))))
            seconds = perf_counter() - begun
        full = max(rss for asked, rss in self.seen if asked <= max(self.requests // 2, 1))
        return {
            "requests": self.requests,
            "seconds": round(seconds, 1),
            "rss": [[asked, round(rss, 1)] for asked, rss in self.seen],
            "by_half": round(full, 1),
            "at_the_end": round(self.seen[-1][1], 1),
            "growth": round(self.seen[-1][1] - full, 1),
            "goal": GROWTH_GOAL_MB,
        }

    def _ask(self, server: Child, events: Events) -> None:
        every = max(1, self.requests // SAMPLES)
        self.seen.append((0, server.rss()))
        for number, (verb, body) in enumerate(self._bodies(), 1):
            if number % EVENT_EVERY == 0:
                events.one()
            server.connection.post(f"/{verb}", body)
            if number % every == 0:
                self.seen.append((number, server.rss()))

    def _bodies(self) -> Iterator[tuple[str, bytes]]:
        scripts = Scripts(self.nodes, 0, self.seed)
        few = Names([name_of(number) for number in range(FEW_NAMES)], scripts.names.chance)
        workload = scripts.new_workload()
        refused = scripts.new_workload(workloads.refused_rules)
        for number in range(self.requests):
            if number % NEW_EVERY == 0:
                workload = scripts.new_workload()
            if number % (NEW_EVERY * REFUSED_EVERY) == 0:
                refused = scripts.new_workload(workloads.refused_rules)
            asked = refused if number % REFUSED_EVERY == 0 else workload
            names = scripts.names if number % ALL_EVERY == 1 else few
            shuffled = number % 3 == 0
            verb = "filter" if asked is refused else VERBS[number % 2]
            yield verb, names.body(asked.pod(), shuffled=shuffled)
