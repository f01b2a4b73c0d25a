"""What is counted, noted and logged of a call, once its answer is on its way.

kube-scheduler waits for the answer, not for this. A line a call is written only with -v: it costs
as much as judging 5,000 nodes.
"""

import asyncio
import logging
from http import HTTPStatus

from msgspec import Struct

from extender.errors import LeewayError
from extender.framework.stats import CallStats
from extender.metrics import Metrics
from extender.model.core_v1 import Pod
from extender.server.notices import Notices
from extender.server.status import Callers
from extender.verbs.answer import Answer
from extender.verbs.profiles import Profiles, scheduler_name

log = logging.getLogger("leeway.scheduler")


class Peer(Struct, frozen=True, gc=False):
    """Who is at the other end of a connection."""

    remote: str = ""
    certificate: str | None = None  # the common name, where the caller had to show one
    is_encrypted: bool = False

    @classmethod
    def of(cls, transport: asyncio.BaseTransport) -> "Peer":
        """The peer of a connection that was just made."""
        address = transport.get_extra_info("peername")
        shown = transport.get_extra_info("peercert") or {}
        names = (name for part in shown.get("subject", ()) for name in part)
        return cls(
            str(address[0]) if address else "",
            next((value for key, value in names if key == "commonName"), None),
            transport.get_extra_info("sslcontext") is not None,
        )


class CallLog:
    """The metrics, the callers and the log of the scheduler's door."""

    def __init__(self, profiles: Profiles, metrics: Metrics, callers: Callers) -> None:
        self._profiles = profiles
        self._metrics = metrics
        self._callers = callers
        self._notices = Notices()

    def record(
        self,
        peer: Peer,
        user_agent: bytes,
        verb: str,
        answer: Answer,
        seconds: float,
        held: str | None,
    ) -> None:
        """Record a call that was answered, and what came of holding the answer."""
        metrics = self._metrics
        if held is not None:
            metrics.count_catch_up(held)
        metrics.count_request(verb, answer.mode, answer.nodes, seconds)
        self._callers.record(peer.remote, user_agent, verb, answer.mode, peer.certificate)
        if answer.stats is not None:
            metrics.count_call(answer.stats, self._profile_label(answer.pod))
            self._log_stats(verb, answer.stats)
        if answer.error:
            log.warning(verb, extra={"fields": _log_fields(answer, seconds)})
        elif log.isEnabledFor(logging.DEBUG):
            log.debug(verb, extra={"fields": _log_fields(answer, seconds)})

    def refuse(self, verb: str, status: HTTPStatus, peer: Peer, sentence: str) -> None:
        """Record a call that got no answer, or only a sentence."""
        self._metrics.count_refusal(verb, status.value)
        fields = {"code": status.value, "remote": peer.remote, "error": sentence[:300]}
        log.warning(verb, extra={"fields": fields})

    def _log_stats(self, verb: str, stats: CallStats) -> None:
        for fault in stats.faults:
            if not isinstance(fault, LeewayError):  # the answer has the sentence of those
                log.error("a plugin broke", exc_info=fault, extra={"fields": {"verb": verb}})
        if stats.findings:
            self._notices.log(stats.findings)

    def _profile_label(self, pod: Pod) -> str:
        if self._profiles.configured:
            return self._profiles.of(pod).name
        return self._metrics.profile_label(scheduler_name(pod))


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
