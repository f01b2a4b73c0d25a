"""Pods a second of a real kube-scheduler with Leeway, and with two floors.

Run with `make bench-scheduler`: it needs the control plane of `make e2e`. All pods of a turn are
created before their scheduler is started, so that its loop is what limits it, and its client is
not throttled. What does not belong to a turn does not run meanwhile. The three extenders give
the same verdicts: three of ten nodes are refused, all others are liked the same. Each has mutual
TLS, as shipped.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import socket
import ssl
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import aiohttp
import msgspec

from bench import cluster, results
from bench.client import cpu_seconds
from bench.cluster import JSON, RETIRING, SLA
from bench.rounds import FULL, LEAN, LEEWAY, MS
from tests.e2e import api, binaries, objects
from tests.e2e.api import Api
from tests.e2e.controlplane import ControlPlane, Leeway
from tests.e2e.credentials import ADMIN
from tests.e2e.processes import Process, free_port

FILE: Final = "scheduler.json"
PODS_PATH: Final = "/api/v1/namespaces/default/pods"
EXTENDERS: Final = (LEEWAY, LEAN, FULL)
TITLES: Final = {LEEWAY: "Leeway", LEAN: "lean floor", FULL: "full floor"}
# Taints have values of 800 to 990 by ten. All of these thresholds refuse the same nodes.
THRESHOLDS: Final = range(910, 920)
# The first tenth of the pods is not counted: connections are made, code is warmed up.
WARM_UP_SHARE: Final = 0.1
TURN_SECONDS: Final = 300.0
AT_ONCE: Final = 16
QPS: Final = 10_000
GOALS: Final = {LEAN: 0.95, FULL: 1.0}
CPU_GOAL_MS: Final = 0.9
CPU_GOAL_NODES: Final = 1_000


class Meta(msgspec.Struct):
    """Who a pod is."""

    name: str


class Spec(msgspec.Struct):
    """Where a pod is."""

    node_name: str = msgspec.field(default="", name="nodeName")


class Seen(msgspec.Struct):
    """A pod, as far as it is looked at."""

    metadata: Meta
    spec: Spec = msgspec.field(default_factory=Spec)


class Event(msgspec.Struct):
    """A line of the watch."""

    type: str
    object: Seen


EVENT: Final = msgspec.json.Decoder(Event)


@dataclass(frozen=True, slots=True)
class Turn:
    """What was seen of one scheduler."""

    rate: float  # pods a second
    cpu: float  # milliseconds that the extender computed for a pod


@dataclass
class Throughput:
    """Turns on one control plane."""

    plane: ControlPlane
    admin: Api
    nodes: list[JSON] = field(default_factory=list)
    _turns: "itertools.count[int]" = field(default_factory=itertools.count)

    async def fill(self, count: int) -> None:
        """Have so many nodes of 10 KB; half of them have a taint."""
        made = [_creatable(node) for node in cluster.make_nodes(count)[len(self.nodes) :]]
        await some_at_a_time(made, lambda node: self.admin.create("/api/v1/nodes", node))
        self.nodes += made

    async def turn(self, extender: str, pods: int) -> Turn:
        """Have one scheduler place so many pods."""
        name = f"bench-{next(self._turns)}"
        made = [_pod(name, number) for number in range(pods)]
        await some_at_a_time(made, lambda pod: self.admin.create(PODS_PATH, pod))
        async with AsyncExitStack() as stack:
            process, url = self._extender(extender, name)
            await stack.enter_async_context(self.plane.beside(process))
            scheduler = self.plane.new_scheduler(name, _edit, url=url)
            placed = asyncio.create_task(self._placed(name, pods, _pid(process)))
            await asyncio.sleep(0.5)  # the watch is open
            await stack.enter_async_context(self.plane.beside(scheduler))
            turn = await asyncio.wait_for(placed, TURN_SECONDS)
        await self.admin.delete(PODS_PATH)
        self.plane.forget()
        return turn

    def _extender(self, kind: str, name: str) -> tuple[Process, str]:
        """A process that answers the scheduler, with mutual TLS."""
        if kind == LEEWAY:
            leeway = Leeway(self.plane, f"{name}-leeway", talkative=False)
            return leeway, leeway.url
        port = free_port()
        refused = self.plane.folder / f"{name}-refused.json"
        refused.write_text(json.dumps(list(map(_name, filter(_is_refused, self.nodes)))))
        certificate, key = self.plane.credentials.server
        command: list[str | Path] = [
            *(sys.executable, "-m", "bench.scheduler_floor", f"--port={port}"),
            *("--tls", certificate, key, self.plane.credentials.ca, "--refused", refused),
        ]
        process = Process(
            f"{name}-floor",
            [*command, *(["--full"] if kind == FULL else [])],
            log=self.plane.folder / f"{name}-floor.log",
            is_ready=lambda: _listens(port),
        )
        return process, f"https://127.0.0.1:{port}"

    async def _placed(self, name: str, count: int, extender: int) -> Turn:
        """Wait until all pods have a node; count without the first ones."""
        seen: set[str] = set()
        skipped = int(count * WARM_UP_SHARE)
        since = cpu = 0.0
        async for event in self._watch(name):
            if event.type == "MODIFIED" and event.object.spec.node_name:
                seen.add(event.object.metadata.name)
            if len(seen) > skipped and not since:
                since, cpu = perf_counter(), cpu_seconds(extender)
            if len(seen) == count:
                break
        counted = count - skipped - 1
        seconds = perf_counter() - since
        return Turn(counted / seconds, (cpu_seconds(extender) - cpu) * MS / counted)

    async def _watch(self, app: str) -> AsyncIterator[Event]:
        url = f"https://127.0.0.1:{self.plane.port}{PODS_PATH}?watch=1&labelSelector=app={app}"
        headers = {"Authorization": f"Bearer {self.plane.credentials.tokens[ADMIN]}"}
        context = ssl.create_default_context(cafile=str(self.plane.credentials.ca))
        timeout = aiohttp.ClientTimeout(total=None)
        async with (
            aiohttp.ClientSession(headers=headers, timeout=timeout) as session,
            session.get(url, ssl=context) as response,
        ):
            async for line in response.content:
                yield EVENT.decode(line)


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def _pid(process: Process) -> int:
    child = process._child
    if child is None:
        raise SystemExit(f"{process.name} does not run")
    return child.pid


def _edit(config: JSON) -> None:
    config["leaderElection"] = {"leaderElect": False}
    config["clientConnection"] |= {"qps": QPS, "burst": QPS}
    config["extenders"][0]["httpTimeout"] = "60s"


def _pod(app: str, number: int) -> JSON:
    """Tolerates the higher taints by a threshold, and the soft one: then all scores are equal."""
    threshold = THRESHOLDS[number % len(THRESHOLDS)]
    return objects.pod(
        f"{app}-{number:05}",
        {"key": SLA, "operator": "Gt", "value": str(threshold)},
        {"key": RETIRING, "operator": "Exists"},
        scheduler=app,
        cpu="10m",
        labels={"app": app, "workload": f"w-{threshold}"},
    )


def _name(node: JSON) -> str:
    return str(node["metadata"]["name"])


def _is_refused(node: JSON) -> bool:
    """Whether Leeway refuses it for these pods: the floors are told."""
    values = [int(taint["value"]) for taint in node["spec"]["taints"] if taint["key"] == SLA]
    return any(value <= THRESHOLDS[0] for value in values)


def _creatable(node: JSON) -> JSON:
    """A node as one may create it: what the API server gives, it does not take."""
    kept = {key: node["metadata"][key] for key in ("name", "labels", "annotations")}
    return {**node, "metadata": kept, "spec": {**node["spec"], "unschedulable": False}}


async def some_at_a_time(made: Sequence[JSON], act: Callable[[JSON], Any]) -> None:
    """Some at a time."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(obj: JSON) -> None:
        async with slots:
            await act(obj)

    await asyncio.gather(*map(one, made))


