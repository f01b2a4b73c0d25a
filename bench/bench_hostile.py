"""What hostile expressions do to a running extender, and to whoever asks it at the same time.

Run with `python -m bench.bench_hostile`. For each case a pod with the expression is filtered over
one connection while an ordinary pod is filtered over another, again and again.
"""

import argparse
import contextlib
import http.client
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, Final

from tests.match.cel import hostile

JSON = dict[str, Any]

NODES: Final = 20
SECONDS_GOAL: Final = 0.5
DELAY_GOAL: Final = 0.05
MEGABYTES_GOAL: Final = 200


@dataclass(slots=True)
class Beside:
    """Ordinary calls, one after the other, on a thread of their own."""

    address: str
    body: bytes
    latencies: list[float] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Ask until told to stop."""
        with contextlib.closing(http.client.HTTPConnection(self.address, timeout=60)) as connection:
            while not self.over.is_set():
                self.latencies.append(post(connection, self.body)[0])
                sleep(0.002)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Ask meanwhile."""
        self.latencies.clear()
        self.over.clear()
        thread = threading.Thread(target=self.run)
        thread.start()
        try:
            yield
        finally:
            self.over.set()
            thread.join()


def post(connection: http.client.HTTPConnection, body: bytes) -> tuple[float, JSON]:
    """Seconds that a filter call takes, and its answer."""
    since = perf_counter()
    connection.request("POST", "/filter", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer: JSON = json.loads(response.read())
    return perf_counter() - since, answer


def make_cluster() -> JSON:
    """Nodes with different taints, one of them as long as a taint can be."""
    longest = {
        "key": hostile.TAINT.key,
        "value": hostile.TAINT.value,
        "effect": hostile.TAINT.effect,
    }
    taints = [[longest]] + [
        [{"key": f"example.com/taint-{i}", "value": str(i), "effect": "NoSchedule"}]
        for i in range(1, NODES)
    ]
    nodes = [
        {"kind": "Node", "metadata": {"name": f"node-{i}"}, "spec": {"taints": each}}
        for i, each in enumerate(taints)
    ]
    return {"kind": "NodeList", "items": nodes}


def make_body(*expressions: str) -> bytes:
    """A filter call about all nodes, or without expressions an ordinary one about a single node."""
    rules: list[JSON] = [{"expression": each} for each in expressions] or [{"operator": "Exists"}]
    annotations = {"scheduling.leeway/tolerations": json.dumps(rules)}
    count = NODES if expressions else 1
    return json.dumps(
        {
            "Pod": {"metadata": {"name": "pod", "annotations": annotations}},
            "NodeNames": [f"node-{i}" for i in range(count)],
        }
    ).encode()


def make_pods() -> Mapping[str, Sequence[str]]:
    """The expressions of each pod: one, or many."""
    return {**{case.name: [case.expression] for case in hostile.cases()}, **hostile.pods()}


@contextlib.contextmanager
def extender(cluster: Path) -> Iterator[tuple[str, int]]:
    """`leeway serve` as it is shipped: where it listens, and its process."""
    listen = ("--scheduler-listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0")
    argv = [sys.executable, "-m", "extender", "serve", *listen, "--cluster", str(cluster)]
    with subprocess.Popen(  # noqa: S603 - our own module
        argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            yield line.split(" listening on ")[1].split()[0], process.pid
        finally:
            process.send_signal(signal.SIGTERM)


def peak_megabytes(pid: int) -> float:
    """The most memory that the process has had, since it was last asked."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")
    return int(line.split()[1]) / 1024


def main() -> None:
    """Try every case and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_hostile", description=__doc__)
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} CPUs\n")
    print(f"{'case':<46}{'answered':>10}{'delay':>10}{'memory':>10}")
    worst = [0.0, 0.0, 0.0]
    with tempfile.TemporaryDirectory() as folder:
        cluster = Path(folder, "nodes.json")
        cluster.write_text(json.dumps(make_cluster()), encoding="utf-8")
        with (
            extender(cluster) as (address, pid),
            contextlib.closing(http.client.HTTPConnection(address, timeout=60)) as connection,
        ):
            beside = Beside(address, make_body())
            with beside.running():
                sleep(1)
            usual = statistics.median(beside.latencies)
            for name, expressions in make_pods().items():
                if options.only not in name:
                    continue
                peak_megabytes(pid)
                with beside.running():
                    sleep(0.02)
                    seconds, _ = post(connection, make_body(*expressions))
                delay = max(beside.latencies) - usual
                figures = [seconds, delay, peak_megabytes(pid)]
                worst = [max(pair) for pair in zip(worst, figures, strict=True)]
                print(
                    f"{name:<46}{seconds * 1000:>7.1f} ms{delay * 1000:>7.1f} ms"
                    f"{figures[2]:>7.0f} MB",
                    flush=True,
                )
    print(
        f"\n{'worst':<46}{worst[0] * 1000:>7.1f} ms{worst[1] * 1000:>7.1f} ms{worst[2]:>7.0f} MB"
        f"\n{'goal':<46}{SECONDS_GOAL * 1000:>7.0f} ms{DELAY_GOAL * 1000:>7.0f} ms"
        f"{MEGABYTES_GOAL:>7.0f} MB"
    )


if __name__ == "__main__":
    main()
