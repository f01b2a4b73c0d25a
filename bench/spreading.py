"""The cluster of the spread cases: pods of many workloads on every node."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.cluster import JSON, make_nodes, name_of, slim

WORKLOADS: Final = 50
PODS_A_NODE: Final = 10


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


def write_cluster(folder: Path, nodes: int, *, each: int = PODS_A_NODE, seed: int = 1) -> Path:
    """A file for `leeway serve --cluster`."""
    made = map(slim, make_nodes(nodes, seed=seed))
    file = folder / "spread-cluster.json"
    items = [*made, *make_pods(nodes, each)]
    file.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    return file
