"""Stories of semantic versions: the network plugin, the kubelet, the container runtime."""

from tests.builders import preferred, required, requirement, taint, toleration
from tests.e2e.cluster import Cluster
from tests.e2e.objects import deployment, node, pod

CNI = "node.example.com/cni-version"
KUBELET = "node.example.com/kubelet-version"
RUNTIME = "node.example.com/containerd-version"


async def test_work_that_needs_a_newer_network_plugin_waits_for_the_upgrade(
    cluster: Cluster, scheduler: str
) -> None:
    """A rolling upgrade: nodes carry the version of their CNI plugin as a taint."""
    await cluster.add(node("old", taint(CNI, "1.9.3")), node("older", taint(CNI, "1.8.0")))
    needs = toleration(CNI, "SemverGt", "1.10.0", "NoSchedule")
    why = await cluster.refused(pod("mesh", needs, scheduler=scheduler))

    assert f"1 node(s) had untolerated taint {{{CNI}: 1.9.3}}" in why

    await cluster.taint("old", taint(CNI, "v1.10.1"))

    assert await cluster.placed("mesh") == "old"


async def test_work_of_the_past_keeps_to_nodes_before_a_version(
    cluster: Cluster, scheduler: str
) -> None:
    await cluster.add(node("new", taint(CNI, "2.0.0")), node("rc", taint(CNI, "2.0.0-rc.1")))

    legacy = pod("legacy", toleration(CNI, "SemverLt", "2.0.0"), scheduler=scheduler)

    assert await cluster.run(legacy) == "rc"


async def test_one_version_exactly_however_it_is_written(cluster: Cluster, scheduler: str) -> None:
    await cluster.add(node("a", taint(CNI, "1.4.1")), node("b", taint(CNI, "v1.4")))

    exact = pod("exact", toleration(CNI, "SemverEq", "1.4.0"), scheduler=scheduler)

    assert await cluster.run(exact) == "b"


async def test_a_version_that_is_none_is_not_tolerated(cluster: Cluster) -> None:
    await cluster.add(node("odd", taint(CNI, "latest")))

    why = await cluster.refused(pod("mesh", toleration(CNI, "SemverGt", "0.0.1")))

    assert f"1 node(s) had untolerated taint {{{CNI}: latest}}" in why


async def test_a_kubelet_must_be_new_enough(cluster: Cluster, scheduler: str) -> None:
    """Versions are compared by number: 1.9 is before 1.33, and no label is no version."""
    await cluster.add(
        node("ancient", labels={KUBELET: "v1.9.11"}),
        node("recent", labels={KUBELET: "v1.33.2"}),
        node("unlabelled"),
    )
    new_enough = required([requirement(KUBELET, "SemverGt", "1.32.0")])

    await cluster.deploy(deployment("sidecars", 5, affinity=new_enough, scheduler=scheduler))

    assert set((await cluster.placements(5, app="sidecars")).values()) == {"recent"}


async def test_a_kubelet_that_is_too_old_is_named_in_the_event(cluster: Cluster) -> None:
    await cluster.add(node("ancient", labels={KUBELET: "v1.9.11"}))
    new_enough = required([requirement(KUBELET, "SemverGt", "1.32.0")])

    why = await cluster.refused(pod("modern", affinity=new_enough))

    assert "1 node(s) didn't match Pod's node affinity/selector" in why
    assert why in await cluster.event("modern", "FailedScheduling")


async def test_a_runtime_between_two_versions(cluster: Cluster, scheduler: str) -> None:
    await cluster.add(
        *(node(f"n{i}", labels={RUNTIME: to}) for i, to in enumerate(["1.7.0", "2.0.4", "2.1.0"]))
    )
    between = required(
        [requirement(RUNTIME, "SemverGt", "1.7.27"), requirement(RUNTIME, "SemverLt", "2.1.0")]
    )

    assert await cluster.run(pod("picky", affinity=between, scheduler=scheduler)) == "n1"


async def test_annotated_affinity_narrows_the_native_one(cluster: Cluster, scheduler: str) -> None:
    await cluster.add(
        node("east-old", labels={"zone": "east", RUNTIME: "1.7.0"}),
        node("east-new", labels={"zone": "east", RUNTIME: "2.1.4"}),
        node("west-new", labels={"zone": "west", RUNTIME: "2.1.4"}),
    )
    both = pod(
        "both",
        affinity=required([requirement(RUNTIME, "SemverGt", "2.0.0")]),
        native_affinity=required([requirement("zone", "In", "east")]),
        scheduler=scheduler,
    )

    assert await cluster.run(both) == "east-new"


async def test_a_newer_runtime_is_preferred_and_an_older_one_will_do(
    cluster: Cluster, scheduler: str
) -> None:
    await cluster.add(
        *(node(f"old-{i}", labels={RUNTIME: "1.7.0"}) for i in range(3)),
        node("new", labels={RUNTIME: "2.1.4"}, cpu="1"),
    )
    newer = preferred((100, [requirement(RUNTIME, "SemverGt", "2.0.0")]))

    first = await cluster.run(pod("first", affinity=newer, cpu="800m", scheduler=scheduler))
    second = await cluster.run(pod("second", affinity=newer, cpu="800m", scheduler=scheduler))

    assert first == "new"
    assert second.startswith("old-")


async def test_preferences_of_annotation_and_spec_add_up(cluster: Cluster, scheduler: str) -> None:
    await cluster.add(
        node("zone-only", labels={"zone": "east"}),
        node("both", labels={"zone": "east", RUNTIME: "2.1.4"}),
        node("runtime-only", labels={RUNTIME: "2.1.4"}),
    )
    wishful = pod(
        "wishful",
        affinity=preferred((50, [requirement(RUNTIME, "SemverGt", "2.0.0")])),
        native_affinity=preferred((50, [requirement("zone", "In", "east")])),
        scheduler=scheduler,
    )

    assert await cluster.run(wishful) == "both"
