"""The floor: the server stack of Leeway with nothing behind it.

POST /SIZE reads the body and answers SIZE canned bytes. Same HTTP library, same event loop, same
settings; what Leeway takes on top of this is Leeway's own.
"""

import asyncio
import functools

import uvloop
from aiohttp import web

from extender.server.serving import KEEP_ALIVE_SECONDS


@functools.cache
def canned(size: int) -> bytes:
    """`size` bytes, made once."""
    return b" " * size


async def answer(request: web.Request) -> web.Response:
    """Take the whole body, as any server must, and answer."""
    while await request.content.readany():
        pass
    body = canned(int(request.match_info["size"]))
    return web.Response(body=body, content_type="application/json")


async def serve() -> None:
    """Listen on a free port and print it, until killed."""
    app = web.Application()
    app.router.add_post("/{size}", answer)
    runner = web.AppRunner(
        app, access_log=None, auto_decompress=False, keepalive_timeout=KEEP_ALIVE_SECONDS
    )
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"floor listening on 127.0.0.1:{runner.addresses[0][1]} (http)", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(serve())
