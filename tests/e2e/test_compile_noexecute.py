"""NoExecute by annotation: Kubernetes evicts, after the grace and for no other reason.

Leeway only adds tolerations. Taint-eviction of the controller manager reads them, and nothing else.
"""

import asyncio
import functools
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

import pytest

from tests.builders import JSON, PREFIX, taint, toleration
from tests.e2e import binaries
from tests.e2e.cluster import Cluster
from tests.e2e.compiling import GRACE, SETTLED, SLA, Rig, compiling, doubled, guard, logged, ruled
from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import DEFAULT, EXTENDED, node, pod

pytestmark = pytest.mark.usefixtures("default_scheduler")

PODS = 200
NODES = 4
CHANGES = 20
# Two hundred pods are written to within this, also on a machine that is busy with other stories.
LONG_GRACE = 8
COMPARISON = "TaintTolerationComparisonOperators"

Note = Callable[[str, object], None]


def level(value: int | str) -> JSON:
    return taint(SLA, str(value), "NoExecute")


def stays(value: int) -> str:
    return f"Equal {value}:NoExecute"


async def change(rig: Rig, value: int, *nodes: str) -> float:
    """Give nodes another service level; when that was done."""
    await asyncio.gather(*(rig.cluster.taint(name, level(value)) for name in nodes))
    return time.monotonic()


async def guarded(rig: Rig, *pods: JSON, seconds: int = GRACE) -> list[str]:
    """Create pods; their names, when all are bound and guarded."""
    names = [str(each["metadata"]["name"]) for each in pods]
    await rig.cluster.create(*pods)
    held = await rig.seen.until(
        lambda: all(
            name in rig.seen.bound and guard(seconds) in rig.tolerated(name) for name in names
        )
    )
    missing = [name for name in names if guard(seconds) not in rig.tolerated(name)]
    assert held, f"without a guard: {missing[:3]}: {rig.tolerated(missing[0])}"
    return names


def deletions(plane: ControlPlane, since: int) -> list[tuple[str, float]]:
    """Whom taint-eviction says that it deletes, and when, past a size of its log."""
    found = logged(plane.controller_manager, since)
    return [(name, at) for at, what, name in found if what == "Deleting pod"]


def tolerate(rig: Rig, names: Iterable[str], value: int) -> bool:
    """Whether all these pods tolerate a value for good."""
    return all(stays(value) in rig.tolerated(name) for name in names)


async def test_two_hundred_pods_live_through_good_changes_and_leave_after_a_bad_one(
    cluster: Cluster, plane: ControlPlane, record_property: Note
) -> None:
    nodes, size = [f"spot-{i}" for i in range(NODES)], plane.controller_manager.logged()
    async with compiling(cluster, plane, noExecuteGrace=f"{LONG_GRACE}s") as rig:
        await cluster.add(*(node(name, level(950), cpu="64") for name in nodes))
        pods = [ruled(f"inference-{i}", "Gt", "900") for i in range(PODS)]
        names = await guarded(rig, *pods, seconds=LONG_GRACE)
        before, took = await rig.writes(), []
        for good in range(951, 951 + CHANGES):
            changed = await change(rig, good, *nodes)
            assert await rig.seen.until(functools.partial(tolerate, rig, names, good))
            took.append(time.monotonic() - changed)
        record_property("good changes", len(took))
        record_property("p50 s until all pods tolerate one", round(statistics.median(took), 2))
        record_property("most s until all pods tolerate one", round(max(took), 2))
        record_property(
            "patches for each pod and change", (await rig.writes() - before) / (PODS * CHANGES)
        )
        # Whoever was behind by then would be gone after this.
        await asyncio.sleep(LONG_GRACE + SETTLED)

        assert rig.seen.deleted == {}
        assert doubled(rig.seen.pods.values()) == {}

        await change(rig, 500, *nodes)
        await asyncio.sleep(LONG_GRACE / 2)
        await change(rig, 950, *nodes)
        await asyncio.sleep(LONG_GRACE / 2 + SETTLED)

        assert rig.seen.deleted == {}

        before, bad = await rig.writes(), time.time()
        await change(rig, 500, *nodes)
        assert await rig.seen.until(lambda: len(rig.seen.deleted) == PODS)
        deleted = deletions(plane, size)
        late = [at - bad for _, at in deleted]
        record_property("first deleted after", round(min(late), 2))
        record_property("last deleted after", round(max(late), 2))

        assert min(late) >= LONG_GRACE
        assert Counter(name for name, _ in deleted) == dict.fromkeys(names, 1)
        assert await rig.writes() == before


@pytest.fixture
async def rig(cluster: Cluster, plane: ControlPlane) -> AsyncIterator[Rig]:
    async with compiling(cluster, plane) as made:
        yield made


async def test_the_controller_is_down_over_a_change(rig: Rig, record_property: Note) -> None:
    """It fails closed: after the grace the pod goes, also if the change was a good one."""
    await rig.cluster.add(node("changed", level(950)), node("still", level(950)))
    names = await guarded(rig, *(ruled(f"web-{i}", "Gt", "900") for i in range(4)))
    on = {name: await rig.cluster.placed(name) for name in names}
    await rig.controller.kill()
    changed = await change(rig, 960, "changed")
    leaving = {name for name in names if on[name] == "changed"}
    assert leaving

    assert await rig.seen.until(lambda: leaving <= set(rig.seen.deleted))
    first = min(rig.seen.deleted[name] for name in leaving) - changed
    record_property("first deleted after", round(first, 2))
    await asyncio.sleep(SETTLED)

    assert set(rig.seen.deleted) == leaving
    assert first >= GRACE - 0.5


