"""Legal pods with as many rules as fit into 1.5 MB, and what they do to whoever asks beside them.

Run with `python -m bench.hostile_pods`. Each pod is large in another way. It is filtered and scored
over 5,000 nodes while an ordinary pod is filtered over another connection, again and again.
"""

import argparse
import contextlib
import http.client
import json
import os
import platform
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from time import perf_counter, sleep
from typing import Final

from bench.bench_hostile import Beside, extender, peak_megabytes
from bench.cluster import JSON, KERNEL, SLA, encoded, make_node, name_of, slim
from bench.workloads import PREFIX

NODES: Final = 5_000
MANY: Final = 50_000  # entries of some 25 bytes: an object of etcd has at most 1.5 MB
TERMS: Final = 5_000
ANNOTATED: Final = 3_000  # what fits into an annotation of 256 KiB
LABEL: Final = "example.com/label-0"


def make_cluster(count: int) -> list[JSON]:
    """Nodes of which no two are alike: each has taints and labels with a number of its own."""
    chance = Random(1)
    nodes = [slim(make_node(number, chance)) for number in range(count)]
    for number, node in enumerate(nodes):
        node["spec"]["unschedulable"] = False
        node["spec"]["taints"] = [
            {"key": SLA, "value": str(number), "effect": "NoSchedule"},
            {"key": KERNEL, "value": f"6.{number}.0", "effect": "PreferNoSchedule"},
        ]
        node["metadata"]["labels"] |= {f"example.com/own-{number}": "yes", SLA: str(number)}
    return nodes


def cases() -> Iterator[tuple[str, JSON]]:
    """What to call it, and the pod."""
    yield from _tolerations()
    yield from _selectors()
    yield "50,000 labels", _pod(labels={f"l-{each}": "v" for each in range(MANY)})
    yield "50,000 annotations", _pod(annotations={f"a-{each}": "v" for each in range(MANY)})


def _tolerations() -> Iterator[tuple[str, JSON]]:
    above = [str(NODES + each) for each in range(NODES)]
    below = [str(-each) for each in range(1, NODES)]
    versions = [f"7.{each}.0" for each in range(NODES)]
    for operator, key, values in (
        ("Gt", SLA, above),
        ("Lt", SLA, below),
        ("Equal", SLA, above),
        ("Gt", "", above),
        ("SemverGt", KERNEL, versions),
        ("SemverEq", KERNEL, versions),
        ("SemverEq", "", versions),
    ):
        made = [{"key": key, "operator": operator, "value": value} for value in values]
        name = f"5,000 times {operator} of {'one key' if key else 'any key'}"
        yield f"{name}, native", _pod(tolerations=made)
        yield f"{name}, annotated", _annotated("tolerations", made[:ANNOTATED])
    keys = [{"key": f"k-{each}"} for each in range(MANY)]
    yield "50,000 keys tolerated", _pod(tolerations=keys)
    equal = [{"key": SLA, "value": f"v{each}"} for each in range(30_000)]
    yield "30,000 values tolerated", _pod(tolerations=equal)


def _selectors() -> Iterator[tuple[str, JSON]]:
    unknown = {f"l-{each}": "v" for each in range(MANY)}
    yield "nodeSelector of 50,000 labels that no node has", _pod(nodeSelector=unknown)
    known = {f"example.com/own-{each}": "yes" for each in range(NODES)}
    yield "nodeSelector of 5,000 labels that nodes have", _pod(nodeSelector=known)
    yield "nodeSelector of 50,000 labels, some on nodes", _pod(nodeSelector=known | unknown)
    exists = [{"key": f"l-{each}", "operator": "DoesNotExist"} for each in range(15_000)]
    yield "15,000 labels in one term", _affine([exists])
    own = [{"key": f"example.com/own-{each}", "operator": "DoesNotExist"} for each in range(NODES)]
    yield "5,000 labels that nodes have in one term", _affine([own])
    yield (
        "15,000 labels in one term, and one that differs",
        _affine([[*exists, {"key": SLA, "operator": "Exists"}]]),
    )
    yield "5,000 terms of one value", _affine([[_in(LABEL, [f"v-{i}"])] for i in range(TERMS)])
    gt = [[{"key": SLA, "operator": "Gt", "values": [str(NODES + i)]}] for i in range(TERMS)]
    yield "5,000 terms of Gt", _affine(gt)
    semver = [
        [{"key": KERNEL, "operator": "SemverGt", "values": [f"7.{i}.0"]}] for i in range(TERMS)
    ]
    yield "5,000 terms of SemverGt", _affine(semver)
    yield (
        "5,000 terms of Exists",
        _affine([[{"key": f"l-{i}", "operator": "Exists"}] for i in range(TERMS)]),
    )
    yield (
        "5,000 terms of labels that nodes have",
        _affine([[_in(f"example.com/own-{i}", [f"v-{i}"])] for i in range(TERMS)]),
    )
    yield "In of 50,000 values", _affine([[_in(SLA, [f"v-{i}" for i in range(MANY)])]])
    yield (
        "50 terms of In of 1,000 values",
        _affine([[_in(SLA, [f"v-{i}-{term}" for i in range(1_000)])] for term in range(50)]),
    )


