"""The lines of the fields of YAML and JSON documents, by path.

Reads the same events as `documents`, which has already refused what it does not support. What an
alias stands for has the line of the alias.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import yaml

Path = tuple[str | int, ...]

_PENDING: Final = object()


@dataclass(frozen=True, slots=True)
class Place:
    """The line of a value; `text_line` is the first line of a block scalar."""

    line: int
    text_line: int | None = None


Places = Mapping[Path, Place]


def of_text(text: str) -> list[Places]:
    """The places of each document; an empty list if the text is not YAML."""
    documents: list[Places] = []
    walk = _Walk()
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            match event:
                case yaml.ScalarEvent():
                    walk.scalar(event)
                case yaml.AliasEvent():
                    walk.alias(event)
                case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                    walk.open(event, mapping=isinstance(event, yaml.MappingStartEvent))
                case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                    walk.close()
                case yaml.DocumentEndEvent():
                    documents.append(walk.places)
                    walk = _Walk()
                case _:
                    pass
    except (yaml.YAMLError, ValueError):
        return []
    return documents


def nearest(places: Places, path: Path) -> tuple[Place | None, Path]:
    """The place of a path or of its nearest known parent, and the rest of the path."""
    for length in range(len(path), -1, -1):
        place = places.get(path[:length])
        if place is not None:
            return place, path[length:]
    return None, path


class _Walk:
    """Follows events; its stack has a key, an index or a pending key for each level."""

    def __init__(self) -> None:
        self.places: dict[Path, Place] = {}
        self._stack: list[object] = []

    def open(self, event: yaml.Event, *, mapping: bool) -> None:
        self._note(event)
        self._stack.append(_PENDING if mapping else 0)

    def close(self) -> None:
        self._stack.pop()
        self._next()

    def scalar(self, event: yaml.ScalarEvent) -> None:
        if self._stack and self._stack[-1] is _PENDING:
            self._stack[-1] = event.value
            # A value without its own line gets the line of its key.
            self.places[self._path()] = Place(_line(event))
            return
        self._note(event)
        self._next()

    def alias(self, event: yaml.AliasEvent) -> None:
        self._note(event)
        self._next()

    def _note(self, event: yaml.Event) -> None:
        line = _line(event)
        block = isinstance(event, yaml.ScalarEvent) and event.style == "|"
        path = self._path()
        known = self.places.get(path)
        self.places[path] = Place(known.line if known else line, line + 1 if block else None)

    def _next(self) -> None:
        if not self._stack:
            return
        at = self._stack[-1]
        self._stack[-1] = at + 1 if isinstance(at, int) else _PENDING

    def _path(self) -> Path:
        return tuple(part for part in self._stack if isinstance(part, str | int))


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def path_of(field: str) -> Path:
    """The path that a field such as `spec.tolerations[0].value` names."""
    path: list[str | int] = []
    for index, part in enumerate(_parts(field)):
        bracketed, text = part
        path.append(int(text) if bracketed and text.isdecimal() and index else text)
    return tuple(path)


def _parts(field: str) -> Sequence[tuple[bool, str]]:
    parts: list[tuple[bool, str]] = []
    rest = field
    while rest:
        if rest[0] == "[":
            inside, _, rest = rest[1:].partition("]")
            parts.append((True, inside))
        else:
            rest = rest.removeprefix(".")
            ends = [at for at in (rest.find("."), rest.find("[")) if at >= 0]
            end = min(ends, default=len(rest))
            parts.append((False, rest[:end]))
            rest = rest[end:]
    return parts
