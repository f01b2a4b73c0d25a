"""How a live extender fares with a large cluster: cold start, memory, events, pauses.

Run with `python -m bench.bench_watch`, or with `--small` for a quick look. Three processes on
loopback: an API server whose bytes are encoded beforehand, the real extender watching all five
resources, and this one, which asks as kube-scheduler does: one call after another.

A pause is the time for which a task that sleeps a millisecond at a time is not woken; "computing"
is what the event loop itself computed meanwhile. The goal is held to the latter: the rest is
other processes on the same cores, of which this bench alone has two.
"""

import argparse
import contextlib
import json
import os
import platform
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

from bench.asks import Names
from bench.client import Connection
from bench.cluster import JSON, name_of
from bench.events import Events
from bench.lines import Child, child
from bench.rounds import MS, NO_ERROR, quantile
from bench.watched import PAUSE_GOAL
from bench.workloads import Workload, mixed_rules

CATCH_UP_LIMIT_SECONDS: Final = 120.0
WARM_UP: Final = 20
MB: Final = 1_048_576

# What the project promises for the full size on two cores.
READY_GOAL: Final = 25.0
RSS_GOAL: Final = 600.0
EVENTS_GOAL: Final = 5_000.0
RATIO_GOAL: Final = 1.5


@dataclass
class Calls:
    """Filter calls over one kept connection, one after another: pods of one workload."""

    connection: Connection
    names: Names
    workload: Workload

    def run(self, keep: list[float], until: Callable[[], bool]) -> None:
        """Ask until told to stop."""
        while not until():
            keep.append(self.once())

    def once(self) -> float:
        """Seconds from the first byte out to the last byte in."""
        ask = self.names.ask("filter", self.workload.pod())
        seconds, answer = self.connection.post("/filter", ask.body)
        if not bytes(answer[-12:]).endswith(NO_ERROR):
            raise SystemExit(f"filter: {bytes(answer[-200:])!r}")
        return seconds


def calls_to(address: str, nodes: int) -> Calls:
    """Calls about every node."""
    names = Names([name_of(number) for number in range(nodes)], random.Random(1))
    return Calls(Connection(address), names, Workload("web", mixed_rules(1)))


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


def measure_start(table: Table, leeway: Child, begun: float) -> None:
    """Cold start and memory."""
    seen = leeway.ask("reset")
    ready = perf_counter() - begun
    listing = seen["listing"]
    table.row(
        "cold start: process to ready",
        f"{ready:.1f} s",
        f"< {READY_GOAL:g} s",
        met=ready < READY_GOAL,
    )
    table.row("  of which from first connection to all listed", f"{seen['listed']:.1f} s")
    longest, collector = listing["own"] * MS, listing["collector"] * MS
    table.row("  longest pause meanwhile: computing", f"{longest:.0f} ms")
    table.row("  longest run of the garbage collector", f"{collector:.0f} ms")
    table.row(
        "RSS of the extender",
        f"{seen['rss']:.0f} MB",
        f"< {RSS_GOAL:g} MB",
        met=seen["rss"] < RSS_GOAL,
    )
    table.row("  at its highest", f"{seen['peak']:.0f} MB")


def measure_calls(
    table: Table, leeway: Child, calls: Calls, events: Events, rate: float, rounds: int, each: float
) -> None:
    """Filter calls with and without events, in turn, so that both meet the same machine."""
    quiet: list[float] = []
    loaded: list[float] = []
    for _ in range(rounds):
        calls.run(quiet, until_deadline(each))
        events.begin(rate, each)
        calls.run(loaded, until_deadline(each))
        events.end()
        settle(leeway)
    ratio = percentile(loaded, 0.99) / percentile(quiet, 0.99)
    for name, times in (("no events", quiet), (f"{rate:g} events/s", loaded)):
        half, most = percentile(times, 0.5), percentile(times, 0.99)
        table.row(f"filter, {name}: p50 / p99 ({len(times)} calls)", f"{half:.2f} / {most:.2f} ms")
    goal = f"<= {RATIO_GOAL:g}"
    table.row("  p99 with events / without", f"{ratio:.2f}", goal, met=ratio <= RATIO_GOAL)


def settle(leeway: Child) -> JSON:
    """Wait until no more events arrive."""
    over = until_deadline(CATCH_UP_LIMIT_SECONDS)
    seen, before = leeway.ask("look"), -1
    while seen["applied"] != before and not over():
        before = seen["applied"]
        time.sleep(0.1)
        seen = leeway.ask("look")
    return seen


def measure_pauses(
    table: Table, leeway: Child, calls: Calls | None, events: Events, seconds: float
) -> None:
    """200 events a second, with and without calls; a call computes for some time by itself."""
    leeway.ask("reset")
    events.begin(200, seconds)
    if calls is not None:
        calls.run([], until_deadline(seconds))
    events.end()
    seen = leeway.ask("look")
    longest, own = seen["loop"] * MS, seen["own"] * MS
    name = "no calls" if calls is None else "and filter calls"
    goal = f"<= {PAUSE_GOAL:g} ms" if calls is None else ""
    table.row(
        f"longest pause, 200 events/s, {name}: computing",
        f"{own:.1f} ms",
        goal,
        met=own <= PAUSE_GOAL,
    )
    table.row(
        f"  in all; how many over {PAUSE_GOAL:g} ms", f"{longest:.1f} ms; {seen['over_goal']}"
    )
    table.row("  longest run of the garbage collector", f"{seen['collector'] * MS:.1f} ms")


