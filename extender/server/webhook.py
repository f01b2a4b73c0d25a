"""The API server's door: POST /admission/validate, and /admission/mutate in the controller.

Whatever breaks is a status and a sentence; the API server then does as its `failurePolicy` says.
"""

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from time import perf_counter
from typing import Final, TypeVar

from aiohttp import web

from extender.config.schema import Limits
from extender.errors import LeewayError
from extender.framework.interface import Settings, shortened
from extender.metrics import Metrics
from extender.review import admission
from extender.review.admission import AdmissionRequest
from extender.review.validation import Report
from extender.server import bodies, reply
from extender.server.drain import Owed
from extender.server.refusal import STATUS_OF_FAULT
from extender.server.reply import Handler
from extender.server.room import stranger_limits
from extender.verbs.cel_budget import CelBudget

log = logging.getLogger("leeway.admission")

T = TypeVar("T")
# Answers a review; BadRequestError if its objects cannot be read.
Mutate = Callable[[AdmissionRequest], Awaitable[bytes]]

PATH: Final = "/admission/validate"
MUTATE_PATH: Final = "/admission/mutate"
# The API server takes requests of 3 MiB, and sends the old object along: more is not its question.
MAX_BYTES: Final = 8 * 1024 * 1024
# What is larger is judged on the thread: a megabyte of rules takes a second.
INLINE_BYTES: Final = 32 * 1024


class AdmissionDoor(Owed):
    """Answers the API server."""

    def __init__(
        self,
        settings: Settings,
        cel: CelBudget,
        *,
        limits: Limits,
        metrics: Metrics,
        mutate: Mutate | None = None,
    ) -> None:
        super().__init__()
        self._mutate = mutate
        self._settings = settings
        self._cel = cel
        self._limits = stranger_limits(limits, MAX_BYTES)
        self._metrics = metrics

    def app(self) -> web.Application:
        """The route; anything else is 404, another method 405."""
        app = web.Application()
        app.router.add_post(PATH, self._handler(self._validated))
        if mutate := self._mutate:
            handler = self._handler(lambda body: mutate(admission.decode(body)))
            app.router.add_post(MUTATE_PATH, handler)
        return app

    def _handler(self, answer: Callable[[bytes], Awaitable[bytes]]) -> Handler:
        async def handle(request: web.Request) -> web.Response:
            return await reply.owed(self, self._respond(request, answer))

        return handle

    async def _respond(
        self, request: web.Request, answer: Callable[[bytes], Awaitable[bytes]]
    ) -> web.Response:
        try:
            answered = await answer(await bodies.read(request, self._limits))
        except tuple(STATUS_OF_FAULT) as exc:
            return self._refuse(request, STATUS_OF_FAULT[type(exc)], str(exc))
        except Exception as exc:  # noqa: BLE001 - the door: whatever breaks below ends here
            return self._fault(request, exc)
        return web.Response(body=answered, content_type="application/json")

    async def _validated(self, body: bytes) -> bytes:
        begun = perf_counter()
        asked = admission.decode(body)
        report = await self._report(asked, large=len(body) > INLINE_BYTES)
        answer = admission.encode(asked, report)
        self._note(asked, report, perf_counter() - begun)
        return answer

    async def _report(self, asked: AdmissionRequest, *, large: bool) -> Report:
        do = self._cel.in_thread if large else _at_once
        review = await do(lambda: admission.judged(asked, self._settings))
        if review is None:
            return Report()
        compiled = await self._cel.compiled(await do(review.expressions))
        return await do(lambda: review.report(compiled))

    def _note(self, asked: AdmissionRequest, report: Report, seconds: float) -> None:
        allowed = not report.errors
        kind = admission.kind_label(asked)
        self._metrics.admissions.labels(kind, str(allowed).lower(), HTTPStatus.OK.value).inc()
        self._metrics.admission_seconds.observe(seconds)
        fields: dict[str, object] = {
            "kind": kind,
            "object": f"{asked.namespace}/{asked.name}",
            "operation": asked.operation,
            "allowed": allowed,
            "warnings": len(report.warnings),
            "ms": round(seconds * 1000, 3),
        }
        if report.errors:
            fields["error"] = shortened(str(report.errors[0]))
        log.info("admission", extra={"fields": fields})

    def _fault(self, request: web.Request, exc: Exception) -> web.Response:
        if isinstance(exc, LeewayError):
            sentence = str(exc)
        else:
            sentence = f"internal fault ({type(exc).__name__}): see the log of the extender"
            log.error("internal fault", exc_info=exc)
        return self._refuse(request, HTTPStatus.INTERNAL_SERVER_ERROR, sentence)

    def _refuse(self, request: web.Request, status: HTTPStatus, sentence: str) -> web.Response:
        self._metrics.admissions.labels("", "", status.value).inc()
        fields = {"code": status.value, "remote": reply.remote(request), "error": sentence[:300]}
        log.warning("admission", extra={"fields": fields})
        return reply.refusal(request, status, sentence)


async def _at_once(work: Callable[[], T]) -> T:
    return work()
