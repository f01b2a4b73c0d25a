"""Stories of numeric tolerations: service levels, failure probabilities, tiers, prices."""

import pytest

from tests.builders import taint, toleration
from tests.e2e.cluster import Cluster
from tests.e2e.objects import deployment, node, pod

SLA = "node.example.com/sla"


async def test_batch_work_takes_spot_nodes_above_a_service_level(
    cluster: Cluster, scheduler: str
) -> None:
    """Spot nodes say how available they are; work says how much of that it needs."""
    await cluster.add(
        node("spot-999", taint(SLA, "999")),
        node("spot-950", taint(SLA, "950")),
        node("spot-800", taint(SLA, "800")),
    )

    strict = pod("strict", toleration(SLA, "Gt", "950", "NoSchedule"), scheduler=scheduler)

    assert await cluster.run(strict) == "spot-999"


async def test_a_service_level_must_be_exceeded_not_met(cluster: Cluster, scheduler: str) -> None:
    await cluster.add(node("spot-950", taint(SLA, "950")))

    why = await cluster.refused(pod("strict", toleration(SLA, "Gt", "950"), scheduler=scheduler))

    assert why.startswith(
        "0/1 nodes are available: 1 node(s) had untolerated taint {node.example.com/sla: 950}."
    )


async def test_bands_of_service_levels_share_the_nodes(cluster: Cluster, scheduler: str) -> None:
    """Three workloads of three classes, and three bands of nodes: none is on a band below."""
    levels = {"gold": 995, "silver": 960, "bronze": 800}
    await cluster.add(*(node(name, taint(SLA, str(level))) for name, level in levels.items()))
    needs = {"payments": 990, "checkout": 950, "reports": 700}

    for name, level in needs.items():
        tolerated = toleration(SLA, "Gt", str(level), "NoSchedule")
        await cluster.deploy(deployment(name, 6, tolerated, scheduler=scheduler))
    placed = {name: set((await cluster.placements(6, app=name)).values()) for name in needs}

    assert placed["payments"] == {"gold"}
    assert placed["checkout"] <= {"gold", "silver"}
    assert placed["reports"] <= {"gold", "silver", "bronze"}


async def test_a_pod_without_tolerations_stays_off_spot_nodes(
    cluster: Cluster, scheduler: str
) -> None:
    await cluster.add(node("spot-999", taint(SLA, "999")), node("on-demand"))

    assert await cluster.run(pod("plain", scheduler=scheduler)) == "on-demand"


async def test_one_value_exactly_or_all_above_another(cluster: Cluster, scheduler: str) -> None:
    """Equal and Gt of one key together: 500 as an exception, else above 900."""
    await cluster.add(*(node(f"spot-{level}", taint(SLA, level)) for level in ("501", "700")))
    tolerated = toleration(SLA, "Equal", "500"), toleration(SLA, "Gt", "900")
    why = await cluster.refused(pod("first", *tolerated, cpu="800m", scheduler=scheduler))

    assert "1 node(s) had untolerated taint {node.example.com/sla: 501}" in why

    await cluster.add(node("spot-500", taint(SLA, "500"), cpu="1"))

    assert await cluster.placed("first") == "spot-500"

    await cluster.refused(pod("second", *tolerated, cpu="800m", scheduler=scheduler))
    await cluster.add(node("spot-901", taint(SLA, "901")))

    assert await cluster.placed("second") == "spot-901"


async def test_native_and_annotated_tolerations_are_joined(
    cluster: Cluster, scheduler: str
) -> None:
    await cluster.add(
        node("both", taint(SLA, "950"), taint("dedicated", "batch")),
        node("other", taint(SLA, "800"), taint("dedicated", "batch")),
    )
    native = [toleration("dedicated", "Equal", "batch", "NoSchedule")]

    joined = pod("joined", toleration(SLA, "Gt", "900"), native=native, scheduler=scheduler)

    assert await cluster.run(joined) == "both"


async def test_critical_work_avoids_nodes_that_fail_often(cluster: Cluster, scheduler: str) -> None:
    """Failure probability in per mille: below a limit is good enough."""
    key = "node.example.com/failure-probability"
    await cluster.add(node("shaky", taint(key, "50")), node("steady", taint(key, "2")))

    critical = pod("critical", toleration(key, "Lt", "10", "NoSchedule"), scheduler=scheduler)

    assert await cluster.run(critical) == "steady"


async def test_training_takes_the_gpu_tiers_that_are_fast_enough(
    cluster: Cluster, scheduler: str
) -> None:
    key = "node.example.com/gpu-compute-score"
    await cluster.add(
        node("inference", taint(key, "400")),
        node("mixed", taint(key, "700")),
        node("training", taint(key, "900")),
    )

    await cluster.deploy(deployment("llm", 4, toleration(key, "Gt", "800"), scheduler=scheduler))
    small = pod("small", toleration(key, "Lt", "500"), scheduler=scheduler)

    assert await cluster.run(small) == "inference"
    assert set((await cluster.placements(4, app="llm")).values()) == {"training"}


async def test_batch_work_has_a_price_limit(cluster: Cluster, scheduler: str) -> None:
    """Price in hundredths an hour; two keys must be tolerated by two tolerations."""
    price = "node.example.com/price"
    await cluster.add(
        node("cheap-bad", taint(price, "12"), taint(SLA, "500")),
        node("cheap-good", taint(price, "18"), taint(SLA, "960")),
        node("dear-good", taint(price, "90"), taint(SLA, "999")),
    )
    frugal = toleration(price, "Lt", "20"), toleration(SLA, "Gt", "950")

    assert await cluster.run(pod("frugal", *frugal, scheduler=scheduler)) == "cheap-good"


@pytest.mark.parametrize("value", ["high", "0950", "95.5", ""])
async def test_a_taint_that_is_no_number_is_not_tolerated_by_a_threshold(
    cluster: Cluster, value: str
) -> None:
    await cluster.add(node("odd", taint(SLA, value)))

    why = await cluster.refused(pod("numeric", toleration(SLA, "Gt", "1")))

    assert f"1 node(s) had untolerated taint {{{SLA}: {value}}}" in why
    assert await cluster.run(pod("exists", toleration(SLA, "Exists"))) == "odd"


async def test_a_changed_taint_frees_a_pending_pod(cluster: Cluster, scheduler: str) -> None:
    await cluster.add(node("spot", taint(SLA, "800")), node("other", taint("dedicated", "db")))
    why = await cluster.refused(pod("patient", toleration(SLA, "Gt", "900"), scheduler=scheduler))

    assert "1 node(s) had untolerated taint {node.example.com/sla: 800}" in why
    assert "1 node(s) had untolerated taint {dedicated: db}" in why

    await cluster.taint("spot", taint(SLA, "950"))

    assert await cluster.placed("patient") == "spot"
