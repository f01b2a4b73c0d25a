"""Clusters made from a seed: nodes of the size and the shape that they have in a real one.

Taints come in three kinds. A mixed cluster has spot tiers, soft taints and few cordoned nodes,
and its nodes share some forty sets of taints. A cluster of N taint sets has each as often as any
other; with as many sets as nodes, no two nodes are alike.
"""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, Final

JSON = dict[str, Any]

NODE_BYTES: Final = 10_000
WHEN: Final = "2026-01-01T00:00:00Z"
MIXED: Final = 0  # so many taint sets as come by chance
SLA: Final = "node.kubernetes.io/sla"
SLOT: Final = "example.com/slot"
RETIRING: Final = "example.com/retiring"
KERNEL: Final = "node.kubernetes.io/kernel-version"


def make_nodes(count: int, *, taint_sets: int = MIXED, seed: int = 1) -> list[JSON]:
    """The nodes of a cluster, 10 KB each."""
    chance = random.Random(seed)
    return [make_node(number, chance, taint_sets=taint_sets) for number in range(count)]


def name_of(number: int) -> str:
    """The name of the n-th node."""
    return f"node-{number:05}"


def make_node(number: int, chance: random.Random, *, taint_sets: int = MIXED) -> JSON:
    """A node with what kubelet, controllers and a cloud write into it, up to its size."""
    name = name_of(number)
    images: list[JSON] = []
    resources = {"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "200Gi"}
    spec: JSON = {"podCIDR": "10.0.0.0/24", "providerID": f"aws:///eu-west-1a/i-{number:017}"}
    spec |= a_spec(number, chance, taint_sets)
    node = {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": meta(
            name,
            labels=some_labels(number, chance),
            annotations={f"example.com/note-{i}": f"{name}-{i:032}" for i in range(4)},
            managedFields=[managed("labels", "annotations"), managed("conditions", "images")],
        ),
        "spec": spec,
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": some_conditions(),
            "addresses": [
                {"type": "InternalIP", "address": "10.0.0.1"},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": {"kubeletVersion": "v1.36.3", "operatingSystem": "linux"},
            "images": images,
        },
    }
    return padded(node, images, an_image, NODE_BYTES)


def slim(node: JSON) -> JSON:
    """The same node without what scheduling does not read: a cluster in a file reads faster."""
    meta_of = node["metadata"]
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": meta_of["name"], "labels": meta_of["labels"]},
        "spec": {key: node["spec"][key] for key in ("taints", "unschedulable")},
    }


def a_spec(number: int, chance: random.Random, taint_sets: int) -> JSON:
    """The taints of a node, and whether it is cordoned."""
    if taint_sets != MIXED:
        slot = {"key": SLOT, "value": str(number % taint_sets), "effect": "NoSchedule"}
        return {"taints": [slot], "unschedulable": False}
    taints = []
    if chance.random() < 0.5:
        sla = str(chance.randrange(800, 1000, 10))
        taints.append({"key": SLA, "value": sla, "effect": "NoSchedule"})
    if chance.random() < 0.1:
        taints.append({"key": RETIRING, "effect": "PreferNoSchedule"})
    return {"taints": taints, "unschedulable": chance.random() < 0.01}


def some_labels(number: int, chance: random.Random) -> JSON:
    """Names, places, one of forty kernels, and what teams add."""
    return {
        "kubernetes.io/hostname": name_of(number),
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": "m5.4xlarge",
        "topology.kubernetes.io/region": "eu-west-1",
        "topology.kubernetes.io/zone": f"zone-{number % 3}",
        KERNEL: f"{chance.choice((5, 6))}.{chance.randrange(20)}.0",
        **{f"example.com/label-{i}": f"value-{i}" for i in range(10)},
    }


def some_conditions() -> list[JSON]:
    """What a healthy kubelet reports."""
    return [
        {
            "type": kind,
            "status": "True" if kind == "Ready" else "False",
            "lastHeartbeatTime": WHEN,
            "lastTransitionTime": WHEN,
            "reason": f"Kubelet{kind}",
            "message": f"kubelet reports {kind}",
        }
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    ]


def meta(name: str, **more: Any) -> JSON:
    """Metadata as the API server writes it."""
    return {"name": name, "uid": f"{name:0>36.36}", "resourceVersion": "1000000", **more}


def managed(*fields: str) -> JSON:
    """One entry of managedFields, which are a good part of every object."""
    owned: JSON = {f"f:{name}": {"f:a": {}, "f:b": {}} for name in fields}
    return {
        "manager": "controller",
        "operation": "Update",
        "apiVersion": "v1",
        "time": WHEN,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": owned},
    }


def an_image(number: int) -> JSON:
    """What most of a node consists of."""
    return {
        "names": [f"registry.example.com/app@sha256:{number:064}"],
        "sizeBytes": 100_000_000 + number,
    }


def padded(obj: JSON, where: list[Any], filler: Callable[[int], Any], size: int) -> JSON:
    """The object, filled up to its size at one place."""
    missing = size - len(encoded(obj))
    where.extend(map(filler, range(max(0, missing // (len(encoded(filler(0))) + 1)))))
    return obj


def encoded(obj: JSON | Sequence[str]) -> bytes:
    """As Go writes it: without spaces."""
    return json.dumps(obj, separators=(",", ":")).encode()
