"""How long `leeway serve` takes to answer, beside a floor of the same stack.

Run with `python -m bench.bench_filter`. The method is in bench/README.md.
"""

import argparse
import contextlib
import http.client
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final

JSON = dict[str, Any]
BodyOf = Callable[[int], bytes]

NODE_BYTES: Final = 10_000
WARM_UP: Final = 5
# Replaced in the annotation by the number of the call: other text, same verdicts.
SERIAL: Final = b"serial-0000000"


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of request: what it is called, where it goes, and its body for the n-th call."""

    name: str
    verb: str
    calls: int
    body: BodyOf


def make_node(number: int, chance: random.Random) -> JSON:
    """A node of a mixed cluster: spot tiers, kernels, zones, some soft taints, few cordoned."""
    taints = []
    if chance.random() < 0.5:
        sla = str(chance.randrange(800, 1000, 10))
        taints.append({"key": "node.kubernetes.io/sla", "value": sla, "effect": "NoSchedule"})
    if chance.random() < 0.1:
        taints.append({"key": "example.com/retiring", "effect": "PreferNoSchedule"})
    labels = {
        "kubernetes.io/hostname": f"node-{number:05}",
        "topology.kubernetes.io/zone": f"zone-{number % 3}",
        "node.kubernetes.io/kernel-version": f"{chance.choice((5, 6))}.{chance.randrange(20)}.0",
    }
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": f"node-{number:05}", "labels": labels},
        "spec": {"taints": taints, "unschedulable": chance.random() < 0.01},
    }


def padded(node: JSON) -> JSON:
    """The same node at the size it has in a real cluster, where images are most of it."""
    images = [{"names": [f"registry.example.com/app@sha256:{i:064}"]} for i in range(100)]
    node = {**node, "status": {"images": images}}
    while len(json.dumps(node)) > NODE_BYTES:
        images.pop()
    return node


def make_pod(*, fresh: bool) -> JSON:
    """A pod with a threshold, a required and a preferred kernel, all by annotation."""
    kernel = "node.kubernetes.io/kernel-version"
    newer = {"matchExpressions": [{"key": kernel, "operator": "SemverGt", "values": ["5.10"]}]}
    newest = {"matchExpressions": [{"key": kernel, "operator": "SemverGt", "values": ["6.10"]}]}
    tolerations = [{"key": "node.kubernetes.io/sla", "operator": "Gt", "value": "900"}]
    if fresh:
        tolerations.append({"key": "example.com/build", "value": SERIAL.decode()})
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [newer]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "preference": newest}],
    }
    annotations = {
        "scheduling.leeway/tolerations": json.dumps(tolerations),
        "scheduling.leeway/node-affinity": json.dumps(affinity),
    }
    return {
        "metadata": {"name": "web-0", "namespace": "shop", "annotations": annotations},
        "spec": {"schedulerName": "extended-scheduler"},
    }


def make_cases(nodes: Sequence[JSON], whole: int, calls: int) -> list[Case]:
    """Names of all nodes, and `whole` nodes as they are."""

    def named(*, fresh: bool) -> BodyOf:
        names = [node["metadata"]["name"] for node in nodes]
        body = json.dumps({"Pod": make_pod(fresh=fresh), "NodeNames": names}).encode()
        return lambda n: body.replace(SERIAL, b"serial-%07d" % n)

    carried = {"items": [padded(node) for node in nodes[:whole]]}
    by_nodes = json.dumps({"Pod": make_pod(fresh=False), "Nodes": carried}).encode()
    few = max(1, calls // 5)  # ten megabytes a call
    return [
        Case(f"filter, {len(nodes)} names", "filter", calls, named(fresh=False)),
        Case(f"filter, {len(nodes)} names, new rules", "filter", calls, named(fresh=True)),
        Case(f"prioritize, {len(nodes)} names", "prioritize", calls, named(fresh=False)),
        Case(f"filter, {whole} whole nodes", "filter", few, lambda _: by_nodes),
        Case(f"prioritize, {whole} whole nodes", "prioritize", few, lambda _: by_nodes),
    ]


@contextlib.contextmanager
def child(*command: str) -> Iterator[http.client.HTTPConnection]:
    """A server in a process of its own, and one connection to its first listener."""
    argv = [sys.executable, "-m", *command]
    with subprocess.Popen(  # noqa: S603 - our own modules
        argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            if " listening on " not in line:
                raise SystemExit(f"{' '.join(command)} did not start: {line!r}")
            address = line.split(" listening on ")[1].split()[0]
            with contextlib.closing(http.client.HTTPConnection(address, timeout=60)) as connection:
                yield connection
        finally:
            process.terminate()


def timed(connection: http.client.HTTPConnection, path: str, body: bytes) -> tuple[float, bytes]:
    """Seconds from the first byte out to the last byte in, and the answer."""
    since = perf_counter()
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = response.read()
    seconds = perf_counter() - since
    if response.status != http.HTTPStatus.OK:
        raise SystemExit(f"{path}: {response.status} {answer[:200]!r}")
    return seconds, answer


def measure(
    case: Case, leeway: http.client.HTTPConnection, floor: http.client.HTTPConnection
) -> tuple[list[float], list[float]]:
    """Ask both in turn, so that whatever else the machine does meets both alike."""
    ours: list[float] = []
    least: list[float] = []
    for number in range(WARM_UP + case.calls):
        body = case.body(number)
        seconds, answer = timed(leeway, f"/{case.verb}", body)
        ours.append(seconds)
        least.append(timed(floor, f"/{len(answer)}", body)[0])
    return sorted(ours[WARM_UP:]), sorted(least[WARM_UP:])


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value that `share` of all do not exceed, in milliseconds."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000


def main() -> None:
    """Measure every case and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_filter", description=__doc__)
    parser.add_argument("--nodes", type=int, default=5_000, help="nodes of the cluster (5000)")
    parser.add_argument("--whole", type=int, default=1_000, help="nodes sent whole (1000)")
    parser.add_argument("--calls", type=int, default=300, help="calls a case (300; whole: a 5th)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    nodes = [make_node(number, chance) for number in range(options.nodes)]
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} CPUs, seed {options.seed};"
        " milliseconds; floor: same stack, canned answer\n"
    )
    print(f"{'case':<34}{'calls':>6}{'p50':>9}{'p99':>9}{'floor p50':>11}{'p99':>9}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        cluster = Path(folder, "nodes.json")
        cluster.write_text(json.dumps({"kind": "NodeList", "items": nodes}))
        listen = ("--scheduler-listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0")
        with (
            child("extender", "serve", *listen, "--cluster", str(cluster)) as leeway,
            child("bench.floor") as floor,
        ):
            for case in make_cases(nodes, options.whole, options.calls):
                ours, least = measure(case, leeway, floor)
                half, most = quantile(ours, 0.5), quantile(ours, 0.99)
                floor_half, floor_most = quantile(least, 0.5), quantile(least, 0.99)
                print(
                    f"{case.name:<34}{case.calls:>6}{half:>9.2f}{most:>9.2f}"
                    f"{floor_half:>11.2f}{floor_most:>9.2f}{half / floor_half:>7.1f}x",
                    flush=True,
                )


if __name__ == "__main__":
    main()
