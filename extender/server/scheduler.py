"""The scheduler's door: POST /filter, /prioritize, /preempt.

One place where a request is read, measured, logged, and where a fault becomes an answer:
kube-scheduler reads nothing but 200, and only filter has a field to say what went wrong.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from time import perf_counter
from typing import Protocol

from aiohttp import web

from extender.config.schema import Limits
from extender.errors import LeewayError
from extender.metrics import Metrics
from extender.server import bodies, doors, payloads
from extender.server.accounts import Accounts
from extender.server.answers import Answer
from extender.server.catch_up import CatchUp
from extender.server.doors import STATUS_OF_FAULT, Door
from extender.server.expressions import DeferredError
from extender.server.profiles import Profiles
from extender.server.status import Callers
from extender.server.verbs import Verbs
from extender.wire import messages as wire

log = logging.getLogger("leeway.scheduler")


class Verb(Protocol):
    """One of the three verbs."""

    def __call__(self, body: bytes, *, final: bool = True) -> Answer: ...


class SchedulerDoor(Door):
    """Answers kube-scheduler."""

    def __init__(
        self,
        verbs: Verbs,
        profiles: Profiles,
        catch_up: CatchUp,
        *,
        limits: Limits,
        metrics: Metrics,
        callers: Callers,
    ) -> None:
        super().__init__()
        self._verbs = verbs
        self._catch_up = catch_up
        self._limits = limits
        self._accounts = Accounts(profiles, metrics, callers)

    def app(self) -> web.Application:
        """The routes; anything else is 404, another method 405."""
        app = web.Application()
        for verb, answer in (
            ("filter", self._verbs.filter),
            ("prioritize", self._verbs.prioritize),
            ("preempt", self._verbs.preempt),
        ):
            app.router.add_post(f"/{verb}", self._handler(verb, answer))
        return app

    def _handler(self, verb: str, answer: Verb) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            return await self._answering(self._respond(request, verb, answer))

        return handle

    async def _respond(self, request: web.Request, verb: str, answer: Verb) -> web.Response:
        try:
            body = await bodies.read(request, self._limits)
            begun = perf_counter()
            result = await self._answered(answer, body)
            if verb == "filter":
                result = await self._held(result, body)
        except tuple(STATUS_OF_FAULT) as exc:
            return self._refuse(request, verb, STATUS_OF_FAULT[type(exc)], str(exc))
        except Exception as exc:  # noqa: BLE001 - the door: whatever breaks below ends here
            return self._fault(request, verb, exc)
        seconds = perf_counter() - begun
        # In the next turn of the loop, when the answer is on its way; nothing that the client
        # sends after it is read before that.
        loop = asyncio.get_running_loop()
        loop.call_soon(self._accounts.enter, request, verb, result, seconds)
        return payloads.response(result.body)

    async def _answered(self, answer: Verb, body: bytes) -> Answer:
        try:
            return answer(body, final=False)
        except DeferredError as deferred:
            await self._verbs.expressions.work_off(deferred.work)
        return answer(body)

    async def _held(self, result: Answer, body: bytes) -> Answer:
        result, held = await self._catch_up.hold(result, lambda: self._verbs.filter(body))
        if held is not None:
            self._accounts.caught_up(held)
        return result

    def _fault(self, request: web.Request, verb: str, exc: Exception) -> web.Response:
        if isinstance(exc, LeewayError):
            sentence = str(exc)
            cause = exc.__cause__
            if cause is not None and not isinstance(cause, LeewayError):
                log.error("a plugin broke", exc_info=cause, extra={"fields": {"verb": verb}})
        else:
            sentence = f"internal fault ({type(exc).__name__}): see the log of the extender"
            log.error("internal fault", exc_info=exc, extra={"fields": {"verb": verb}})
        if verb != "filter":
            return self._refuse(request, verb, HTTPStatus.INTERNAL_SERVER_ERROR, sentence)
        self._accounts.refuse(verb, HTTPStatus.OK, {"error": sentence})
        body = wire.encode_filter_fault(sentence)
        return web.Response(body=body, content_type="application/json")

    def _refuse(
        self, request: web.Request, verb: str, status: HTTPStatus, sentence: str
    ) -> web.Response:
        fields = {"remote": doors.remote(request), "error": sentence[:300]}
        self._accounts.refuse(verb, status, fields)
        return doors.refusal(request, status, sentence)
