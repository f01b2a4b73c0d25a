"""Edits in the text of a manifest: every byte that is not part of a changed value stays.

A YAML library that writes a document anew changes indents, quotes and folded lines. So the parser
only says where things are, and the new text is put there. The result is parsed again and compared
with what it should be: a text that cannot be edited is refused, never guessed.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import yaml

from extender.errors import DocumentError
from extender.model import documents
from extender.model.documents import Plain
from extender.model.positions import Path
from extender.review.compiling import edits as changes
from extender.review.compiling.edits import Edit

_FILE_BYTES: Final = 1 << 30
_FOREVER: Final = 1 << 30  # no line is too long


@dataclass(frozen=True, slots=True)
class Change:
    """An edit in a document of a text."""

    document: int
    edit: Edit


def spliced(text: str, wanted: Sequence[Change]) -> str:
    """The text with all changes; DocumentError if one of them cannot be made in it."""
    expected = documents.parse_manifests(text, _FILE_BYTES)
    for change in wanted:
        place, edit = change.document, change.edit
        text = _Text(text, place, expected[place]).set(edit.path, edit.value)
        expected[place] = changes.applied(expected[place], (edit,))
        try:
            found = documents.parse_manifests(text, _FILE_BYTES)
        except DocumentError:
            found = []
        if [*map(documents.without_nulls, found)] != [*map(documents.without_nulls, expected)]:
            raise DocumentError(f"{_shown(edit.path)} cannot be changed in this layout")
    return text


@dataclass(slots=True)
class _Node:
    """A value in the text; `end` is where its own text ends, without comments after it."""

    start: int
    end: int
    column: int
    line: int
    is_flow: bool = True
    is_shared: bool = False  # an alias, or something that an alias may stand for
    entries: dict[str, tuple["_Node", "_Node"]] | None = None
    items: list["_Node"] = field(default_factory=list)

    def child(self, part: str | int) -> "_Node | None":
        if isinstance(part, int):
            return self.items[part]
        found = (self.entries or {}).get(part)
        return found[1] if found else None


def _root(text: str, document: int) -> _Node:
    events = iter(yaml.parse(text, Loader=yaml.CSafeLoader))
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            if document == 0:
                return _node(text, next(events), events)
            document -= 1
    raise DocumentError("the document has no text")  # pragma: no cover - parsed before


def _node(text: str, event: yaml.Event, events: Iterator[yaml.Event]) -> _Node:
    start, end = event.start_mark, event.end_mark
    if start is None or end is None:  # pragma: no cover - every event of a parser has both
        raise DocumentError("the document has no positions")
    node = _Node(start.index, end.index, start.column, start.line + 1)
    node.is_shared = isinstance(event, yaml.AliasEvent) or bool(getattr(event, "anchor", None))
    if isinstance(event, yaml.ScalarEvent) and event.style in ("|", ">"):
        node.end = node.start + len(text[node.start : node.end].rstrip())
    if not isinstance(event, yaml.CollectionStartEvent):
        return node
    node.is_flow = bool(event.flow_style)
    parts: list[_Node] = []
    key = ""
    if isinstance(event, yaml.MappingStartEvent):
        node.entries = {}
    for inner in events:
        if isinstance(inner, yaml.CollectionEndEvent):
            closed = inner.end_mark
            node.end = closed.index if node.is_flow and closed else parts[-1].end
            return node
        parts.append(_node(text, inner, events))
        if node.entries is None:
            node.items = parts
        elif len(parts) % 2:
            key = inner.value if isinstance(inner, yaml.ScalarEvent) else ""
        else:
            node.entries[key] = parts[-2], parts[-1]
    raise DocumentError("the document ends early")  # pragma: no cover - parsed before


class _Text:
    """One document of a text, in which one value is set."""

    def __init__(self, text: str, document: int, data: Plain) -> None:
        self._text = text
        self._data = data
        self._root = _root(text, document)
        self._newline = "\r\n" if "\r\n" in text else "\n"

    def set(self, path: Path, value: Plain) -> str:
        """The text with the value."""
        parent = node = self._root
        for depth, part in enumerate(path):
            self._check(node)
            child = node.child(part)
            if child is None:
                below = changes.nested(path[depth + 1 :], value)
                return self._text if value is None else self._inserted(node, str(part), below)
            parent, node = node, child
        self._check(node)
        if value is None:
            return self._removed(parent, str(path[-1]))
        old = changes.at(self._data, path)
        if isinstance(value, list) and isinstance(old, list) and old:
            return self._listed(node, old, value)
        return self._replaced(parent, str(path[-1]), value)

    def _check(self, node: _Node) -> None:
        if node.is_shared:
            raise DocumentError(f"line {node.line}: an anchor or alias is in the way of a change")

    def _inserted(self, mapping: _Node, key: str, value: Plain) -> str:
        """The text with one more key in a mapping."""
        if mapping.entries is None:
            raise DocumentError(f"line {mapping.line}: a mapping is needed here for {key}")
        if mapping.is_flow:
            entry = f"{json.dumps(key)}: {_flow(value)}"
            if not mapping.entries:
                return self._cut(mapping.start + 1, mapping.start + 1, entry)
            end = max(each.end for _, each in mapping.entries.values())
            return self._cut(end, end, f", {entry}")
        lines = _block({key: value})
        return self._line_after(mapping.end, [" " * mapping.column + each for each in lines])

    def _listed(self, node: _Node, old: Sequence[Plain], new: Sequence[Plain]) -> str:
        """The text with other items at the end of a list; the items before them stay."""
        kept = 0
        while kept < min(len(old), len(new)) and old[kept] == new[kept]:
            kept += 1
        last = node.items[-1]
        if node.is_flow:
            shown = ", ".join(map(_flow, new[kept:]))
            if kept == len(old):
                return self._cut(last.end, last.end, f", {shown}")
            start = node.items[kept - 1].end if kept else node.items[0].start
            return self._cut(start, last.end, f", {shown}" if kept and shown else shown)
        is_flow = last.is_flow and self._text[last.start] == "{"
        lines = [
            " " * node.column + line
            for item in new[kept:]
            for line in (["- " + _flow_yaml(item)] if is_flow else _block([item]))
        ]
        if kept == len(old):
            return self._line_after(node.end, lines)
        dash = self._text.rindex("-", 0, node.items[kept].start)
        start, end = self._text.rindex("\n", 0, dash) + 1, self._line_end(node.end)
        if not lines:  # with the line break before them
            start -= len(self._newline)
        return self._cut(start, end, self._newline.join(lines))

    def _replaced(self, mapping: _Node, key: str, value: Plain) -> str:
        """The text with another value for a key."""
        name, old = (mapping.entries or {})[key]
        if mapping.is_flow or not isinstance(value, dict | list):
            shown = _flow(value) if mapping.is_flow else _flow_yaml(value)
            space = "" if old.start > name.end + 1 else " "
            return self._cut(old.start, old.end, space + shown)
        colon = self._text.index(":", name.end) + 1
        column = mapping.column + (2 if isinstance(value, dict) else 0)
        lines = [" " * column + each for each in _block(value)]
        return self._cut(colon, max(old.end, colon), self._newline.join(["", *lines]))

    def _removed(self, mapping: _Node, key: str) -> str:
        """The text without a key."""
        entries = mapping.entries or {}
        name, old = entries[key]
        if mapping.is_flow:
            places = [*entries]
            at = places.index(key)
            if at:
                return self._cut(entries[places[at - 1]][1].end, old.end, "")
            end = entries[places[1]][0].start if len(places) > 1 else old.end
            return self._cut(name.start, end, "")
        if len(entries) == 1:
            return self._cut(name.start, max(old.end, name.end + 1), "{}")
        start = self._text.rfind("\n", 0, name.start) + 1
        if self._text[start : name.start].strip():  # the first key behind a dash
            raise DocumentError(f"line {name.line}: {key} cannot be removed in this layout")
        end = self._text.find("\n", old.end) + 1
        return self._cut(start, end or len(self._text), "")

    def _line_after(self, end: int, lines: Sequence[str]) -> str:
        at = self._line_end(end)
        return self._cut(at, at, "".join(self._newline + each for each in lines))

    def _line_end(self, at: int) -> int:
        """The end of a line, before its line break."""
        end = self._text.find("\n", at)
        if end < 0:
            return len(self._text)
        return end - 1 if self._text[end - 1] == "\r" and end > at else end

    def _cut(self, start: int, end: int, new: str) -> str:
        return self._text[:start] + new + self._text[end:]


def _block(value: Plain) -> list[str]:
    """The lines of a value in block style."""
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=_FOREVER)).split(
        "\n"
    )[:-1]


def _flow_yaml(value: Plain) -> str:
    """A value on one line of YAML."""
    text = yaml.safe_dump(
        value, sort_keys=False, allow_unicode=True, width=_FOREVER, default_flow_style=True
    )
    return str(text).removesuffix("\n").removesuffix("\n...")


def _flow(value: Plain) -> str:
    """A value on one line that is JSON, too."""
    return json.dumps(value, ensure_ascii=False)


def _shown(path: Path) -> str:
    return ".".join(map(str, path))
