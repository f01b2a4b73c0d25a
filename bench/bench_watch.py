"""How Leeway does with a large, busy cluster: cold start, memory, events, pauses.

Run with `python -m bench.bench_watch`, or with `--small` for a quick look. An API server whose
bytes are encoded beforehand, `leeway serve` watching all five resources, and this process, which
asks as kube-scheduler does: one call after another.

A pause is how long the ops listener takes to answer; "computing" is what Leeway itself computed
meanwhile. The goal is about the latter: the rest is other processes on the same cores.
"""

import argparse
import os
import platform
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Final

from bench import lines, processes
from bench.asks import Names
from bench.cluster import name_of
from bench.events import Events
from bench.probe import PAUSE_GOAL_MS
from bench.processes import Child
from bench.rounds import NO_ERROR, quantile
from bench.workloads import Workload, mixed_rules

CATCH_UP_LIMIT_SECONDS: Final = 120.0
REST_SECONDS: Final = 0.1
# Leeway is at rest when it computes less than this share of the time.
REST_SHARE: Final = 0.1
WARM_UP: Final = 20

# What the project promises for the full size on two cores.
READY_GOAL: Final = 25.0
RSS_GOAL: Final = 600.0
EVENTS_GOAL: Final = 5_000.0
RATIO_GOAL: Final = 1.5


@dataclass
class Calls:
    """Filter calls over one kept connection, one after another: pods of one workload."""

    server: Child
    names: Names
    workload: Workload

    def run(self, keep: list[float], until: Callable[[], bool]) -> None:
        """Ask until told to stop."""
        while not until():
            keep.append(self.once())

    def once(self) -> float:
        """Seconds from the first byte out to the last byte in."""
        ask = self.names.ask("filter", self.workload.pod())
        seconds, answer = self.server.connection.post("/filter", ask.body)
        if not bytes(answer[-12:]).endswith(NO_ERROR):
            raise SystemExit(f"filter: {bytes(answer[-200:])!r}")
        return seconds


@dataclass
class Table:
    """Rows of what was measured, with the goal where there is one."""

    judged: bool
    missed: int = 0
    rows: list[tuple[str, str, str, str]] = field(default_factory=list)

    def row(self, name: str, value: str, goal: str = "", *, met: bool = True) -> None:
        """One row."""
        verdict = "" if not goal or not self.judged else ("  met" if met else "  MISSED")
        self.missed += bool(verdict) and not met
        self.rows.append((name.strip(), value, goal, verdict.strip()))
        print(f"{name:<58}{value:>16}   {goal:<12}{verdict}", flush=True)


def percentile(times: Sequence[float], share: float) -> float:
    """The value that `share` of all do not exceed, in milliseconds."""
    return quantile(sorted(times), share)


def until_deadline(seconds: float) -> Callable[[], bool]:
    """Whether so many seconds have passed from now."""
    end = perf_counter() + seconds
    return lambda: perf_counter() > end


def settle(server: Child) -> None:
    """Wait until the server is at rest: it has taken in all events."""
    over = until_deadline(CATCH_UP_LIMIT_SECONDS)
    while not over():
        before = server.cpu()
        time.sleep(REST_SECONDS)
        if server.cpu() - before < REST_SHARE * REST_SECONDS:
            return


