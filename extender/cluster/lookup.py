"""Looks up what a person names: an object, the newest pod of a workload, and similar names."""

import contextlib
from collections.abc import AsyncGenerator, Iterable
from typing import Final

from msgspec import Struct, field

from extender.cluster import kinds, listing
from extender.cluster.api import Connection
from extender.cluster.kinds import Kind
from extender.cluster.resources import Resource, decode, key_of
from extender.errors import ApiError, GarbageError
from extender.model.core_v1 import LabelSelector
from extender.model.nulls import Decoder

NOT_FOUND: Final = 404
_HASH: Final = "pod-template-hash"


class _Owner(Struct, frozen=True):
    kind: str = ""
    name: str = ""
    controller: bool = False


class _Meta(Struct, frozen=True, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""
    creation_timestamp: str = ""
    labels: dict[str, str] | None = None
    owner_references: tuple[_Owner, ...] | None = None


class _Spec(Struct, frozen=True, rename="camel"):
    node_name: str = ""


class Brief(Struct, frozen=True):
    """The little of an object that says whose it is."""

    metadata: _Meta = field(default_factory=_Meta)
    spec: _Spec = field(default_factory=_Spec)


class _WorkloadSpec(Struct, frozen=True):
    selector: LabelSelector | None = None


class _Workload(Struct, frozen=True):
    spec: _WorkloadSpec = field(default_factory=_WorkloadSpec)


_WORKLOAD: Final[Decoder[_Workload]] = Decoder(_Workload)


async def is_there(connection: Connection, kind: Kind, namespace: str, name: str) -> bool:
    """Whether there is an object of this name; also if we may not look."""
    try:
        await connection.get(kind.path(namespace, name), {})
    except ApiError as exc:
        return exc.status != NOT_FOUND
    return True


async def names(connection: Connection, kind: Kind, namespace: str = "") -> list[str]:
    """The names of one page of objects, which are a help only; none if we may not list them."""
    with contextlib.suppress(ApiError, GarbageError):
        async with contextlib.aclosing(_pages(connection, kind, namespace)) as pages:
            return [each.metadata.name for each in await anext(pages)]
    return []


async def namespaces_of(connection: Connection, kind: Kind, name: str) -> list[str]:
    """The namespaces that have an object of this name; none if we may not look."""
    with contextlib.suppress(ApiError, GarbageError):
        found = await _list(connection, kind, fieldSelector=f"metadata.name={name}")
        return [each.metadata.namespace for each in found if each.metadata.name == name]
    return []


async def selected_pod(connection: Connection, namespace: str, selector: str) -> str | None:
    """The name of the newest pod that a label selector selects; None if it selects none."""
    found = newest(await _list(connection, kinds.POD, namespace, labelSelector=selector))
    return found.metadata.name if found else None


async def pod_of(
    connection: Connection, kind: Kind, namespace: str, name: str, body: bytes
) -> str | None:
    """The name of the newest pod of a workload; None if it has none."""
    if kind.name == "CronJob":
        jobs = await _list(connection, kinds.JOB, namespace)
        job = newest(each for each in jobs if _is_owned(each, kind.name, name))
        if job is None:
            return None
        kind, name = kinds.JOB, job.metadata.name
        selector = f"job-name={name}"
    else:
        selector = query(decode(_WORKLOAD, body).spec.selector)
    pods = await _list(connection, kinds.POD, namespace, labelSelector=selector)
    found = newest(each for each in pods if belongs(each, kind.name, name))
    return found.metadata.name if found else None


def belongs(pod: Brief, kind: str, name: str) -> bool:
    """Whether a pod was made by a workload; by a Deployment, through a ReplicaSet of it."""
    if kind != "Deployment":
        return _is_owned(pod, kind, name)
    made_from = (pod.metadata.labels or {}).get(_HASH, "")
    return _is_owned(pod, "ReplicaSet", f"{name}-{made_from}")


def newest(found: Iterable[Brief]) -> Brief | None:
    """The newest of some objects; of pods of the same second, one that waits for a node."""
    return max(
        found,
        key=lambda each: (
            each.metadata.creation_timestamp,
            not each.spec.node_name,
            each.metadata.name,
        ),
        default=None,
    )


def query(selector: LabelSelector | None) -> str:
    """A label selector as the API server takes it in a query."""
    if selector is None:
        return ""
    clauses = [f"{key}={value}" for key, value in (selector.match_labels or {}).items()]
    for each in selector.match_expressions or ():
        match each.operator:
            case "Exists":
                clauses.append(each.key)
            case "DoesNotExist":
                clauses.append(f"!{each.key}")
            case operator:
                word = "notin" if operator == "NotIn" else "in"
                clauses.append(f"{each.key} {word} ({','.join(each.values or ())})")
    return ",".join(clauses)


def _is_owned(each: Brief, kind: str, name: str) -> bool:
    owners = each.metadata.owner_references or ()
    return any(owner.controller and (owner.kind, owner.name) == (kind, name) for owner in owners)


async def _list(
    connection: Connection, kind: Kind, namespace: str = "", **params: str
) -> list[Brief]:
    found = {}
    async for page in _pages(connection, kind, namespace, **params):
        # All pages may come again, if the server has dropped the list's version.
        found.update({key_of(each.metadata): each for each in page})
    return list(found.values())


async def _pages(
    connection: Connection, kind: Kind, namespace: str, **params: str
) -> AsyncGenerator[list[Brief], None]:
    resource = Resource(kind.plural, kind.path(namespace), Brief, params=params)
    async for _, page in listing.pages(connection, resource):
        yield page.items or []