async def measured(folder: Path, sizes: dict[int, int], rounds: int) -> dict[str, Any]:
    """What was seen with so many nodes, for each of so many pods a turn."""
    plane = ControlPlane(folder)
    found: dict[str, Any] = {}
    try:
        await plane.start_api()
        async with plane.connected() as admin:
            await api.eventually(lambda: admin.found("/api/v1/namespaces/default"), 30)
            throughput = Throughput(plane, admin)
            for nodes, pods in sorted(sizes.items()):
                await throughput.fill(nodes)
                found[str(nodes)] = await _rounds(throughput, pods, rounds)
        return found
    finally:
        await plane.stop()


async def _rounds(throughput: Throughput, pods: int, rounds: int) -> dict[str, Any]:
    turns: dict[str, list[Turn]] = {extender: [] for extender in EXTENDERS}
    for number in range(rounds):
        # Another one is first in each round.
        first = number % len(EXTENDERS)
        for extender in (*EXTENDERS[first:], *EXTENDERS[:first]):
            turn = await throughput.turn(extender, pods)
            turns[extender].append(turn)
            print(
                f"{len(throughput.nodes)} nodes, round {number + 1}: {TITLES[extender]}:"
                f" {turn.rate:.1f} pods/s, {turn.cpu:.2f} ms of CPU a pod",
                flush=True,
            )
    return {
        "pods": pods,
        "rates": {who: [round(turn.rate, 1) for turn in of] for who, of in turns.items()},
        "cpu_ms": {who: [round(turn.cpu, 3) for turn in of] for who, of in turns.items()},
    }


