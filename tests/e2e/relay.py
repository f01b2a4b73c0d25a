"""A wire between two processes that can be cut, and be slow."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable

_CHUNK = 65_536


class Relay:
    """Passes bytes on from a port of its own to another one, until it is cut."""

    def __init__(self, port: int, to: int) -> None:
        self._port = port
        self._to = to
        self._late: list[Callable[[], float]] = []
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def slow(self, late: Callable[[], float]) -> None:
        """Have what comes back arrive late, in its order; says by how many seconds for each piece.

        On the connections that are open by now: these are watches. A new one is prompt.
        """
        self._late[:] = [late] * len(self._late)

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
                await asyncio.gather(_pass_on(reader, back), self._pass_back(there, writer))
            finally:
                back.close()
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _pass_back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """As `_pass_on`, but each piece when its time has come."""
        pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        number = len(self._late)
        self._late.append(lambda: 0.0)

        async def read() -> None:
            with contextlib.suppress(OSError):
                while data := await reader.read(_CHUNK):
                    pieces.put_nowait((time.monotonic() + self._late[number](), data))
            pieces.put_nowait((0.0, b""))

        reading = asyncio.create_task(read())
        try:
            while (piece := await pieces.get())[1]:
                if (left := piece[0] - time.monotonic()) > 0:
                    await asyncio.sleep(left)
                writer.write(piece[1])
                await writer.drain()
            writer.close()
        finally:
            reading.cancel()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    writer.close()
