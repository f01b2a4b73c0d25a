"""The parts that listeners have of what there is."""

import asyncio

import pytest
from aiohttp import web

from extender.config.schema import Address, Limits
from extender.server import entrances
from extender.server.accepting import Gate, Leave
from extender.server.entrances import Entrances
from tests.serving import connected

ANY = Address("127.0.0.1", 0)


class Silent(asyncio.Protocol):
    """Says nothing."""

    def __init__(self, leave: Leave) -> None:
        self._leave = leave

    def connection_lost(self, _exc: Exception | None) -> None:
        self._leave()


async def test_the_scheduler_has_a_half_and_the_others_a_quarter_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: dict[str, tuple[int, int | None]] = {}

    class Noted(Gate):
        def __init__(self, name: str, visitor: object, **more: object) -> None:
            made[name] = more["most"], more["read_bytes"]  # type: ignore[assignment]
            super().__init__(name, visitor, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(entrances, "Gate", Noted)
    opened = Entrances(Limits(connections=100))
    async with opened.closing():
        await opened.open("scheduler", Silent, ANY, None)
        await opened.serve("ops", web.Application(), ANY, None)
        await opened.serve("admission", web.Application(), ANY, None)

    few = entrances.READ_BYTES
    assert made == {"scheduler": (50, None), "ops": (25, few), "admission": (25, few)}


async def test_what_was_opened_is_closed_on_the_way_out() -> None:
    opened = Entrances(Limits())
    async with opened.closing():
        listening = await opened.serve("ops", web.Application(), ANY, None)
        async with connected(f"http://{listening.address}"):
            pass
        opened.close("admission")  # which is not open

    assert str(listening) == f"ops listening on {listening.address} (http)"
    with pytest.raises(ConnectionError):
        async with connected(f"http://{listening.address}"):
            pass
