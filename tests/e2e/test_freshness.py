"""The story of a pod that was refused, waited, and must be bound soon after a taint changes.

kube-scheduler hears of the change when Leeway does, and asks within milliseconds. A refusal from
an older view would stand until the next event, which on a quiet cluster is minutes away.
"""

import asyncio
import contextlib
import itertools
import statistics
import time
from collections.abc import AsyncIterator, Callable

from tests.builders import taint, toleration
from tests.e2e.cluster import Cluster
from tests.e2e.objects import node, pod

SLA = "node.example.com/sla"
ROUNDS = 20
# The condition that the scheduler writes after its first refusal wakes the pod once more: back-offs
# of one and of two seconds, each until the next full second of the clock.
BACK_OFF = 5.0
# A pod that is asked about because of an unrelated event, just before, has a back-off of four.
SOON = 8.0


@contextlib.asynccontextmanager
async def heartbeats(cluster: Cluster, *names: str) -> AsyncIterator[None]:
    """Node updates that change no verdict and wake no pod, ten a second."""

    async def beat() -> None:
        for name in itertools.cycle(names):
            await cluster.heartbeat(name)
            await asyncio.sleep(0.1)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_a_pod_past_its_back_off_is_bound_soon_after_a_taint_changes(
    cluster: Cluster, record_property: Callable[[str, object], None]
) -> None:
    """Half of the rounds are quiet, half begin with events that have nothing to do with it."""
    others = [f"other-{i}" for i in range(5)]
    await cluster.add(
        node("target", taint(SLA, "800")),
        *(node(name, taint("dedicated", "db")) for name in others),
    )
    took: list[float] = []

    async with heartbeats(cluster, *others):
        for number in range(ROUNDS):
            name = f"patient-{number}"
            await cluster.refused(pod(name, toleration(SLA, "Gt", "900")))
            await asyncio.sleep(BACK_OFF)
            unrelated = others[:2] if number % 2 else []

            begun = time.monotonic()
            await asyncio.gather(
                *(cluster.label(other, round=str(number)) for other in unrelated),
                cluster.taint("target", taint(SLA, "950")),
            )
            await cluster.placed(name, seconds=SOON)
            took.append(time.monotonic() - begun)

            await cluster.taint("target", taint(SLA, "800"))
            await cluster.delete(name)
            await asyncio.sleep(0.3)  # the next pod must not come before the news

    record_property("median seconds, quiet", round(statistics.median(took[::2]), 2))
    record_property("most seconds, quiet", round(max(took[::2]), 2))
    record_property("median seconds, with other events", round(statistics.median(took[1::2]), 2))
    record_property("most seconds, with other events", round(max(took[1::2]), 2))
    metrics = await cluster.ops("/metrics")
    held = [line for line in metrics.splitlines() if line.startswith("leeway_catch_up_total{")]
    record_property("held refusals", ", ".join(line.split("_total")[1] for line in held))

    assert max(took) < SOON
