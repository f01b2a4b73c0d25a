"""How a live extender fares with a large cluster: cold start, memory, events, pauses.

Run with `python -m bench.bench_watch`, or with `--small` for a quick look. Three processes on
loopback: an API server whose bytes are encoded beforehand, the real extender watching all five
resources, and this one, which asks as kube-scheduler does: one call after another.

A pause is the time for which a task that sleeps a millisecond at a time is not woken; "computing"
is what the event loop itself computed meanwhile. The goal is held to the latter: the rest is
other processes on the same cores, of which this bench alone has two.
"""

import argparse
import asyncio
import contextlib
import gc
import http.client
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import IO, Any, Final

import uvloop
from prometheus_client import CollectorRegistry

from bench import apiserver
from extender.cluster.api import ApiServer
from extender.cluster.live import LiveSource
from extender.cluster.resources import Key
from extender.config.schema import Address, Config, Listen
from extender.metrics import Metrics
from extender.server.serving import Server

JSON = dict[str, Any]

RESOURCES: Final = frozenset(
    {"nodes", "pods", "persistentvolumes", "persistentvolumeclaims", "storageclasses"}
)
READY_LIMIT_SECONDS: Final = 300.0
CATCH_UP_LIMIT_SECONDS: Final = 120.0
MODELS_LIMIT_SECONDS: Final = 300.0
TICK_SECONDS: Final = 0.001
WARM_UP: Final = 20
MS: Final = 1_000.0
MB: Final = 1_048_576

# What the project promises for the full size on two cores.
READY_GOAL: Final = 25.0
RSS_GOAL: Final = 600.0
EVENTS_GOAL: Final = 5_000.0
RATIO_GOAL: Final = 1.5
PAUSE_GOAL: Final = 20.0


@dataclass
class Pauses:
    """The longest pauses since the last look."""

    loop: float = 0.0
    own: float = 0.0
    collector: float = 0.0
    over_goal: int = 0
    collecting_since: float = 0.0

    def watch_collector(self, phase: str, _: dict[str, int]) -> None:
        """For `gc.callbacks`."""
        if phase == "start":
            self.collecting_since = time.thread_time()
        else:
            self.collector = max(self.collector, time.thread_time() - self.collecting_since)

    async def watch_loop(self) -> None:
        """Wake up every millisecond and note how late that was."""
        while True:
            wall, own = perf_counter(), time.thread_time()
            await asyncio.sleep(TICK_SECONDS)
            late = perf_counter() - wall - TICK_SECONDS
            self.loop = max(self.loop, late)
            self.own = max(self.own, time.thread_time() - own)
            self.over_goal += late * MS > PAUSE_GOAL

    def reset(self) -> None:
        """Begin anew."""
        self.loop = self.own = self.collector = 0.0
        self.over_goal = 0


@dataclass
class Applied:
    """Counts what reaches the stores of nodes and pods."""

    count: int = 0

    def counting(self, store: Any) -> None:
        """Count the changes of a store from here on."""
        put, remove = store.put, store.remove

        def counted_put(key: Key, obj: Any) -> None:
            self.count += 1
            put(key, obj)

        def counted_remove(key: Key) -> None:
            self.count += 1
            remove(key)

        store.put, store.remove = counted_put, counted_remove


def memory(field_name: str) -> float:
    """VmRSS or VmHWM of this process, in MB."""
    with open("/proc/self/status", encoding="ascii") as file:
        line = next(line for line in file if line.startswith(field_name + ":"))
    return int(line.split()[1]) / 1_024


