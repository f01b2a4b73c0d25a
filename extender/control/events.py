"""Tells people about their pods: one Event for one cause, however often it is seen.

The name of an Event follows from the pod and the text. So a second controller, or the same one
after a restart, does not say it again: the API server has it already.
An Event that the API server could not take is sent again later. New ones do not wait for it.
"""

import asyncio
import contextlib
import hashlib
import logging
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct

from extender.cluster.api import ApiServer
from extender.cluster.kept_connection import KeptConnection
from extender.cluster.reflector import Backoff
from extender.control.rate import TokenBucket
from extender.errors import ApiError
from extender.framework.interface import shortened
from extender.model.core_v1 import LivePod
from extender.native.notes import Note

log = logging.getLogger("leeway.control")

COMPONENT: Final = "leeway-controller"
PER_SECOND: Final = 20
# Events that wait to be sent; with more, the oldest go.
MAX_WAITING: Final = 2_000
# Seconds to send none again after the API server could not take one.
RETRY: Final = (0.2, 30.0)
# So long one is tried: the API server would have forgotten it by now, too.
KEEP_SECONDS: Final = 3_600.0
# An API server that has just started forbids everything until it knows the roles.
_FORBIDDEN: Final = 403
_CONFLICT: Final = 409
# A name has 253 characters at most, of which the digest takes 17.
_MAX_NAME: Final = 236


class _Said(Struct, frozen=True, gc=False):
    """What is to be told of a pod, and since when."""

    pod: LivePod
    note: Note
    stamp: str
    since: float


class EventRecorder:
    """Sends Events one after another, and holds nobody up."""

    def __init__(
        self,
        api: ApiServer,
        *,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kept = KeptConnection(api)
        self._now = now
        self._clock = clock
        self._rate = TokenBucket(PER_SECOND)
        self._new: deque[_Said] = deque()
        self._failed: deque[_Said] = deque()
        self._backoff = Backoff(*RETRY)
        self._retry_at = 0.0
        self._some = asyncio.Event()

    def record(self, pod: LivePod, note: Note) -> None:
        """Say something about a pod, soon."""
        if len(self._new) + len(self._failed) >= MAX_WAITING:
            (self._failed or self._new).popleft()
        stamp = datetime.fromtimestamp(self._now(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._new.append(_Said(pod, note, stamp, self._clock()))
        self._some.set()

    async def run(self) -> None:
        """Send until cancelled."""
        try:
            while True:
                await self._rate.take()
                await self._send(await self._next())
        finally:
            await self._kept.close()

    async def _next(self) -> _Said:
        """A new one, or one that failed and may be tried again."""
        while not self._new:
            pause = self._retry_at - self._clock()
            if self._failed and pause <= 0:
                return self._failed.popleft()
            self._some.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause if self._failed else None):
                    await self._some.wait()
        return self._new.popleft()

    async def _send(self, said: _Said) -> None:
        namespace = quote(said.pod.metadata.namespace, safe="")
        path = f"/api/v1/namespaces/{namespace}/events"
        try:
            async with self._kept.use() as connection:
                await connection.post(path, _event(said))
        except ApiError as exc:
            may_change = exc.is_temporary or exc.status == _FORBIDDEN
            if may_change and self._clock() - said.since < KEEP_SECONDS:
                self._try_later(said, exc)
                return
            if exc.status != _CONFLICT:
                log.warning("an event cannot be created: %s", exc)
            if may_change:
                return
        self._backoff.reset()
        self._retry_at = 0.0

    def _try_later(self, said: _Said, exc: ApiError) -> None:
        if not self._failed:
            log.warning("events wait until the API server takes them: %s", exc)
        self._failed.append(said)
        if (now := self._clock()) >= self._retry_at:
            self._retry_at = now + self._backoff.seconds()


def _event(said: _Said) -> dict[str, Any]:
    meta, note = said.pod.metadata, said.note
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": event_name(said.pod, note), "namespace": meta.namespace},
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": meta.namespace,
            "name": meta.name,
            "uid": meta.uid,
        },
        "type": "Warning",
        "reason": note.reason,
        "message": shortened(note.message),
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "firstTimestamp": said.stamp,
        "lastTimestamp": said.stamp,
        "count": 1,
    }


def event_name(pod: LivePod, note: Note) -> str:
    """The name of an Event, which is the same for the same pod and text."""
    said = "\0".join((pod.metadata.uid, note.reason, note.message))
    digest = hashlib.sha256(said.encode(errors="replace")).hexdigest()[:16]
    return f"{pod.metadata.name[:_MAX_NAME].rstrip('.-')}.{digest}"
