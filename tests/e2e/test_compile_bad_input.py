"""Bad input to compile mode: nobody is evicted for it, writes are bounded, and it is said once.

Beside every bad pod there is a good one, which must be served as if the other were not there.
"""

import asyncio
import functools
import json
import time
from collections.abc import Iterable

import pytest

from tests.builders import JSON, PREFIX, taint
from tests.e2e.api import eventually
from tests.e2e.cluster import Cluster
from tests.e2e.compiling import (
    GRACE,
    RECORD,
    SETTLED,
    SLA,
    Rig,
    carried,
    compiling,
    doubled,
    guard,
    ruled,
    webhook,
)
from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import DEFAULT, node, pod

pytestmark = pytest.mark.usefixtures("default_scheduler")

RULES = PREFIX + "tolerations"
EVICTION_GRACE = PREFIX + "eviction-grace-seconds"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/leeway/leases/leeway-controller"
# More than any of these nodes has: the pod waits, whatever it tolerates.
WAITS = "900"


def level(value: int | str) -> JSON:
    return taint(SLA, str(value), "NoExecute")


def stays(value: int) -> str:
    return f"Equal {value}:NoExecute"


async def annotate(rig: Rig, name: str, annotations: JSON) -> None:
    path = f"{rig.cluster.pods_path}/{name}"
    await rig.cluster.api.merge(path, {"metadata": {"annotations": annotations}})


async def served(rig: Rig, *names: str, text: str) -> None:
    """Wait until all these pods tolerate something."""
    held = await rig.seen.until(
        lambda: all(name in rig.seen.pods and text in rig.tolerated(name) for name in names)
    )
    assert held, {name: rig.tolerated(name) for name in names if name in rig.seen.pods}


async def said(rig: Rig, expected: dict[str, dict[str, int]]) -> None:
    """Wait until pods were told these things, and see that nothing else was said."""

    async def heard() -> bool | None:
        found = {name: dict(await rig.told(name)) for name in expected}
        return True if found == expected else None

    await eventually(heard, 10)
    assert {name: dict(await rig.told(name)) for name in expected} == expected


def bare(rig: Rig, names: Iterable[str]) -> bool:
    """Whether nothing was written to these pods."""
    return all(
        each.get("key", "").startswith("node.kubernetes.io/")
        for name in names
        for each in carried(rig.seen.pods[name])
    )


UNREADABLE = {
    "no-yaml": "[{",
    "no-list": '{"key": "sla"}',
    "misspelt": '[{"key": "sla", "operater": "Gt", "value": "900"}]',
    "wrong-type": '[{"key": "sla", "operator": "Gt", "value": 900}]',
    "deep": "[" * 2_000 + "]" * 2_000,
    "many": json.dumps([{"key": "k", "operator": "Exists", "x": n} for n in range(4_000)]),
    "aliases": "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]",
}


async def test_annotations_that_do_not_decode(cluster: Cluster, plane: ControlPlane) -> None:
    """Also one that is broken while its pod runs: the pod is left alone, and is not evicted."""
    async with compiling(cluster, plane) as rig:
        await cluster.add(node("spot", level(950)))
        await cluster.create(ruled("running", "Gt", "900"), ruled("good", "Gt", "900"))
        await served(rig, "running", "good", text=guard())
        before = await rig.writes()
        bad = [
            pod(name, scheduler=DEFAULT, annotations={RULES: text}, cpu="10m")
            for name, text in UNREADABLE.items()
        ]
        await cluster.create(*bad)
        await annotate(rig, "running", {RULES: "[{"})
        expected = {name: {"LeewayRuleInvalid": 1} for name in [*UNREADABLE, "running"]}
        await said(rig, expected)
        await asyncio.gather(
            *(annotate(rig, name, {"example.com/touched": "yes"}) for name in expected)
        )
        await cluster.create(ruled("late", "Gt", "900"))
        await served(rig, "late", text=guard())
        await cluster.taint("spot", level(960))
        await served(rig, "good", "late", text=stays(960))

        await said(rig, {**expected, "good": {}, "late": {}})
        assert bare(rig, UNREADABLE)
        # Two for the pod that came late, and one each for the change.
        assert await rig.writes() - before <= 4
        await asyncio.sleep(GRACE + SETTLED)
        # The pod whose rules cannot be read any more keeps what it had: its guard runs out.
        assert set(rig.seen.deleted) == {"running"}


RECORDS: dict[str, str | None] = {
    "edited": "[]",
    "foreign": '["other"]',
    "truncated": f'["{SLA}',
    "no-list": '{"a": 1}',
    "huge": json.dumps([f"k{n}" for n in range(10_000)]),
    "removed": None,
    "untouched": f'["{SLA}"]',
}


