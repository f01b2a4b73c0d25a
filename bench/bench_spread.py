"""What topology spread adds to a call, beside the same server without the plugin, in one run.

Run with `python -m bench.bench_spread`. The method is in bench/README.md.
"""

import argparse
import json
import os
import platform
import random
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from time import perf_counter, process_time
from typing import Final

import msgspec

from bench import processes
from bench.cluster import JSON, make_nodes, name_of, slim
from bench.processes import Child
from extender.framework.pod_index import PodIndex
from extender.framework.pods import PodInfo
from extender.framework.snapshot import NodeInfo, snapshot_of
from extender.match.label_selectors import Requirement, Selector
from extender.model.core_v1 import Node

ZONE: Final = "topology.kubernetes.io/zone"
HOST: Final = "kubernetes.io/hostname"
WORKLOADS: Final = 50
PLUGINS: Final = ("NodeUnschedulable", "TaintToleration", "NodeAffinity")
KEYS: Final = {"zone": [ZONE], "hostname": [HOST], "zone and hostname": [ZONE, HOST]}
GOAL_MS: Final = 6.0
WARM_UP: Final = 5
EVENTS: Final = 20_000


def make_pods(nodes: int, each: int) -> Iterator[JSON]:
    """Pods of many workloads, so many on each node; every second node has one of `web`."""
    for number in range(nodes):
        for slot in range(each):
            app = "web" if not slot and number % 2 else f"app-{(number + slot) % WORKLOADS}"
            yield {
                "kind": "Pod",
                "metadata": {
                    "name": f"pod-{number:05}-{slot:02}",
                    "namespace": "shop",
                    "labels": {"app": app, "tier": "backend"},
                },
                "spec": {"nodeName": name_of(number)},
            }


