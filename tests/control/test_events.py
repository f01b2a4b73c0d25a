import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable

import pytest

from extender.cluster.api import ApiServer
from extender.cluster.reflector import Backoff
from extender.control import events
from extender.control.events import EventRecorder, event_name
from extender.native.notes import CUT, RULE_INVALID, Note
from tests.cluster.apiserver import ScriptedServer, anonymous, eventually, scripted
from tests.control.building import GOLD, live, pod_of

POD = live(pod_of(GOLD))


@contextlib.asynccontextmanager
async def recording(
    *, now: Callable[[], float] = lambda: 0.0, clock: Callable[[], float] = time.monotonic
) -> AsyncIterator[tuple[ScriptedServer, EventRecorder]]:
    async with scripted() as server:
        recorder = EventRecorder(ApiServer(anonymous(server)), now=now, clock=clock)
        task = asyncio.create_task(recorder.run())
        try:
            yield server, recorder
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_an_event_says_whom_it_is_about_and_why() -> None:
    async with recording() as (server, recorder):
        recorder.record(POD, Note(CUT, "too many"))
        await eventually(lambda: server.events, 5)

    (event,) = server.events.values()
    assert event["involvedObject"] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": "default",
        "name": "web-0",
        "uid": "uid-1",
    }
    assert (event["reason"], event["message"], event["type"]) == (
        "LeewayCut",
        "too many",
        "Warning",
    )
    assert event["firstTimestamp"] == "1970-01-01T00:00:00Z"


async def test_what_another_one_said_already_is_not_said_again() -> None:
    async with recording() as (server, recorder):
        for _ in range(3):
            recorder.record(POD, Note(CUT, "too many"))
        recorder.record(POD, Note(RULE_INVALID, "bad"))
        await eventually(lambda: len(server.events) == 2, 5)

    assert [each["reason"] for each in server.events.values()] == ["LeewayCut", "LeewayRuleInvalid"]


async def fail(server: ScriptedServer, recorder: EventRecorder, text: str) -> None:
    """Have an Event wait that the API server will not take for now."""
    server.on_events[text] = 503
    recorder.record(POD, Note(CUT, text))
    await eventually(lambda: recorder._failed, 5)


def texts(server: ScriptedServer) -> list[str]:
    return [each["message"] for each in server.events.values()]


async def test_what_was_said_while_the_api_server_was_away_is_told_when_it_is_back() -> None:
    async with recording() as (server, recorder):
        await server.stop()
        for number in range(5):
            recorder.record(POD, Note(CUT, str(number)))
        await eventually(lambda: len(recorder._failed) == 5, 5)
        await server.start()
        await eventually(lambda: len(server.events) == 5, 10)

    assert sorted(texts(server)) == list("01234")


@pytest.mark.parametrize("status", [401, 403, 408, 429, 500, 503])
async def test_an_event_is_sent_again_after_an_answer_that_may_change(status: int) -> None:
    async with recording() as (server, recorder):
        server.on_events["again"] = status
        recorder.record(POD, Note(CUT, "again"))
        await eventually(lambda: len(server.event_requests) == 2, 5)
        server.on_events.clear()
        await eventually(lambda: server.events, 5)

    assert texts(server) == ["again"]


@pytest.mark.parametrize("status", [400, 404, 409, 422])
async def test_a_final_answer_ends_an_event(status: int) -> None:
    async with recording() as (server, recorder):
        server.on_events |= {"final": status, "passing": 500}
        recorder.record(POD, Note(CUT, "final"))
        recorder.record(POD, Note(CUT, "passing"))
        # By then it would have been sent again as well.
        await eventually(lambda: server.event_requests.count("passing") == 3, 5)

    assert server.event_requests.count("final") == 1


async def test_an_event_that_always_fails_holds_nobody_up() -> None:
    async with recording() as (server, recorder):
        recorder._backoff = Backoff(60.0, 60.0)
        await fail(server, recorder, "cursed")
        recorder.record(POD, Note(CUT, "said"))
        await eventually(lambda: server.events, 5)

    assert texts(server) == ["said"]
    assert server.event_requests[:2] == ["cursed", "said"]


