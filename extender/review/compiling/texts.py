"""Compiles every object with rules in the text of a manifest."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from extender.framework.interface import Settings
from extender.model import documents, positions
from extender.model.documents import Plain
from extender.native.settings import CompileSettings
from extender.review import manifests
from extender.review.compiling import claims, edits, splicing, workloads
from extender.review.compiling.edits import Edit, Rewriting
from extender.review.compiling.splicing import Change
from extender.review.compiling.workloads import Facts
from extender.review.manifests import Object, Remark, Severity

_FILE_BYTES: Final = 1 << 30
_VOLUME: Final = "PersistentVolume"


@dataclass(frozen=True, slots=True)
class CompiledObject:
    """An object with rules, and what it needs."""

    document: int
    line: int | None
    item: Object
    rewriting: Rewriting

    @property
    def is_stale(self) -> bool:
        """Whether its plain fields do not say what its rules mean."""
        return bool(self.rewriting.edits)

    def merge_patch(self) -> Plain:
        """A strategic merge patch. Lists of tolerations and terms are replaced as a whole."""
        data = self.item.data
        metadata = data.get("metadata")
        named = metadata if isinstance(metadata, dict) else {}
        patch: Plain = {
            "apiVersion": data.get("apiVersion"),
            "kind": self.item.kind,
            "metadata": {key: named[key] for key in ("name", "namespace") if key in named},
        }
        for edit in self.rewriting.edits:
            patch = _merged(patch, edits.nested(edit.path, edit.value))
        return patch

    def json_patch(self) -> list[Plain]:
        """The operations of a JSON patch (RFC 6902)."""
        operations: list[Plain] = []
        data: Plain = self.item.data
        for edit in self.rewriting.edits:
            operations.append(_operation(data, edit))
            data = edits.applied(data, (edit,))
        return operations


@dataclass(frozen=True, slots=True)
class CompiledText:
    """A text, its objects with rules, and every problem in it."""

    text: str
    objects: tuple[CompiledObject, ...]
    remarks: tuple[Remark, ...]

    def rewritten(self) -> str:
        """The text with all edits; DocumentError if its layout does not allow one of them."""
        return splicing.spliced(
            self.text,
            [
                Change(each.document, Edit((*each.item.path, *edit.path), edit.value))
                for each in self.objects
                for edit in each.rewriting.edits
            ],
        )


def compile_text(
    text: str, facts: Facts, settings: Settings, compile_settings: CompileSettings
) -> CompiledText:
    """Compile the objects of a text; DocumentError if it cannot be parsed.

    An object that validation refuses is not compiled: its errors are among the remarks.
    """
    judged = manifests.judge(text, settings)
    errors = [each for each in judged.remarks if each.severity == "error"]
    if errors:
        return CompiledText(text, (), tuple(errors))
    places = positions.of_text(text)
    compiled: list[CompiledObject] = []
    remarks: list[Remark] = []
    for place, document in enumerate(documents.parse_manifests(text, _FILE_BYTES)):
        where = places[place] if place < len(places) else {}
        for item in manifests.objects_in(document, ()):
            if item.kind == _VOLUME:
                continue
            found = _rewritten(item, facts, settings, compile_settings)
            line = manifests.line_of(item, where, ())
            compiled.append(CompiledObject(place, line, item, found))
            remarks += _remarks(item, where, found)
    return CompiledText(text, tuple(compiled), tuple(remarks))


def _rewritten(
    item: Object, facts: Facts, settings: Settings, compile_settings: CompileSettings
) -> Rewriting:
    if item.kind in claims.KINDS:
        return claims.rewrite(item.data, item.kind, facts.devices, settings)
    return workloads.rewrite(item.data, item.kind, facts, settings, compile_settings)


def _remarks(item: Object, where: positions.Places, found: Rewriting) -> Iterator[Remark]:
    listed: tuple[tuple[Severity, tuple[edits.Remark, ...]], ...] = (
        ("error", found.errors),
        ("warning", found.warnings),
    )
    for severity, said in listed:
        for each in said:
            line = manifests.line_of(item, where, each.path)
            field = ".".join(map(str, each.path))
            yield Remark(severity, line, item.kind, item.name, field, each.text)


def _merged(left: Plain, right: Plain) -> Plain:
    if not isinstance(left, dict) or not isinstance(right, dict):
        return right
    return {**left, **{key: _merged(left.get(key), value) for key, value in right.items()}}


def _operation(data: Plain, edit: Edit) -> Plain:
    """One operation; where parents are missing it adds them, too."""
    if edit.value is None:
        return {"op": "remove", "path": _pointer(edit.path)}
    for depth in range(1, len(edit.path)):
        if edits.at(data, edit.path[:depth]) is None:
            value = edits.nested(edit.path[depth:], edit.value)
            return {"op": "add", "path": _pointer(edit.path[:depth]), "value": value}
    return {"op": "add", "path": _pointer(edit.path), "value": edit.value}


def _pointer(path: positions.Path) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
