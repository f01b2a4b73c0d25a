"""An API server with a large cluster: streams its list and then events, all encoded beforehand.

Objects have the size and the shape that they have in a real cluster. It is a process of its own,
so that what it costs is not counted as Leeway's. POST /events?rate=N&seconds=S sends N events a
second (0: as fast as they are taken) and answers how many were sent; POST /expire has every watch
list anew.
"""

import argparse
import asyncio
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from time import perf_counter
from typing import Any, Final

import uvloop
from aiohttp import web

JSON = dict[str, Any]

NODE_BYTES: Final = 10_000
POD_BYTES: Final = 3_000
PODS_A_WORKLOAD: Final = 50
CHUNK_BYTES: Final = 1 << 18
TICK_SECONDS: Final = 0.001
BATCH: Final = 50
WHEN: Final = "2026-01-01T00:00:00Z"
GONE: Final = b'{"type":"ERROR","object":{"code":410,"message":"too old resource version"}}\n'
LIST_END: Final = (
    b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1000000",'
    b'"annotations":{"k8s.io/initial-events-end":"true"}}}}\n'
)


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


def padded(obj: JSON, where: list[Any], filler: Callable[[int], Any], size: int) -> JSON:
    """The object, filled up to its size at one place."""
    missing = size - len(encoded(obj))
    where.extend(map(filler, range(max(0, missing // (len(encoded(filler(0))) + 1)))))
    return obj


def make_node(number: int, chance: random.Random) -> JSON:
    """A node of a mixed cluster: spot tiers, kernels, zones, some soft taints, few cordoned."""
    name = f"node-{number:05}"
    taints = []
    if chance.random() < 0.5:
        sla = str(chance.randrange(800, 1000, 10))
        taints.append({"key": "node.kubernetes.io/sla", "value": sla, "effect": "NoSchedule"})
    if chance.random() < 0.1:
        taints.append({"key": "example.com/retiring", "effect": "PreferNoSchedule"})
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": "m5.4xlarge",
        "topology.kubernetes.io/region": "eu-west-1",
        "topology.kubernetes.io/zone": f"zone-{number % 3}",
        "node.kubernetes.io/kernel-version": f"{chance.choice((5, 6))}.{chance.randrange(20)}.0",
        **{f"example.com/label-{i}": f"value-{i}" for i in range(10)},
    }
    conditions = [
        {"type": kind, "status": "False", "lastHeartbeatTime": WHEN, "reason": f"Kubelet{kind}"}
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    ]
    images: list[JSON] = []
    resources = {"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "200Gi"}
    node = {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": meta(name, labels=labels, managedFields=[managed("labels", "annotations")]),
        "spec": {
            "podCIDR": "10.0.0.0/24",
            "providerID": f"aws:///eu-west-1a/i-{number:017}",
            "taints": taints,
            "unschedulable": chance.random() < 0.01,
        },
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": conditions,
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            "images": images,
        },
    }
    return padded(node, images, an_image, NODE_BYTES)


def an_image(number: int) -> JSON:
    """What most of a node consists of."""
    return {
        "names": [f"registry.example.com/app@sha256:{number:064}"],
        "sizeBytes": 100_000_000 + number,
    }


def make_pod(workload: int, name: str, node: str) -> JSON:
    """A pod of a workload."""
    labels = {
        "app.kubernetes.io/name": f"app-{workload}",
        "app.kubernetes.io/part-of": f"shop-{workload % 20}",
        "pod-template-hash": f"{workload:010}",
    }
    env: list[JSON] = []
    container = {
        "name": "main",
        "image": f"registry.example.com/app-{workload}:v1.2.3",
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
        "env": env,
        "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets", "readOnly": True}],
    }
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": WHEN}
        for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"app-{workload}", "uid": "u"}
    pod = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": meta(
            name,
            namespace=f"team-{workload % 50}",
            labels=labels,
            annotations={"example.com/checksum": "0" * 64},
            ownerReferences=[owner | {"controller": True}],
            managedFields=[managed("labels", "ownerReferences"), managed("conditions", "podIPs")],
        ),
        "spec": {
            "nodeName": node,
            "containers": [container],
            "tolerations": [
                {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}
            ],
            "schedulerName": "default-scheduler",
            "serviceAccountName": "default",
            "priority": 0,
        },
        "status": {
            "phase": "Running",
            "conditions": conditions,
            "podIP": "10.0.0.2",
            "startTime": WHEN,
            "containerStatuses": [a_status(workload)],
        },
    }
    return padded(pod, env, a_variable, POD_BYTES)


def a_status(workload: int) -> JSON:
    """How the one container of a pod fares."""
    image = f"registry.example.com/app-{workload}:v1.2.3"
    running = {"running": {"startedAt": WHEN}}
    return {
        "name": "main",
        "ready": True,
        "restartCount": 0,
        "image": image,
        "imageID": f"{image}@sha256:{workload:064}",
        "state": running,
    }


def a_variable(number: int) -> JSON:
    """What most of a pod consists of."""
    return {"name": f"SETTING_{number:03}", "value": f"some-value-of-{number:03}"}


def encoded(obj: JSON) -> bytes:
    """As Go writes it: without spaces."""
    return json.dumps(obj, separators=(",", ":")).encode()


def event(kind: str, obj: bytes) -> bytes:
    """One line of a watch stream."""
    return b'{"type":"%b","object":%b}\n' % (kind.encode(), obj)


