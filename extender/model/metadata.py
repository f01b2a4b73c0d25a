"""The metadata that objects with rules have in common."""

from msgspec import Struct


class RuledMeta(Struct, frozen=True, gc=False, rename="camel"):
    """Name, namespace and annotations of an object."""

    name: str = ""
    namespace: str = ""
    annotations: dict[str, str] | None = None
