"""Devices and claims to them, as `resource.k8s.io` has them.

One shape for every served version: v1 and v1beta2 have a request under `exactly`, v1beta1 has its
fields in the request, and a device's under `basic`.
"""

from collections.abc import Iterator

from msgspec import Struct, field

from extender.model.core_v1 import Taint, Toleration
from extender.model.metadata import RuledMeta
from extender.model.positions import Path


class SubRequest(Struct, frozen=True, gc=False, rename="camel"):
    """What asks for devices and tolerates taints of them."""

    name: str = ""
    device_class_name: str = ""
    tolerations: tuple[Toleration, ...] | None = None


class DeviceRequest(SubRequest, frozen=True, gc=False, rename="camel"):
    """A request of a claim: exact, a list of alternatives, or v1beta1's flat one."""

    exactly: SubRequest | None = None
    first_available: tuple[SubRequest, ...] | None = None

    def parts(self) -> Iterator[tuple[Path, SubRequest]]:
        """Everything in the request that can have tolerations, with its path in it."""
        if self.exactly is not None:
            yield ("exactly",), self.exactly
        for index, each in enumerate(self.first_available or ()):
            yield ("firstAvailable", index), each
        if self.device_class_name:
            yield (), self


class DeviceRequests(Struct, frozen=True, gc=False):
    """The requests of a claim."""

    requests: tuple[DeviceRequest, ...] | None = None


class ClaimSpec(Struct, frozen=True, gc=False):
    """The spec of a claim."""

    devices: DeviceRequests | None = None

    def parts(self) -> Iterator[tuple[Path, SubRequest]]:
        """Everything that can have tolerations, with its path in the spec."""
        for index, request in enumerate((self.devices.requests if self.devices else None) or ()):
            for path, part in request.parts():
                yield ("devices", "requests", index, *path), part


class Claim(Struct, frozen=True, gc=False):
    """A ResourceClaim."""

    metadata: RuledMeta | None = None
    spec: ClaimSpec | None = None


class ClaimTemplateSpec(Struct, frozen=True, gc=False):
    """The metadata and the spec that claims of a template get."""

    metadata: RuledMeta | None = None
    spec: ClaimSpec | None = None


class ClaimTemplate(Struct, frozen=True, gc=False):
    """A ResourceClaimTemplate."""

    metadata: RuledMeta | None = None
    spec: ClaimTemplateSpec | None = None


class BasicDevice(Struct, frozen=True, gc=False):
    """The part of a v1beta1 device that has its taints."""

    taints: tuple[Taint, ...] | None = None


class Device(Struct, frozen=True, gc=False):
    """A device of a slice."""

    name: str = ""
    taints: tuple[Taint, ...] | None = None
    basic: BasicDevice | None = None

    def all_taints(self) -> tuple[Taint, ...]:
        """The taints, wherever the version has them."""
        return (self.taints or ()) + ((self.basic.taints if self.basic else None) or ())


class Pool(Struct, frozen=True, gc=False):
    """The pool of a slice; slices of an older generation count no more."""

    name: str = ""
    generation: int = 0


class SliceSpec(Struct, frozen=True, gc=False):
    """The spec of a slice."""

    driver: str = ""
    pool: Pool = field(default_factory=Pool)
    devices: tuple[Device, ...] | None = None


class SliceMeta(RuledMeta, frozen=True, gc=False, rename="camel"):
    """What a list of slices needs of their metadata."""

    resource_version: str = ""


class ResourceSlice(Struct, frozen=True, gc=False):
    """A ResourceSlice."""

    metadata: SliceMeta | None = None
    spec: SliceSpec = field(default_factory=SliceSpec)


class DeviceTaintSelector(Struct, frozen=True, gc=False):
    """Which devices a rule taints; what is not set selects all."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(Struct, frozen=True, gc=False, rename="camel"):
    """A taint, and the devices that it is put on; without a selector none."""

    device_selector: DeviceTaintSelector | None = None
    taint: Taint = field(default_factory=Taint)


class DeviceTaintRule(Struct, frozen=True, gc=False):
    """A DeviceTaintRule."""

    metadata: SliceMeta | None = None
    spec: DeviceTaintRuleSpec = field(default_factory=DeviceTaintRuleSpec)