async def test_a_record_that_was_edited_truncated_huge_removed_or_copied(
    cluster: Cluster, plane: ControlPlane
) -> None:
    """The webhook would put it back at once. Without it, the controller does."""
    unreadable = ("truncated", "no-list", "huge")
    async with compiling(cluster, plane) as rig:
        await cluster.add(node("spot", level(950)), node("forbidden", level(500)))
        await cluster.create(*(ruled(name, "Gt", "900") for name in RECORDS))
        await served(rig, *RECORDS, text=guard())
        before = await rig.writes()
        await asyncio.gather(*(annotate(rig, name, {RECORD: RECORDS[name]}) for name in RECORDS))
        assert await rig.seen.until(
            lambda: all(SLA in recorded(rig.seen.pods[name]) for name in RECORDS)
        ), {name: recorded(rig.seen.pods[name]) for name in RECORDS}
        await cluster.taint("spot", level(960))
        await served(rig, *RECORDS, text=stays(960))

        # One for the record and one for the value, and two that came too late at most.
        assert await rig.writes() - before <= 2 * len(RECORDS) + 2
        async with webhook(cluster, rig.controller.port):
            made = await cluster.api.create(cluster.pods_path, copy(rig.seen.pods["untouched"]))
        assert RECORD not in made["metadata"]["annotations"]
        assert "Exists" not in [each.get("operator") for each in carried(made) if is_level(each)]
        await asyncio.sleep(GRACE + SETTLED)

        assert rig.seen.deleted == {}
        assert rig.seen.pods["copied"]["spec"]["nodeName"] == "spot"
        assert {tuple(rig.tolerated(name)[-1:]) for name in RECORDS} == {(guard(),)}
        await said(
            rig,
            {
                **{name: {} for name in [*RECORDS, "copied"]},
                **{name: {"LeewayRuleInvalid": 1} for name in unreadable},
            },
        )


def recorded(found: JSON) -> list[str]:
    """The guarded keys, if the record can be read."""
    text = found["metadata"].get("annotations", {}).get(RECORD, "")
    try:
        keys = json.loads(text)
    except ValueError:
        return []
    return keys if isinstance(keys, list) else []


def is_level(toleration: JSON) -> bool:
    return bool(toleration.get("key") == SLA)


