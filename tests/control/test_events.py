import asyncio
import contextlib
from collections.abc import AsyncIterator

from extender.cluster.api import ApiServer
from extender.control import events
from extender.control.events import EventRecorder, event_name
from extender.native.notes import CUT, RULE_INVALID, Note
from tests.cluster.apiserver import ScriptedServer, anonymous, eventually, scripted
from tests.control.building import GOLD, live, pod_of

POD = live(pod_of(GOLD))


@contextlib.asynccontextmanager
async def recording() -> AsyncIterator[tuple[ScriptedServer, EventRecorder]]:
    async with scripted() as server:
        recorder = EventRecorder(ApiServer(anonymous(server)), now=lambda: 0.0)
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


async def test_an_event_that_cannot_be_created_holds_nobody_up() -> None:
    async with recording() as (server, recorder):
        await server.stop()
        recorder.record(POD, Note(CUT, "lost"))
        await asyncio.sleep(0.05)
        await server.start()
        recorder.record(POD, Note(CUT, "said"))
        await eventually(lambda: server.events, 10)

    assert "said" in [each["message"] for each in server.events.values()]


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

    found = recorder._waiting.pop()
    assert found is not None
    assert found[1]["message"] == "5"
    assert len(recorder._waiting) == events.MAX_WAITING - 1


async def test_a_crowd_of_one_namespace_does_not_silence_others() -> None:
    recorder = EventRecorder(ApiServer(anonymous(ScriptedServer())))
    other = live(pod_of(GOLD) | {"metadata": {"name": "a", "namespace": "other", "uid": "a"}})
    recorder.record(other, Note(CUT, "mine"))
    crowd(recorder, events.MAX_WAITING + 5)

    said = [recorder._waiting.pop() for _ in range(2)]
    assert "mine" in [each[1]["message"] for each in said if each]


async def test_a_pod_that_changes_all_the_time_is_told_of_so_often() -> None:
    """Its annotation may go and come back, and the reconciler forgets it each time."""
    recorder = EventRecorder(ApiServer(anonymous(ScriptedServer())))
    for number in range(events.MAX_EACH + 5):
        recorder.record(POD, Note(CUT, str(number)))

    assert len(recorder._waiting) == events.MAX_EACH


async def test_what_is_known_of_pods_is_bounded() -> None:
    recorder = EventRecorder(ApiServer(anonymous(ScriptedServer())))
    crowd(recorder, events.MAX_KNOWN + 5)

    assert len(recorder._told) == events.MAX_KNOWN


async def test_an_event_that_waits_does_not_keep_its_pod() -> None:
    recorder = EventRecorder(ApiServer(anonymous(ScriptedServer())))
    text = "x" * 100_000
    recorder.record(live(pod_of(text)), Note(CUT, "too many"))

    found = recorder._waiting.pop()
    assert found is not None
    assert text not in str(found)


async def test_a_clock_that_was_set_back_says_nothing_twice() -> None:
    times = iter([1_800_000_000.0, 0.0, 1_800_000_000.0])
    async with scripted() as server:
        recorder = EventRecorder(ApiServer(anonymous(server)), now=lambda: next(times))
        task = asyncio.create_task(recorder.run())
        for text in ("too many", "too many", "other"):
            recorder.record(POD, Note(CUT, text))
            await eventually(lambda: not recorder._waiting, 5)
        await eventually(lambda: len(server.events) == 2, 5)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    said = [(each["message"], each["firstTimestamp"][:4]) for each in server.events.values()]
    assert said == [("too many", "2027"), ("other", "2027")]
