"""The record of what `leeway compile` wrote into a pod template, so that it can write it again.

Without it nobody could tell a compiled `In [6.1.0]` from one that the author wrote, and a node with
version 6.2.0 would never be let in.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from extender.config import printing, reading
from extender.errors import AnnotationError
from extender.match import annotations
from extender.model import documents
from extender.model.core_v1 import NodeAffinity, Taint
from extender.model.documents import Plain


class AffinityRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """The affinity that the author wrote, and a digest of the one that took its place."""

    digest: str
    own: NodeAffinity | None = None


class Record(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What compile wrote: the taints that it added tolerations for, and the affinity."""

    tolerations: tuple[str, ...] = ()
    node_affinity: AffinityRecord | None = None

    @property
    def taints(self) -> frozenset[Taint]:
        """The taints of the tolerations; ValueError if one is not a taint."""
        return frozenset(reading.taints(list(self.tolerations)))


EMPTY: Final = Record()


def read(written: Mapping[str, str], prefix: str) -> Record:
    """The record of a template; AnnotationError if somebody broke it."""
    name = prefix + annotations.COMPILED
    text = written.get(name)
    if text is None:
        return EMPTY
    try:
        record = msgspec.json.decode(text, type=Record)
        _ = record.taints
    except (msgspec.DecodeError, ValueError, RecursionError) as exc:
        raise AnnotationError(
            f"pod annotation {name}",
            f"{exc}: leeway compile writes it; restore it, or remove it together with the"
            " tolerations and the node affinity that it wrote",
        ) from None
    return record


def text_of(taints: Iterable[Taint], affinity: AffinityRecord | None) -> str | None:
    """The record as an annotation; None if there is nothing to record. Same content, same text."""
    data: dict[str, Plain] = {}
    if listed := sorted(map(printing.taint_text, taints)):
        data["tolerations"] = list[Plain](listed)
    if affinity is not None:
        data["nodeAffinity"] = {"own": plain_of(affinity.own), "digest": affinity.digest}
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False) if data else None


def plain_of(affinity: NodeAffinity | None) -> Plain:
    """An affinity as a manifest has it."""
    # By way of JSON: `msgspec.to_builtins` keeps tuples, which never equal lists.
    return documents.without_nulls(msgspec.json.decode(msgspec.json.encode(affinity)))


def digest_of(affinity: Plain) -> str:
    """A digest of a node affinity; null fields and the order of keys do not matter."""
    data = documents.without_nulls(affinity)
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
