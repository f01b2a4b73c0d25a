"""The floor for a real kube-scheduler: the right answers, with as little work as possible.

kube-scheduler names nodes in a new order in each call and refuses names that it did not ask for,
so its answers cannot be canned. This server is told beforehand which nodes are refused. It cuts
the names out of the body without decoding it, and leaves the refused ones out. What it says about
them, and the scores of a full answer, are canned.

Lean: refused nodes are not named, prioritize answers `[]`. Full: each refused node with a reason,
each host with a score of 0. Nothing here comes from Leeway.
"""

import argparse
import json
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aiohttp import web

from bench import floor
from bench.answers import REASON

NAMES_KEY: Final = b'"NodeNames":['
PASSED: Final = b'{"Nodes":null,"NodeNames":['
REFUSED: Final = b'],"FailedNodes":{},"FailedAndUnresolvableNodes":'


def names_of(body: bytes) -> list[bytes]:
    """The names in a body as Go encodes it, each with its quotes: they are the last thing in it."""
    start = body.rindex(NAMES_KEY) + len(NAMES_KEY)
    return body[start : body.rindex(b"]")].split(b",")


@dataclass
class SchedulerFloor:
    """Answers a kube-scheduler."""

    refused: frozenset[bytes]
    full: bool
    _rest: bytes = field(init=False)

    def __post_init__(self) -> None:
        named = {json.loads(name): REASON for name in sorted(self.refused)} if self.full else {}
        reasons = json.dumps(named, separators=(",", ":")).encode()
        self._rest = REFUSED + reasons + b',"Error":""}'

    def filtered(self, body: bytes) -> bytes:
        """The answer of filter."""
        passed = [name for name in names_of(body) if name not in self.refused]
        if not passed:
            raise ValueError("every node is refused: that is not measured here")
        return PASSED + b",".join(passed) + self._rest

    def prioritized(self, body: bytes) -> bytes:
        """The answer of prioritize."""
        if not self.full:
            return b"[]"
        hosts = b',"Score":0},{"Host":'.join(names_of(body))
        return b'[{"Host":' + hosts + b',"Score":0}]'

    def app(self) -> web.Application:
        """The routes."""

        async def filter_nodes(request: web.Request) -> web.Response:
            return _answer(self.filtered(await request.read()))

        async def prioritize(request: web.Request) -> web.Response:
            return _answer(self.prioritized(await request.read()))

        app = web.Application(client_max_size=floor.MAX_BYTES)
        app.router.add_post("/filter", filter_nodes)
        app.router.add_post("/prioritize", prioritize)
        return app


def _answer(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/json")


def main() -> None:
    """Serve with mutual TLS, as Leeway does beside a scheduler."""
    parser = argparse.ArgumentParser(prog="python -m bench.scheduler_floor", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--tls", nargs=3, required=True, metavar=("CERTIFICATE", "KEY", "CA"))
    parser.add_argument("--refused", type=Path, required=True, help="names, a JSON list")
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=options.tls[2])
    tls.load_cert_chain(*options.tls[:2])
    tls.verify_mode = ssl.CERT_REQUIRED
    names = json.loads(options.refused.read_text(encoding="utf-8"))
    refused = frozenset(json.dumps(name).encode() for name in names)
    floor.run(SchedulerFloor(refused, options.full).app(), tls, options.port)


if __name__ == "__main__":
    main()
