"""The floor: an ordinary aiohttp application with nothing behind it.

POST /SIZE reads the body and answers SIZE canned bytes. Same HTTP library, same event loop, same
settings as Leeway's; what Leeway takes on top of this is Leeway's own.

An extender must say which nodes pass, so as an extender it looks at as little as it can: POST
/filter reads the names, or the whole nodes without what is in them, and lets all of them pass;
/prioritize gives all the same score. That is the least that an extender in Python can do.
"""

import argparse
import asyncio
import functools
import ssl
from typing import Final

import msgspec
import uvloop
from aiohttp import web
from msgspec import Raw

from extender.server.serving import KEEP_ALIVE_SECONDS

NULL: Final = Raw(b"null")


class Args(msgspec.Struct, rename="pascal", gc=False):
    """What is looked at of a request; nodes stay the bytes that they came as."""

    node_names: tuple[str, ...] | None = None
    nodes: Raw = NULL


class Named(msgspec.Struct, gc=False):
    """A node's name."""

    name: str


class Node(msgspec.Struct, gc=False):
    """A node, for its name."""

    metadata: Named


class Nodes(msgspec.Struct, gc=False):
    """Whole nodes, for their names."""

    items: tuple[Node, ...]


class Result(msgspec.Struct, rename="pascal", gc=False):
    """All nodes pass."""

    nodes: Raw
    node_names: tuple[str, ...] | None
    failed_nodes: dict[str, str]
    failed_and_unresolvable_nodes: dict[str, str]
    error: str


class Priority(msgspec.Struct, rename="pascal", gc=False):
    """The same for all."""

    host: str
    score: int = 0


ARGS: Final = msgspec.json.Decoder(Args)
NODES: Final = msgspec.json.Decoder(Nodes)
ENCODER: Final = msgspec.json.Encoder()


@functools.cache
def canned(size: int) -> bytes:
    """`size` bytes, made once."""
    return b" " * size


async def read(request: web.Request) -> bytes:
    """The whole body, as any server must."""
    chunks = []
    while chunk := await request.content.readany():
        chunks.append(chunk)
    return b"".join(chunks)


async def answer(request: web.Request) -> web.Response:
    """Take the body, and answer without looking."""
    while await request.content.readany():
        pass
    body = canned(int(request.match_info["size"]))
    return web.Response(body=body, content_type="application/json")


async def pass_all(request: web.Request) -> web.Response:
    """As filter."""
    args = ARGS.decode(await read(request))
    body = ENCODER.encode(Result(args.nodes, args.node_names, {}, {}, ""))
    return web.Response(body=body, content_type="application/json")


async def score_all(request: web.Request) -> web.Response:
    """As prioritize."""
    args = ARGS.decode(await read(request))
    names = args.node_names or ()
    if args.node_names is None:
        names = tuple(node.metadata.name for node in NODES.decode(args.nodes).items)
    return web.Response(
        body=ENCODER.encode(list(map(Priority, names))), content_type="application/json"
    )


async def serve(tls: ssl.SSLContext | None, port: int) -> None:
    """Listen, on a free port unless told which, and print it, until killed."""
    app = web.Application()
    app.router.add_post("/filter", pass_all)
    app.router.add_post("/prioritize", score_all)
    app.router.add_post("/{size}", answer)
    runner = web.AppRunner(
        app, access_log=None, auto_decompress=False, keepalive_timeout=KEEP_ALIVE_SECONDS
    )
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=tls).start()
    scheme = "https" if tls else "http"
    print(f"floor listening on 127.0.0.1:{runner.addresses[0][1]} ({scheme})", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Serve, with mutual TLS if there are files for it, as Leeway does beside a scheduler."""
    parser = argparse.ArgumentParser(prog="python -m bench.floor", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", nargs=3, metavar=("CERTIFICATE", "KEY", "CLIENT-CA"))
    options = parser.parse_args()
    tls = None
    if options.tls:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=options.tls[2])
        tls.load_cert_chain(*options.tls[:2])
        tls.verify_mode = ssl.CERT_REQUIRED
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(serve(tls, options.port))


if __name__ == "__main__":
    main()
