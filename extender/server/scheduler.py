"""The scheduler's door: POST /filter, /prioritize, /preempt.

One place where a request is read, measured, logged, and where a fault becomes an answer:
kube-scheduler reads nothing but 200, and only filter has a field to say what went wrong.
"""

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from time import perf_counter
from typing import Protocol

from aiohttp import hdrs, web

from extender import wire
from extender.config.schema import Limits
from extender.errors import LeewayError
from extender.framework.ledger import Ledger
from extender.metrics import Metrics
from extender.model.core_v1 import Pod
from extender.server import bodies, doors
from extender.server.catch_up import CatchUp
from extender.server.doors import STATUS_OF_FAULT, Door
from extender.server.expressions import DeferredError
from extender.server.notices import Notices
from extender.server.profiles import Profiles, scheduler_name
from extender.server.status import Callers
from extender.server.verbs import Answer, Verbs

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
        self._profiles = profiles
        self._catch_up = catch_up
        self._limits = limits
        self._metrics = metrics
        self._callers = callers
        self._notices = Notices()

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
        self._count(verb, result, seconds)
        self._callers.record(
            doors.remote(request),
            _user_agent(request),
            verb,
            result.mode,
            _certificate(request),
        )
        if result.ledger is not None:
            self._log_ledger(verb, result.ledger)
        log.log(
            logging.WARNING if result.error else logging.INFO,
            verb,
            extra={"fields": _log_fields(result, seconds)},
        )
        return web.Response(body=result.body, content_type="application/json")

    def _log_ledger(self, verb: str, ledger: Ledger) -> None:
        for fault in ledger.faults:
            if not isinstance(fault, LeewayError):  # the answer has the sentence of those
                log.error("a plugin broke", exc_info=fault, extra={"fields": {"verb": verb}})
        self._notices.log(ledger.findings)

    async def _answered(self, answer: Verb, body: bytes) -> Answer:
        try:
            return answer(body, final=False)
        except DeferredError as deferred:
            await self._verbs.expressions.work_off(deferred.work)
        return answer(body)

    async def _held(self, result: Answer, body: bytes) -> Answer:
        result, held = await self._catch_up.hold(result, lambda: self._verbs.filter(body))
        if held is not None:
            self._metrics.catch_ups.labels(held).inc()
        return result

    def _count(self, verb: str, result: Answer, seconds: float) -> None:
        metrics = self._metrics
        metrics.requests.labels(verb, result.mode, HTTPStatus.OK.value).inc()
        metrics.request_seconds.labels(verb, result.mode).observe(seconds)
        metrics.request_nodes.labels(verb, result.mode).observe(result.nodes)
        if result.ledger is not None:
            metrics.count_call(result.ledger, self._profile_label(result.pod))

    def _profile_label(self, pod: Pod) -> str:
        if self._profiles.configured:
            return self._profiles.of(pod).name
        return self._metrics.profile_label(scheduler_name(pod))

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
        self._metrics.requests.labels(verb, "", HTTPStatus.OK.value).inc()
        log.warning(verb, extra={"fields": {"code": HTTPStatus.OK.value, "error": sentence}})
        body = wire.encode_filter_fault(sentence)
        return web.Response(body=body, content_type="application/json")

    def _refuse(
        self, request: web.Request, verb: str, status: HTTPStatus, sentence: str
    ) -> web.Response:
        self._metrics.requests.labels(verb, "", status.value).inc()
        fields = {"code": status.value, "remote": doors.remote(request), "error": sentence[:300]}
        log.warning(verb, extra={"fields": fields})
        return doors.refusal(request, status, sentence)


def _certificate(request: web.Request) -> str | None:
    """The common name of the client certificate, where the caller had to show one."""
    shown = request.get_extra_info("peercert") or {}
    names = (name for part in shown.get("subject", ()) for name in part)
    return next((value for key, value in names if key == "commonName"), None)


def _user_agent(request: web.Request) -> str:
    return request.headers.get(hdrs.USER_AGENT, "")


def _log_fields(result: Answer, seconds: float) -> dict[str, object]:
    meta = result.pod.metadata
    fields: dict[str, object] = {
        "mode": result.mode,
        "pod": f"{meta.namespace}/{meta.name}" if meta else "/",
        "nodes": result.nodes,
        "passed": result.passed,
        "ms": round(seconds * 1000, 3),
    }
    return fields | ({"error": result.error} if result.error else {})
