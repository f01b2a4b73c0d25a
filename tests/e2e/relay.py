"""A wire between two processes that can be cut."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

_CHUNK = 65_536


class Relay:
    """Passes bytes on from a port of its own to another one, until it is cut."""

    def __init__(self, port: int, to: int) -> None:
        self._port = port
        self._to = to
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def mend(self) -> None:
        """Let connections through."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)

    async def cut(self) -> None:
        """End every connection, and let none through."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Relay"]:
        """Mended at the start, cut in the end."""
        await self.mend()
        try:
            yield self
        finally:
            await self.cut()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._to)
            try:
                await asyncio.gather(_pass_on(reader, back), _pass_on(there, writer))
            finally:
                back.close()
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            self._tasks.discard(task)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    writer.close()
