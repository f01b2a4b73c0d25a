"""Pods a second of a real kube-scheduler: without an extender, with the floor, with Leeway.

Run with `make bench-scheduler`: it needs the control plane of `make e2e`. All pods of a turn are
created before their scheduler is started, so that its loop is what limits it, and its client may
ask as often as it likes. What does not belong to a turn does not run meanwhile. The floor, as an
extender, lets every node pass without judging it; every node passes in every turn, so that all
schedulers have as much to do.
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
from bench.cluster import JSON, SLA
from tests.e2e import api, binaries, objects
from tests.e2e.api import Api
from tests.e2e.controlplane import ControlPlane, Leeway
from tests.e2e.credentials import ADMIN
from tests.e2e.processes import Process, free_port

FILE: Final = "scheduler.json"
PODS_PATH: Final = "/api/v1/namespaces/default/pods"
WORKLOADS: Final = 10
# The first tenth of the pods is not counted: connections are made, code is warmed up.
WARM_UP_SHARE: Final = 0.1
TURN_SECONDS: Final = 300.0
AT_ONCE: Final = 16
QPS: Final = 10_000
GOAL: Final = 0.95


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
class Setting:
    """What a scheduler is measured with."""

    name: str
    pods: int
    extender: str = ""  # floor or leeway
    whole: bool = False


@dataclass
class Throughput:
    """Turns on one control plane."""

    plane: ControlPlane
    admin: Api
    nodes: int
    rates: dict[str, list[float]] = field(default_factory=dict)
    _turns: "itertools.count[int]" = field(default_factory=itertools.count)

    async def fill(self) -> None:
        """Make the nodes, 10 KB each: half of them have a taint that every pod tolerates."""
        made = [_creatable(node) for node in cluster.make_nodes(self.nodes)]
        await _each(made, lambda node: self.admin.create("/api/v1/nodes", node))

    async def turn(self, setting: Setting) -> float:
        """Pods a second."""
        name = f"bench-{next(self._turns)}"
        pods = [_pod(name, number, setting) for number in range(setting.pods)]
        await _each(pods, lambda pod: self.admin.create(PODS_PATH, pod))
        async with AsyncExitStack() as stack:
            url = ""
            if setting.extender:
                process, url = self._extender(setting.extender, name)
                await stack.enter_async_context(self.plane.beside(process))
            scheduler = self.plane.new_scheduler(name, _edit(setting), url=url or None)
            placed = asyncio.create_task(self._placed(name, setting.pods))
            await asyncio.sleep(0.5)  # the watch is open
            await stack.enter_async_context(self.plane.beside(scheduler))
            times = await asyncio.wait_for(placed, TURN_SECONDS)
        await self.admin.delete(PODS_PATH)
        self.plane.forget()
        from_here = int(len(times) * WARM_UP_SHARE)
        rate = (len(times) - 1 - from_here) / (times[-1] - times[from_here])
        self.rates.setdefault(setting.name, []).append(rate)
        return rate

    def _extender(self, kind: str, name: str) -> tuple[Process, str]:
        """A process that answers the scheduler, with mutual TLS."""
        if kind == "leeway":
            leeway = Leeway(self.plane, f"{name}-leeway", talkative=False)
            return leeway, leeway.url
        port = free_port()
        certificate, key = self.plane.credentials.server
        tls = (certificate, key, self.plane.credentials.ca)
        command: list[str | Path] = [sys.executable, "-m", "bench.floor", f"--port={port}"]
        process = Process(
            f"{name}-floor",
            [*command, "--tls", *tls],
            log=self.plane.folder / f"{name}-floor.log",
            is_ready=lambda: _listens(port),
        )
        return process, f"https://127.0.0.1:{port}"

    async def _placed(self, name: str, count: int) -> Sequence[float]:
        """When each pod was seen on a node."""
        seen: dict[str, float] = {}
        async for event in self._watch(name):
            if event.type == "MODIFIED" and event.object.spec.node_name:
                seen.setdefault(event.object.metadata.name, perf_counter())
            if len(seen) == count:
                break
        return list(seen.values())

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


def _edit(setting: Setting) -> Callable[[JSON], None]:
    def edit(config: JSON) -> None:
        config["leaderElection"] = {"leaderElect": False}
        config["clientConnection"] |= {"qps": QPS, "burst": QPS}
        if not setting.extender:
            del config["extenders"]
            # Kubernetes' own plugins, as they are without us.
            profile = config["profiles"][0]
            del profile["plugins"]
        else:
            config["extenders"][0]["nodeCacheCapable"] = not setting.whole
            config["extenders"][0]["httpTimeout"] = "60s"

    return edit


def _pod(app: str, number: int, setting: Setting) -> JSON:
    """Tolerates the taint by a threshold; without Leeway, which reads it, by its name."""
    tolerations: list[JSON] = [{"key": SLA, "operator": "Exists", "effect": "NoSchedule"}]
    threshold = {"key": SLA, "operator": "Gt", "value": str(700 + number % WORKLOADS)}
    extended = [threshold] if setting.extender == "leeway" else []
    native = [] if extended else tolerations
    return objects.pod(
        f"{app}-{number:05}",
        *extended,
        native=native,
        scheduler=app,
        cpu="10m",
        labels={"app": app, "workload": f"w-{number % WORKLOADS}"},
    )


def _creatable(node: JSON) -> JSON:
    """A node as one may create it: what the API server gives, it does not take."""
    kept = {key: node["metadata"][key] for key in ("name", "labels", "annotations")}
    return {**node, "metadata": kept, "spec": {**node["spec"], "unschedulable": False}}


async def _each(made: Sequence[JSON], act: Callable[[JSON], Any]) -> None:
    """Some at a time."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(obj: JSON) -> None:
        async with slots:
            await act(obj)

    await asyncio.gather(*map(one, made))