async def extender(url: str) -> None:
    """The real server over a live source, in this process; tells what it sees when asked."""
    from kubernetes.aio.client import Configuration

    begun = perf_counter()
    pauses, applied = Pauses(), Applied()
    gc.callbacks.append(pauses.watch_collector)

    async def load() -> Any:
        configuration = Configuration()
        configuration.host = url
        return configuration

    source = LiveSource(ApiServer(load), RESOURCES)
    listen = Listen(scheduler=Address("127.0.0.1", 0), ops=Address("127.0.0.1", 0))
    server = Server(replace(Config(), listen=listen), source, Metrics(CollectorRegistry()))
    async with server.running() as listening:
        ticking = asyncio.create_task(pauses.watch_loop())
        print(*(each.address for each in listening), flush=True)
        while source.state().problem is not None:  # noqa: ASYNC110 - as an operator would see it
            await asyncio.sleep(0.01)
        listed = {"listed": perf_counter() - begun, "listing": vars(pauses).copy()}
        applied.counting(source.cache.nodes)
        applied.counting(source.cache.pods)
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
        )
        while command := (await reader.readline()).decode().strip():
            if command == "reset":
                pauses.reset()
            seen = {**vars(pauses), "applied": applied.count, **listed}
            sizes = {
                "rss": memory("VmRSS"),
                "peak": memory("VmHWM"),
                "objects": len(source.cache.pods),
            }
            print(json.dumps({**seen, **sizes, "cpu": time.process_time()}), flush=True)
        ticking.cancel()


def models(count_nodes: int, count_pods: int) -> None:
    """Decode the same bytes into the generated models of the kubernetes client."""
    from kubernetes.aio.client import ApiClient, Configuration, V1Node, V1Pod  # noqa: F401

    async def client() -> Any:
        return ApiClient(Configuration())

    made = asyncio.run(client())
    cluster = apiserver.make_cluster(count_nodes, 0, 1)
    nodes = [line for chunk in cluster.lists["nodes"] for line in chunk.splitlines()]
    before, begun = memory("VmRSS"), perf_counter()
    kept: list[Any] = []
    for text, kind in (
        *((json.dumps(json.loads(line)["object"]), "V1Node") for line in nodes),
        *((pod.decode(), "V1Pod") for pod in apiserver.pods(count_pods, count_nodes)),
    ):
        if perf_counter() - begun > MODELS_LIMIT_SECONDS:
            break
        kept.append(made.deserialize(text, kind, "application/json"))
    seconds, grown = perf_counter() - begun, memory("VmRSS") - before
    print(json.dumps({"seconds": seconds, "rss": grown, "objects": len(kept)}), flush=True)


@dataclass
class Child:
    """A process that we talk to by lines."""

    process: "subprocess.Popen[str]"
    reading: IO[str]
    writing: IO[str]

    def line(self) -> str:
        """Its next line."""
        text = self.reading.readline()
        if not text:
            raise SystemExit("a process of the bench ended early")
        return text

    def ask(self, command: str) -> JSON:
        """What it answers to a command."""
        self.writing.write(command + "\n")
        self.writing.flush()
        answer: JSON = json.loads(self.line())
        return answer


@contextlib.contextmanager
def child(*arguments: str) -> Iterator[Child]:
    """One of our own modules in a process of its own, ended on the way out."""
    with subprocess.Popen(  # noqa: S603 - our own modules
        [sys.executable, "-m", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            if process.stdin is None or process.stdout is None:
                raise SystemExit("no pipes")
            yield Child(process, process.stdout, process.stdin)
        finally:
            process.terminate()


@dataclass
class Calls:
    """Filter calls over one kept connection, one after another."""

    connection: http.client.HTTPConnection
    body: bytes
    seconds: list[float] = field(default_factory=list)

    def run(self, keep: list[float], until: Callable[[], bool]) -> None:
        """Ask until told to stop."""
        while not until():
            keep.append(self.once())

    def once(self) -> float:
        """Seconds from the first byte out to the last byte in."""
        since = perf_counter()
        self.connection.request("POST", "/filter", self.body)
        response = self.connection.getresponse()
        answer = response.read()
        seconds = perf_counter() - since
        if response.status != http.HTTPStatus.OK or b'"Error":""' not in answer[-200:]:
            raise SystemExit(f"filter: {response.status} {answer[-200:]!r}")
        return seconds


def filter_body(nodes: int) -> bytes:
    """A pod with a threshold, a required and a preferred kernel, about every node."""
    kernel = "node.kubernetes.io/kernel-version"
    newer = {"matchExpressions": [{"key": kernel, "operator": "SemverGt", "values": ["5.10"]}]}
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [newer]}}
    annotations = {
        "scheduling.leeway/tolerations": json.dumps(
            [{"key": "node.kubernetes.io/sla", "operator": "Gt", "value": "900"}]
        ),
        "scheduling.leeway/node-affinity": json.dumps(affinity),
    }
    pod = {"metadata": {"name": "web-0", "annotations": annotations}, "spec": {}}
    names = [f"node-{number:05}" for number in range(nodes)]
    return json.dumps({"Pod": pod, "NodeNames": names}).encode()


