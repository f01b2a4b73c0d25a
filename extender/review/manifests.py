"""Validates the objects in manifests, and finds the line of each problem."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from extender.framework.interface import Settings
from extender.match import shapes
from extender.match.shapes import Words
from extender.model import documents, nulls, positions
from extender.model.documents import Plain
from extender.model.positions import Path, Places
from extender.model.workloads import KINDS
from extender.review import fields, validation

_FILE_BYTES: Final = 1 << 30
_GROUPS: Final = {kind: group for group, kind in KINDS}

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Remark:
    """An error or warning about a field, with its line if that is known."""

    severity: Severity
    line: int | None
    kind: str
    name: str
    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Judged:
    """The number of objects with rules in a text, and the remarks about them."""

    objects: int
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class Object:
    """An object in a document, with its path."""

    path: Path
    group: str
    kind: str
    data: dict[str, Plain]

    @property
    def name(self) -> str:
        """The name, or the prefix of a generated name."""
        metadata = self.data.get("metadata")
        named = metadata if isinstance(metadata, dict) else {}
        return str(named.get("name") or named.get("generateName") or "")


def judge(text: str, settings: Settings) -> Judged:
    """Validate every object in a text; DocumentError if the text cannot be parsed."""
    parsed = documents.parse_manifests(text, _FILE_BYTES)
    places = positions.of_text(text)
    objects = 0
    remarks: list[Remark] = []
    for index, document in enumerate(parsed):
        where = places[index] if index < len(places) else {}
        for item in objects_in(document, ()):
            objects += 1
            remarks += _remarks(item, where, settings)
    return Judged(objects, tuple(remarks))


def objects_in(document: Plain, path: Path, of_kind: str = "") -> Iterator[Object]:
    """The objects with rules in a document, including objects in Lists."""
    if not isinstance(document, dict):
        return
    kind, version = document.get("kind") or of_kind, document.get("apiVersion")
    if not isinstance(kind, str):
        return
    items = document.get("items")
    if kind.endswith("List") and isinstance(items, list):
        # Objects in a List (`kubectl get -o yaml`) have a kind, objects in a PodList do not.
        for index, item in enumerate(items):
            yield from objects_in(item, (*path, "items", index), kind.removesuffix("List"))
    group = version.rpartition("/")[0] if isinstance(version, str) else _GROUPS.get(kind, "")
    if (group, kind) in KINDS:
        yield Object(path, group, kind, document)


def _remarks(item: Object, places: Places, settings: Settings) -> Iterator[Remark]:
    shape = KINDS[item.group, item.kind]
    try:
        ruled = nulls.convert(documents.bounded(item.data), shape)
    except msgspec.ValidationError as exc:
        error = fields.wrong_type("", shapes.first_problem(item.data, shape, exc, Words()))
        yield _remark("error", item, places, error.field, error.message)
        return
    report = validation.check(ruled, None, settings)
    for error in report.errors:
        yield _remark("error", item, places, error.field, error.message)
    for warning in report.warnings:
        yield _remark("warning", item, places, warning.field, warning.text)


def _remark(severity: Severity, item: Object, places: Places, field: str, message: str) -> Remark:
    line = line_of(item, places, positions.path_of(field))
    return Remark(severity, line, item.kind, item.name, field, message)


def line_of(item: Object, places: Places, path: Path) -> int | None:
    """The line of a field; works inside an annotation, too, if that is a block scalar."""
    place, rest = positions.nearest(places, (*item.path, *path))
    if place is None:
        return None
    if not rest or place.text_line is None:
        return place.line
    text = _at(item.data, path[: len(path) - len(rest)])
    inner = positions.of_text(text) if isinstance(text, str) else []
    within, _ = positions.nearest(inner[0], rest) if inner else (None, ())
    return place.line if within is None else place.text_line + within.line - 1


def _at(data: Plain, path: Path) -> Plain:
    for part in path:
        data = data.get(str(part)) if isinstance(data, dict) else None
    return data
