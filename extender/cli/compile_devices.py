"""The taints of devices that `leeway compile` compiles claims for."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import msgspec

from extender.cli import sources
from extender.cluster import manifests
from extender.cluster.api import Connection
from extender.config.schema import Config
from extender.errors import ApiError, ApiForbiddenError
from extender.model.core_v1 import Taint
from extender.model.nulls import Decoder
from extender.model.resource_v1 import DeviceTaintRule, ResourceSlice
from extender.native import devices

_NOT_FOUND: Final = 404
_SLICES: Final = ("v1", "v1beta2", "v1beta1")
_RULES: Final = ("v1", "v1beta2", "v1alpha3")

T = TypeVar("T")


class _Slices(msgspec.Struct, frozen=True):
    items: tuple[ResourceSlice, ...] | None = None


class _Rules(msgspec.Struct, frozen=True):
    items: tuple[DeviceTaintRule, ...] | None = None


def counted(config: Config, context: str | None) -> Mapping[Taint, int] | None:
    """On how many devices each taint is; None if the cluster of files has no devices."""
    if config.cluster_files:
        return _of_files(config.cluster_files)
    server = sources.api_server(config.kubeconfig, context)
    if server is None:
        return None

    async def listed() -> Mapping[Taint, int]:
        async with server.connect() as connection:
            return await of_cluster(connection)

    return asyncio.run(listed())


def _of_files(paths: Sequence[str]) -> Mapping[Taint, int] | None:
    slices: list[ResourceSlice] = []
    rules: list[DeviceTaintRule] = []
    for path in paths:
        for file, kind, item in manifests.items(
            path, {"ResourceSlice", "DeviceTaintRule"}, sources.say_nothing
        ):
            if kind == "ResourceSlice":
                slices.append(manifests.decoded(file, kind, item, ResourceSlice))
            else:
                rules.append(manifests.decoded(file, kind, item, DeviceTaintRule))
    return devices.counts(devices.devices(slices, rules)) if slices else None


async def of_cluster(connection: Connection) -> Mapping[Taint, int]:
    """The same for a live cluster."""
    slices = await _listed(connection, "resourceslices", _SLICES, Decoder[_Slices](_Slices))
    try:
        rules = await _listed(connection, "devicetaintrules", _RULES, Decoder[_Rules](_Rules))
    except ApiForbiddenError as exc:
        sources.tell(f"taints of DeviceTaintRules are left out: {exc.message}")
        rules = None
    return devices.counts(
        devices.devices(slices.items or () if slices else (), rules.items or () if rules else ())
    )


async def _listed(
    connection: Connection, resource: str, versions: Sequence[str], decoder: Decoder[T]
) -> T | None:
    """The list in the newest version that is served; None if none is."""
    for version in versions:
        try:
            return decoder.decode(
                await connection.get(f"/apis/resource.k8s.io/{version}/{resource}", {})
            )
        except ApiError as exc:
            if exc.status != _NOT_FOUND:
                raise
    return None
