"""Every story of deploy/examples/stories on a real scheduler: its pods land as its test says."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from extender.review.cases import reading
from extender.review.cases.schema import Case, PodSource, Source
from tests.builders import JSON
from tests.e2e.api import eventually
from tests.e2e.cluster import PATIENCE, Cluster
from tests.e2e.controlplane import ROOT
from tests.e2e.objects import node

STORIES = sorted(path.parent for path in ROOT.glob("deploy/examples/stories/*/test.yaml"))
BOUND = "pv.kubernetes.io/bind-completed"
VOLUMES = "/api/v1/persistentvolumes"


def test_there_are_stories_to_run() -> None:
    assert len(STORIES) == 13


@pytest.fixture
async def volumes(cluster: Cluster) -> AsyncIterator[None]:
    """What a story leaves behind is removed."""
    yield
    await cluster.clear()
    await cluster.api.delete(_claims(cluster))
    await cluster.api.delete(VOLUMES)


@pytest.mark.usefixtures("volumes")
@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
async def test_a_story_goes_as_its_test_says(cluster: Cluster, story: Path) -> None:
    test, problems = reading.read(yaml.safe_load((story / "test.yaml").read_text("utf-8")))
    # Leeway runs here with every gate on; what a gate changes is told elsewhere.
    cases = [case for case in test.cases if not case.configuration]

    assert (problems, cases != []) == ([], True)

    for case in cases:
        await prepare(cluster, case, story)
        manifest = chosen(case.pod, story)
        if case.expected.passes == ():
            await stays_pending(cluster, case, manifest)
        else:
            await lands(cluster, case, manifest)


async def prepare(cluster: Cluster, case: Case, story: Path) -> None:
    """The cluster of a case, and nothing of the case before."""
    objects = [each for source in case.objects for each in loaded(source, story)]
    nodes = [as_ready(each) for each in objects if each["kind"] == "Node"]
    names = {each["metadata"]["name"] for each in nodes}
    await cluster.clear()
    if {each["metadata"]["name"] for each in (await cluster.api.get("/api/v1/nodes"))["items"]} != (
        names
    ):
        await cluster.clean()
        await cluster.add(*nodes)
    pods = [each for each in objects if each["kind"] == "Pod"]
    await cluster.create(*map(as_sent, pods))
    for each in objects:
        if each["kind"] == "PersistentVolume":
            each["spec"]["claimRef"]["namespace"] = cluster.namespace
            await cluster.api.create(VOLUMES, each)
        elif each["kind"] == "PersistentVolumeClaim":
            # The controller binds it: a claim that says so itself has lost its volume.
            del each["metadata"]["annotations"][BOUND]
            await cluster.api.create(_claims(cluster), each)

    async def seen() -> bool | None:
        counted = await cluster.counted("leeway_cache_objects")
        return True if counted.get('resource="pods"', -1) == len(pods) else None

    assert await eventually(seen, PATIENCE), "Leeway does not know the pods that are placed"
    await asyncio.sleep(0.1)


async def lands(cluster: Cluster, case: Case, manifest: JSON) -> None:
    """Every pod is on a node that passes, or on the one with the best score."""
    best = max(case.expected.scores.values(), default=0)
    allowed = case.expected.passes or [
        name for name, score in case.expected.scores.items() if score == best
    ]
    if manifest["kind"] == "Deployment":
        await cluster.deploy(as_sent(manifest))
        placed = await cluster.placements(
            manifest["spec"]["replicas"], app=manifest["metadata"]["name"]
        )
        nodes = set(placed.values())
    else:
        nodes = {await cluster.run(as_sent(manifest))}

    assert nodes <= set(allowed), case.name


async def stays_pending(cluster: Cluster, case: Case, manifest: JSON) -> None:
    """The event has every reason that the case names."""
    why = await cluster.refused(as_sent(manifest))

    for reason in case.expected.refused.values():
        assert reason in why, case.name


def loaded(source: Source, story: Path) -> Iterator[JSON]:
    """The objects of a file, or an object itself."""
    if not source.file:
        yield dict(source.item)
        return
    yield from yaml.safe_load_all((story / source.file).read_text("utf-8"))


def chosen(source: PodSource, story: Path) -> JSON:
    """The pod or workload of a case."""
    name = source.name.rpartition("/")[2]
    found = [each for each in loaded(source, story) if name in ("", each["metadata"]["name"])]
    assert len(found) == 1, source
    return found[0]


def as_ready(manifest: JSON) -> JSON:
    """A node of a manifest with room, as its kubelet would have it."""
    spec: dict[str, Any] = manifest.get("spec") or {}
    return node(
        manifest["metadata"]["name"],
        *spec.get("taints", ()),
        labels=manifest["metadata"].get("labels", {}),
    )


def as_sent(manifest: JSON) -> JSON:
    """A pod or workload that is gone at once when it is deleted: nobody runs it."""
    spec = manifest["spec"]
    template = spec["template"]["spec"] if "template" in spec else spec
    template["terminationGracePeriodSeconds"] = 0
    return manifest


def _claims(cluster: Cluster) -> str:
    return f"/api/v1/namespaces/{cluster.namespace}/persistentvolumeclaims"
