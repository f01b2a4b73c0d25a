"""Writes one condition into the status of a pod: all that Leeway ever writes to a cluster.

kube-scheduler asks again about a refused pod, and about no other, when the status of the pod
changes.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from extender.cluster.api import ApiServer, Connection
from extender.cluster.resources import Key
from extender.errors import ApiError, PodGoneError

# Credentials rotate; so long a connection may keep those of its start.
CONNECTION_SECONDS: Final = 60.0
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
    """Patches pods over one connection, which is opened when it is needed."""

    def __init__(self, api: ApiServer, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._api = api
        self._clock = clock
        self._connection: Connection | None = None
        self._opened = 0.0
        self._stack = contextlib.AsyncExitStack()
        self._lock = asyncio.Lock()

    async def write(self, key: Key, uid: str, condition: Condition) -> None:
        """Set a condition; PodGoneError if there is no such pod any more, else ApiError."""
        namespace, _, name = key.partition("/")
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(name, safe='')}/status"
        body = {
            "metadata": {"uid": uid},
            "status": {"conditions": [msgspec.to_builtins(condition)]},
        }
        async with self._lock:
            try:
                connection = await self._connected()
                await connection.patch(path, body)
            except ApiError as exc:
                await self.close()
                if exc.status in _GONE or _OTHER_UID in str(exc):
                    raise PodGoneError(str(exc)) from exc
                raise

    async def close(self) -> None:
        """Hang up."""
        self._connection = None
        await self._stack.aclose()

    async def _connected(self) -> Connection:
        if self._clock() - self._opened > CONNECTION_SECONDS:
            await self.close()
        if self._connection is None:
            self._connection = await self._stack.enter_async_context(self._api.connect())
            self._opened = self._clock()
        return self._connection
