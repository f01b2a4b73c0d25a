"""Fixes that `leeway explain` tells, given to a real API server: it refuses none."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

from extender.review.explain import owners
from extender.review.explain.explaining import explain
from extender.review.explain.schema import Fix
from extender.review.explain.templates import Subject, subjects
from tests.builders import JSON
from tests.e2e.api import ApiServerError
from tests.e2e.cluster import Cluster
from tests.e2e.objects import pod as runnable
from tests.review.explain import worlds
from tests.review.explain.asking import an_inquiry
from tests.review.explain.worlds import World

PATCHES: Final = 200
AT_ONCE: Final = 8
NOBODY: Final = "nobody"  # no scheduler: the pods keep waiting
TRIED: Final = {"dryRun": "All"}  # validated and admitted, but not kept


@dataclass
class Tally:
    """What was applied, and what the API server refused."""

    applied: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)


def manifest(world: World, name: str) -> JSON:
    """The pod of a world with what the API server wants, too."""
    made = runnable(name, scheduler=NOBODY)
    made["metadata"]["annotations"] = world.pod["metadata"]["annotations"]
    made["spec"] |= world.pod["spec"]
    return made


def told(subject: Subject, world: World) -> list[Fix]:
    inquiry = replace(an_inquiry(subject.pod, *world.nodes), subject=subject)
    explanation = explain(inquiry)
    fixes = (explanation.fix, *(group.fix for group in explanation.groups))
    return [fix for fix in fixes if fix is not None and fix.patch is not None]


class Applying:
    """Applies the fixes of one world after the other."""

    def __init__(self, cluster: Cluster, tally: Tally) -> None:
        self._api, self._tally = cluster.api, tally
        self._pods = cluster.pods_path
        self._deployments = f"/apis/apps/v1/namespaces/{cluster.namespace}/deployments"

    async def apply(self, number: int) -> None:
        """A pod of a manifest, one that lives, and one that lives and has an owner, in turn."""
        world = worlds.a_world(Random(number))  # noqa: S311 - the same worlds in every run
        name = f"report-{number}"
        match number % 3:
            case 0:
                await self._new(world, name)
            case 1:
                await self._living(world, name, None)
            case _:
                await self._living(world, name, await self._deployed(world, name))

    async def _new(self, world: World, name: str) -> None:
        written = manifest(world, name)
        (subject,) = subjects("test", written)
        for fix in told(subject, world):
            patched = worlds.patched(written, fix.patch or {})
            await self._try("new pod", fix, self._api.create(self._pods, patched, **TRIED))

    async def _deployed(self, world: World, name: str) -> JSON:
        labels = {"app": name}
        template = manifest(world, name)
        meta = {"labels": labels, "annotations": template["metadata"]["annotations"]}
        spec = {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {"metadata": meta, "spec": template["spec"]},
        }
        return await self._api.create(self._deployments, {"metadata": {"name": name}, "spec": spec})

    async def _living(self, world: World, name: str, owner: JSON | None) -> None:
        written = manifest(world, name)
        written["spec"]["tolerations"] = [*written["spec"]["tolerations"], *worlds.SYSTEM]
        if owner is not None:
            reference = {"apiVersion": "apps/v1", "kind": "Deployment", "controller": True}
            meta = owner["metadata"]
            reference |= {"name": meta["name"], "uid": meta["uid"]}
            written["metadata"]["ownerReferences"] = [reference]
        live = await self._api.create(self._pods, written)
        (subject,) = subjects("test", {"kind": "Pod", **live})
        for fix in told(owners.found(subject, lambda *_: owner), world):
            assert fix.target is not None
            patch = fix.patch or {}
            if fix.target.kind == "Deployment":
                path = f"{self._deployments}/{fix.target.name}"
                await self._try("template", fix, self._api.patch(path, patch, **TRIED))
            elif fix.needs_new_pod:
                again = worlds.patched(manifest(world, f"{name}-again"), patch)
                await self._try("new pod", fix, self._api.create(self._pods, again, **TRIED))
            else:
                path = f"{self._pods}/{name}"
                await self._try("living pod", fix, self._api.patch(path, patch, **TRIED))

    async def _try(self, kind: str, fix: Fix, request: "asyncio.Future[JSON] | object") -> None:
        try:
            await request  # type: ignore[misc] # a coroutine of the API
            self._tally.applied[kind] += 1
        except ApiServerError as exc:
            self._tally.refused.append(f"{kind} {fix.patch}: {exc}")


async def test_the_api_server_refuses_no_fix(cluster: Cluster) -> None:
    tally = Tally()
    applying = Applying(cluster, tally)
    number = 0
    while sum(tally.applied.values()) < PATCHES:
        await asyncio.gather(*(applying.apply(each) for each in range(number, number + AT_ONCE)))
        number += AT_ONCE
        assert tally.refused == []

    assert min(tally.applied[kind] for kind in ("new pod", "living pod", "template")) > 0