@dataclass
class Watch:
    """Everything that is measured of one server."""

    table: Table
    server: Child
    probe: lines.Child
    calls: Calls
    events: Events

    def start(self, ready: float) -> None:
        """Cold start and memory."""
        goal = f"< {READY_GOAL:g} s"
        self.table.row(
            "cold start: process to ready", f"{ready:.1f} s", goal, met=ready < READY_GOAL
        )
        rss, goal = self.server.rss(), f"< {RSS_GOAL:g} MB"
        self.table.row("RSS of the extender", f"{rss:.0f} MB", goal, met=rss < RSS_GOAL)
        self.table.row("  at its highest", f"{self.server.peak():.0f} MB")

    def pauses(self, seconds: float, *, with_calls: bool) -> None:
        """200 events a second, with and without calls; a call computes for some time by itself."""
        self.probe.ask("begin")
        self.events.begin(200, seconds)
        if with_calls:
            self.calls.run([], until_deadline(seconds))
        self.events.end()
        name = "and filter calls" if with_calls else "no calls"
        self._pause(f"longest pause, 200 events/s, {name}", judged=not with_calls)

    def _pause(self, name: str, *, judged: bool) -> None:
        seen = self.probe.ask("look")
        computing, goal = seen["computing"], f"<= {PAUSE_GOAL_MS:g} ms" if judged else ""
        met = computing <= PAUSE_GOAL_MS
        self.table.row(f"{name}: computing", f"{computing:.1f} ms", goal, met=met)
        waited = f"{seen['longest']:.1f} ms; {seen['over_goal']}"
        self.table.row(f"  in all; how many over {PAUSE_GOAL_MS:g} ms", waited)

    def beside_events(self, rate: float, rounds: int, each: float) -> None:
        """Filter calls with and without events, in turn, so that both meet the same machine."""
        quiet: list[float] = []
        loaded: list[float] = []
        for _ in range(rounds):
            self.calls.run(quiet, until_deadline(each))
            self.events.begin(rate, each)
            self.calls.run(loaded, until_deadline(each))
            self.events.end()
            settle(self.server)
        ratio = percentile(loaded, 0.99) / percentile(quiet, 0.99)
        for name, times in (("no events", quiet), (f"{rate:g} events/s", loaded)):
            seen = f"{percentile(times, 0.5):.2f} / {percentile(times, 0.99):.2f} ms"
            self.table.row(f"filter, {name}: p50 / p99 ({len(times)} calls)", seen)
        goal = f"<= {RATIO_GOAL:g}"
        self.table.row("  p99 with events / without", f"{ratio:.2f}", goal, met=ratio <= RATIO_GOAL)

    def absorbing(self, seconds: float) -> None:
        """As many events as are taken, while calls are answered."""
        self.probe.ask("begin")
        begun = perf_counter()
        self.events.begin(0, seconds)
        answered: list[float] = []
        self.calls.run(answered, until_deadline(seconds))
        sent = self.events.end()
        settle(self.server)
        rate = sent / (perf_counter() - begun - REST_SECONDS)
        goal, met = f">= {EVENTS_GOAL:g}", rate >= EVENTS_GOAL
        self.table.row("events/s absorbed while filter runs", f"{rate:.0f}", goal, met=met)
        times = f"{percentile(answered, 0.5):.2f} / {percentile(answered, 0.99):.2f} ms"
        self.table.row(f"  filter meanwhile: p50 / p99 ({len(answered)} calls)", times)
        self._pause("  longest pause", judged=False)

    def relist(self) -> None:
        """All watches end with 410, so everything is listed and compared anew."""
        self.probe.ask("begin")
        begun = perf_counter()
        self.events.expire()
        time.sleep(REST_SECONDS)
        settle(self.server)
        seconds = perf_counter() - begun - REST_SECONDS
        self.table.row("all listed anew after 410", f"{seconds:.1f} s")
        self._pause("  longest pause", judged=True)


@dataclass(frozen=True, slots=True)
class Load:
    """How much there is to watch, and for how long."""

    nodes: int = 5_000
    pods: int = 150_000
    rounds: int = 15
    seconds: float = 1.0
    seed: int = 1
    judged: bool = True


def run(load: Load) -> Table:
    """Measure and print."""
    table = Table(judged=load.judged)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        api = stack.enter_context(processes.apiserver(load.nodes, pods=load.pods, seed=load.seed))
        begun = perf_counter()
        server = stack.enter_context(processes.watching(folder, api))
        ready = perf_counter() - begun
        names = Names([name_of(number) for number in range(load.nodes)], random.Random(load.seed))
        watch = Watch(
            table,
            server,
            stack.enter_context(lines.child("bench.probe", server.addresses[1], str(server.pid))),
            Calls(server, names, Workload("web", mixed_rules(1))),
            stack.enter_context(closing(Events(api.addresses[0]))),
        )
        watch.start(ready)
        watch.calls.run([], iter([*[False] * WARM_UP, True]).__next__)
        watch.pauses(10 * load.seconds, with_calls=False)
        watch.pauses(10 * load.seconds, with_calls=True)
        for rate in (200, EVENTS_GOAL):
            watch.beside_events(rate, load.rounds, load.seconds)
        watch.absorbing(5 * load.seconds)
        watch.relist()
        table.row("RSS of the extender in the end", f"{server.rss():.0f} MB")
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_watch", description=__doc__)
    parser.add_argument("--nodes", type=int, default=5_000, help="nodes of 10 KB (5000)")
    parser.add_argument("--pods", type=int, default=150_000, help="pods of 3 KB (150000)")
    parser.add_argument("--small", action="store_true", help="a tenth of it, and shorter")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.small:
        options.nodes, options.pods = options.nodes // 10, options.pods // 10
    busy = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} CPUs, load {busy};"
        f" {options.nodes} nodes, {options.pods} pods"
    )
    rounds = 2 if options.small else 15
    load = Load(options.nodes, options.pods, rounds, seed=options.seed, judged=not options.small)
    table = run(load)
    print(f"\n{table.missed} goal(s) missed" if table.missed else "")


if __name__ == "__main__":
    main()
