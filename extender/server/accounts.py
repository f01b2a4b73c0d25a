"""What is counted, noted and logged of a call, once its answer is on its way.

kube-scheduler waits for the answer, not for this.
"""

import logging
from collections.abc import Mapping
from http import HTTPStatus

from aiohttp import hdrs, web

from extender.errors import LeewayError
from extender.framework.ledger import Ledger
from extender.metrics import Metrics
from extender.model.core_v1 import Pod
from extender.server import doors
from extender.server.answers import Answer
from extender.server.notices import Notices
from extender.server.profiles import Profiles, scheduler_name
from extender.server.status import Callers

log = logging.getLogger("leeway.scheduler")


class Accounts:
    """The metrics, the callers and the log of the scheduler's door."""

    def __init__(self, profiles: Profiles, metrics: Metrics, callers: Callers) -> None:
        self._profiles = profiles
        self._metrics = metrics
        self._callers = callers
        self._notices = Notices()

    def enter(
        self,
        request: web.BaseRequest,
        verb: str,
        answer: Answer,
        seconds: float,
        held: str | None,
    ) -> None:
        """Enter a call that was answered, and what came of holding the answer."""
        metrics = self._metrics
        if held is not None:
            metrics.count_catch_up(held)
        metrics.count_request(verb, answer.mode, answer.nodes, seconds)
        if answer.ledger is not None:
            metrics.count_call(answer.ledger, self._profile_label(answer.pod))
        self._callers.record(
            doors.remote(request), _user_agent(request), verb, answer.mode, _certificate(request)
        )
        if answer.ledger is not None:
            self._log_ledger(verb, answer.ledger)
        level = logging.WARNING if answer.error else logging.INFO
        if log.isEnabledFor(level):
            log.log(level, verb, extra={"fields": _log_fields(answer, seconds)})

    def refuse(self, verb: str, status: HTTPStatus, fields: Mapping[str, object]) -> None:
        """Enter a call that got no answer, or only a sentence."""
        self._metrics.requests.labels(verb, "", status.value).inc()
        log.warning(verb, extra={"fields": {"code": status.value, **fields}})

    def _log_ledger(self, verb: str, ledger: Ledger) -> None:
        for fault in ledger.faults:
            if not isinstance(fault, LeewayError):  # the answer has the sentence of those
                log.error("a plugin broke", exc_info=fault, extra={"fields": {"verb": verb}})
        self._notices.log(ledger.findings)

    def _profile_label(self, pod: Pod) -> str:
        if self._profiles.configured:
            return self._profiles.of(pod).name
        return self._metrics.profile_label(scheduler_name(pod))


def _certificate(request: web.BaseRequest) -> str | None:
    """The common name of the client certificate, where the caller had to show one."""
    shown = request.get_extra_info("peercert") or {}
    names = (name for part in shown.get("subject", ()) for name in part)
    return next((value for key, value in names if key == "commonName"), None)


def _user_agent(request: web.BaseRequest) -> str:
    return request.headers.get(hdrs.USER_AGENT, "")


def _log_fields(answer: Answer, seconds: float) -> dict[str, object]:
    meta = answer.pod.metadata
    fields: dict[str, object] = {
        "mode": answer.mode,
        "pod": f"{meta.namespace}/{meta.name}" if meta else "/",
        "nodes": answer.nodes,
        "passed": answer.passed,
        "ms": round(seconds * 1000, 3),
    }
    return fields | ({"error": answer.error} if answer.error else {})
