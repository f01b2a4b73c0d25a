"""The same promise if a process dies, or news are late, between a refusal and what mends it.

Each story makes Leeway lose the race for certain: the scheduler hears of the change at once and is
told no, Leeway hears of it two seconds later. Nothing else happens in the cluster, so nothing but
a nudge would make the scheduler ask again within five minutes.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import pytest

from tests.builders import taint
from tests.e2e.api import eventually
from tests.e2e.cluster import PATIENCE, Cluster
from tests.e2e.controlplane import ControlPlane
from tests.e2e.waiting import POPS, SETTLED, SOON, TURN, Rig, held, rigged, waiting

LATE = 2.0
# After Leeway has the news. A scheduler that sits out back-offs takes longer.
HEALED = 1.0 + SOON
# A scheduler that sits out back-offs would not ask at once before.
PAST_BACK_OFF = SETTLED if POPS else 4.0

Note = Callable[[str, object], None]


@pytest.fixture
async def rig(cluster: Cluster, plane: ControlPlane) -> AsyncIterator[Rig]:
    async with rigged(cluster, plane) as made:
        await made.add(held("target"), held("other"))
        await made.hopeless(3)
        yield made


async def lose(rig: Rig) -> tuple[str, float]:
    """A pod that is refused after the change that lets it in, and when Leeway will hear of it."""
    name = await rig.refused(waiting("patient", 1))
    await asyncio.sleep(PAST_BACK_OFF)
    asked = await asks(rig)
    rig.relay.slow(lambda: LATE)
    await rig.cluster.taint("target", taint(TURN, "1"))
    news = time.monotonic() + LATE

    async def again() -> bool | None:
        return True if await asks(rig) > asked else None

    assert await eventually(again, LATE / 2, every=0.02), "the scheduler did not ask"
    await asyncio.sleep(0.2)  # the answer may have been held for a moment
    assert name not in rig.seen.bound
    return name, news


async def asks(rig: Rig) -> float:
    """How many filter calls were answered."""
    counted = await rig.counted("leeway_requests_total")
    return sum(number for labels, number in counted.items() if 'verb="filter"' in labels)


async def bound_after(rig: Rig, name: str, since: float) -> float:
    """Seconds until a pod is bound, which it must be."""
    bound = await rig.seen.until(rig.seen.bound, name, LATE + HEALED + 10)
    assert bound is not None, f"{name} is left behind: {await rig.cluster.why(name)}"
    return round(max(bound - since, 0.0), 2)


async def test_a_view_that_is_two_seconds_behind(rig: Rig, record_property: Note) -> None:
    name, news = await lose(rig)
    took = await bound_after(rig, name, news)
    record_property("seconds after the news", took)

    assert took <= HEALED


async def test_leeway_is_killed_between_its_refusal_and_the_news(
    rig: Rig, record_property: Note
) -> None:
    """The one that comes back was never asked about the pod."""
    name, _ = await lose(rig)
    await rig.leeway.kill()
    await rig.leeway.start()
    took = await bound_after(rig, name, time.monotonic())
    record_property("seconds after it was ready", took)

    assert took <= HEALED


async def test_another_replica_takes_over(
    rig: Rig, plane: ControlPlane, record_property: Note
) -> None:
    """On the address of the first: it has not refused the pod, and learns of it from its list."""
    name, _ = await lose(rig)
    second = plane.new_leeway("leeway-second", port=rig.leeway.port)
    await rig.leeway.kill()
    async with plane.beside(second):
        took = await bound_after(rig, name, time.monotonic())
    record_property("seconds after it was ready", took)

    assert took <= HEALED


async def test_the_api_server_is_killed_between_a_refusal_and_the_news(
    rig: Rig, plane: ControlPlane, record_property: Note
) -> None:
    name, _ = await lose(rig)
    await plane.apiserver.kill()
    await rig.relay.cut()
    await plane.apiserver.start()
    back = time.monotonic()
    await rig.relay.mend()

    async def heard() -> float | None:
        """When all of its watches have come back: each waits a little longer every time."""
        ages = (await rig.counted("leeway_cache_age_seconds")).values()
        now = time.monotonic()
        return now if max(ages) < now - back and await rig.knows(waiting("patient", 1)) else None

    news = await eventually(heard, PATIENCE, every=0.02)
    assert news is not None, "Leeway does not hear of anything"
    took = await bound_after(rig, name, news)
    record_property("seconds after the news", took)

    assert took <= HEALED
