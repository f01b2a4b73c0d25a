"""Where `leeway explain` finds the workload of a pod: in files, or in a live cluster."""

import asyncio
from collections.abc import Mapping, Sequence

import msgspec

from extender.cli import sources
from extender.cluster import list_once, manifests
from extender.cluster.api import ApiServer
from extender.errors import ApiError
from extender.model.documents import Plain
from extender.review.explain import templates
from extender.review.scan.objects import RESOURCES


def in_files(
    paths: Sequence[str], kind: str, namespace: str, name: str
) -> Mapping[str, Plain] | None:
    """The object in manifest files, if it is there."""
    if kind not in templates.TEMPLATES:
        return None
    for path in paths:
        for _, _, item in manifests.items(path, {kind}, sources.say_nothing):
            meta = item.get("metadata")
            if isinstance(meta, dict) and (meta.get("namespace"), meta.get("name")) == (
                namespace,
                name,
            ):
                return item
    return None


def in_cluster(
    server: ApiServer, kind: str, namespace: str, name: str
) -> Mapping[str, Plain] | None:
    """The object in a live cluster; None if the user may not read it."""
    resource = RESOURCES.get(kind)
    if resource is None:
        return None
    try:
        body = asyncio.run(list_once.one(server, resource.path, namespace, name))
        found: Mapping[str, Plain] = msgspec.json.decode(body)
    except (ApiError, msgspec.DecodeError):
        return None
    return found
