"""What strangers on the network can do to `leeway serve` as it is shipped. No timings."""

import ssl
from collections.abc import Iterator

import pytest

from bench import floods, lines
from bench.floods import GROWTH_GOAL_MB, MIB, Flood
from bench.processes import Child
from extender.config.schema import Limits

pytestmark = pytest.mark.timeout(240)

# What each client may be told; None: also nothing, because the connection was closed.
TOLD = {
    "heads without an end, ops": {"431", "closed"},
    "heads without an end, admission": {"431", "closed", "not connected"},
    "heads without an end, scheduler": {"431", "closed"},
    "bodies of 16 MiB": {"413"},
    "bodies of 8 MiB": {"400", "503"},
    "bodies of 100 MiB": {"400", "503"},
    "chunks of two bytes": {"400"},
    "an endless extension": {"400"},
    "an endless extension, admission": {"400"},
    "bodies that nobody asked for, ops": {"405", "closed", "503"},
    "handshakes that never end": {"closed"},
}
KNOWN = {flood.name: flood for flood in floods.floods()}

Flooded = tuple[Child, lines.Child, ssl.SSLContext]


@pytest.fixture(scope="module")
def flooded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flooded]:
    with floods.flooded(tmp_path_factory.mktemp("floods")) as found:
        yield found


@pytest.mark.parametrize("flood", [KNOWN[name] for name in TOLD], ids=TOLD)
def test_a_flood_is_told_off_and_takes_no_more_than_its_room(
    flood: Flood, flooded: Flooded
) -> None:
    server, neighbour, trust = flooded

    # The neighbour ends, and its line with it, if one of its calls is not answered with 200.
    found = floods.measure(server, neighbour, flood, trust)

    assert set(found["answers"]) <= TOLD[flood.name]
    assert found["grown"] <= Limits().in_flight_bytes / MIB + GROWTH_GOAL_MB
    assert flood.name in floods.text([found])


def test_afterwards_there_is_room_for_everything(flooded: Flooded) -> None:
    """Whatever was held was given back: a body of the whole room is read, not refused.

    The neighbour, whose bodies are small, is answered meanwhile.
    """
    server, neighbour, _ = flooded

    _, status, answer = server.connection.exchange("/filter", b"x" * Limits().in_flight_bytes)

    assert status == 400, bytes(answer)
    assert neighbour.ask("look")["calls"] > 0
