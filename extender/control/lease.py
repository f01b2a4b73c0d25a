"""The Lease by which replicas agree on who leads, and the three requests that it takes.

Every write names the version that it replaces, so of two writers one is refused.
"""

import time
from collections.abc import Callable
from typing import Annotated, Final
from urllib.parse import quote

import msgspec
from msgspec import Meta, Struct

from extender.cluster.api import ApiServer
from extender.cluster.kept_connection import KeptConnection
from extender.errors import ApiError, GarbageError

_API_VERSION: Final = "coordination.k8s.io/v1"
_KIND: Final = "Lease"
_NOT_FOUND: Final = 404


class LeaseSpec(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """What a Lease says, in the API server's words; times are for people and are never compared."""

    holder_identity: str | None = None  # "" and None: nobody
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class _Metadata(Struct, frozen=True, gc=False, rename="camel"):
    # An update without a version would overwrite whatever there is.
    resource_version: Annotated[str, Meta(min_length=1)]


class _Lease(Struct, frozen=True, gc=False):
    metadata: _Metadata
    spec: LeaseSpec | None = None


class Lease(Struct, frozen=True):
    """One version of the Lease: what it says, and the metadata as it came."""

    spec: LeaseSpec
    metadata: dict[str, object]


class LeaseClient:
    """Reads and writes one Lease; every fault is an ApiError or a GarbageError."""

    def __init__(
        self,
        api: ApiServer,
        namespace: str,
        name: str,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connection = KeptConnection(api, clock=clock)
        self._metadata: dict[str, object] = {"name": name, "namespace": namespace}
        self._all = f"/apis/{_API_VERSION}/namespaces/{quote(namespace, safe='')}/leases"
        self._one = f"{self._all}/{quote(name, safe='')}"

    async def get(self) -> Lease | None:
        """The Lease as it is now, or None if there is none."""
        try:
            async with self._connection.use() as connection:
                return _decoded(await connection.get(self._one, {}))
        except ApiError as exc:
            if exc.status == _NOT_FOUND:
                return None
            raise

    async def create(self, spec: LeaseSpec) -> Lease:
        """Create the Lease; ApiError with status 409 if somebody else did."""
        async with self._connection.use() as connection:
            return _decoded(await connection.post(self._all, _body(self._metadata, spec)))

    async def update(self, lease: Lease, spec: LeaseSpec) -> Lease:
        """Replace this version of the Lease; ApiError with status 409 if it is not the newest."""
        async with self._connection.use() as connection:
            return _decoded(await connection.put(self._one, _body(lease.metadata, spec)))

    async def close(self) -> None:
        """Hang up."""
        await self._connection.close()


def _body(metadata: dict[str, object], spec: LeaseSpec) -> object:
    return {
        "apiVersion": _API_VERSION,
        "kind": _KIND,
        "metadata": metadata,
        "spec": msgspec.to_builtins(spec),
    }


def _decoded(body: bytes) -> Lease:
    """The Lease with all of its metadata, so that an update does not drop labels of others."""
    try:
        whole = msgspec.json.decode(body)
        lease = msgspec.convert(whole, _Lease)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise GarbageError(f"the Lease cannot be decoded: {exc}") from exc
    return Lease(lease.spec or LeaseSpec(), whole["metadata"])
