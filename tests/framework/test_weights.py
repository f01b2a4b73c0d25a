"""What is remembered of a pod's rules weighs at least what it takes in memory."""

import gc
import tracemalloc
from collections.abc import Callable

import msgspec
import pytest

from extender import plugins
from extender.framework.columns.node_table import NodeTable
from extender.framework.interface import Settings
from extender.framework.runner import Runner
from extender.framework.snapshot import Snapshot
from extender.match.lru import CacheBudget
from extender.model.core_v1 import Pod
from tests.builders import (
    JSON,
    node_json,
    pod_json,
    preferred,
    required,
    requirement,
    some_nodes,
    taint,
    toleration,
)

COUNT = 300
PODS = 4
NODES = [node_json(f"n{i}", taint("sla", str(i)), labels={"zone": f"z{i % 3}"}) for i in range(50)]


def exists(pod: int, number: int) -> JSON:
    return requirement(f"k{pod}-{number}", "Exists")


SHAPES: dict[str, Callable[[int], JSON]] = {
    "one toleration": lambda i: pod_json(toleration("sla", "Equal", str(i))),
    "many native tolerations": lambda i: pod_json(
        *[toleration("sla", "Gt", str(i * COUNT + k)) for k in range(COUNT)]
    ),
    "many annotated tolerations": lambda i: pod_json(
        annotated_tolerations=[toleration("v", "SemverGt", f"1.{i}.{k}") for k in range(COUNT)]
    ),
    "many tiny tolerations": lambda i: pod_json(
        annotated_tolerations=[{"key": f"{i}{k}"} for k in range(COUNT)]
    ),
    "a long node selector": lambda i: pod_json(
        node_selector={f"k{i}-{k}": "v" for k in range(COUNT)}
    ),
    "many terms": lambda i: pod_json(
        affinity=required(*[[requirement("zone", "In", f"{i}-{k}")] for k in range(COUNT)])
    ),
    "many requirements": lambda i: pod_json(
        affinity=required([exists(i, k) for k in range(COUNT)])
    ),
    "many values": lambda i: pod_json(
        affinity=required([requirement("zone", "In", *[f"{i}-{k}" for k in range(COUNT)])])
    ),
    "many preferences": lambda i: pod_json(
        affinity=preferred(*[(1, [exists(i, k)]) for k in range(COUNT)])
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_rules_weigh_what_they_take(shape: str) -> None:
    settings = Settings(caches=CacheBudget(1 << 34))
    runner = Runner(settings.caches, clock=lambda: 0.0)
    profile = plugins.profile("test", plugins.DEFAULT_WEIGHTS, settings)
    table = NodeTable(some_nodes(*NODES), lasting=True)
    snapshot = Snapshot(table=table)
    texts = [msgspec.json.encode(SHAPES[shape](i)) for i in range(PODS)]

    def ask(text: bytes) -> None:
        pod = msgspec.json.decode(text, type=Pod)
        runner.filter(profile, pod, snapshot, table, table.candidates())
        runner.score(profile, pod, snapshot, table, table.candidates())

    ask(texts[0])  # what all pods share is made now
    gc.collect()
    weighed = settings.caches.bytes
    tracemalloc.start()
    try:
        for text in texts[1:]:
            ask(text)
        gc.collect()
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert settings.caches.bytes - weighed >= taken
