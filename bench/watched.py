"""The extender of `bench_watch`: the real server over a live source, which tells what it sees.

Run with `python -m bench.watched URL`; it answers `look` and `reset` on its input by a line.
A pause is the time for which a task that sleeps a millisecond at a time is not woken. With
`--models`, it decodes a cluster into the generated models of the kubernetes client instead.
"""

import argparse
import asyncio
import gc
import json
import sys
import time
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Final

import uvloop
from prometheus_client import CollectorRegistry

from bench import apiserver
from bench.rounds import MS
from extender.cluster.api import ApiServer
from extender.cluster.live import LiveSource
from extender.cluster.resources import Key
from extender.config.schema import Address, Config, Listen
from extender.metrics import Metrics
from extender.server.serving import Server

RESOURCES: Final = frozenset(
    {"nodes", "pods", "persistentvolumes", "persistentvolumeclaims", "storageclasses"}
)
MODELS_LIMIT_SECONDS: Final = 300.0
TICK_SECONDS: Final = 0.001
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


def main() -> None:
    """Serve until the input ends, or decode."""
    parser = argparse.ArgumentParser(prog="python -m bench.watched", description=__doc__)
    parser.add_argument("url", nargs="?")
    parser.add_argument("--models", type=int, nargs=2, metavar=("NODES", "PODS"))
    options = parser.parse_args()
    if options.models:
        models(*options.models)
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(extender(options.url))


if __name__ == "__main__":
    main()