class Events:
    """Has the API server send events while something else is done."""

    def __init__(self, url: str) -> None:
        host = url.removeprefix("http://")
        self._connection = http.client.HTTPConnection(host, timeout=600)

    def begin(self, rate: float, seconds: float) -> None:
        """Send so many a second for so long; 0: as many as are taken."""
        self._connection.request("POST", f"/events?rate={rate}&seconds={seconds}")

    def expire(self) -> None:
        """Have every watch list anew."""
        self._connection.request("POST", "/expire")
        self._connection.getresponse().read()

    def end(self) -> int:
        """How many were sent."""
        answer = json.loads(self._connection.getresponse().read())
        return int(answer["sent"])


def quantile(times: Sequence[float], share: float) -> float:
    """The value that `share` of all do not exceed, in milliseconds."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * MS


@dataclass
class Table:
    """Rows of what was measured, with the goal where there is one."""

    judged: bool
    missed: int = 0

    def row(self, name: str, value: str, goal: str = "", *, met: bool = True) -> None:
        """One row."""
        verdict = "" if not goal or not self.judged else ("  met" if met else "  MISSED")
        self.missed += bool(verdict) and not met
        print(f"{name:<58}{value:>16}   {goal:<12}{verdict}", flush=True)


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
    ratio = quantile(loaded, 0.99) / quantile(quiet, 0.99)
    for name, times in (("no events", quiet), (f"{rate:g} events/s", loaded)):
        half, most = quantile(times, 0.5), quantile(times, 0.99)
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
    half, most = quantile(answered, 0.5), quantile(answered, 0.99)
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
    with child("bench.bench_watch", "--models", *size) as process:
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


def run(options: argparse.Namespace) -> int:
    """Measure and print; how many goals were missed."""
    table = Table(judged=not options.small)
    each, rounds = (1.0, 2) if options.small else (1.0, 15)
    with api_server(options.nodes, options.pods, options.seed) as url:
        begun = perf_counter()
        with child("bench.bench_watch", "--extender", url) as leeway:
            scheduler = leeway.line().split()[0]
            measure_start(table, leeway, begun)
            events = Events(url)
            calls = Calls(
                http.client.HTTPConnection(scheduler, timeout=60), filter_body(options.nodes)
            )
            calls.run([], iter([*[False] * WARM_UP, True]).__next__)
            measure_pauses(table, leeway, None, events, 10 * each)
            measure_pauses(table, leeway, calls, events, 10 * each)
            measure_calls(table, leeway, calls, events, 200, rounds, each)
            measure_calls(table, leeway, calls, events, EVENTS_GOAL, rounds, each)
            measure_absorbing(table, leeway, calls, events, 5 * each)
            measure_relist(table, leeway, events, options.nodes + options.pods)
            last = leeway.ask("look")
            table.row("RSS of the extender in the end", f"{last['rss']:.0f} MB")
    if not options.no_models:
        measure_models(table, options.nodes, options.pods)
    return table.missed


def main() -> None:
    """The bench, or one of its processes."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_watch", description=__doc__)
    parser.add_argument("--nodes", type=int, default=5_000, help="nodes of 10 KB (5000)")
    parser.add_argument("--pods", type=int, default=150_000, help="pods of 3 KB (150000)")
    parser.add_argument("--small", action="store_true", help="a tenth of it, and shorter")
    parser.add_argument("--no-models", action="store_true", help="without the comparison")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--extender", metavar="URL", help=argparse.SUPPRESS)
    parser.add_argument("--models", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.extender:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
            loop.run(extender(options.extender))
        return
    if options.models:
        models(*options.models)
        return
    if options.small:
        options.nodes, options.pods = options.nodes // 10, options.pods // 10
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} CPUs, load {load};"
        f" {options.nodes} nodes, {options.pods} pods"
    )
    missed = run(options)
    print(f"\n{missed} goal(s) missed" if missed else "")


if __name__ == "__main__":
    main()
