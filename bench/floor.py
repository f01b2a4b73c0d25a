"""The floor: an ordinary aiohttp server that returns canned bytes, and looks at nothing.

`PUT /canned/KEY` hands it an answer. `POST /KEY` reads the body and returns that answer. What an
extender takes above this is its own work. Nothing here comes from Leeway.
"""

import argparse
import asyncio
import ssl
from dataclasses import dataclass, field
from typing import Final

import uvloop
from aiohttp import web

MAX_BYTES: Final = 1 << 28
# kube-scheduler's client keeps an idle connection for 90 s.
KEEP_ALIVE_SECONDS: Final = 120.0


@dataclass(slots=True)
class Floor:
    """Answers by path."""

    canned: dict[str, bytes] = field(default_factory=dict)

    async def keep(self, request: web.Request) -> web.Response:
        """Take an answer for later."""
        self.canned[request.match_info["key"]] = await request.read()
        return web.Response(status=204)

    async def answer(self, request: web.Request) -> web.Response:
        """Take the body, and answer without looking."""
        while await request.content.readany():
            pass
        body = self.canned[request.match_info["key"]]
        return web.Response(body=body, content_type="application/json")

    def app(self) -> web.Application:
        """The routes."""
        app = web.Application(client_max_size=MAX_BYTES)
        app.router.add_put("/canned/{key}", self.keep)
        app.router.add_post("/{key}", self.answer)
        return app


async def serve(app: web.Application, tls: ssl.SSLContext | None = None, port: int = 0) -> None:
    """Listen, on a free port unless told which, and print it, until killed."""
    runner = web.AppRunner(
        app, access_log=None, auto_decompress=False, keepalive_timeout=KEEP_ALIVE_SECONDS
    )
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=tls).start()
    scheme = "https" if tls else "http"
    print(f"floor listening on 127.0.0.1:{runner.addresses[0][1]} ({scheme})", flush=True)
    await asyncio.Event().wait()


def run(app: web.Application, tls: ssl.SSLContext | None = None, port: int = 0) -> None:
    """Serve on the event loop that Leeway uses, too."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(serve(app, tls, port))


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(prog="python -m bench.floor", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    run(Floor().app(), port=parser.parse_args().port)


if __name__ == "__main__":
    main()
