"""Writes one condition into the status of a pod: all that `leeway serve` ever writes to a cluster.

kube-scheduler asks again about a refused pod, and about no other, when the status of the pod
changes.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Struct

from extender.cluster.api import ApiServer
from extender.cluster.kept_connection import KeptConnection
from extender.cluster.resources import Key, pod_path
from extender.errors import ApiError, PodGoneError

_GONE: Final = frozenset({404, 409})
# A patch with another UID than the pod's is refused with these words.
_OTHER_UID: Final = "metadata.uid"


class Condition(Struct, frozen=True, gc=False, rename="camel"):
    """What is said of a pod, with the time since when, as the API server writes both."""

    type: str
    status: str
    reason: str
    message: str
    last_transition_time: str


class PodStatusWriter:
    """Patches pods over one connection, one after another."""

    def __init__(self, api: ApiServer, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept = KeptConnection(api, clock=clock)
        self._lock = asyncio.Lock()

    async def write(self, key: Key, uid: str, condition: Condition) -> None:
        """Set a condition; PodGoneError if there is no such pod any more, else ApiError."""
        body = {
            "metadata": {"uid": uid},
            "status": {"conditions": [msgspec.to_builtins(condition)]},
        }
        async with self._lock:
            try:
                async with self._kept.use() as connection:
                    await connection.patch(f"{pod_path(key)}/status", body)
            except ApiError as exc:
                if exc.status in _GONE or _OTHER_UID in str(exc):
                    raise PodGoneError(str(exc)) from exc
                raise

    async def close(self) -> None:
        """Hang up."""
        await self._kept.close()
