"""The scheduler's door: POST /filter, /prioritize, /preempt.

One place where a request is read, measured, logged, and where a fault becomes an answer:
kube-scheduler reads nothing but 200, and only filter has a field to say what went wrong.
"""

import asyncio
import logging
from collections.abc import Collection, Mapping
from http import HTTPStatus
from time import perf_counter
from typing import Protocol

from aiohttp import hdrs, web

from extender.config.schema import Limits
from extender.errors import LeewayError
from extender.metrics import Metrics
from extender.server import bodies, doors
from extender.server.accounts import Accounts
from extender.server.answers import Answer
from extender.server.catch_up import CatchUp
from extender.server.doors import STATUS_OF_FAULT, Door
from extender.server.expressions import DeferredError
from extender.server.profiles import Profiles
from extender.server.replies import Reply
from extender.server.status import Callers
from extender.server.verbs import Verbs
from extender.wire import messages as wire
from extender.wire.intake import Body

log = logging.getLogger("leeway.scheduler")


class Verb(Protocol):
    """One of the three verbs."""

    def __call__(self, body: Body, *, final: bool = True) -> Answer: ...


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
        self._answer_of: Mapping[str, Verb] = {
            "/filter": verbs.filter,
            "/prioritize": verbs.prioritize,
            "/preempt": verbs.preempt,
        }
        self._catch_up = catch_up
        self._limits = limits
        self._accounts = Accounts(profiles, metrics, callers)

    @property
    def paths(self) -> Collection[str]:
        """What can be asked for, by POST."""
        return self._answer_of

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request; a path that is not ours is 404, another method 405.

        For three paths a look-up does what aiohttp's router does.
        """
        path = request.raw_path
        answer = self._answer_of.get(path)
        if answer is None:
            path = request.path  # without a query
            answer = self._answer_of.get(path)
        if answer is None:
            raise web.HTTPNotFound
        if request.method != hdrs.METH_POST:
            raise web.HTTPMethodNotAllowed(request.method, (hdrs.METH_POST,))
        if hdrs.EXPECT in request.headers:
            await doors.go_on(request)
        return await self._answering(self._respond(request, path[1:], answer))

    async def _respond(
        self, request: web.BaseRequest, verb: str, answer: Verb
    ) -> web.StreamResponse:
        try:
            body = await bodies.take_in(request, self._limits, self._verbs.intake)
            begun = perf_counter()
            try:
                result = answer(body, final=False)
            except DeferredError as deferred:
                await self._verbs.expressions.work_off(deferred.work)
                result = answer(body)
            held: str | None = self._catch_up.decide(result)
            if held == "hold":
                result, held = await self._catch_up.hold(result, lambda: self._verbs.filter(body))
        except tuple(STATUS_OF_FAULT) as exc:
            return self._refuse(request, verb, STATUS_OF_FAULT[type(exc)], str(exc))
        except Exception as exc:  # noqa: BLE001 - the door: whatever breaks below ends here
            return self._fault(request, verb, exc)
        seconds = perf_counter() - begun
        # In the next turn of the loop, when the answer is on its way; nothing that the client
        # sends after it is read before that.
        loop = asyncio.get_running_loop()
        loop.call_soon(self._accounts.enter, request, verb, result, seconds, held)
        return Reply(*result.ahead, result.body)

    def _fault(self, request: web.BaseRequest, verb: str, exc: Exception) -> web.StreamResponse:
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
        return Reply(wire.encode_filter_fault(sentence))

    def _refuse(
        self, request: web.BaseRequest, verb: str, status: HTTPStatus, sentence: str
    ) -> web.StreamResponse:
        fields = {"remote": doors.remote(request), "error": sentence[:300]}
        self._accounts.refuse(verb, status, fields)
        return doors.refusal(request, status, sentence)
