"""A scripted API server: real HTTP over a truth of its own, and it misbehaves when told to.

A test changes the truth, breaks answers and streams, and expects the cache to equal the truth.
"""

import asyncio
import contextlib
import enum
import functools
import socket
import ssl
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import trustme
from aiohttp import web

from extender.cluster.api import Load
from extender.cluster.cache import NodeStore, PodStore
from extender.cluster.resources import INITIAL_EVENTS_END, Key
from tests import json_patch
from tests.builders import JSON

PATHS = {
    "/api/v1/nodes": "nodes",
    "/api/v1/pods": "pods",
    "/api/v1/persistentvolumes": "persistentvolumes",
    "/api/v1/persistentvolumeclaims": "persistentvolumeclaims",
    "/apis/storage.k8s.io/v1/storageclasses": "storageclasses",
}
# Listed by a command, watched by nobody.
WORKLOADS = {
    "/apis/apps/v1/deployments": "deployments",
    "/apis/apps/v1/statefulsets": "statefulsets",
    "/apis/apps/v1/daemonsets": "daemonsets",
    "/apis/apps/v1/replicasets": "replicasets",
    "/apis/batch/v1/jobs": "jobs",
    "/apis/batch/v1/cronjobs": "cronjobs",
}


class End(enum.Enum):
    """How a stream ends before its time, or seems not to."""

    CLOSE = "properly, as after timeoutSeconds"
    ABORT = "with a reset connection"
    HALF_CLOSE = "in the middle of a chunk, with the other direction left open"
    SILENT = "by saying nothing any more"


# Bytes are said as they are; an End is the last of the steps.
Step = bytes | End


@dataclass(frozen=True, slots=True)
class Answer:
    """Instead of what was asked for."""

    status: int
    text: str = "told to"


@dataclass(frozen=True, slots=True)
class Held:
    """What was asked for, but not before it is let go."""

    until: asyncio.Event


@dataclass(frozen=True, slots=True)
class CutOff:
    """Half of the body that was promised, and then nothing."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A stream that does something else after some of its lines."""

    after: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Body:
    """These bytes, as if they were what was asked for."""

    text: bytes


OfList = Answer | Held | CutOff
OfLease = Answer | Held | CutOff | Body
OfWatch = Answer | Broken


def key_of(name: str, namespace: str = "") -> Key:
    """Who an object is among its kind."""
    return f"{namespace}/{name}" if namespace else name


def line(kind: str, obj: JSON) -> bytes:
    """One event of a watch stream, as an API server writes it."""
    return msgspec.json.encode({"type": kind, "object": obj}) + b"\n"


def error(code: int) -> bytes:
    """An ERROR event."""
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return line("ERROR", status | {"message": "told to", "code": code})


GARBAGE = b'{"type":"MODIFIED","object":[1,2\n'
CUT_LINE = b'{"type":"ADDED","object":{"metadata":{"name":"never-there"'