def measure_absorbing(
    table: Table, leeway: Child, calls: Calls, events: Events, seconds: float
) -> None:
    """As many events as are taken, while calls are answered."""
    before = leeway.ask("reset")
    begun = perf_counter()
    events.begin(0, seconds)
    answered: list[float] = []
    calls.run(answered, until_deadline(seconds))
    sent = events.end()
    over = until_deadline(CATCH_UP_LIMIT_SECONDS)
    while (seen := leeway.ask("look"))["applied"] - before["applied"] < sent and not over():
        answered.append(calls.once())
    taken = seen["applied"] - before["applied"]
    rate = taken / (perf_counter() - begun)
    table.row(
        "events/s absorbed while filter runs",
        f"{rate:.0f}",
        f">= {EVENTS_GOAL:g}",
        met=rate >= EVENTS_GOAL,
    )
    half, most = percentile(answered, 0.5), percentile(answered, 0.99)
    table.row(
        f"  filter meanwhile: p50 / p99 ({len(answered)} calls)", f"{half:.2f} / {most:.2f} ms"
    )
    table.row("  longest pause: computing", f"{seen['own'] * MS:.1f} ms")
    if taken < sent:
        table.row("  events that never arrived", str(sent - taken))


def measure_relist(table: Table, leeway: Child, events: Events, objects: int) -> None:
    """All watches end with 410, so everything is listed and compared anew."""
    before = leeway.ask("reset")["applied"]
    begun = perf_counter()
    events.expire()
    over = until_deadline(CATCH_UP_LIMIT_SECONDS)
    while (seen := leeway.ask("look"))["applied"] - before < objects and not over():
        time.sleep(0.02)
    seconds = perf_counter() - begun
    table.row("all listed anew after 410", f"{seconds:.1f} s")
    longest, goal = seen["own"] * MS, f"<= {PAUSE_GOAL:g} ms"
    table.row("  longest pause: computing", f"{longest:.1f} ms", goal, met=longest <= PAUSE_GOAL)
    table.row("  longest run of the garbage collector", f"{seen['collector'] * MS:.1f} ms")


def measure_models(table: Table, nodes: int, pods: int) -> None:
    """What the generated models take for a tenth."""
    size = (str(nodes // 10), str(pods // 10))
    with child("bench.watched", "--models", *size) as process:
        seen = json.loads(process.line())
    print(f"\nBeside it: generated models of the kubernetes client, {' + '.join(size)} of these")
    table.row(f"decode {seen['objects']} objects, nothing else", f"{seen['seconds']:.1f} s")
    table.row("  RSS grown", f"{seen['rss']:.0f} MB")


@contextlib.contextmanager
def api_server(nodes: int, pods: int, seed: int) -> Iterator[str]:
    """A cluster of that size; where it is served."""
    size = ("--nodes", str(nodes), "--pods", str(pods), "--seed", str(seed))
    with child("bench.apiserver", *size) as process:
        words = process.line().split()
        print(f"API server has {int(words[-2]) / MB:.0f} MB of JSON\n", flush=True)
        yield f"http://{words[3]}"


@dataclass(frozen=True, slots=True)
class Load:
    """How much there is to watch, and for how long."""

    nodes: int = 5_000
    pods: int = 150_000
    rounds: int = 15
    seed: int = 1
    judged: bool = True


def run(load: Load) -> Table:
    """Measure and print."""
    table = Table(judged=load.judged)
    each, rounds = 1.0, load.rounds
    with api_server(load.nodes, load.pods, load.seed) as url:
        begun = perf_counter()
        with child("bench.watched", url) as leeway:
            scheduler = leeway.line().split()[0]
            measure_start(table, leeway, begun)
            events = Events(url.removeprefix("http://"))
            calls = calls_to(scheduler, load.nodes)
            calls.run([], iter([*[False] * WARM_UP, True]).__next__)
            measure_pauses(table, leeway, None, events, 10 * each)
            measure_pauses(table, leeway, calls, events, 10 * each)
            measure_calls(table, leeway, calls, events, 200, rounds, each)
            measure_calls(table, leeway, calls, events, EVENTS_GOAL, rounds, each)
            measure_absorbing(table, leeway, calls, events, 5 * each)
            measure_relist(table, leeway, events, load.nodes + load.pods)
            last = leeway.ask("look")
            table.row("RSS of the extender in the end", f"{last['rss']:.0f} MB")
    return table


def main() -> None:
    """The bench, or one of its processes."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_watch", description=__doc__)
    parser.add_argument("--nodes", type=int, default=5_000, help="nodes of 10 KB (5000)")
    parser.add_argument("--pods", type=int, default=150_000, help="pods of 3 KB (150000)")
    parser.add_argument("--small", action="store_true", help="a tenth of it, and shorter")
    parser.add_argument("--no-models", action="store_true", help="without the comparison")
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
    load = Load(options.nodes, options.pods, rounds, options.seed, judged=not options.small)
    table = run(load)
    if not options.no_models:
        measure_models(table, options.nodes, options.pods)
    print(f"\n{table.missed} goal(s) missed" if table.missed else "")


if __name__ == "__main__":
    main()
