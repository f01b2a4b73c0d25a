"""Tells people about their pods: one Event for one cause, however often it is seen.

The name of an Event follows from the pod and the text. So a second controller, or the same one
after a restart, does not say it again: the API server has it already.
"""

import asyncio
import hashlib
import logging
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from extender.cluster.api import ApiServer
from extender.cluster.kept_connection import KeptConnection
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
_CONFLICT: Final = 409
# A name has 253 characters at most, of which the digest takes 17.
_MAX_NAME: Final = 236


class EventRecorder:
    """Sends Events one after another, and holds nobody up."""

    def __init__(self, api: ApiServer, *, now: Callable[[], float] = time.time) -> None:
        self._kept = KeptConnection(api)
        self._now = now
        self._rate = TokenBucket(PER_SECOND)
        self._waiting: deque[tuple[LivePod, Note]] = deque(maxlen=MAX_WAITING)
        self._some = asyncio.Event()

    def record(self, pod: LivePod, note: Note) -> None:
        """Say something about a pod, soon."""
        self._waiting.append((pod, note))
        self._some.set()

    async def run(self) -> None:
        """Send until cancelled."""
        try:
            while True:
                await self._some.wait()
                while self._waiting:
                    await self._rate.take()
                    await self._send(*self._waiting.popleft())
                self._some.clear()
        finally:
            await self._kept.close()

    async def _send(self, pod: LivePod, note: Note) -> None:
        namespace = quote(pod.metadata.namespace, safe="")
        path = f"/api/v1/namespaces/{namespace}/events"
        try:
            async with self._kept.use() as connection:
                await connection.post(path, self._event(pod, note))
        except ApiError as exc:
            if exc.status != _CONFLICT:
                log.warning("an event cannot be created: %s", exc)

    def _event(self, pod: LivePod, note: Note) -> dict[str, Any]:
        meta = pod.metadata
        stamp = datetime.fromtimestamp(self._now(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
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
