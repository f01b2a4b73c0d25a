"""`make golden`: captures what a real kube-scheduler sends into `tests/golden/captured`.

A proxy stands between the schedulers and Leeway, and keeps each request with its answer. What
differs from run to run (UIDs, times, versions, random names, the order of nodes) is replaced, so
that capturing again with the same Kubernetes changes nothing.
"""

import asyncio
import contextlib
import json
import re
import ssl
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from tests.builders import JSON, preferred, required, requirement, taint, toleration
from tests.e2e import binaries, objects
from tests.e2e.cluster import Cluster
from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import EXTENDED, WHOLE_NODES, deployment, pod
from tests.e2e.processes import free_port

CAPTURED = Path(__file__).parent.parent / "golden" / "captured"
SLA = "example.com/sla"
ZONE = "topology.kubernetes.io/zone"

NODES: dict[str, tuple[str, *tuple[JSON, ...]]] = {
    "on-demand-1": ("east",),
    "soft-1": ("east", taint("example.com/retiring", "", "PreferNoSchedule")),
    "spot-700": ("west", taint(SLA, "700")),
    "spot-950": ("west", taint(SLA, "950")),
}

_TIME = "2026-01-01T00:00:00Z"
_TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Recorder:
    """The proxy: what was asked and answered, in order."""

    def __init__(self, plane: ControlPlane, port: int) -> None:
        self._plane = plane
        self._port = port
        self.exchanges: list[tuple[str, bytes, bytes]] = []

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer on the port with what Leeway answers."""
        files = self._plane.credentials
        serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        serving.load_cert_chain(*files.server)
        asking = ssl.create_default_context(cafile=str(files.ca))
        asking.load_cert_chain(*files.client)
        connector = aiohttp.TCPConnector(ssl=asking)
        async with aiohttp.ClientSession(connector=connector) as self._session:
            app = web.Application(client_max_size=2**28)
            app.router.add_post("/{verb}", self._pass_on)
            runner = web.AppRunner(app, access_log=None)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", self._port, ssl_context=serving).start()
            try:
                yield
            finally:
                await runner.cleanup()

    async def _pass_on(self, request: web.Request) -> web.Response:
        verb, body = request.match_info["verb"], await request.read()
        url = f"{self._plane.leeway.url}/{verb}"
        async with self._session.post(url, data=body) as response:
            answer = await response.read()
            self.exchanges.append((verb, body, answer))
            return web.Response(
                body=answer, status=response.status, content_type="application/json"
            )

    def first(self, verb: str, pod_name: str, fits: Callable[[Any], bool]) -> tuple[bytes, bytes]:
        """The first exchange about a pod whose request is as wanted."""
        for asked, body, answer in self.exchanges:
            data = json.loads(body)
            meta = data["Pod"]["metadata"]
            if asked == verb and meta["name"].startswith(pod_name) and fits(data):
                return body, answer
        raise LookupError(f"the scheduler never asked {verb} about {pod_name}")


def anything(_request: Any) -> bool:
    """Any request will do."""
    return True


def every_node(request: Any) -> bool:
    """All nodes are known and offered."""
    return len(request["NodeNames"] or (request["Nodes"] or {}).get("items", ())) == len(NODES)


def one_node(request: Any) -> bool:
    """The call about a nominated node alone."""
    return len(request["NodeNames"] or ()) == 1


# name, verb, the pod's name up to what is random, which of the requests
WANTED: tuple[tuple[str, str, str, Callable[[Any], bool]], ...] = (
    ("filter-names", "filter", "report-names-", every_node),
    ("filter-nodes", "filter", "report-nodes-", every_node),
    ("filter-none", "filter", "hopeless", every_node),
    ("filter-nominated", "filter", "urgent-names", one_node),
    ("prioritize-names", "prioritize", "report-names-", anything),
    ("prioritize-nodes", "prioritize", "report-nodes-", anything),
    ("preempt-meta-victims", "preempt", "urgent-names", anything),
    ("preempt-victims", "preempt", "urgent-nodes", anything),
)


def node(name: str, *taints: JSON, zone: str) -> JSON:
    """A node with what a kubelet tells of it."""
    body = objects.node(name, *taints, labels={ZONE: zone}, cpu="2")
    body["status"] |= {
        "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
        "images": [{"names": ["registry.example.com/main:1"], "sizeBytes": 4096}],
        "nodeInfo": {
            "machineID": "m",
            "systemUUID": "s",
            "bootID": "b",
            "kernelVersion": "6.8.0",
            "osImage": "Linux",
            "containerRuntimeVersion": "containerd://2.1.4",
            "kubeletVersion": "v1.36.3",
            "kubeProxyVersion": "",
            "operatingSystem": "linux",
            "architecture": "amd64",
        },
    }
    return body


async def play(cluster: Cluster) -> None:
    """Make the schedulers ask every kind of question."""
    await cluster.api.ensure(
        "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": 1000}
    )
    await cluster.add(*(node(name, *taints, zone=zone) for name, (zone, *taints) in NODES.items()))
    above = toleration(SLA, "Gt", "900", "NoSchedule")
    east = preferred((10, [requirement(ZONE, "In", "east")]))
    for name, scheduler in (("report-names", EXTENDED), ("report-nodes", WHOLE_NODES)):
        await cluster.deploy(deployment(name, 1, above, native_affinity=east, scheduler=scheduler))
        await cluster.placements(1, app=name)
    west = required([requirement(ZONE, "In", "west")])
    await cluster.refused(pod("hopeless", toleration(SLA, "Gt", "990"), affinity=west))
    for name, scheduler in (("urgent-names", EXTENDED), ("urgent-nodes", WHOLE_NODES)):
        await cluster.clear()
        await cluster.create(*map(filler, NODES))
        await cluster.placements(len(NODES))
        urgent = pod(name, above, affinity=west, cpu="2", priority="high", scheduler=scheduler)
        await cluster.run(urgent)


def filler(name: str) -> JSON:
    """A pod that leaves no room on its node."""
    there = required([requirement("kubernetes.io/hostname", "In", name)])
    return pod(
        f"filler-{name}",
        toleration(SLA, "Exists", effect="NoSchedule"),
        native_affinity=there,
        cpu="1500m",
    )


class Normal:
    """Replaces what differs from run to run, the same thing by the same thing everywhere."""

    def __init__(self) -> None:
        self._uids: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def __call__(self, body: bytes) -> bytes:
        """A body with nothing random in it, written as Go writes it."""
        data = json.loads(body)
        if _go_json(data) != body:
            raise ValueError("this body would not survive being written again")
        self._learn(data)
        text = _go_json(_in_order(_versionless(data))).decode()
        text = _UID.sub(lambda match: self._uid(match[0]), _TIMES.sub(_TIME, text))
        for random, fixed in self._names.items():
            text = text.replace(random, fixed)
        return text.encode()

    def _uid(self, uid: str) -> str:
        number = len(self._uids) + 1
        return self._uids.setdefault(uid, f"00000000-0000-4000-8000-{number:012}")

    def _learn(self, data: Any) -> None:
        if isinstance(data, dict):
            if "generateName" in data:
                self._names[data["name"]] = f"{data['generateName']}abcde"
            data = list(data.values())
        if isinstance(data, list):
            for each in data:
                self._learn(each)


def _versionless(data: Any) -> Any:
    if isinstance(data, list):
        return [_versionless(each) for each in data]
    if not isinstance(data, dict):
        return data
    return {key: "1" if key == "resourceVersion" else _versionless(to) for key, to in data.items()}


def _in_order(data: Any) -> Any:
    """The scheduler begins with another node each time; here they are in order."""
    if isinstance(data, list):  # priorities
        return sorted(data, key=lambda each: str(each["Host"]))
    for field in ("NodeNames", "FailedAndUnresolvableNodes"):
        if data.get(field):
            kept = data[field]
            data[field] = sorted(kept) if isinstance(kept, list) else dict(sorted(kept.items()))
    if (data.get("Nodes") or {}).get("items"):
        data["Nodes"]["items"].sort(key=lambda each: each["metadata"]["name"])
    return data


def _go_json(data: Any) -> bytes:
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode()


async def capture(folder: Path) -> dict[str, bytes]:
    """The normalised bodies, by the names of their files."""
    port = free_port()
    plane = ControlPlane(folder, extender_url=f"https://127.0.0.1:{port}")
    recorder = Recorder(plane, port)
    try:
        async with recorder.running():
            await plane.start()
            async with plane.connected() as admin:
                await admin.ensure("/api/v1/namespaces", {"metadata": {"name": "shop"}})
                cluster = Cluster(admin, plane, "shop")
                await play(cluster)
                nodes = await admin.get("/api/v1/nodes")
    finally:
        await plane.stop()
    normal = Normal()
    files: dict[str, bytes] = {}
    for name, verb, pod_name, fits in WANTED:
        request, answer = recorder.first(verb, pod_name, fits)
        files[f"{name}.request.json"] = normal(request)
        files[f"{name}.answer.json"] = normal(answer)
    nodes["items"].sort(key=lambda each: each["metadata"]["name"])
    files["cluster.json"] = normal(_go_json(nodes))
    return files


def main() -> int:
    """Write the captured bodies."""
    try:
        binaries.obtain()
    except binaries.BinariesError as exc:
        print(exc, file=sys.stderr)  # noqa: T201 - a command
        return 1
    with tempfile.TemporaryDirectory() as folder:
        files = asyncio.run(capture(Path(folder)))
    CAPTURED.mkdir(exist_ok=True)
    for name, body in files.items():
        (CAPTURED / name).write_bytes(body + b"\n")
    print(f"{len(files)} files of Kubernetes {binaries.version()} in {CAPTURED}")  # noqa: T201 - a command
    return 0


if __name__ == "__main__":
    sys.exit(main())
