"""Stories of CEL tolerations: prefixes, kernel versions, racks, and what cannot be evaluated."""

from tests.builders import JSON, taint
from tests.e2e.cluster import Cluster
from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import GATED, node, pod

KERNEL = "node.example.com/kernel-version"
NEWER_KERNEL = f"taint.key == '{KERNEL}' && semver(taint.value).isGreaterThan(semver('5.15.0'))"


def expression(text: str) -> JSON:
    return {"expression": text}


async def test_one_toleration_covers_every_environment_of_a_team(
    cluster: Cluster, scheduler: str
) -> None:
    """The first story of the proposal: keys share a prefix, and nobody lists them all."""
    await cluster.add(
        node("dev", taint("env.example.com/dev", "true")),
        node("staging", taint("env.example.com/staging", "true")),
        node("gpu", taint("gpu.example.com/a100", "true")),
    )
    anywhere = expression("taint.key.startsWith('env.example.com/')")

    pods = [pod(f"web-{i}", anywhere, scheduler=scheduler) for i in range(6)]
    nodes = {await cluster.run(each) for each in pods}

    assert nodes <= {"dev", "staging"}


async def test_an_environment_outside_of_the_prefix_is_refused(cluster: Cluster) -> None:
    await cluster.add(node("gpu", taint("gpu.example.com/a100", "true")))
    anywhere = expression("taint.key.startsWith('env.example.com/')")

    why = await cluster.refused(pod("web", anywhere))

    assert "1 node(s) had untolerated taint {gpu.example.com/a100: true}" in why


async def test_a_kernel_must_be_newer_than_a_version(cluster: Cluster, scheduler: str) -> None:
    """The second story; 5.15.0 itself is not newer, and 5.15.0-91-generic is before it."""
    await cluster.add(
        node("same", taint(KERNEL, "5.15.0")),
        node("generic", taint(KERNEL, "5.15.0-91-generic")),
    )
    why = await cluster.refused(pod("ebpf", expression(NEWER_KERNEL), scheduler=scheduler))

    assert f"node(s) had untolerated taint {{{KERNEL}: 5.15.0}}" in why

    await cluster.taint("generic", taint(KERNEL, "6.8.0"))

    assert await cluster.placed("ebpf") == "generic"


async def test_racks_are_told_by_a_pattern(cluster: Cluster, scheduler: str) -> None:
    """The third story."""
    await cluster.add(
        node("here", taint("zone-a1-rack-03", "true")),
        node("there", taint("zone-b1-rack-03", "true")),
    )
    racks = expression("taint.key.matches('^zone-a[12]-rack-[0-9]+$')")

    assert await cluster.run(pod("racked", racks, scheduler=scheduler)) == "here"


async def test_an_expression_that_fails_for_a_taint_does_not_tolerate_it(
    cluster: Cluster, scheduler: str
) -> None:
    """RHEL's kernel version is no semantic version: semver() ends in an error, which is counted."""
    await cluster.add(node("rhel", taint(KERNEL, "5.14.0-427.el9_4.x86_64")))

    why = await cluster.refused(pod("ebpf", expression(NEWER_KERNEL), scheduler=scheduler))
    metrics = await cluster.ops("/metrics")

    assert f"node(s) had untolerated taint {{{KERNEL}: 5.14.0-427.el9_4.x86_64}}" in why
    assert 'leeway_value_parse_failures_total{kind="cel",source="taint"}' in metrics

    await cluster.taint("rhel", taint(KERNEL, "6.12.0"))

    assert await cluster.placed("ebpf") == "rhel"


async def test_an_expression_that_does_not_compile_tolerates_nothing(cluster: Cluster) -> None:
    await cluster.add(node("dev", taint("env.example.com/dev", "true")))

    why = await cluster.refused(pod("typo", expression("taint.kye == 'env.example.com/dev'")))

    assert "1 node(s) had untolerated taint {env.example.com/dev: true}" in why


async def test_a_soft_taint_is_tolerated_by_an_expression_too(
    cluster: Cluster, scheduler: str
) -> None:
    await cluster.add(
        *(node(f"old-{i}", taint(KERNEL, "5.4.0", "PreferNoSchedule")) for i in range(3)),
        node("new", taint(KERNEL, "6.8.0", "PreferNoSchedule")),
    )

    assert await cluster.run(pod("ebpf", expression(NEWER_KERNEL), scheduler=scheduler)) == "new"


async def test_with_the_gate_off_an_expression_matches_nothing(
    cluster: Cluster, plane: ControlPlane
) -> None:
    leeway = plane.new_leeway("leeway-without-cel", "--feature-gates=TaintTolerationCEL=false")
    gated = plane.new_scheduler(GATED, url=leeway.url)
    async with plane.beside(leeway, gated):
        await cluster.add(node("dev", taint("env.example.com/dev", "true")))
        everything = expression("true")

        why = await cluster.refused(pod("gated", everything, scheduler=GATED))

        assert "1 node(s) had untolerated taint {env.example.com/dev: true}" in why
        assert await cluster.run(pod("open", everything)) == "dev"
