"""One connection for many requests: opening one takes 50 ms of work."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Final

from extender.cluster.api import ApiServer, Connection
from extender.errors import ApiError

# Credentials rotate; so long a connection may keep those of its start.
CONNECTION_SECONDS: Final = 60.0
_UNAUTHORIZED: Final = 401


class _Kept:
    """A connection that several requests share, and who closes it."""

    def __init__(self, stack: contextlib.AsyncExitStack, connection: Connection, at: float) -> None:
        self.stack = stack
        self.connection = connection
        self.opened = at
        self.users = 0


class KeptConnection:
    """A connection that is opened when it is needed, and anew after a minute and after a fault.

    Several requests may use it at the same time.
    """

    def __init__(self, api: ApiServer, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._api = api
        self._clock = clock
        self._kept: _Kept | None = None
        self._opening = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def use(self) -> AsyncIterator[Connection]:
        """The connection; after a fault of it the next request gets a new one."""
        kept = await self._current()
        kept.users += 1
        try:
            yield kept.connection
        except ApiError as exc:
            # A refusal comes over a sound connection. It must be cheap: whoever edits a pod all
            # the time gets a refused patch each time. So does a pod over which a webhook fails.
            if not 400 <= exc.status <= 500 or exc.status == _UNAUTHORIZED:
                self._drop(kept)
            raise
        finally:
            kept.users -= 1
            if kept is not self._kept and not kept.users:
                await kept.stack.aclose()

    async def close(self) -> None:
        """Hang up."""
        kept, self._kept = self._kept, None
        if kept is not None and not kept.users:
            await kept.stack.aclose()

    async def _current(self) -> _Kept:
        async with self._opening:
            kept = self._kept
            if kept is not None and self._clock() - kept.opened > CONNECTION_SECONDS:
                await self.close()
            if self._kept is None:
                stack = contextlib.AsyncExitStack()
                connection = await stack.enter_async_context(self._api.connect())
                self._kept = _Kept(stack, connection, self._clock())
            return self._kept

    def _drop(self, kept: _Kept) -> None:
        if kept is self._kept:
            self._kept = None
