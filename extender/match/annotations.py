"""Rules in annotations, for operators that today's API servers reject in the native fields.

Unlike a native field, an annotation is decoded strictly: an unknown field or a wrong type is
probably a misspelt rule, and a rule that cannot be read must refuse every node. The error text
is for the author of the pod, and short enough for an event.
"""

import functools
from collections.abc import Mapping
from typing import Final, TypeVar

import msgspec

from extender.errors import AnnotationError, DocumentError
from extender.match import shapes
from extender.match.shapes import Words
from extender.model import documents
from extender.model.core_v1 import (
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
    Toleration,
)
from extender.model.storage_v1 import VolumeNodeAffinity

TOLERATIONS: Final = "tolerations"
NODE_AFFINITY: Final = "node-affinity"
# On a claim: rules about the taints of devices.
DEVICE_TOLERATIONS: Final = "device-tolerations"
# Of compile mode: how long a bound pod may stay where no rule tolerates it, and Leeway's record of
# the keys for which that is written.
EVICTION_GRACE: Final = "eviction-grace-seconds"
GUARDED_KEYS: Final = "guarded-keys"
# What `leeway compile` has written into a manifest, so that it can write it again.
COMPILED: Final = "compiled"
# Behind the prefix.
NAMES: Final = frozenset({TOLERATIONS, NODE_AFFINITY, EVICTION_GRACE, GUARDED_KEYS, COMPILED})

_MAX_VALUES: Final = 20_000

T = TypeVar("T")


class StrictToleration(Toleration, frozen=True, gc=False, forbid_unknown_fields=True):
    """A toleration without unknown fields."""


class _Requirement(NodeSelectorRequirement, frozen=True, gc=False, forbid_unknown_fields=True):
    """A requirement without unknown fields."""


class _Term(NodeSelectorTerm, frozen=True, gc=False, forbid_unknown_fields=True):
    """A term without unknown fields."""

    match_expressions: tuple[_Requirement, ...] | None = None
    match_fields: tuple[_Requirement, ...] | None = None


class _Selector(NodeSelector, frozen=True, gc=False, forbid_unknown_fields=True):
    """A selector without unknown fields."""

    node_selector_terms: tuple[_Term, ...] | None = None


class _Preferred(PreferredSchedulingTerm, frozen=True, gc=False, forbid_unknown_fields=True):
    """A preferred term without unknown fields."""

    preference: _Term | None = None


class StrictNodeAffinity(NodeAffinity, frozen=True, gc=False, forbid_unknown_fields=True):
    """A node affinity without unknown fields."""

    required: _Selector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[_Preferred, ...] | None = msgspec.field(
        default=None, name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class StrictVolumeAffinity(VolumeNodeAffinity, frozen=True, gc=False, forbid_unknown_fields=True):
    """The node affinity of a volume, without unknown fields."""

    required: _Selector | None = None


_WORDS: Final = Words(
    nulls=False,  # null fields are left out before, and a list has no place for one
    nouns={
        StrictToleration: "a toleration",
        StrictNodeAffinity: "a node affinity",
        StrictVolumeAffinity: "the node affinity of a volume",
        _Selector: "a node selector",
        _Preferred: "a preferred term",
        _Term: "a term",
        _Requirement: "a requirement",
    },
)


def tolerations(
    annotations: Mapping[str, str] | None, prefix: str, limit: int
) -> tuple[StrictToleration, ...]:
    """The tolerations in the annotation; empty without the annotation."""
    name = prefix + TOLERATIONS
    text = (annotations or {}).get(name)
    return () if text is None else _decoded(name, text, tuple[StrictToleration, ...], limit)


def device_tolerations(
    annotations: Mapping[str, str] | None, prefix: str, limit: int
) -> tuple[StrictToleration, ...]:
    """The tolerations in the annotation of a claim; empty without the annotation."""
    name = prefix + DEVICE_TOLERATIONS
    text = (annotations or {}).get(name)
    kind = tuple[StrictToleration, ...]
    return () if text is None else _decoded(name, text, kind, limit, "claim")


def node_affinity(
    annotations: Mapping[str, str] | None, prefix: str, limit: int
) -> StrictNodeAffinity | None:
    """The node affinity in the annotation, if there is one."""
    name = prefix + NODE_AFFINITY
    text = (annotations or {}).get(name)
    return None if text is None else _decoded(name, text, StrictNodeAffinity, limit)


def volume_affinity(
    volume: str, annotations: Mapping[str, str] | None, prefix: str, limit: int
) -> StrictVolumeAffinity | None:
    """The node affinity in the annotation of a PersistentVolume, if there is one."""
    name = prefix + NODE_AFFINITY
    text = (annotations or {}).get(name)
    whose = f'persistentvolume "{volume}"'
    return None if text is None else _decoded(name, text, StrictVolumeAffinity, limit, whose)


def _decoded(name: str, text: str, kind: type[T], limit: int, whose: str = "pod") -> T:
    if len(text) <= limit and text.isascii():
        # Most are JSON without a fault or a null: 0.4 us instead of 25. YAML, nulls and error texts
        # are left to the general way below.
        try:
            value: T = _decoder(kind).decode(text)  # type: ignore[arg-type]  # a type has a hash
        except (msgspec.DecodeError, RecursionError):
            pass
        else:
            return value
    try:
        data = documents.without_nulls(documents.parse_one(text, limit, max_values=_MAX_VALUES))
    except DocumentError as exc:
        raise AnnotationError(f"{whose} annotation {name}", str(exc)) from None
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as exc:
        wrong = shapes.first_problem(data, kind, exc, _WORDS)
        raise AnnotationError(
            f"{whose} annotation {name}", wrong.text, field=wrong.field, shown=wrong.shown
        ) from None


@functools.cache
def _decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    return msgspec.json.Decoder(kind)