async def test_an_event_that_always_fails_is_given_up_after_an_hour() -> None:
    passed = 0.0
    async with recording(clock=lambda: passed) as (server, recorder):
        await fail(server, recorder, "cursed")
        passed += events.KEEP_SECONDS
        recorder.record(POD, Note(CUT, "said"))
        await eventually(lambda: len(server.event_requests) == 3, 5)
        recorder.record(POD, Note(CUT, "more"))
        await eventually(lambda: len(server.events) == 2, 5)

    assert server.event_requests == ["cursed", "said", "cursed", "more"]


async def test_an_event_has_the_time_when_it_was_said() -> None:
    wall = 0.0
    async with recording(now=lambda: wall) as (server, recorder):
        await fail(server, recorder, "late")
        wall += 60.0
        server.on_events.clear()
        await eventually(lambda: server.events, 5)

    (event,) = server.events.values()
    assert event["lastTimestamp"] == "1970-01-01T00:00:00Z"


def test_names_follow_from_the_pod_and_the_text() -> None:
    long = live(pod_of(GOLD, name="a" * 253))
    names = {
        event_name(POD, Note(CUT, "x")),
        event_name(POD, Note(CUT, "y")),
        event_name(live(pod_of(GOLD, uid="2")), Note(CUT, "x")),
        event_name(long, Note(CUT, "x")),
    }

    assert len(names) == 4
    assert max(map(len, names)) == 253
    assert event_name(POD, Note(CUT, "x")) == event_name(POD, Note(CUT, "x"))


def crowd(recorder: EventRecorder, count: int) -> None:
    """As many pods of one namespace as are told of."""
    for number in range(count):
        recorder.record(live(pod_of(GOLD, uid=f"crowd-{number}")), Note(CUT, str(number)))


async def test_of_too_many_of_a_namespace_the_oldest_go() -> None:
    recorder = EventRecorder(ApiServer(anonymous(ScriptedServer())))
    crowd(recorder, events.MAX_WAITING + 5)

    found = recorder._new.pop()
    assert found is not None
    assert found[1].event["message"] == "5"
    assert len(recorder._new) == events.MAX_WAITING - 1


async def test_a_crowd_of_one_namespace_does_not_silence_others() -> None:
    recorder = EventRecorder(ApiServer(anonymous(ScriptedServer())))
    other = live(pod_of(GOLD) | {"metadata": {"name": "a", "namespace": "other", "uid": "a"}})
    recorder.record(other, Note(CUT, "mine"))
    crowd(recorder, events.MAX_WAITING + 5)

    said = [recorder._new.pop() for _ in range(2)]
    assert "mine" in [each[1].event["message"] for each in said if each]


async def test_a_pod_that_changes_all_the_time_is_told_of_so_often() -> None:
    """Its annotation may go and come back, and the reconciler forgets it each time."""
    recorder = EventRecorder(ApiServer(anonymous(ScriptedServer())))
    for number in range(events.MAX_EACH + 5):
        recorder.record(POD, Note(CUT, str(number)))

    assert len(recorder._new) == events.MAX_EACH


async def test_what_is_known_of_pods_is_bounded() -> None:
    recorder = EventRecorder(ApiServer(anonymous(ScriptedServer())))
    crowd(recorder, events.MAX_KNOWN + 5)

    assert len(recorder._told) == events.MAX_KNOWN


async def test_an_event_that_waits_does_not_keep_its_pod() -> None:
    recorder = EventRecorder(ApiServer(anonymous(ScriptedServer())))
    text = "x" * 100_000
    recorder.record(live(pod_of(text)), Note(CUT, "too many"))

    found = recorder._new.pop()
    assert found is not None
    assert text not in str(found[1].event)


async def test_a_clock_that_was_set_back_says_nothing_twice() -> None:
    times = iter([1_800_000_000.0, 0.0, 1_800_000_000.0])
    async with scripted() as server:
        recorder = EventRecorder(ApiServer(anonymous(server)), now=lambda: next(times))
        task = asyncio.create_task(recorder.run())
        for text in ("too many", "too many", "other"):
            recorder.record(POD, Note(CUT, text))
            await eventually(lambda: not recorder._new, 5)
        await eventually(lambda: len(server.events) == 2, 5)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    said = [(each["message"], each["firstTimestamp"][:4]) for each in server.events.values()]
    assert said == [("too many", "2027"), ("other", "2027")]
