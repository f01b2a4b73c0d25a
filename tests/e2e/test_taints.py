"""Stories of the other effects, of cordoned nodes and of broken annotations."""

import asyncio

from tests.builders import PREFIX, taint, toleration
from tests.e2e.cluster import Cluster
from tests.e2e.objects import node, pod

KERNEL = "node.example.com/kernel"
SLA = "node.example.com/sla"
CORDONED = "node.kubernetes.io/unschedulable"


async def test_a_soft_taint_repels_those_who_do_not_tolerate_it(
    cluster: Cluster, scheduler: str
) -> None:
    """PreferNoSchedule with a version: an old kernel is a last resort, a newer one is fine."""
    await cluster.add(
        node("kernel-5", taint(KERNEL, "5.15.0", "PreferNoSchedule")),
        node("kernel-6", taint(KERNEL, "6.8.0", "PreferNoSchedule"), cpu="1"),
    )
    newer = toleration(KERNEL, "SemverGt", "6.0.0", "PreferNoSchedule")

    first = await cluster.run(pod("first", newer, cpu="800m", scheduler=scheduler))
    second = await cluster.run(pod("second", newer, cpu="800m", scheduler=scheduler))

    assert (first, second) == ("kernel-6", "kernel-5")


async def test_fewer_soft_taints_are_better(cluster: Cluster, scheduler: str) -> None:
    soft = [taint(f"soft-{i}", "1", "PreferNoSchedule") for i in range(2)]
    await cluster.add(node("two", *soft), node("one", soft[0]), node("none-but-full", cpu="0"))

    assert await cluster.run(pod("plain", scheduler=scheduler)) == "one"


async def test_a_cordoned_node_takes_nobody_until_it_is_uncordoned(
    cluster: Cluster, scheduler: str
) -> None:
    await cluster.add(node("repairs", unschedulable=True))
    why = await cluster.refused(pod("plain", scheduler=scheduler))

    assert why.startswith("0/1 nodes are available: 1 node(s) were unschedulable.")

    await cluster.cordon("repairs", on=False)

    assert await cluster.placed("plain") == "repairs"


async def test_an_annotation_may_tolerate_a_cordoned_node(cluster: Cluster, scheduler: str) -> None:
    await cluster.add(node("repairs", unschedulable=True))

    fixer = pod("fixer", toleration(CORDONED, "Exists", effect="NoSchedule"), scheduler=scheduler)

    assert await cluster.run(fixer) == "repairs"


async def test_no_execute_must_be_tolerated_in_the_spec_as_well(cluster: Cluster) -> None:
    """The controller manager reads the spec only, and would delete the pod at once."""
    await cluster.add(node("reclaimed", taint(SLA, "950", "NoExecute")))

    why = await cluster.refused(pod("annotated", toleration(SLA, "Gt", "900")))

    assert (
        "1 node(s) had NoExecute taint {node.example.com/sla: 950} tolerated only by annotation"
    ) in why


async def test_an_annotation_narrows_a_no_execute_toleration_and_nobody_is_evicted(
    cluster: Cluster, scheduler: str
) -> None:
    await cluster.add(
        node("low", taint(SLA, "800", "NoExecute")), node("high", taint(SLA, "950", "NoExecute"))
    )
    native = [toleration(SLA, "Exists", effect="NoExecute")]

    narrowed = pod("narrowed", toleration(SLA, "Gt", "900"), native=native, scheduler=scheduler)

    assert await cluster.run(narrowed) == "high"

    await asyncio.sleep(1)  # an eviction comes 16 to 35 ms after the binding

    assert await cluster.pod("narrowed") is not None


async def test_an_annotation_that_cannot_be_read_refuses_every_node(
    cluster: Cluster, scheduler: str
) -> None:
    await cluster.add(node("free"))
    broken = {PREFIX + "tolerations": "[{key: sla, operatr: Gt}]"}

    why = await cluster.refused(pod("broken", annotations=broken, scheduler=scheduler))

    assert "1 pod annotation scheduling.leeway/tolerations is invalid: " in why