def pending(keys: Sequence[str], *, action: str) -> JSON:
    """A pod of the workload `web` with one constraint a key; it tolerates every taint."""
    constraints = [
        {
            "maxSkew": 5_000 if key == ZONE else 1,
            "topologyKey": key,
            "whenUnsatisfiable": action,
            "nodeTaintsPolicy": "Honor",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
        for key in keys
    ]
    return {
        "metadata": {"name": "web-0", "namespace": "shop", "uid": "u", "labels": {"app": "web"}},
        "spec": {
            "tolerations": [{"operator": "Exists"}],
            "topologySpreadConstraints": constraints,
        },
    }


def serving(folder: Path, cluster: Path, plugins: Sequence[str]) -> AbstractContextManager[Child]:
    """`leeway serve` with these plugins."""
    config = folder / f"{len(plugins)}.yaml"
    config.write_text(
        json.dumps(
            {
                "apiVersion": "leeway.scheduling/v1alpha1",
                "kind": "ExtenderConfiguration",
                "cluster": {"files": [str(cluster)]},
                "profiles": [
                    {
                        "schedulerName": "default-scheduler",
                        "plugins": [{"name": name} for name in plugins],
                    }
                ],
            }
        )
    )
    return processes.leeway("--config", str(config))


def measure(
    servers: Sequence[Child], verb: str, body: bytes, calls: int
) -> list[tuple[float, float]]:
    """The medians of each, wall and CPU in ms; asked in turn, so that all meet the same machine."""
    found: list[list[tuple[float, float]]] = [[] for _ in servers]
    for _ in range(WARM_UP + calls):
        for times, server in zip(found, servers, strict=True):
            since = server.cpu()
            wall, _answer = server.connection.post(f"/{verb}", body)
            times.append((wall * 1000, (server.cpu() - since) * 1000))
    medians = []
    for times in found:
        wall_ms, cpu_ms = zip(*times[WARM_UP:], strict=True)
        medians.append((statistics.median(wall_ms), statistics.median(cpu_ms)))
    return medians


def compare(without: Child, with_it: Child, names: Sequence[str], calls: int) -> None:
    """One line for each verb and set of constraints."""
    print("p50 in ms, and how much of what the plugin adds is CPU time of the server\n")
    print(f"{'case':<36}{'without':>9}{'with':>9}{'adds':>8}{'cpu':>8}{'goal':>8}")
    for verb, action in (("filter", "DoNotSchedule"), ("prioritize", "ScheduleAnyway")):
        for name, keys in KEYS.items():
            pod = pending(keys, action=action)
            body = json.dumps({"Pod": pod, "NodeNames": names}).encode()
            (before, cpu_before), (after, cpu) = measure([without, with_it], verb, body, calls)
            print(
                f"{f'{verb}, {name}':<36}{before:>9.2f}{after:>9.2f}{after - before:>8.2f}"
                f"{cpu - cpu_before:>8.2f}{GOAL_MS:>8g}",
                flush=True,
            )


def cost_of_an_event(nodes: Mapping[str, NodeInfo], each: int) -> float:
    """Microseconds of CPU for one pod that comes to a node or leaves it, `each` on each before."""
    labels = [{"app": f"app-{i}", "tier": "backend"} for i in range(WORKLOADS)]
    index = PodIndex(nodes)
    everyone = [
        PodInfo("shop", f"p-{name}-{slot}", "", name, "", False, labels[slot % WORKLOADS])
        for name in nodes
        for slot in range(each)
    ]
    for pod in everyone:
        index.put(pod, None)
    for i in range(20):
        selector = Selector((Requirement("app", "In", (f"app-{i}",)),))
        selection = index.selection("shop", selector)
        for key in (ZONE, HOST):
            index.tally(selection, key, [ZONE, HOST], EveryNode())
    chance = random.Random(1)
    moved = [chance.choice(everyone) for _ in range(EVENTS)]
    turns = []
    for _ in range(5):
        since = process_time()
        for pod in moved:
            index.remove(pod)
            index.put(pod, None)
        turns.append((process_time() - since) / (2 * EVENTS) * 1e6)
    return statistics.median(turns)


class EveryNode:
    """Includes every node."""

    key = "every node"

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[bool]:
        """True for each."""
        return [True] * len(nodes)


def first_calls(nodes: Mapping[str, NodeInfo], each: int) -> tuple[float, float]:
    """Milliseconds to begin to count for a selector, and for a topology, that is new."""
    index = PodIndex(nodes)
    labels = [{"app": f"app-{i}"} for i in range(WORKLOADS)]
    for name in nodes:
        for slot in range(each):
            index.put(PodInfo("shop", f"{name}-{slot}", "", name, "", False, labels[slot]), None)
    since = perf_counter()
    selection = index.selection("shop", Selector((Requirement("app", "In", ("app-1",)),)))
    middle = perf_counter()
    index.tally(selection, HOST, [HOST], EveryNode())
    return (middle - since) * 1000, (perf_counter() - middle) * 1000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_spread", description=__doc__)
    parser.add_argument("--nodes", type=int, default=5_000, help="nodes of the cluster (5000)")
    parser.add_argument("--pods", type=int, default=10, help="pods a node (10)")
    parser.add_argument("--calls", type=int, default=200, help="calls a case and server (200)")
    options = parser.parse_args()
    made = list(map(slim, make_nodes(options.nodes)))
    print(f"Python {platform.python_version()}, {os.cpu_count()} CPUs\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cluster = folder / "cluster.json"
        pods = list(make_pods(options.nodes, options.pods))
        cluster.write_text(json.dumps({"kind": "List", "items": [*made, *pods]}))
        with (
            serving(folder, cluster, PLUGINS) as without,
            serving(folder, cluster, [*PLUGINS, "PodTopologySpread"]) as with_it,
        ):
            names = [node["metadata"]["name"] for node in made]
            compare(without, with_it, names, options.calls)
    nodes = snapshot_of(msgspec.convert(made, list[Node])).nodes
    print()
    for each in (1, options.pods, 3 * options.pods):
        event = cost_of_an_event(nodes, each)
        print(f"{each * len(nodes):>8} pods: an event costs {event:.2f} us of CPU")
    selection, topology = first_calls(nodes, options.pods)
    print(f"a new selector: {selection:.2f} ms, a new topology: {topology:.2f} ms")


if __name__ == "__main__":
    main()