def _in(key: str, values: Sequence[str]) -> JSON:
    return {"key": key, "operator": "In", "values": list(values)}


def _affine(terms: Sequence[Sequence[JSON]]) -> JSON:
    written = [{"matchExpressions": list(term)} for term in terms]
    preferred = [{"weight": 1, "preference": term} for term in written]
    return _pod(
        affinity={
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": written},
                "preferredDuringSchedulingIgnoredDuringExecution": preferred,
            }
        }
    )


def _annotated(name: str, value: object) -> JSON:
    text = json.dumps(value, separators=(",", ":"))
    return _pod(annotations={PREFIX + name: text}, tolerations=[])


def _pod(*, labels: JSON | None = None, annotations: JSON | None = None, **spec: object) -> JSON:
    meta = {"name": "hostile", "labels": labels or {}, "annotations": annotations or {}}
    # It tolerates everything, so that its other rules are asked about every node.
    return {"metadata": meta, "spec": {"tolerations": [{"operator": "Exists"}], **spec}}


def body(pod: JSON, names: int) -> bytes:
    """A call about so many nodes, as kube-scheduler writes it."""
    listed = [name_of(number) for number in range(names)]
    return b'{"Pod":%b,"Nodes":null,"NodeNames":%b}' % (encoded(pod), encoded(listed))


def ask(connection: http.client.HTTPConnection, verb: str, text: bytes) -> tuple[float, str]:
    """How long a call took, and how it was answered."""
    since = perf_counter()
    connection.request("POST", f"/{verb}", text, {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = json.loads(response.read() or "null") if response.status == 200 else None
    seconds = perf_counter() - since
    error = answer.get("Error") if isinstance(answer, dict) else ""
    return seconds, "ok" if response.status == 200 and not error else f"{response.status} {error}"


def main() -> None:
    """Try every case and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.hostile_pods", description=__doc__)
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} CPUs\n")
    print(f"{'case':<50}{'filter':>9}{'again':>9}{'score':>9}{'delay':>9}{'memory':>9}")
    with tempfile.TemporaryDirectory() as folder:
        cluster = Path(folder, "nodes.json")
        cluster.write_bytes(encoded({"kind": "NodeList", "items": make_cluster(NODES)}))
        with (
            extender(cluster) as (address, pid),
            contextlib.closing(http.client.HTTPConnection(address, timeout=60)) as connection,
        ):
            beside = Beside(address, body(_pod(tolerations=[{"operator": "Exists"}]), 100))
            with beside.running():
                sleep(1)
            usual = statistics.median(beside.latencies)
            for name, pod in cases():
                if options.only in name:
                    _try(name, body(pod, NODES), connection, beside, usual, pid)


def _try(
    name: str,
    text: bytes,
    connection: http.client.HTTPConnection,
    beside: Beside,
    usual: float,
    pid: int,
) -> None:
    peak_megabytes(pid)
    before = peak_megabytes(pid)
    took, answers = [], []
    with beside.running():
        sleep(0.02)
        for verb in ("filter", "filter", "prioritize"):
            seconds, answer = ask(connection, verb, text)
            took.append(f"{seconds * 1000:>6.0f} ms")
            answers.append(answer)
    delay = max(beside.latencies) - usual
    grown = peak_megabytes(pid) - before
    said = "" if answers == ["ok"] * 3 else f"  {answers}"
    print(f"{name:<50}{''.join(took)}{delay * 1000:>6.0f} ms{grown:>6.0f} MB{said}", flush=True)


if __name__ == "__main__":
    main()