async def measured(
    folder: Path, nodes: int, settings: Sequence[Setting], rounds: int
) -> dict[str, list[float]]:
    """Rates by setting, one a round."""
    plane = ControlPlane(folder)
    try:
        await plane.start_api()
        async with plane.connected() as admin:
            await api.eventually(lambda: admin.found("/api/v1/namespaces/default"), 30)
            throughput = Throughput(plane, admin, nodes)
            await throughput.fill()
            for number in range(rounds):
                # Another one is first in each round.
                turned = [*settings[number % len(settings) :], *settings[: number % len(settings)]]
                for setting in turned:
                    rate = await throughput.turn(setting)
                    print(f"round {number + 1}: {setting.name}: {rate:.1f} pods/s", flush=True)
        return throughput.rates
    finally:
        await plane.stop()


def table(found: JSON) -> str:
    """What was seen, as a page shows it."""
    lines = [
        f"{found['nodes']} nodes, Kubernetes {found['kubernetes']}, {found['rounds']} rounds.",
        "",
        "| kube-scheduler with | pods/s | rounds | to its floor |",
        "|---|--:|--:|--:|",
    ]
    for name, rates in found["rates"].items():
        floor = found["rates"].get(name.replace("Leeway", "floor extender"), [])
        ratio = statistics.median(rates) / statistics.median(floor) if "Leeway" in name else 0
        cells = (
            name,
            f"{statistics.median(rates):.1f}",
            f"{min(rates):.1f} to {max(rates):.1f}",
            f"{ratio:.2f}" if ratio else "",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench.scheduler_throughput")
    parser.add_argument("--nodes", type=int, default=1_000, help="nodes of 10 KB (1000)")
    parser.add_argument("--pods", type=int, default=600, help="pods a turn (600)")
    parser.add_argument("--whole-pods", type=int, default=20, help="with whole nodes (20)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=results.FOLDER, metavar="FOLDER")
    options = parser.parse_args()
    settings = [
        Setting("no extender", options.pods),
        Setting("floor extender, names", options.pods, "floor"),
        Setting("Leeway, names", options.pods, "leeway"),
        Setting("floor extender, whole nodes", options.whole_pods, "floor", whole=True),
        Setting("Leeway, whole nodes", options.whole_pods, "leeway", whole=True),
    ]
    with tempfile.TemporaryDirectory() as folder:
        rates = asyncio.run(measured(Path(folder), options.nodes, settings, options.rounds))
    found = {
        "machine": results.machine(),
        "kubernetes": binaries.version(),
        "nodes": options.nodes,
        "rounds": options.rounds,
        "pods": {setting.name: setting.pods for setting in settings},
        "rates": {
            setting.name: [round(rate, 1) for rate in rates[setting.name]] for setting in settings
        },
    }
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / FILE
    file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(table(found))
    print("`python -m bench.pages` puts it into the pages that show it")


if __name__ == "__main__":
    main()
