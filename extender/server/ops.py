"""The operator's door: health, metrics, version, status, explanations. Plain HTTP."""

import platform
from typing import Protocol

from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.aiohttp import make_aiohttp_handler

from extender import __version__
from extender.cluster.source import State
from extender.config import printing
from extender.config.schema import Config
from extender.server import explain as explain_door
from extender.server.reply import Handler
from extender.server.status import Callers, Readiness


class Stating(Protocol):
    """Whoever can say what it knows of the cluster."""

    def state(self) -> State: ...


def ops_app(
    readiness: Readiness,
    *,
    registry: CollectorRegistry,
    callers: Callers,
    source: Stating,
    config: Config,
    explain: Handler | None = None,
) -> web.Application:
    """The routes of the ops listener; without `explain` there is no such path."""

    configuration = printing.judging_document(config)

    async def livez(_request: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def readyz(request: web.Request) -> web.Response:
        ready, report = readiness.report()
        text = report if "verbose" in request.query or not ready else "ok"
        return web.Response(status=200 if ready else 503, text=text)

    async def version(_request: web.Request) -> web.Response:
        return web.json_response({"version": __version__, "python": platform.python_version()})

    async def status(_request: web.Request) -> web.Response:
        document = callers.document(source.state().remark)
        return web.json_response(document | {"configuration": configuration})

    app = web.Application()
    app.router.add_get("/livez", livez)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", make_aiohttp_handler(registry))
    app.router.add_get("/version", version)
    app.router.add_get("/status", status)
    if explain is not None:
        app.router.add_post(explain_door.PATH, explain)
    return app