# Everything that can happen to a stream at any time.
BREAKS: Mapping[str, tuple[Step, ...]] = {
    "closed": (End.CLOSE,),
    "reset": (End.ABORT,),
    "half-closed": (End.HALF_CLOSE,),
    "a line cut off by the end": (CUT_LINE, End.CLOSE),
    "a line cut off by a reset": (CUT_LINE, End.ABORT),
    "a garbage line": (GARBAGE,),
    "bytes that are not UTF-8": (b'{"type":"ADDED","object":{"metadata":{"name":"\xff"}}}\n',),
    "an event of a type that nobody knows": (line("RENAMED", {"metadata": {}}),),
    "an ERROR event, 410": (error(410), End.CLOSE),
    "an ERROR event, 500": (error(500), End.CLOSE),
    "silent": (End.SILENT,),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that came."""

    resource: str
    params: Mapping[str, str]
    headers: Mapping[str, str]

    @property
    def kind(self) -> str:
        """What was asked for."""
        if "watch" not in self.params:
            return "list"
        return "streamed list" if "sendInitialEvents" in self.params else "watch"


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch that came, and over which connection."""

    path: str
    content_type: str
    body: JSON
    peer: object


@dataclass(frozen=True, slots=True)
class _Change:
    version: int
    resource: str
    old: JSON | None
    new: JSON | None

    def told(self, selector: str) -> bytes | None:
        """The event for a watch with this selector: coming into sight is ADDED, leaving DELETED."""
        was = self.old is not None and _selected(self.old, selector)
        if self.new is not None and _selected(self.new, selector):
            return line("MODIFIED" if was else "ADDED", self.new)
        if not was or self.old is None:
            return None
        metadata = self.old["metadata"] | {"resourceVersion": str(self.version)}
        return line("DELETED", self.old | {"metadata": metadata})


@dataclass(eq=False, slots=True)
class _Stream:
    resource: str
    selector: str
    broken: Broken | None
    items: asyncio.Queue[tuple[Step, ...]] = field(default_factory=asyncio.Queue)


class ScriptedServer:
    """Keeps objects with resource versions, lists them in pages and streams their changes."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[Key, JSON]] = {
            name: {} for name in (*(PATHS | WORKLOADS).values(), "leases")
        }
        self.asked: list[Asked] = []
        self.streams_lists = True
        self.refuses_streamed_lists_with = 422
        self.tells_gone_in_stream = False
        self.piece: int | None = None  # bytes a chunk, to tear lines apart
        self.bearer = ""  # who is not it gets 401; empty: anybody
        self.config_maps: dict[Key, dict[str, str]] = {}
        self.minor = "36"
        # What may not be done, as `verb resource`, by whom.
        self.forbidden: set[tuple[str, str]] = set()
        self.patches: list[Patch] = []
        self._of_patches: deque[Answer] = deque()
        self.answers_patches = asyncio.Event()  # else JSON patches wait
        self.answers_patches.set()
        self.events: dict[str, JSON] = {}
        self.reviews: list[JSON] = []
        self.lease_requests: list[str] = []
        self.answers_leases = asyncio.Event()  # else requests for leases wait
        self.answers_leases.set()
        self.lease_faults: deque[OfLease | None] = deque()
        self._version = 100
        self._oldest = 0  # a watch can go on from here
        self._changes: list[_Change] = []
        self._lists: dict[str, tuple[list[JSON], int]] = {}
        self._streams: set[_Stream] = set()
        self._of_lists: dict[str, deque[OfList | None]] = {name: deque() for name in self.objects}
        self._of_watches: dict[str, deque[OfWatch]] = {name: deque() for name in self.objects}
        self._runner: web.AppRunner | None = None
        self._tls: ssl.SSLContext | None = None
        self._listener: socket.socket | None = None
        self.port = 0

    # The truth.

    @property
    def version(self) -> str:
        """Of the newest change."""
        return str(self._version)

    def put(self, resource: str, *objects: JSON) -> None:
        """Create objects, or change them."""
        for obj in objects:
            self._version += 1
            metadata = obj["metadata"] | {"resourceVersion": self.version}
            key = key_of(metadata["name"], metadata.get("namespace", ""))
            old = self.objects[resource].get(key)
            new = self.objects[resource][key] = obj | {"metadata": metadata}
            self._tell(_Change(self._version, resource, old, new))

    def delete(self, resource: str, name: str, namespace: str = "") -> None:
        """Delete an object."""
        self._version += 1
        old = self.objects[resource].pop(key_of(name, namespace))
        self._tell(_Change(self._version, resource, old, None))

    def bookmark(self) -> None:
        """Tell every watch how far it is."""
        for stream in self._streams:
            stream.items.put_nowait((self._bookmark(),))

    def compact(self) -> None:
        """Forget the past: whoever goes on from an earlier version is too late."""
        self._oldest = self._version
        self._changes.clear()
        self._lists.clear()

    # Misbehaviour.

    def on_list(self, resource: str, *faults: OfList | None) -> None:
        """What happens to the next pages that are asked for; None: nothing."""
        self._of_lists[resource].extend(faults)

    def on_watch(self, resource: str, *faults: OfWatch) -> None:
        """What happens to the next streams."""
        self._of_watches[resource].extend(faults)

    def on_patch(self, *faults: Answer) -> None:
        """What happens to the next patches."""
        self._of_patches.extend(faults)

    def on_lease(self, *faults: OfLease | None) -> None:
        """What happens to the next requests for leases; None: nothing."""
        self.lease_faults.extend(faults)

    def disturb(self, resource: str, *steps: Step) -> None:
        """What happens to the streams of a resource, now."""
        for stream in self._streams:
            if stream.resource == resource:
                stream.items.put_nowait(steps)

    def behave(self) -> None:
        """Forget what was to happen."""
        for resource in self.objects:
            self._of_lists[resource].clear()
            self._of_watches[resource].clear()

    # Who asked.

    def kinds(self, resource: str = "nodes") -> list[str]:
        """What was asked for of a resource, in order."""
        return [asked.kind for asked in self.asked if asked.resource == resource]

    def streams(self, resource: str = "nodes") -> int:
        """How many watches of a resource are open."""
        return sum(stream.resource == resource for stream in self._streams)

    # HTTP.

    @property
    def url(self) -> str:
        """Where it is served."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    async def start(self, tls: ssl.SSLContext | None = None) -> None:
        """Serve; on the port of before, if there was one."""
        app = web.Application()
        for path, resource in (PATHS | WORKLOADS).items():
            app.router.add_get(path, self._handler(resource))
        for path, resource in WORKLOADS.items():
            place = path.replace("/v1/", "/v1/namespaces/{namespace}/")
            app.router.add_get(f"{place}/{{name}}", functools.partial(self._workload, resource))
        app.router.add_get("/version", self._tell_version)
        app.router.add_get("/api/v1/namespaces/{namespace}/configmaps/{name}", self._config_map)
        app.router.add_get("/api/v1/namespaces/{namespace}/pods/{name}", self._pod)
        app.router.add_patch("/api/v1/namespaces/{namespace}/pods/{name}/status", self._patch)
        app.router.add_patch("/api/v1/namespaces/{namespace}/pods/{name}", self._json_patch)
        app.router.add_post("/api/v1/namespaces/{namespace}/events", self._event)
        leases = "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        app.router.add_route("*", leases, self._lease)
        app.router.add_route("*", f"{leases}/{{name}}", self._lease)
        app.router.add_post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", self._review)
        self._tls = tls
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.01
        )
        await self._runner.setup()
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]
        await web.SockSite(self._runner, self._listener, ssl_context=tls).start()

    async def stop(self) -> None:
        """Drop every connection and refuse new ones."""
        runner, self._runner = self._runner, None
        if runner is None or runner.server is None or self._listener is None:
            return
        # asyncio loses a connection that it is about to accept when a server is closed.
        asyncio.get_running_loop().remove_reader(self._listener.fileno())
        for _ in range(5):
            await asyncio.sleep(0)
        for connection in runner.server.connections:
            if connection.transport is not None:
                connection.transport.abort()
        await runner.cleanup()

    def _handler(self, resource: str) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handle(request: web.Request) -> web.StreamResponse:
            asked = Asked(resource, dict(request.query), dict(request.headers))
            self.asked.append(asked)
            if self.bearer and self._bearer(request) != self.bearer:
                return _status(401, "Unauthorized")
            if asked.kind == "list":
                return await self._list(request, asked)
            return await self._watch(request, asked)

        return handle

    async def _tell_version(self, _request: web.Request) -> web.Response:
        if self.minor == "forbidden":
            return _status(403, "version is forbidden")
        return web.json_response({"major": "1", "minor": self.minor})

    async def _config_map(self, request: web.Request) -> web.Response:
        key = key_of(request.match_info["name"], request.match_info["namespace"])
        if key not in self.config_maps:
            return _status(404, f"configmaps {key} not found")
        return web.json_response({"kind": "ConfigMap", "data": self.config_maps[key]})

    async def _workload(self, resource: str, request: web.Request) -> web.Response:
        key = key_of(request.match_info["name"], request.match_info["namespace"])
        found = self.objects[resource].get(key)
        return _status(404, f"{key} not found") if found is None else web.json_response(found)

    async def _pod(self, request: web.Request) -> web.Response:
        key = key_of(request.match_info["name"], request.match_info["namespace"])
        found = self.objects["pods"].get(key)
        return _status(404, f"pods {key} not found") if found is None else web.json_response(found)

    async def _patch(self, request: web.Request) -> web.Response:
        """Merge conditions by type into the status of a pod, as a strategic merge does."""
        peer = request.transport.get_extra_info("peername") if request.transport else None
        body = await request.json()
        self.patches.append(Patch(request.rel_url.raw_path, request.content_type, body, peer))
        fault = self._of_patches.popleft() if self._of_patches else None
        if fault is not None:
            return _status(fault.status, fault.text)
        key = key_of(request.match_info["name"], request.match_info["namespace"])
        pod = self.objects["pods"].get(key)
        if pod is None:
            return _status(404, f"pods {key} not found")
        if body["metadata"]["uid"] != pod["metadata"]["uid"]:
            return _status(422, "metadata.uid: Invalid value: field is immutable")
        old = pod.get("status", {})
        conditions = {each["type"]: each for each in old.get("conditions", [])}
        conditions |= {each["type"]: each for each in body["status"]["conditions"]}
        self.put("pods", pod | {"status": old | {"conditions": list(conditions.values())}})
        return web.json_response(self.objects["pods"][key])

    async def _json_patch(self, request: web.Request) -> web.Response:
        """Apply a JSON patch to a pod; what does not hold is refused without a word about it."""
        body = await request.json()
        self.patches.append(Patch(request.rel_url.raw_path, request.content_type, body, None))
        fault = self._of_patches.popleft() if self._of_patches else None
        if fault is not None:
            return web.Response(status=fault.status, text=fault.text)
        await self.answers_patches.wait()
        key = key_of(request.match_info["name"], request.match_info["namespace"])
        pod = self.objects["pods"].get(key)
        if pod is None:
            return _status(404, f"pods {key} not found")
        try:
            self.put("pods", json_patch.applied(pod, body))
        except json_patch.PatchError:
            return _status(422, "the server rejected our request due to an error in our request")
        return web.json_response(self.objects["pods"][key])

    async def _event(self, request: web.Request) -> web.Response:
        """Create an Event, once under each name."""
        event = await request.json()
        name = event["metadata"]["name"]
        if name in self.events:
            return _status(409, f"events {name} already exists")
        self.events[name] = event
        return web.json_response(event, status=201)

    async def _lease(self, request: web.Request) -> web.StreamResponse:
        """Get, create or update a lease, as the next fault wants it."""
        self.lease_requests.append(request.method)
        fault = self.lease_faults.popleft() if self.lease_faults else None
        await self.answers_leases.wait()
        if isinstance(fault, Answer):
            return _status(fault.status, fault.text)
        if isinstance(fault, Body):
            return web.Response(body=fault.text, content_type="application/json")
        if isinstance(fault, Held):
            await fault.until.wait()
        code, body = self._changed_lease(request, await request.read())
        if isinstance(fault, CutOff):
            return await _cut_off(request, msgspec.json.encode(body))
        return (
            _status(code, body) if isinstance(body, str) else web.json_response(body, status=code)
        )

    def _changed_lease(self, request: web.Request, sent: bytes) -> tuple[int, JSON | str]:
        namespace, leases = request.match_info["namespace"], self.objects["leases"]
        if request.method == "GET":
            key = key_of(request.match_info["name"], namespace)
            return (200, leases[key]) if key in leases else (404, f"leases {key} not found")
        lease = msgspec.json.decode(sent)
        key = key_of(lease["metadata"]["name"], namespace)
        if request.method == "POST" and key in leases:
            return 409, f"leases {key} already exists"
        if request.method == "PUT":
            if key not in leases:
                return 404, f"leases {key} not found"
            if lease["metadata"]["resourceVersion"] != leases[key]["metadata"]["resourceVersion"]:
                return 409, "the object has been modified"
        self.put("leases", lease)
        return (201 if request.method == "POST" else 200), leases[key]

    async def _review(self, request: web.Request) -> web.Response:
        """May the caller, or whom it speaks for, do that?"""
        review = await request.json()
        self.reviews.append(review)
        asked = review["spec"]["resourceAttributes"]
        user = request.headers.get("Impersonate-User", "")
        allowed = (f"{asked['verb']} {asked['resource']}", user) not in self.forbidden
        return web.json_response(review | {"status": {"allowed": allowed}}, status=201)

    def _bearer(self, request: web.Request) -> str:
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        return text if scheme.lower() == "bearer" else ""

    async def _list(self, request: web.Request, asked: Asked) -> web.StreamResponse:
        faults = self._of_lists[asked.resource]
        fault = faults.popleft() if faults else None
        if isinstance(fault, Answer):
            return _status(fault.status, fault.text)
        body = self._page(asked)
        if body is None:
            return _status(410, "The provided continue parameter is too old")
        if isinstance(fault, Held):
            await fault.until.wait()
        if isinstance(fault, CutOff):
            return await _cut_off(request, body)
        return web.Response(body=body, content_type="application/json")

    def _page(self, asked: Asked) -> bytes | None:
        token, _, start = asked.params.get("continue", "").partition("/")
        if not token:
            selector = asked.params.get("fieldSelector", "")
            token = f"{self._version}-{len(self.asked)}"
            self._lists[token] = (list(self._select(asked.resource, selector)), self._version)
        if token not in self._lists:
            return None
        objects, version = self._lists[token]
        begin = int(start or 0)
        end = begin + int(asked.params.get("limit", len(objects)))
        metadata = {"resourceVersion": str(version)}
        if end < len(objects):
            metadata |= {"continue": f"{token}/{end}"}
        return msgspec.json.encode(
            {"kind": "List", "metadata": metadata, "items": objects[begin:end]}
        )

    async def _watch(self, request: web.Request, asked: Asked) -> web.StreamResponse:
        faults = self._of_watches[asked.resource]
        fault = faults.popleft() if faults else None
        if isinstance(fault, Answer):
            return _status(fault.status, fault.text)
        stream = _Stream(asked.resource, asked.params.get("fieldSelector", ""), fault)
        if asked.kind == "streamed list":
            if not self.streams_lists:
                return _status(self.refuses_streamed_lists_with, "sendInitialEvents is forbidden")
            for obj in self._select(stream.resource, stream.selector):
                stream.items.put_nowait((line("ADDED", obj),))
            stream.items.put_nowait((self._bookmark(ends_list=True),))
        elif int(asked.params["resourceVersion"]) >= self._oldest:
            self._replay(stream, int(asked.params["resourceVersion"]))
        elif self.tells_gone_in_stream:
            stream.items.put_nowait((error(410), End.CLOSE))
        else:
            return _status(410, "too old resource version")
        return await self._stream(request, stream)

    async def _stream(self, request: web.Request, stream: _Stream) -> web.StreamResponse:
        self._streams.add(stream)
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        try:
            await response.prepare(request)
            sent = 0
            while True:
                if stream.broken and sent >= stream.broken.after:
                    steps, stream.broken = stream.broken.steps, None
                else:
                    steps = await stream.items.get()
                    sent += 1
                if not await self._take(steps, request, response):
                    return response
        except ConnectionError:
            return response
        finally:
            self._streams.discard(stream)

    async def _take(
        self, steps: tuple[Step, ...], request: web.Request, response: web.StreamResponse
    ) -> bool:
        """Take the steps; whether the stream goes on."""
        for step in steps:
            match step:
                case bytes():
                    await self._write(response, step)
                case End.CLOSE:
                    return False
                case End.ABORT:
                    _transport(request).abort()
                    return False
                case End.HALF_CLOSE:
                    _transport(request).write_eof()
                    await asyncio.Event().wait()
                case End.SILENT:
                    await asyncio.Event().wait()
        return True

    async def _write(self, response: web.StreamResponse, data: bytes) -> None:
        for start in range(0, len(data), self.piece or len(data)):
            await response.write(data[start : start + (self.piece or len(data))])
            if self.piece:
                await asyncio.sleep(0)

    def _replay(self, stream: _Stream, since: int) -> None:
        for change in self._changes:
            if change.version > since and change.resource == stream.resource:
                _offer(stream, change)

    def _tell(self, change: _Change) -> None:
        self._changes.append(change)
        for stream in self._streams:
            if stream.resource == change.resource:
                _offer(stream, change)

    def _select(self, resource: str, selector: str) -> Iterator[JSON]:
        objects = self.objects[resource]
        return (objects[key] for key in sorted(objects) if _selected(objects[key], selector))

    def _bookmark(self, *, ends_list: bool = False) -> bytes:
        metadata: JSON = {"resourceVersion": self.version}
        if ends_list:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        return line("BOOKMARK", {"metadata": metadata})


