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
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct

from extender.cluster.api import ApiServer
from extender.cluster.kept_connection import KeptConnection
from extender.cluster.reflector import Backoff
from extender.control.rate import TokenBucket
from extender.control.turns import Turns
from extender.errors import ApiError
from extender.framework.interface import shortened
from extender.model.core_v1 import LivePod
from extender.native.notes import Note

log = logging.getLogger("leeway.control")

COMPONENT: Final = "leeway-controller"
PER_SECOND: Final = 20
# Events of one namespace that wait to be sent; with more, the oldest go.
MAX_WAITING: Final = 2_000
# Seconds to send none again after the API server could not take one.
RETRY: Final = (0.2, 30.0)
# So long one is tried: the API server would have forgotten it by now, too.
KEEP_SECONDS: Final = 3_600.0
# An API server that has just started forbids everything until it knows the roles.
_FORBIDDEN: Final = 403
# Events of one pod. Somebody who edits a pod all the time ends there.
MAX_EACH: Final = 20
# Pods of which it is known how many Events they had; those that were told of last.
MAX_KNOWN: Final = 4_096
_CONFLICT: Final = 409
# A name has 253 characters at most, of which the digest takes 17.
_MAX_NAME: Final = 236


class _Said(Struct, frozen=True):
    """An Event, and since when it is to be sent. Not its pod, which takes up to a megabyte."""

    event: dict[str, Any]
    since: float

    @property
    def key(self) -> str:
        """Under which it waits."""
        meta = self.event["metadata"]
        return f"{meta['namespace']}/{meta['name']}"


class EventRecorder:
    """Sends Events one after another, and holds nobody up. Namespaces take turns."""

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
        self._new: Turns[_Said] = Turns(MAX_WAITING)
        self._failed: Turns[_Said] = Turns(MAX_WAITING)
        self._told: OrderedDict[str, int] = OrderedDict()
        self._backoff = Backoff(*RETRY)
        self._retry_at = 0.0

    def record(self, pod: LivePod, note: Note) -> None:
        """Say something about a pod, soon."""
        uid = pod.metadata.uid
        told = self._told.pop(uid, 0)
        self._told[uid] = told + 1
        if len(self._told) > MAX_KNOWN:
            self._told.popitem(last=False)
        if told < MAX_EACH:
            stamp = datetime.fromtimestamp(self._now(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            said = _Said(_event(pod, note, stamp), self._clock())
            self._new.put(said.key, said)

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
        while True:
            pause = self._retry_at - self._clock()
            found = self._new.pop() or (self._failed.pop() if pause <= 0 else None)
            if found is not None:
                return found[1]
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause if self._failed else None):
                    await self._new.some()

    async def _send(self, said: _Said) -> None:
        namespace = quote(said.event["metadata"]["namespace"], safe="")
        path = f"/api/v1/namespaces/{namespace}/events"
        try:
            async with self._kept.use() as connection:
                await connection.post(path, said.event)
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
        self._failed.put(said.key, said)
        if (now := self._clock()) >= self._retry_at:
            self._retry_at = now + self._backoff.seconds()


def _event(pod: LivePod, note: Note, stamp: str) -> dict[str, Any]:
    meta = pod.metadata
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": event_name(pod, note), "namespace": meta.namespace},
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
        "firstTimestamp": stamp,
        "lastTimestamp": stamp,
        "count": 1,
    }


def event_name(pod: LivePod, note: Note) -> str:
    """The name of an Event, which is the same for the same pod and text."""
    said = "\0".join((pod.metadata.uid, note.reason, note.message))
    digest = hashlib.sha256(said.encode(errors="replace")).hexdigest()[:16]
    return f"{pod.metadata.name[:_MAX_NAME].rstrip('.-')}.{digest}"
