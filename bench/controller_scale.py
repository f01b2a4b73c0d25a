"""What `leeway controller` costs beside a large cluster: at its start, and while nothing happens.

The cluster is `bench.compile_apiserver`, in a process of its own. At first no pod has what its
rule comes to, as on the day of the installation.
"""

import contextlib
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Final
from urllib.request import urlopen

from bench import processes
from bench.bench_watch import REST_SECONDS
from bench.cluster import JSON
from bench.compile_apiserver import HEARTBEATS, POD_CHANGES
from bench.events import Events
from bench.processes import Child

WRITE_SECONDS: Final = 180.0
WRITES: Final = "leeway_compile_writes_total"


def counted(text: str, metric: str) -> dict[str, int]:
    """A counter of a page of metrics, by its labels as text."""
    lines = (line for line in text.splitlines() if line.startswith(metric + "{"))
    parts = (line.removeprefix(metric).rsplit(" ", 1) for line in lines)
    return {labels.strip("{}"): int(float(value)) for labels, value in parts}


def measured(nodes: int, pods: int, ruled: int, seconds: float) -> JSON:
    """CPU seconds and MB, from the start to the end of the churn."""
    with _running(1, 0, 0) as (empty, _, _):
        alone = {"cpu": round(empty.cpu(), 2), "rss": round(empty.rss(), 1)}
    with _running(nodes, pods, ruled) as (leeway, api, took):
        listed = {"seconds": round(took, 2), **_cost(leeway, 0.0)}
        written = _written(leeway, ruled)
        with closing(Events(api.addresses[0])) as events:
            churn = _churned(leeway, events, seconds)
        after = sum(_writes(leeway).values())
        return {
            "nodes": nodes,
            "pods": pods,
            "ruled": ruled,
            "empty cluster": alone,
            "listed": listed,
            "written": written,
            "churn": {**churn, "writes": after - written["writes"]},
            "peak": round(leeway.peak(), 1),
        }


@contextlib.contextmanager
def _running(nodes: int, pods: int, ruled: int) -> Iterator[tuple[Child, Child, float]]:
    """A controller that has listed such a cluster, the cluster, and how long that took."""
    sizes = {"nodes": nodes, "pods": pods, "ruled": ruled}
    flags = [f"--{name}={value}" for name, value in sizes.items()]
    with (
        tempfile.TemporaryDirectory() as folder,
        processes.child("bench.compile_apiserver", *flags) as api,
    ):
        begun = perf_counter()
        with processes.controller(Path(folder), api) as leeway:
            yield leeway, api, perf_counter() - begun


def _written(leeway: Child, ruled: int) -> JSON:
    """Wait until every pod with a rule has what it comes to."""
    begun, cpu = perf_counter(), leeway.cpu()
    while sum(_writes(leeway).values()) < ruled:
        if perf_counter() - begun > WRITE_SECONDS:
            raise SystemExit("not all pods were written")
        time.sleep(0.2)
    time.sleep(REST_SECONDS)
    seconds = perf_counter() - begun - REST_SECONDS
    writes = _writes(leeway)
    failed = {labels for labels in writes if 'code="200"' not in labels}
    if failed:
        raise SystemExit(f"writes failed: {failed}")
    return {"writes": sum(writes.values()), "seconds": round(seconds, 2), **_cost(leeway, cpu)}


def _churned(leeway: Child, events: Events, seconds: float) -> JSON:
    cpu = leeway.cpu()
    events.begin(POD_CHANGES + HEARTBEATS, seconds)
    sent = events.end()
    time.sleep(REST_SECONDS)
    return {"seconds": seconds, "events": sent, **_cost(leeway, cpu)}


def _cost(leeway: Child, since: float) -> JSON:
    return {"cpu": round(leeway.cpu() - since, 2), "rss": round(leeway.rss(), 1)}


def _writes(leeway: Child) -> dict[str, int]:
    with urlopen(f"http://{leeway.addresses[0]}/metrics") as page:
        return counted(page.read().decode(), WRITES)
