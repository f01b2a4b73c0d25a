"""Stories of volumes: a kernel that is new enough for a volume, and a claim that is bound late."""

import json
from collections.abc import AsyncIterator

import pytest

from tests.builders import JSON, PREFIX, requirement
from tests.e2e.cluster import Cluster
from tests.e2e.objects import node, pod

KERNEL = "node.example.com/kernel-version"
VOLUMES = "/api/v1/persistentvolumes"


@pytest.fixture
async def claims(cluster: Cluster) -> AsyncIterator[str]:
    """Where claims are; what a story leaves behind is removed."""
    path = f"/api/v1/namespaces/{cluster.namespace}/persistentvolumeclaims"
    yield path
    await cluster.clear()
    await cluster.api.delete(path)
    await cluster.api.delete(VOLUMES)


def newer_than(version: str) -> JSON:
    term = {"matchExpressions": [requirement(KERNEL, "SemverGt", version)]}
    return {"required": {"nodeSelectorTerms": [term]}}


def volume(cluster: Cluster, name: str, claim: str, annotation: JSON) -> JSON:
    """A volume for one claim, which only some kernels can use."""
    return {
        "metadata": {
            "name": f"{cluster.namespace}-{name}",
            "annotations": {PREFIX + "node-affinity": json.dumps(annotation)},
        },
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/data"},
            "storageClassName": "",
            "claimRef": {"namespace": cluster.namespace, "name": claim},
        },
    }


def claim(name: str) -> JSON:
    return {
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


def using(made: JSON, *claims: str) -> JSON:
    made["spec"]["volumes"] = [
        {"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims
    ]
    return made


async def test_a_volume_needs_a_kernel_that_can_use_it(
    cluster: Cluster, claims: str, scheduler: str
) -> None:
    """KEP-5721's fourth story."""
    await cluster.add(
        node("old", labels={KERNEL: "5.4.0"}),
        node("new", labels={KERNEL: "5.15.0"}),
        node("unlabelled"),
    )
    await cluster.api.create(VOLUMES, volume(cluster, "disk", "data", newer_than("5.10.0")))
    await cluster.api.create(claims, claim("data"))

    placed = await cluster.run(using(pod("db", scheduler=scheduler), "data"))

    assert placed == "new"


async def test_nodes_that_cannot_use_a_volume_are_counted_in_the_event(
    cluster: Cluster, claims: str
) -> None:
    await cluster.add(node("old", labels={KERNEL: "5.4.0"}), node("unlabelled"))
    await cluster.api.create(VOLUMES, volume(cluster, "disk", "data", newer_than("5.10.0")))
    await cluster.api.create(claims, claim("data"))

    why = await cluster.refused(using(pod("db"), "data"))

    # Until the claim is bound kube-scheduler itself refuses, for another reason.
    if "unbound immediate" not in why:
        assert "2 node(s) didn't match PersistentVolume's node affinity" in why

    await cluster.label("old", **{KERNEL: "6.1.0"})

    assert await cluster.placed("db") == "old"


async def test_a_claim_that_is_bound_later_is_seen(
    cluster: Cluster, claims: str, scheduler: str
) -> None:
    await cluster.add(node("old", labels={KERNEL: "5.4.0"}), node("new", labels={KERNEL: "6.1.0"}))
    await cluster.api.create(claims, claim("data"))
    why = await cluster.refused(using(pod("db", scheduler=scheduler), "data"))

    assert "unbound immediate PersistentVolumeClaims" in why

    await cluster.api.create(VOLUMES, volume(cluster, "disk", "data", newer_than("5.10.0")))

    assert await cluster.placed("db") == "new"
