"""Tells people about their pods: one Event for one cause, however often it is seen.

The name of an Event follows from the pod and the text. So a second controller, or the same one
after a restart, does not say it again: the API server has it already.
"""

import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from extender.cluster.api import ApiServer
from extender.cluster.kept_connection import KeptConnection
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
# Events of one pod. Somebody who edits a pod all the time ends there.
MAX_EACH: Final = 20
# Pods of which it is known how many Events they had; those that were told of last.
MAX_KNOWN: Final = 4_096
_CONFLICT: Final = 409
# A name has 253 characters at most, of which the digest takes 17.
_MAX_NAME: Final = 236


class EventRecorder:
    """Sends Events one after another, and holds nobody up. Namespaces take turns."""

    def __init__(self, api: ApiServer, *, now: Callable[[], float] = time.time) -> None:
        self._kept = KeptConnection(api)
        self._now = now
        self._rate = TokenBucket(PER_SECOND)
        # Whole Events, not pods: a pod takes up to a megabyte.
        self._waiting: Turns[dict[str, Any]] = Turns(MAX_WAITING)
        self._told: OrderedDict[str, int] = OrderedDict()

    def record(self, pod: LivePod, note: Note) -> None:
        """Say something about a pod, soon."""
        uid = pod.metadata.uid
        told = self._told.pop(uid, 0)
        self._told[uid] = told + 1
        if len(self._told) > MAX_KNOWN:
            self._told.popitem(last=False)
        if told < MAX_EACH:
            event = self._event(pod, note)
            self._waiting.put(f"{pod.metadata.namespace}/{event['metadata']['name']}", event)

    async def run(self) -> None:
        """Send until cancelled."""
        try:
            while True:
                await self._waiting.some()
                await self._rate.take()
                found = self._waiting.pop()
                if found is not None:
                    await self._send(found[1])
        finally:
            await self._kept.close()

    async def _send(self, event: dict[str, Any]) -> None:
        namespace = quote(event["metadata"]["namespace"], safe="")
        path = f"/api/v1/namespaces/{namespace}/events"
        try:
            async with self._kept.use() as connection:
                await connection.post(path, event)
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