def ratio(size: JSON, floor: str) -> float:
    """The median over the rounds: what Leeway's scheduler places, to what the floor's does."""
    pairs = zip(size["rates"][LEEWAY], size["rates"][floor], strict=True)
    return float(statistics.median(ours / theirs for ours, theirs in pairs))


def table(found: JSON) -> str:
    """What was seen, as a page shows it."""
    lines = [
        f"Kubernetes {found['kubernetes']}, {found['rounds']} rounds.",
        "",
        "| nodes | kube-scheduler with | pods/s | rounds | CPU of the extender a pod"
        " | Leeway to it | goal | |",
        "|--:|---|--:|--:|--:|--:|--:|---|",
    ]
    for nodes, size in found["sizes"].items():
        for who, rates in size["rates"].items():
            cpu = statistics.median(size["cpu_ms"][who])
            goal = verdict = compared = ""
            if who != LEEWAY:
                seen = ratio(size, who)
                compared, goal = f"{seen:.2f}", f">= {GOALS[who]:g}"
                verdict = "met" if seen >= GOALS[who] else "missed"
            elif int(nodes) == CPU_GOAL_NODES:
                goal, verdict = f"<= {CPU_GOAL_MS:g} ms", "met" if cpu <= CPU_GOAL_MS else "missed"
            cells = (
                *(nodes, TITLES[who], f"{statistics.median(rates):.1f}"),
                *(f"{min(rates):.1f} to {max(rates):.1f}", f"{cpu:.2f} ms"),
                *(compared, goal, verdict),
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.scheduler_throughput", description=__doc__
    )
    parser.add_argument("--nodes", default="1000,5000", help="sizes of the cluster (1000,5000)")
    parser.add_argument("--pods", default="600,150", help="pods a turn for each size (600,150)")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--results", type=Path, default=results.FOLDER, metavar="FOLDER")
    options = parser.parse_args()
    numbers = [list(map(int, each.split(","))) for each in (options.nodes, options.pods)]
    with tempfile.TemporaryDirectory() as folder:
        sizes = dict(zip(*numbers, strict=True))
        seen = asyncio.run(measured(Path(folder), sizes, options.rounds))
    found = {
        "machine": results.machine(),
        "kubernetes": binaries.version(),
        "rounds": options.rounds,
        "sizes": seen,
    }
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / FILE
    file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(table(found))
    print("`python -m bench.pages` puts it into the pages that show it")


if __name__ == "__main__":
    main()