@contextlib.asynccontextmanager
async def scripted(tls: ssl.SSLContext | None = None) -> AsyncIterator[ScriptedServer]:
    """A scripted server that is up, until the end."""
    server = ScriptedServer()
    await server.start(tls)
    try:
        yield server
    finally:
        await server.stop()


@dataclass
class Clock:
    """Time that stands still until it is told."""

    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


async def eventually(holds: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait for what happens in its own time; what never happens fails where it is asserted."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while not holds():  # noqa: ASYNC110 - there is no event to wait for from outside
                await asyncio.sleep(0.001)


def anonymous(server: ScriptedServer) -> Load:
    """A loader of credentials that has none."""

    async def load() -> Any:
        from kubernetes.aio.client import Configuration

        configuration = Configuration()
        configuration.host = server.url
        # Any authority will do over plain HTTP; those of the system take 50 ms to load.
        configuration.ca_cert_data = some_authority().cert_pem.bytes().decode()
        return configuration

    return load


@functools.cache
def some_authority() -> trustme.CA:
    """A certificate authority."""
    return trustme.CA()


def _selected(obj: JSON, selector: str) -> bool:
    """Whether an object meets a field selector; of those only `path!=value` is needed here."""
    for clause in filter(None, selector.split(",")):
        path, _, unwanted = clause.partition("!=")
        found: Any = obj
        for part in path.split("."):
            found = found.get(part, {})
        if found == unwanted:
            return False
    return True


def _offer(stream: _Stream, change: _Change) -> None:
    told = change.told(stream.selector)
    if told is not None:
        stream.items.put_nowait((told,))


def _status(code: int, text: str) -> web.Response:
    body = {"kind": "Status", "metadata": {}, "status": "Failure", "message": text, "code": code}
    return web.json_response(body, status=code)


async def _cut_off(request: web.Request, body: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": str(len(body))})
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    _transport(request).abort()
    return response


def _transport(request: web.Request) -> asyncio.Transport:
    transport = request.transport
    if transport is None:
        raise ConnectionResetError
    return transport


# What of an object counts, so that truth and cache can be laid side by side.

TaintFacts = tuple[str, str, str]
NodeFacts = dict[str, tuple[dict[str, str], list[TaintFacts], bool]]
PodFacts = dict[Key, tuple[str, str, str, bool, dict[str, str]]]


EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")


def true_nodes(server: ScriptedServer) -> NodeFacts:
    """The nodes that the server has, with the taints that do anything."""
    return {
        name: (
            node["metadata"].get("labels") or {},
            sorted(
                (t["key"], t["value"], t["effect"])
                for t in node["spec"].get("taints", ())
                if t["effect"] in EFFECTS
            ),
            node["spec"].get("unschedulable", False),
        )
        for name, node in server.objects["nodes"].items()
    }


def cached_nodes(store: NodeStore) -> NodeFacts:
    """The nodes that a store has."""
    return {
        name: (
            dict(node.labels),
            sorted((t.key, t.value, t.effect) for t in (*node.taints.hard, *node.taints.soft)),
            node.unschedulable,
        )
        for name, node in store.snapshot().nodes.items()
    }


def true_pods(server: ScriptedServer) -> PodFacts:
    """The pods that the server has and that count on a node."""
    facts = {}
    for key, pod in server.objects["pods"].items():
        meta, status = pod["metadata"], pod.get("status", {})
        node, nominated = pod["spec"].get("nodeName", ""), status.get("nominatedNodeName", "")
        if (node or nominated) and status.get("phase") not in ("Succeeded", "Failed"):
            terminating = "deletionTimestamp" in meta
            facts[key] = (meta["uid"], node, nominated, terminating, meta.get("labels", {}))
    return facts


def cached_pods(store: PodStore) -> PodFacts:
    """The pods that a store has."""
    pods = ((key, store.get(key)) for key in store.keys())  # noqa: SIM118 - a store is no dict
    return {
        key: (p.uid, p.node_name, p.nominated_node_name, p.terminating, dict(p.labels))
        for key, p in pods
        if p is not None
    }


def a_placed_pod(
    name: str,
    node: str = "",
    *,
    nominated: str = "",
    phase: str = "Running",
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    terminating: bool = False,
) -> JSON:
    """A pod as the API server has it."""
    metadata: JSON = {"name": name, "namespace": namespace, "uid": f"uid-of-{name}"}
    if labels is not None:
        metadata["labels"] = dict(labels)
    if terminating:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    spec = {"nodeName": node} if node else {}
    status = {"phase": phase} | ({"nominatedNodeName": nominated} if nominated else {})
    return {"metadata": metadata, "spec": spec, "status": status}