async def test_a_controller_that_comes_back_in_time_saves_the_pods(rig: Rig) -> None:
    await rig.cluster.add(node("changed", level(950)))
    names = await guarded(rig, *(ruled(f"web-{i}", "Gt", "900") for i in range(4)))
    await rig.controller.stop()
    await change(rig, 960, "changed")
    await rig.controller.start()
    assert await rig.seen.until(lambda: all(stays(960) in rig.tolerated(name) for name in names))
    await asyncio.sleep(GRACE + SETTLED)

    assert rig.seen.deleted == {}


async def test_a_pod_says_its_own_grace(rig: Rig) -> None:
    """None at all, and a longer one than that of the configuration."""
    grace = PREFIX + "eviction-grace-seconds"
    await rig.cluster.add(node("changed", level(950)))
    patient = ruled("patient", "Gt", "900", annotations={grace: "86400"})
    hasty = ruled("hasty", "Gt", "900", annotations={grace: "0"})
    odd = ruled("odd", "Gt", "900", annotations={grace: "4.5"})
    await guarded(rig, patient, seconds=86_400)
    await guarded(rig, odd)
    assert await rig.cluster.run(hasty) == "changed"
    bad = await change(rig, 500, "changed")
    assert await rig.seen.until(lambda: {"hasty", "odd"} <= set(rig.seen.deleted))

    assert rig.seen.deleted["hasty"] < rig.seen.deleted["odd"]
    assert rig.seen.deleted["odd"] - bad >= GRACE - 0.5
    assert set(rig.seen.deleted) == {"hasty", "odd"}
    assert await rig.told("odd") == {"LeewayGraceInvalid": 1}
    assert await rig.told("patient") == await rig.told("hasty") == {}


async def test_changes_of_no_schedule_taints_are_not_written_to_bound_pods(rig: Rig) -> None:
    """They would be of no use to anybody."""
    await rig.cluster.add(node("spot", taint(SLA, "950")))
    names = await guarded(rig, *(ruled(f"web-{i}", "Gt", "900") for i in range(10)))
    before = await rig.writes()
    for value in range(951, 961):
        await rig.cluster.taint("spot", taint(SLA, str(value)))
    await asyncio.sleep(SETTLED)

    assert await rig.writes() == before
    assert {text for name in names for text in rig.tolerated(name)} == {
        "Equal 950:NoSchedule",
        guard(),
    }


async def test_with_the_extender_a_rule_of_an_annotation_alone_is_enough(
    cluster: Cluster, plane: ControlPlane
) -> None:
    """Without the controller such a pod is refused: the extender knows that it would be evicted."""
    names = [DEFAULT, EXTENDED]
    async with compiling(cluster, plane, extender=True, schedulerNames=names) as rig:
        await cluster.add(node("low", level(800)), node("high", level(950)))
        annotated = pod("annotated", toleration(SLA, "Gt", "900"), scheduler=EXTENDED)
        await guarded(rig, annotated)
        assert await cluster.placed("annotated") == "high"
        await change(rig, 960, "high")
        assert await rig.tolerating("annotated", stays(960))
        await asyncio.sleep(GRACE + SETTLED)

        assert rig.seen.deleted == {}


# --- Beside the native operators -------------------------------------------------------------


@pytest.fixture
async def native(new_plane: Callable[..., ControlPlane], tmp_path: Path) -> AsyncIterator[Rig]:
    """A control plane all of whose parts know Gt and Lt, with a controller."""
    if binaries.minor() < 35:
        pytest.skip(f"Kubernetes {binaries.version()} has no gate {COMPARISON}")
    plane = new_plane(tmp_path, gates={COMPARISON: True})
    try:
        await plane.start()
        await plane.default_scheduler.start()
        async with plane.connected() as admin:
            cluster = Cluster(admin, plane, "default")
            async with compiling(cluster, plane) as made:
                yield made
    finally:
        await plane.stop()


async def test_seconds_of_a_rule_are_those_of_the_native_operator(
    native: Rig, record_property: Note
) -> None:
    """Side by side on one node. What Leeway must not touch is bound by nobody's scheduler."""
    rig, seconds = native, 5
    await rig.cluster.add(node("spot", taint("other", "x", "PreferNoSchedule")))
    operator = toleration(SLA, "Gt", "900", "NoExecute", tolerationSeconds=seconds)
    pods = [pod("native", native=[operator], scheduler="nobody")]
    pods[0]["spec"]["nodeName"] = "spot"
    await rig.cluster.create(*pods)
    await guarded(rig, ruled("rule", "Gt", "900", "NoExecute", seconds=seconds), seconds=seconds)
    await asyncio.sleep(SETTLED)
    untouched = rig.tolerated("native")
    begun = await change(rig, 950, "spot")
    await asyncio.sleep(seconds / 2)
    await change(rig, 960, "spot")  # neither timer begins anew

    assert await rig.seen.until(lambda: {"native", "rule"} <= set(rig.seen.deleted))
    late = {name: at - begun for name, at in rig.seen.deleted.items()}
    record_property("native operator, seconds", round(late["native"], 2))
    record_property("rule, seconds", round(late["rule"], 2))
    assert untouched == [f"Gt 900:NoExecute for {seconds}s"]
    assert min(late.values()) >= seconds - 0.5
    assert abs(late["native"] - late["rule"]) < seconds / 4
