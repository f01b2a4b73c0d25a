"""One budget of bytes over the bodies of all listeners."""

from functools import partial
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.config.schema import Config, Limits
from extender.server import room
from extender.server.room import SPARE, STRANGERS, Held, Share
from tests.admitting import review
from tests.builders import pod_json
from tests.listening import ADMISSION_PATH, LISTENERS, POSTED, Listeners, listening
from tests.serving import EXPECTING, Connection, Reply, eventually, head, names_request, whole

BODY = msgspec.json.encode(names_request(pod_json(), "plain"))
REVIEW = msgspec.json.encode(review(pod_json()))
BODIES = {
    "scheduler": BODY,
    "ops": msgspec.json.encode({"pod": pod_json()}),
    "admission": REVIEW,
}
# The largest body of a stranger fills the stranger's part.
MOST = 4 * 1_000
SMALL = Config(limits=Limits(request_bytes=MOST, in_flight_bytes=MOST))
# What does not fit when there is no room left; a small body of the scheduler has some to spare.
TOO_MUCH = {"scheduler": MOST // SPARE + 1, "ops": 1, "admission": 1}
NO_ROOM = f"other bodies use up limits.inFlightBytes of {MOST}: send it again later\n".encode()


# --- Counting ----------------------------------------------------------------------------------


def test_what_is_taken_is_held_until_it_is_given_back() -> None:
    share = Share(10)

    assert share.take(4)
    assert share.take(6)
    assert not share.take(1)
    share.give_back(4)
    assert share.held == 6
    assert share.take(4)


def test_a_part_counts_into_the_whole_and_has_an_end_of_its_own() -> None:
    whole_room = Share(100)
    part = whole_room.part(4)

    assert part.take(25)
    assert not part.take(1)
    assert whole_room.held == 25
    assert whole_room.take(75)
    part.give_back(25)
    assert (part.held, whole_room.held) == (0, 75)


def test_what_does_not_fit_into_the_whole_is_not_held_by_the_part() -> None:
    whole_room = Share(100)
    part = whole_room.part(4)

    assert whole_room.take(99)
    assert not part.take(2)
    assert (part.held, whole_room.held) == (0, 99)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 60)), max_size=40))
def test_strangers_never_take_the_half_of_the_scheduler(asks: list[tuple[int, int]]) -> None:
    whole_room = Share(100)
    shares = [whole_room, whole_room.part(STRANGERS), whole_room.part(STRANGERS)]
    held = [0, 0, 0]
    for who, count in asks:
        if shares[who].take(count):
            held[who] += count

    assert whole_room.held == sum(held) <= 100
    assert whole_room.take(12, is_small=True)
    whole_room.give_back(12)
    assert max(held[1:]) <= 25
    assert held[0] or whole_room.take(50)


def test_small_bodies_have_an_eighth_more() -> None:
    share = Share(800)

    assert share.take(800)
    assert not share.take(1)
    assert share.take(100, is_small=True)
    assert not share.take(1, is_small=True)


def test_a_request_lets_go_of_everything_once() -> None:
    share = Share(10)
    held = Held(share)

    assert held.take(3)
    assert held.take(4)
    assert not held.take(4)
    held.give_back()
    held.give_back()

    assert share.held == 0


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        pytest.param(Limits(), 1_000, id="of its own"),
        pytest.param(Limits(request_bytes=10), 10, id="of the scheduler's, if that is smaller"),
        pytest.param(
            Limits(request_bytes=400, in_flight_bytes=400), 100, id="of what could ever fit"
        ),
    ],
)
def test_a_stranger_has_the_smallest_limit(limits: Limits, most: int) -> None:
    assert room.stranger_limits(limits, 1_000).request_bytes == most


# --- On the wire -------------------------------------------------------------------------------


async def begun(connection: Connection, name: str, length: int) -> None:
    """A body of that length is expected now, and its room held."""
    await connection.send(head(POSTED[name], f"Content-Length: {length}", EXPECTING))
    await connection.begun()


async def refused(listeners: Listeners, name: str, start: bytes) -> Reply:
    async with listeners.connected(name) as connection:
        await connection.send(start)
        reply = await connection.reply()
        assert await connection.closed()
    return reply


def declared(name: str, length: int) -> bytes:
    return head(POSTED[name], f"Content-Length: {length}")


async def is_answered(listeners: Listeners, name: str) -> bool:
    async with listeners.connected(name) as connection:
        await connection.send(whole(POSTED[name], BODIES[name]))
        return (await connection.reply()).status == 200


@pytest.mark.parametrize("name", LISTENERS)
async def test_a_declared_length_that_does_not_fit_is_refused_before_it_comes(
    name: str, tmp_path: Path
) -> None:
    fits = MOST if name == "scheduler" else MOST // STRANGERS
    async with listening(tmp_path, SMALL) as listeners:
        async with listeners.connected(name) as holding:
            await begun(holding, name, fits)
            reply = await refused(listeners, name, declared(name, TOO_MUCH[name]))
        # Whoever goes lets go.
        await eventually(partial(is_answered, listeners, name))

    assert (reply.status, reply.body) == (503, NO_ROOM)
    assert reply.headers["retry-after"] == "1"
    assert reply.headers["connection"] == "close"


