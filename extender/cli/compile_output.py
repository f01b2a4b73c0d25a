"""What `leeway compile` prints: patches, whole manifests, diffs or annotations."""

import difflib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from extender.cli import escapes, github
from extender.errors import DocumentError
from extender.review.compiling.texts import CompiledObject, CompiledText

_STALE: Final = "its tolerations or node affinity are stale: run leeway compile"


@dataclass
class Outcome:
    """The result for all files, and what could not be read or rewritten."""

    files: dict[str, CompiledText] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)

    def add(self, name: str, compiled: CompiledText) -> None:
        """Add a file."""
        self.files[name] = compiled

    @property
    def stale(self) -> list[tuple[str, CompiledObject]]:
        """Every object that needs an edit, with its file."""
        return [
            (name, each)
            for name, compiled in self.files.items()
            for each in compiled.objects
            if each.is_stale
        ]

    @property
    def is_bad(self) -> bool:
        """Whether any input has a problem, so that nothing may be written."""
        return bool(self.unreadable) or any(
            remark.severity == "error"
            for compiled in self.files.values()
            for remark in compiled.remarks
        )

    def problems(self) -> Iterator[str]:
        """Every error and warning, with file and line."""
        for name, compiled in self.files.items():
            for remark in compiled.remarks:
                place = name if remark.line is None else f"{name}:{remark.line}"
                word = "" if remark.severity == "error" else "warning: "
                named = f"{remark.field}: " if remark.field else ""
                yield f"{place}: {word}{named}{remark.message}"
        yield from self.unreadable

    def rewritten(self) -> dict[str, str]:
        """The new texts of the files that change, by name."""
        return {name: text for name, text in self._texts.items() if text != self.files[name].text}

    def texts(self) -> dict[str, str]:
        """The texts of all files, with their edits."""
        return self._texts

    @cached_property
    def _texts(self) -> dict[str, str]:
        found: dict[str, str] = {}
        refused: list[str] = []
        for name, compiled in self.files.items():
            try:
                found[name] = compiled.rewritten()
            except DocumentError as exc:
                refused.append(f"{name}: cannot be rewritten: {exc}; use -o patch or -o json")
        if refused:
            raise DocumentError("\n".join(refused))
        return found

    def summary(self) -> str:
        """One line for the end."""
        objects = [each for compiled in self.files.values() for each in compiled.objects]
        added = sum(each.rewriting.added for each in objects)
        return f"{len(objects)} object(s), {len(self.stale)} stale, {added} new value(s)"


def render(outcome: Outcome, output: str, check: bool) -> str:
    """All output; with `check` a diff takes the place of manifests and patches."""
    if check and output != "github":
        return "".join(_diffs(outcome))
    return "".join(FORMATS[output](outcome))


def _diffs(outcome: Outcome) -> Iterator[str]:
    for name, text in outcome.texts().items():
        old = outcome.files[name].text
        lines = difflib.unified_diff(
            old.splitlines(), text.splitlines(), f"a/{name}", f"b/{name}", lineterm=""
        )
        yield from (escapes.line(line) + "\n" for line in lines)


def _patches(outcome: Outcome) -> Iterator[str]:
    for _, each in outcome.stale:
        yield "---\n" + escapes.yaml_text(each.merge_patch())


def _json_patches(outcome: Outcome) -> Iterator[str]:
    listed = [
        {"kind": each.item.kind, "name": each.item.name, "file": name, "patch": each.json_patch()}
        for name, each in outcome.stale
    ]
    yield json.dumps(listed, indent=2, ensure_ascii=True) + "\n"


def _manifests(outcome: Outcome) -> Iterator[str]:
    before = ""
    for text in outcome.texts().values():
        if before and not text.startswith("---"):
            yield "---\n" if before.endswith("\n") else "\n---\n"
        yield text
        before = text or before


def _annotations(outcome: Outcome) -> Iterator[str]:
    for name, each in outcome.stale:
        title = f"{each.item.kind} {each.item.name}"
        yield github.command("error", _STALE, file=name, line=each.line, title=title) + "\n"


FORMATS: Final[dict[str, Callable[[Outcome], Iterator[str]]]] = {
    "patch": _patches,
    "json": _json_patches,
    "yaml": _manifests,
    "github": _annotations,
}
