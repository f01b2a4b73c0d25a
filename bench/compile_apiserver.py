"""The API server of `bench.apiserver` for `leeway controller`: some pods have rules.

Those pods can be patched, and a patch is an event, as in a real one. POST /events sends what is
ordinary in a cluster that nobody changes: kubelets report how pods fare and that nodes live.
"""

import argparse
import asyncio
import copy
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random
from typing import Any, Final

import uvloop
from aiohttp import web

from bench import apiserver
from bench.apiserver import PODS_A_WORKLOAD, Cluster, Server, chunks, event, make_pod
from bench.cluster import JSON, SLA, encoded, name_of

# The status of a node is written every five minutes: 17 a second for 5,000 nodes.
POD_CHANGES: Final = 50
HEARTBEATS: Final = 17
PENDING_SHARE: Final = 20  # of so many pods with rules one waits for a node
A_RULE: Final = json.dumps([{"key": SLA, "operator": "Gt", "value": "900"}])
UNPROCESSABLE: Final = 422


class PatchError(Exception):
    """A patch does not fit the object."""


def ruled_pods(how_many: int, nodes: int) -> dict[str, JSON]:
    """Pods with a rule, by their path; one of twenty waits."""
    made = {}
    for number in range(how_many):
        node = name_of(number * 7 % nodes) if number % PENDING_SHARE else ""
        pod = make_pod(number // PODS_A_WORKLOAD, f"ruled-{number:05}", node)
        pod["metadata"]["annotations"]["scheduling.leeway/tolerations"] = A_RULE
        if not node:
            pod["status"] = {"phase": "Pending"}
        made[f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/ruled-{number:05}"] = pod
    return made


def patched(pod: JSON, operations: Sequence[JSON]) -> JSON:
    """The pod after a JSON patch of tests and additions."""
    new = copy.deepcopy(pod)
    for each in operations:
        *way, last = (
            part.replace("~1", "/").replace("~0", "~") for part in each["path"].split("/")
        )
        where: Any = new
        for part in way[1:]:
            where = where[int(part)] if isinstance(where, list) else where[part]
        match each["op"]:
            case "test" if where.get(last) != each["value"]:
                raise PatchError(f"{each['path']} is something else")
            case "test":
                pass
            case "add" if isinstance(where, list):
                where.insert(len(where) if last == "-" else int(last), each["value"])
            case "add":
                where[last] = each["value"]
            case other:
                raise PatchError(f"{other} is not known here")
    return new


def make_cluster(nodes: int, pods: int, ruled: dict[str, JSON], seed: int) -> Cluster:
    """So many pods in all."""
    plain = apiserver.make_cluster(nodes, pods - len(ruled), seed)
    listed = [*plain.lists["pods"], *chunks(map(encoded, ruled.values()))]
    return replace(plain, lists={**plain.lists, "pods": listed})


@dataclass(eq=False)
class CompileServer(Server):
    """Serves a cluster, and takes patches of the pods with rules."""

    ruled: dict[str, JSON] = field(default_factory=dict)
    plain: Sequence[bytes] = ()
    _versions: Iterator[int] = field(default_factory=lambda: count(1_000_001))

    def __post_init__(self) -> None:
        self._next = self._ordinary(Random(1))

    def app(self) -> web.Application:
        """The routes."""
        app = super().app()
        app.router.add_patch("/api/v1/namespaces/{namespace}/pods/{name}", self._patch)
        return app

    async def _patch(self, request: web.Request) -> web.Response:
        try:
            pod = patched(self.ruled[request.path], await request.json())
        except PatchError as exc:
            return web.json_response({"message": str(exc)}, status=UNPROCESSABLE)
        body = self._new_version(request.path, pod)
        await self.streams["pods"].write(event("MODIFIED", body))
        return web.Response(body=body, content_type="application/json")

    def _new_version(self, path: str, pod: JSON) -> bytes:
        pod["metadata"]["resourceVersion"] = str(next(self._versions))
        self.ruled[path] = pod
        return encoded(pod)

    def _ordinary(self, chance: Random) -> Iterator[tuple[str, bytes]]:
        """Without an end: of all pods as often as of those with rules."""
        paths, number = list(self.ruled), count()
        share = max(1, len(self.plain) // max(1, len(paths)))
        while True:
            for _ in range(POD_CHANGES):
                if paths and next(number) % share == 0:
                    path = chance.choice(paths)
                    body = self._new_version(path, self.ruled[path])
                else:
                    body = chance.choice(self.plain)
                yield "pods", event("MODIFIED", body)
            for _ in range(HEARTBEATS):
                yield "nodes", event("MODIFIED", encoded(chance.choice(self.cluster.nodes)))


async def serve(server: Server) -> None:
    """Listen on a free port and print it, until killed."""
    runner = web.AppRunner(server.app(), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"apiserver listening on 127.0.0.1:{runner.addresses[0][1]} (http)", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Make a cluster, then serve it."""
    parser = argparse.ArgumentParser(prog="python -m bench.compile_apiserver", description=__doc__)
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=50_000)
    parser.add_argument("--ruled", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ruled = ruled_pods(options.ruled, options.nodes)
    cluster = make_cluster(options.nodes, options.pods, ruled, options.seed)
    plain = list(apiserver.pods(options.pods - options.ruled, options.nodes))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(serve(CompileServer(cluster, ruled=ruled, plain=plain)))


if __name__ == "__main__":
    main()