def pods(count: int, nodes: int) -> Iterator[bytes]:
    """All pods; those of a workload are one template with other names."""
    for workload in range((count + PODS_A_WORKLOAD - 1) // PODS_A_WORKLOAD):
        template = encoded(make_pod(workload, "POD-NAME", "NODE-NAME"))
        for number in range(min(PODS_A_WORKLOAD, count - workload * PODS_A_WORKLOAD)):
            name = b"app-%d-%05d" % (workload, number)
            node = b"node-%05d" % ((workload * PODS_A_WORKLOAD + number) % nodes)
            yield template.replace(b"POD-NAME", name).replace(b"NODE-NAME", node)


def chunks(objects: Iterator[bytes]) -> Iterator[bytes]:
    """ADDED events of objects, in pieces that are cheap to send."""
    batch: list[bytes] = []
    size = 0
    for obj in objects:
        batch.append(event("ADDED", obj))
        size += len(batch[-1])
        if size >= CHUNK_BYTES:
            yield b"".join(batch)
            batch, size = [], 0
    yield b"".join(batch)


@dataclass(frozen=True)
class Cluster:
    """Bytes to list, and bytes of events: of a resource, over and over."""

    lists: dict[str, list[bytes]]
    events: Sequence[tuple[str, bytes]]


def make_cluster(nodes: int, pod_count: int, seed: int) -> Cluster:
    """Everything that will be sent."""
    chance = random.Random(seed)
    made = [make_node(number, chance) for number in range(nodes)]
    some = list(islice(pods(pod_count, nodes), 1_000))
    volumes = [encoded({"metadata": meta(f"pv-{i:05}"), "spec": {}}) for i in range(nodes)]
    claims = [
        encoded({"metadata": meta(f"data-{i:05}", namespace=f"team-{i % 50}"), "spec": {}})
        for i in range(nodes)
    ]
    classes = [encoded({"metadata": meta(f"class-{i}")}) for i in range(5)]
    lists = {
        "nodes": list(chunks(map(encoded, made))),
        "pods": list(chunks(pods(pod_count, nodes))),
        "persistentvolumes": list(chunks(iter(volumes))),
        "persistentvolumeclaims": list(chunks(iter(claims))),
        "storageclasses": list(chunks(iter(classes))),
    }
    return Cluster(lists, list(make_events(made, some, chance)))


def make_events(
    nodes: Sequence[JSON], some_pods: Sequence[bytes], chance: random.Random
) -> Iterator[tuple[str, bytes]]:
    """Of a hundred events 70 change a pod, 10 add one, 10 delete it again, 9 are heartbeats of a
    node and one changes a taint."""
    for number, pod in enumerate(some_pods):
        node = nodes[chance.randrange(len(nodes))]
        match number % 10:
            case 0:
                yield "pods", event("ADDED", pod.replace(b'"name":"app-', b'"name":"new-', 1))
            case 1:
                old = some_pods[number - 1].replace(b'"name":"app-', b'"name":"new-', 1)
                yield "pods", event("DELETED", old)
            case 2 if number % 100 == 2:
                taints = [
                    {"key": "example.com/flips", "value": str(number), "effect": "NoSchedule"}
                ]
                yield "nodes", event("MODIFIED", encoded(node | {"spec": {"taints": taints}}))
            case 2:
                yield "nodes", event("MODIFIED", encoded(node))
            case _:
                yield "pods", event("MODIFIED", pod)


@dataclass(eq=False)
class Server:
    """Serves a cluster."""

    cluster: Cluster
    streams: dict[str, web.StreamResponse] = field(default_factory=dict)
    _next: Iterator[tuple[str, bytes]] = field(init=False)

    def __post_init__(self) -> None:
        self._next = cycle(self.cluster.events)

    def app(self) -> web.Application:
        """The routes."""
        app = web.Application()
        for name in self.cluster.lists:
            root = "/apis/storage.k8s.io/v1" if name == "storageclasses" else "/api/v1"
            app.router.add_get(f"{root}/{name}", self._watch)
        app.router.add_post("/events", self._events)
        app.router.add_post("/expire", self._expire)
        return app

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("sendInitialEvents") != "true":
            return web.json_response({"message": "only streamed lists"}, status=410)
        name = request.path.rsplit("/", 1)[1]
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for chunk in self.cluster.lists[name]:
            await response.write(chunk)
        await response.write(LIST_END)
        self.streams[name] = response
        await asyncio.Event().wait()
        return response

    async def _events(self, request: web.Request) -> web.Response:
        rate, seconds = float(request.query["rate"]), float(request.query["seconds"])
        sent = 0
        begun = perf_counter()
        while (now := perf_counter() - begun) < seconds:
            due = int(rate * now) - sent if rate else BATCH
            if due:
                await self._send(due)
                sent += due
            if rate:
                await asyncio.sleep(TICK_SECONDS)
        return web.json_response({"sent": sent, "seconds": perf_counter() - begun})

    async def _expire(self, _: web.Request) -> web.Response:
        for stream in self.streams.values():
            await stream.write(GONE)
        return web.json_response({"sent": 0})

    async def _send(self, count: int) -> None:
        lines: dict[str, list[bytes]] = {}
        for name, line in islice(self._next, count):
            lines.setdefault(name, []).append(line)
        for name, batch in lines.items():
            await self.streams[name].write(b"".join(batch))


async def serve(cluster: Cluster) -> None:
    """Listen on a free port and print it, until killed."""
    runner = web.AppRunner(Server(cluster).app(), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    size = sum(len(chunk) for chunks_of in cluster.lists.values() for chunk in chunks_of)
    port = runner.addresses[0][1]
    print(f"apiserver listening on 127.0.0.1:{port} (http) {size} bytes", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Make a cluster, then serve it."""
    parser = argparse.ArgumentParser(prog="python -m bench.apiserver", description=__doc__)
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cluster = make_cluster(options.nodes, options.pods, options.seed)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(serve(cluster))


if __name__ == "__main__":
    main()