def copy(found: JSON) -> JSON:
    """A pod as a person copies it: without its node, with everything that Leeway wrote."""
    spec = {name: each for name, each in found["spec"].items() if name != "nodeName"}
    annotations = found["metadata"]["annotations"]
    metadata = {"name": "copied", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


async def test_five_thousand_distinct_values(cluster: Cluster, plane: ControlPlane) -> None:
    """The pod gets as many as it may, those on most nodes first, in one patch, and is told once."""
    async with compiling(cluster, plane) as rig:
        keys = [f"example.com/k{n}" for n in range(500)]
        nodes = [
            node(f"many-{i}", *(taint(key, f"v{i}") for key in keys), taint("zoo", "all"))
            for i in range(10)
        ]
        await cluster.add(*nodes, node("spot", level(950)))
        wide = pod("wide", {"operator": "Exists"}, scheduler=DEFAULT, cpu=WAITS)
        await cluster.create(wide, ruled("good", "Gt", "900"))
        await served(rig, "good", text=guard())
        await said(rig, {"wide": {"LeewayCut": 1}, "good": {}})
        assert await rig.seen.until(lambda: len(added(rig, "wide")) == 64), len(added(rig, "wide"))
        before = await rig.writes()
        for step in range(5):
            await cluster.taint("many-0", *(taint(key, f"w{step}") for key in keys))
        await cluster.create(ruled("late", "Gt", "900"))
        await served(rig, "late", text=guard())

        assert "zoo=all" in added(rig, "wide")
        assert len(added(rig, "wide")) == 64
        assert await rig.writes() - before <= 2
        assert rig.seen.deleted == {}
        await said(rig, {"wide": {"LeewayCut": 1}, "good": {}, "late": {}})


def added(rig: Rig, name: str) -> list[str]:
    """The `Equal`s of a pod."""
    found = carried(rig.seen.pods[name]) if name in rig.seen.pods else []
    return [f"{each['key']}={each['value']}" for each in found if each.get("operator") == "Equal"]


async def test_a_value_that_changes_each_second(cluster: Cluster, plane: ControlPlane) -> None:
    """One patch a change for a pod that runs there; one that waits stops at the limit."""
    most, changes = 4, 7
    async with compiling(cluster, plane, maxTolerations=most) as rig:
        await cluster.add(node("spot", level(1000)), node("price", taint(SLA, "1000")))
        await cluster.create(ruled("runs", "Gt", "900", "NoExecute"))
        await served(rig, "runs", text=guard())
        await cluster.create(ruled("waits", "Gt", "900", "NoSchedule", cpu=WAITS))
        await served(rig, "waits", text="Equal 1000:NoSchedule")
        before = await rig.writes()
        for value in range(1001, 1001 + changes):
            await asyncio.gather(
                cluster.taint("spot", level(value)),
                cluster.taint("price", taint(SLA, str(value))),
                asyncio.sleep(1),
            )
        await served(rig, "runs", text=stays(1000 + changes))
        await said(rig, {"runs": {}, "waits": {"LeewayCut": 1}})

        assert len(rig.tolerated("waits")) == most
        assert await rig.writes() - before <= changes + most - 1
        await asyncio.sleep(GRACE + SETTLED)
        assert rig.seen.deleted == {}
        assert doubled(rig.seen.pods.values()) == {}


async def test_a_pod_name_that_is_used_again(cluster: Cluster, plane: ControlPlane) -> None:
    """Each pod of the name gets what its own rules come to, and is told for itself."""
    times = 6
    async with compiling(cluster, plane) as rig:
        await cluster.add(node("high", level(950)), node("low", level(500)))
        await cluster.create(ruled("good", "Gt", "900"))
        await served(rig, "good", text=guard())
        before = await rig.writes()
        for number in range(times):
            operator, value = (("Gt", 950), ("Lt", 500))[number % 2]
            odd = {EVICTION_GRACE: f"soon-{number}"}
            again = ruled("again", operator, "700", annotations=odd)
            made = await cluster.api.create(cluster.pods_path, again)
            if number >= times - 2:
                uid = made["metadata"]["uid"]
                assert await rig.seen.until(functools.partial(guarded, rig, "again", uid))
                assert rig.tolerated("again") == [stays(value), guard()]
            await asyncio.sleep(0.01 * number)
            await cluster.delete("again")
        await cluster.create(ruled("late", "Gt", "900"))
        await served(rig, "late", text=guard())

        # Two each, and one that met the next pod of the name.
        assert await rig.writes() - before <= 3 * times + 2
        assert set(rig.seen.deleted) == {"again"}
        told = await rig.told("again")
        assert set(told) == {"LeewayGraceInvalid"}
        assert 2 <= told["LeewayGraceInvalid"] <= times
        await said(rig, {"good": {}, "late": {}})


def guarded(rig: Rig, name: str, uid: str) -> bool:
    """Whether this very pod of a name has its guard."""
    found = rig.seen.pods.get(name)
    return found is not None and found["metadata"]["uid"] == uid and guard() in rig.tolerated(name)


async def test_times_in_the_lease_that_are_far_off(cluster: Cluster, plane: ControlPlane) -> None:
    """As a clock that was set back, or ahead, writes them. Who leads stays, and goes on."""
    async with compiling(cluster, plane, count=2) as rig:
        await cluster.add(node("spot", level(950)))
        leader = await rig.leader()
        for year in ("1971", "2199"):
            for name in ("renewTime", "acquireTime"):
                stamp = {"spec": {name: f"{year}-01-01T00:00:00.000000Z"}}
                await cluster.api.merge(LEASE, stamp)
            # The leader finds its Lease changed, and the other one sees it.
            await asyncio.sleep(3)
            assert await rig.leader() is leader
            assert await leaders(rig) == 1
            await cluster.create(ruled(f"year-{year}", "Gt", "900"))
            await served(rig, f"year-{year}", text=guard())
        await cluster.taint("spot", level(960))
        await served(rig, "year-1971", "year-2199", text=stays(960))

        assert await rig.writes() <= 6
        assert rig.seen.deleted == {}
        await said(rig, {"year-1971": {}, "year-2199": {}})


async def leaders(rig: Rig) -> float:
    found = [await rig.counted("leeway_leader", each) for each in rig.controllers]
    return sum(each.get("", 0) for each in found)


async def test_a_crowd_of_another_namespace_has_nobody_evicted(
    cluster: Cluster, plane: ControlPlane
) -> None:
    """Its patches take three times as long as the grace, and it breaks no limit."""
    crowd, rate = f"{cluster.namespace}-crowd", 10
    path = f"/api/v1/namespaces/{crowd}/pods"
    await cluster.api.ensure("/api/v1/namespaces", {"metadata": {"name": crowd}})
    async with compiling(cluster, plane, writesPerSecond=rate) as rig:
        await cluster.add(node("spot", level(950)))
        await cluster.create(ruled("good", "Gt", "900"))
        await served(rig, "good", text=guard())
        before, begun = await rig.writes(), time.monotonic()
        try:
            await asyncio.gather(
                *(
                    cluster.api.create(path, each)
                    for each in (
                        pod(f"c{n}", {"operator": "Exists"}, scheduler=DEFAULT, cpu=WAITS)
                        for n in range(3 * GRACE * rate)
                    )
                )
            )
            await cluster.taint("spot", level(960))
            await served(rig, "good", text=stays(960))
            await asyncio.sleep(GRACE + SETTLED)
            written, seconds = await rig.writes() - before, time.monotonic() - begun
        finally:
            await cluster.api.delete(path)

        assert rig.seen.deleted == {}
        assert rate < written <= rate * (seconds + 1)
