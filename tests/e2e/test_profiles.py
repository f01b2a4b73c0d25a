"""Stories of gates that are off, of pods of other profiles, and of the native operators."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.builders import JSON, PREFIX, required, requirement, taint, toleration
from tests.e2e import binaries
from tests.e2e.api import ApiServerError
from tests.e2e.cluster import Cluster
from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import EXTENDED, GATED, MIXED, WHOLE_NODES, node, pod

SLA = "node.example.com/sla"
RUNTIME = "node.example.com/containerd-version"
COMPARISON = "TaintTolerationComparisonOperators"
SEMVER = "TaintTolerationNodeAffinitySemverComparisonOperators"
IN_TREE = "in-tree-scheduler"


async def test_with_the_gates_off_extended_rules_never_match_and_events_say_why(
    cluster: Cluster, plane: ControlPlane
) -> None:
    leeway = plane.new_leeway("leeway-gated", f"--feature-gates={COMPARISON}=false,{SEMVER}=false")
    scheduler = plane.new_scheduler(GATED, url=leeway.url)
    await cluster.add(node("spot", taint(SLA, "950"), labels={RUNTIME: "2.1.4"}))
    newer = required([requirement(RUNTIME, "SemverGt", "2.0.0")])

    async with plane.beside(leeway, scheduler):
        above = await cluster.refused(pod("above", toleration(SLA, "Gt", "900"), scheduler=GATED))
        semver = await cluster.refused(
            pod("semver", toleration(SLA, "SemverGt", "900"), scheduler=GATED)
        )
        runtime = await cluster.refused(
            pod("runtime", toleration(SLA, "Exists"), affinity=newer, scheduler=GATED)
        )
        equal = await cluster.run(pod("equal", toleration(SLA, "Equal", "950"), scheduler=GATED))
        event = await cluster.event("above", "FailedScheduling")

    untolerated = f"0/1 nodes are available: 1 node(s) had untolerated taint {{{SLA}: 950}}."
    assert above.startswith(untolerated)
    assert semver.startswith(untolerated)
    assert event.startswith(untolerated)
    assert "1 node(s) didn't match Pod's node affinity/selector" in runtime
    assert equal == "spot"


async def test_pods_of_another_profile_are_left_alone(
    cluster: Cluster, plane: ControlPlane, tmp_path: Path
) -> None:
    """One scheduler, two profiles: its extenders are asked for both."""
    config = tmp_path / "extender.yaml"
    config.write_text(
        "apiVersion: leeway.scheduling/v1alpha1\nkind: ExtenderConfiguration\n"
        f"profiles: [{{schedulerName: {MIXED}}}]\n",
        encoding="utf-8",
    )
    leeway = plane.new_leeway("leeway-profiles", f"--config={config}")

    def second_profile(config: JSON) -> None:
        config["profiles"].append({"schedulerName": IN_TREE})

    scheduler = plane.new_scheduler(MIXED, second_profile, url=leeway.url)
    broken = {PREFIX + "tolerations": "not a list"}
    await cluster.add(node("spot", taint(SLA, "950")), node("free"))

    async with plane.beside(leeway, scheduler):
        ours = await cluster.refused(pod("ours", annotations=broken, scheduler=MIXED))
        theirs = await cluster.run(pod("theirs", annotations=broken, scheduler=IN_TREE))
        above = toleration(SLA, "Gt", "900")
        on_spot = required([requirement("kubernetes.io/hostname", "In", "spot")])
        in_tree = await cluster.refused(
            pod("in-tree", above, native_affinity=on_spot, scheduler=IN_TREE)
        )
        extended = await cluster.run(
            pod("extended", above, native_affinity=on_spot, scheduler=MIXED)
        )

    assert "2 pod annotation scheduling.leeway/tolerations is invalid" in ours
    assert theirs == "free"
    assert "1 node(s) had untolerated taint" in in_tree
    assert extended == "spot"


async def test_pods_of_another_scheduler_are_not_even_asked_about(cluster: Cluster) -> None:
    await cluster.add(node("free"))
    await cluster.create(pod("foreign", scheduler="default-scheduler"))
    await cluster.run(pod("ours"))
    await asyncio.sleep(0.5)

    foreign = await cluster.pod("foreign")

    assert foreign is not None
    assert "nodeName" not in foreign["spec"]
    assert "conditions" not in foreign["status"]
    assert f"{cluster.namespace}/foreign" not in cluster.plane.leeway.tail()


async def test_todays_api_servers_refuse_thresholds_in_the_spec(cluster: Cluster) -> None:
    """Why the annotation exists."""
    above = toleration(SLA, "Gt", "900", "NoSchedule")

    with pytest.raises(ApiServerError) as caught:
        await cluster.create(pod("native", native=[above]))

    assert caught.value.status == 422
    assert "spec.tolerations[0].operator: Unsupported value" in str(caught.value)


@pytest.fixture
async def native_cluster(
    new_plane: Callable[..., ControlPlane], tmp_path: Path
) -> AsyncIterator[Cluster]:
    """A control plane whose API server knows Gt and Lt."""
    if binaries.minor() < 35:
        pytest.skip(f"Kubernetes {binaries.version()} has no gate {COMPARISON}")
    control_plane = new_plane(tmp_path, gates={COMPARISON: True})
    try:
        await control_plane.start()
        async with control_plane.connected() as admin:
            yield Cluster(admin, control_plane, "default")
    finally:
        await control_plane.stop()


async def test_thresholds_in_the_spec_work_where_the_api_server_lets_them_through(
    native_cluster: Cluster,
) -> None:
    cluster = native_cluster
    await cluster.add(
        node("spot-950", taint(SLA, "950")),
        node("spot-800", taint(SLA, "800")),
        node("reclaimed", taint(SLA, "700", "NoExecute")),
    )
    above = [toleration(SLA, "Gt", "900")]
    below = [toleration(SLA, "Lt", "750", "NoExecute")]
    far_above = [toleration(SLA, "Gt", "2000")]

    for mode in (EXTENDED, WHOLE_NODES):
        why = await cluster.refused(pod(f"none-{mode}", native=far_above, scheduler=mode))

        assert await cluster.run(pod(f"above-{mode}", native=above, scheduler=mode)) == "spot-950"
        assert await cluster.run(pod(f"below-{mode}", native=below, scheduler=mode)) == "reclaimed"
        assert "1 node(s) had untolerated taint {node.example.com/sla: 950}" in why

    await asyncio.sleep(1)  # an eviction comes 16 to 35 ms after the binding

    assert await cluster.pod(f"below-{EXTENDED}") is not None
    assert await cluster.pod(f"below-{WHOLE_NODES}") is not None