@pytest.mark.parametrize("name", LISTENERS)
async def test_chunks_are_counted_as_they_come(name: str, tmp_path: Path) -> None:
    fits = MOST if name == "scheduler" else MOST // STRANGERS
    async with listening(tmp_path, SMALL) as listeners, listeners.connected(name) as holding:
        await begun(holding, name, fits - 10)
        async with listeners.connected(name) as connection:
            await connection.send(head(POSTED[name], "Transfer-Encoding: chunked"))
            await connection.send(b"a\r\n" + b" " * 10 + b"\r\n")
            await connection.send(b"1\r\n \r\n")  # and no end
            reply = await connection.reply()
            closed = await connection.closed()
        # The ten bytes are free again.
        async with listeners.connected(name) as connection:
            await begun(connection, name, 10)

    assert (reply.status, reply.body) == (503, NO_ROOM)
    assert closed


@pytest.mark.parametrize("name", LISTENERS)
async def test_an_answer_lets_go_of_its_body(name: str, tmp_path: Path) -> None:
    async with listening(tmp_path, SMALL) as listeners, listeners.connected(name) as connection:
        for _ in range(MOST // len(BODIES[name]) + 1):
            await connection.send(whole(POSTED[name], BODIES[name]))
            assert (await connection.reply()).status == 200


@pytest.mark.parametrize("name", LISTENERS)
async def test_a_refused_body_lets_go(name: str, tmp_path: Path) -> None:
    nonsense = b"?" * 900
    async with listening(tmp_path, SMALL) as listeners:
        for _ in range(10):
            async with listeners.connected(name) as connection:
                await connection.send(whole(POSTED[name], nonsense))
                assert (await connection.reply()).status == 400


@pytest.mark.parametrize("name", LISTENERS)
async def test_a_late_body_lets_go(name: str, tmp_path: Path) -> None:
    config = Config(limits=Limits(MOST, MOST, body_timeout=0.05))
    fits = MOST if name == "scheduler" else MOST // STRANGERS
    async with listening(tmp_path, config) as listeners:
        for _ in range(2):
            async with listeners.connected(name) as connection:
                await begun(connection, name, fits)
                assert (await connection.reply()).status == 408


async def test_strangers_leave_room_for_the_scheduler(tmp_path: Path) -> None:
    part = MOST // STRANGERS
    async with (
        listening(tmp_path, SMALL) as listeners,
        listeners.connected("ops") as first,
        listeners.connected("admission") as second,
        listeners.connected("scheduler") as scheduler,
    ):
        await begun(first, "ops", part)
        await begun(second, "admission", part)
        refusals = [(await refused(listeners, name, declared(name, 1))).status
                    for name in ("ops", "admission")]  # fmt: skip
        await begun(scheduler, "scheduler", MOST // 2)
        full = await refused(listeners, "scheduler", declared("scheduler", MOST // SPARE + 1))

        async def is_counted() -> bool:
            return listeners.counted("filter", 503) == 1

        await eventually(is_counted)

    assert refusals == [503, 503]
    assert full.status == 503


async def test_a_large_body_does_not_keep_out_the_small_ones(tmp_path: Path) -> None:
    async with (
        listening(tmp_path, SMALL) as listeners,
        listeners.connected("scheduler") as large,
        listeners.connected("scheduler") as small,
    ):
        await begun(large, "scheduler", MOST)
        for _ in range(10):
            await small.send(whole("filter", BODY))
            assert (await small.reply()).status == 200

    assert len(BODY) <= MOST // SPARE


async def test_a_strangers_body_that_could_never_fit_is_too_large(tmp_path: Path) -> None:
    part = MOST // STRANGERS
    async with listening(tmp_path, SMALL) as listeners:
        reply = await refused(listeners, "admission", declared("admission", part + 1))

    assert reply.status == 413


async def test_a_body_that_is_read_has_room_until_it_is_judged(tmp_path: Path) -> None:
    """Requests that wait their turn on one connection hold their room, and give it back."""
    several = whole("filter", BODY) * 3
    async with listening(tmp_path, SMALL) as listeners:
        async with listeners.connected("scheduler") as connection:
            await connection.send(several)
            assert [(await connection.reply()).status for _ in range(3)] == [200, 200, 200]
        async with listeners.connected("scheduler") as connection:
            await begun(connection, "scheduler", MOST)


async def test_the_admission_listener_counts_what_it_refuses(tmp_path: Path) -> None:
    part = MOST // STRANGERS
    async with listening(tmp_path, SMALL) as listeners, listeners.connected("admission") as holding:
        await begun(holding, "admission", part)
        await refused(listeners, "admission", head(ADMISSION_PATH, "Content-Length: 1"))
        counted = listeners.metrics.registry.get_sample_value(
            "leeway_admission_requests_total", {"kind": "", "allowed": "", "code": "503"}
        )

    assert counted == 1
