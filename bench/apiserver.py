"""An API server with a large cluster: streams its list and then events, all encoded beforehand.

Objects have the size and the shape that they have in a real cluster. It is a process of its own,
so that what it costs is not counted as Leeway's. POST /events?rate=N&seconds=S sends N events a
second (0: as fast as they are taken) and answers how many were sent; POST /expire has every watch
list anew; POST /change changes a taint of one node.
"""

import argparse
import asyncio
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from time import perf_counter
from typing import Final

import uvloop
from aiohttp import web

from bench.cluster import JSON, MIXED, WHEN, encoded, make_node, managed, meta, padded
from bench.workloads import a_variable

POD_BYTES: Final = 3_000
PODS_A_WORKLOAD: Final = 50
CHUNK_BYTES: Final = 1 << 18
TICK_SECONDS: Final = 0.001
BATCH: Final = 50
A_PRIME: Final = 7_919
KINDS_OF_CHANGE: Final = 50
GONE: Final = b'{"type":"ERROR","object":{"code":410,"message":"too old resource version"}}\n'
LIST_END: Final = (
    b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1000000",'
    b'"annotations":{"k8s.io/initial-events-end":"true"}}}}\n'
)


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

    nodes: Sequence[JSON]
    lists: dict[str, list[bytes]]
    events: Sequence[tuple[str, bytes]]


def make_cluster(nodes: int, pod_count: int, seed: int, taint_sets: int = MIXED) -> Cluster:
    """Everything that will be sent."""
    chance = random.Random(seed)
    made = [make_node(number, chance, taint_sets=taint_sets) for number in range(nodes)]
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
    return Cluster(made, lists, list(make_events(made, some, chance)))


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
                yield "nodes", changed(node, number)
            case 2:
                yield "nodes", event("MODIFIED", encoded(node))
            case _:
                yield "pods", event("MODIFIED", pod)


def changed(node: JSON, number: int) -> bytes:
    """The event that the only taint of a node is another one by now."""
    taints = [{"key": "example.com/flips", "value": str(number), "effect": "NoSchedule"}]
    return event("MODIFIED", encoded(node | {"spec": {"taints": taints}}))


@dataclass(eq=False)
class Server:
    """Serves a cluster."""

    cluster: Cluster
    streams: dict[str, web.StreamResponse] = field(default_factory=dict)
    changes: int = 0
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
        app.router.add_post("/change", self._change)
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

    async def _change(self, _: web.Request) -> web.Response:
        """Another taint on a node, and with the next event its own again."""
        self.changes += 1
        pair, back = divmod(self.changes, 2)
        nodes = self.cluster.nodes
        node = nodes[pair * A_PRIME % len(nodes)]
        line = event("MODIFIED", encoded(node)) if back else changed(node, pair % KINDS_OF_CHANGE)
        await self.streams["nodes"].write(line)
        return web.json_response({"sent": 1})

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
    parser.add_argument("--taint-sets", type=int, default=MIXED)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cluster = make_cluster(options.nodes, options.pods, options.seed, options.taint_sets)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(serve(cluster))


if __name__ == "__main__":
    main()
