"""The operator's door: health, metrics, version, status. Plain HTTP."""

import platform

from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.aiohttp import make_aiohttp_handler

from extender import __version__
from extender.cluster.source import ClusterSource
from extender.server.status import Callers, Readiness


def ops_app(
    readiness: Readiness,
    *,
    registry: CollectorRegistry,
    callers: Callers,
    source: ClusterSource,
) -> web.Application:
    """The routes of the ops listener."""

    async def livez(_request: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def readyz(request: web.Request) -> web.Response:
        ready, report = readiness.report()
        text = report if "verbose" in request.query or not ready else "ok"
        return web.Response(status=200 if ready else 503, text=text)

    async def version(_request: web.Request) -> web.Response:
        return web.json_response({"version": __version__, "python": platform.python_version()})

    async def status(_request: web.Request) -> web.Response:
        return web.json_response(callers.document(source.state().remark))

    app = web.Application()
    app.router.add_get("/livez", livez)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", make_aiohttp_handler(registry))
    app.router.add_get("/version", version)
    app.router.add_get("/status", status)
    return app
