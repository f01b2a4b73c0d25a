"""The listeners' ways in: their gates, their guards, and the room that they share."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web

from extender.config.schema import Address, Limits
from extender.errors import ConfigError
from extender.server.accepting import Gate, Leave
from extender.server.connection import KEEP_ALIVE_SECONDS, LINGER_SECONDS
from extender.server.guarding import Guard, Guarded
from extender.server.room import STRANGERS, Share
from extender.server.tls import ReloadingTLS

CLOSE_SECONDS: Final = 2.0
# What a stranger's connection holds of a body that nobody reads. With the system's megabytes each
# connection with TLS came to hold 0.5 MB.
READ_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Listening:
    """A listener that listens, and where."""

    name: str
    address: Address
    scheme: str

    def __str__(self) -> str:
        return f"{self.name} listening on {self.address} ({self.scheme})"


class Entrances:
    """Opens listeners, each with its part of the room and of the connections."""

    def __init__(self, limits: Limits) -> None:
        self.room = Share(limits.in_flight_bytes)
        self._limits = limits
        self._gates: dict[str, Gate] = {}
        self._guards = {
            name: Guard(limits, self.room.part(STRANGERS)) for name in ("ops", "admission")
        }
        self._stack = contextlib.AsyncExitStack()

    @contextlib.asynccontextmanager
    async def closing(self) -> AsyncIterator[None]:
        """Close whatever was opened, on the way out."""
        async with self._stack:
            yield

    def watch_time(self) -> Iterator[Coroutine[None, None, None]]:
        """What is to be done now and then."""
        return (guard.watch_time() for guard in self._guards.values())

    def close(self, *names: str) -> None:
        """Let nobody in any more at these listeners, where they are open."""
        for name in names:
            if name in self._gates:
                self._gates[name].close()

    async def serve(
        self, name: str, app: web.Application, address: Address, tls: ReloadingTLS | None
    ) -> Listening:
        """Open a listener that aiohttp answers."""
        guard = self._guards[name]
        guard.watch(app)
        runner = web.AppRunner(
            app,
            handle_signals=False,
            handler_cancellation=True,  # who has gone needs no answer
            shutdown_timeout=CLOSE_SECONDS,
            **_connections(),
        )
        self._stack.push_async_callback(runner.cleanup)
        await runner.setup()

        def visitor(leave: Leave) -> Guarded:
            return Guarded(guard, runner.server(), leave)  # type: ignore[misc]  # it was set up

        return await self.open(name, visitor, address, tls)

    async def open(
        self,
        name: str,
        visitor: Callable[[Leave], asyncio.Protocol],
        address: Address,
        tls: ReloadingTLS | None,
    ) -> Listening:
        """Open a listener whose connections are made by `visitor`."""
        context = tls.context if tls else None
        is_strangers = name in self._guards
        gate = self._gates[name] = Gate(
            name,
            visitor,
            most=self._limits.connections // (STRANGERS if is_strangers else 2),
            limits=self._limits,
            read_bytes=READ_BYTES if is_strangers else None,
            tls=context,
        )
        try:
            where = await gate.open(address)
        except OSError as exc:
            why = os.strerror(exc.errno or 0)
            raise ConfigError([f"listen.{name}: cannot listen on {address}: {why}"]) from exc
        self._stack.callback(gate.close)
        return Listening(name, where, "https" if context else "http")


def _connections() -> Mapping[str, Any]:
    return {
        "access_log": None,
        "auto_decompress": False,  # a small body could unpack to gigabytes
        "keepalive_timeout": KEEP_ALIVE_SECONDS,
        "lingering_time": LINGER_SECONDS,
        "read_bufsize": READ_BYTES,
    }
