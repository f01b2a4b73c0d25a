"""The clusters that `leeway diff` compares, from files or from an API server."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from extender.cli import sources
from extender.cli.progress import Progress
from extender.cluster import listing, manifests, resources
from extender.cluster.api import ApiServer
from extender.cluster.cache import ClusterCache
from extender.cluster.resources import Object, Resource, key_of
from extender.errors import ApiForbiddenError, NotFoundError
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import Node
from extender.model.documents import Plain
from extender.review.diff import changes
from extender.review.diff.changes import TaintChange
from extender.review.diff.population import Population
from extender.review.scan import objects

_NEEDED: Final = frozenset({resources.NODES.name, resources.PODS.name})


@dataclass(frozen=True, slots=True)
class Observation:
    """The objects of a cluster, and the pods among them by workload."""

    objects: dict[tuple[str, str], Object] = field(default_factory=dict)
    population: Population = field(default_factory=Population)

    def take(self, kept: tuple[str, Resource[Any]] | None, body: bytes) -> None:
        """Keep the objects of a page, if they belong to what plugins see."""
        if kept is not None:
            kind, resource = kept
            for obj in resource.decode_page(body).items or ():
                self.objects[kind, key_of(obj.metadata)] = obj

    def snapshot(self) -> Snapshot:
        """The cluster as plugins see it."""
        cache = ClusterCache()
        manifests.fill(cache, ((kind, key, obj) for (kind, key), obj in self.objects.items()))
        # Without any claims in the input, do not report claims as missing.
        return cache.snapshot(volumes=len(cache.claims) > 0)

    def with_taints(self, wanted: Sequence[TaintChange]) -> "Observation":
        """The same cluster with other taints; NotFoundError if a change is about no node."""
        nodes = {key: obj for key, obj in self.objects.items() if isinstance(obj, Node)}
        for change in wanted:
            if not any(change.concerns(name) for _, name in nodes):
                raise NotFoundError(f"--set-taint: there is no node {change.node} in the cluster")
        changed = dict(zip(nodes, changes.apply(nodes.values(), wanted), strict=True))
        return replace(self, objects=self.objects | changed)


def read(paths: Sequence[str], progress: Progress) -> Observation:
    """A cluster from files; the last of several objects with one name wins."""
    found = Observation()
    kinds = manifests.KINDS.keys() | objects.SHAPES.keys()
    progress.begin("reading files")
    for path in paths:
        for file, kind, item in manifests.items(path, kinds, sources.tell):
            if kind == "Pod":
                item = _identified(item)
            if kind in manifests.KINDS:
                key, obj = manifests.decoded_for_cache(file, kind, item)
                found.objects[kind, key] = obj
            if kind in objects.SHAPES:
                shape = objects.SHAPES[kind]
                found.population.add(kind, manifests.decoded(file, kind, item, shape))
            progress.advance()
    return found


def _identified(item: dict[str, Plain]) -> dict[str, Plain]:
    """A pod with a UID: a manifest has none, and a running pod must not count against itself."""
    meta = item.get("metadata")
    if not isinstance(meta, dict) or meta.get("uid"):
        return item
    return {**item, "metadata": {**meta, "uid": f"{meta.get('namespace')}/{meta.get('name')}"}}


async def listed(server: ApiServer, progress: Progress) -> Observation:
    """A live cluster; what may not be listed is left out, unless it is nodes or pods."""
    found = Observation()
    kept = {
        resource.path: (kind, resource)
        for kind, (resource, _) in zip(manifests.KINDS, ClusterCache().stores(), strict=True)
    }
    seen = {
        resource.path: (kind, resource)
        for kind, resource in objects.RESOURCES.items()
        if objects.SHAPES[kind] is not objects.ScannedVolume
    }
    async with server.connect() as connection:
        for path in kept | seen:
            resource: Resource[Any] = seen[path][1] if path in seen else kept[path][1]
            progress.begin(resource.name)
            try:
                async for body, page in listing.pages(connection, resource):
                    items = page.items or []
                    progress.advance(len(items), page.metadata.remaining_item_count)
                    found.take(kept.get(path), body)
                    for item in items if path in seen else ():
                        found.population.add(seen[path][0], item)
            except ApiForbiddenError:
                if resource.name in _NEEDED:
                    raise
    return found
