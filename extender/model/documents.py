"""Text to plain data: JSON first, then a guarded subset of YAML.

PyYAML's C loader recurses and crashes the process on 25 KB of `[`; its event parser does not. So
this module builds the data from events in one pass that counts depth. It supports what
annotations, manifests and configuration need: no anchors, aliases, tags or merge keys. Of the
plain scalars only null, true, false and short decimal integers are not text: `1.20` stays text.
"""

import re
from collections.abc import Iterator
from typing import Final, Protocol

import msgspec
import yaml

from extender.errors import DocumentError

MAX_DEPTH: Final = 32
# Without a line: JSON reports none, and the stack decides whether JSON or YAML fails first.
TOO_DEEP: Final = f"nested deeper than {MAX_DEPTH}"

_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
# Longer digit strings stay text: converting a huge integer takes quadratic time.
_SHORT_DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_KEY_PENDING: Final = object()

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]


def parse_one(text: str, limit: int, *, max_values: int | None = None) -> Plain:
    """The one document of `text`; empty text is None."""
    documents = parse_all(text, limit, max_values=max_values)
    if len(documents) > 1:
        raise DocumentError("more than one YAML document")
    return documents[0] if documents else None


def parse_all(text: str, limit: int, *, max_values: int | None = None) -> list[Plain]:
    """Every document of `text`, of at most `limit` bytes; JSON is one document.

    `max_values` bounds the work on untrusted YAML, which takes about two microseconds a value.
    """
    size = len(text.encode(errors="replace"))
    if size > limit:
        raise DocumentError(f"{size} bytes are more than the limit of {limit}")
    try:
        return [msgspec.json.decode(text)]
    except (msgspec.DecodeError, UnicodeError):
        pass  # not JSON
    except RecursionError as exc:
        raise DocumentError(TOO_DEEP) from exc
    try:
        return list(_documents(_parse_events(text, max_values)))
    except yaml.MarkedYAMLError as exc:
        raise _marked(exc.problem_mark, exc.problem or exc.context or "not YAML") from exc
    except (yaml.YAMLError, ValueError) as exc:  # lone surrogates, control characters
        raise DocumentError(str(exc).splitlines()[0]) from exc


def without_nulls(data: Plain, depth: int = 0) -> Plain:
    """The same data with `null` fields left out: Go reads a null field as an absent one.

    Counts the depth and refuses too much of it: the JSON decoder does not.
    """
    if not isinstance(data, dict | list):
        return data
    if depth == MAX_DEPTH:
        raise DocumentError(TOO_DEEP)
    if isinstance(data, list):
        return [without_nulls(value, depth + 1) for value in data]
    return {k: without_nulls(value, depth + 1) for k, value in data.items() if value is not None}


def bounded(data: Plain, depth: int = 0) -> Plain:
    """The same data, unless it is nested too deeply: the JSON decoder does not count."""
    if isinstance(data, dict | list):
        if depth == MAX_DEPTH:
            raise DocumentError(TOO_DEEP)
        for value in data.values() if isinstance(data, dict) else data:
            bounded(value, depth + 1)
    return data


def _parse_events(text: str, max_values: int | None) -> Iterator[yaml.Event]:
    for count, event in enumerate(yaml.parse(text, Loader=yaml.CSafeLoader)):
        if count == max_values:
            raise _refused(event, f"more than {max_values} values")
        yield event


def _documents(events: Iterator[yaml.Event]) -> Iterator[Plain]:
    builder = _Builder()
    for event in events:
        match event:
            case yaml.ScalarEvent():
                builder.add(_scalar(event), event)
            case yaml.MappingStartEvent():
                builder.open({}, event)
            case yaml.SequenceStartEvent():
                builder.open([], event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                builder.close()
            case yaml.AliasEvent():
                raise _refused(event, "aliases are not supported")
            case yaml.DocumentEndEvent():
                yield builder.take()
            case _:
                pass  # the start and end of the stream and of a document


class _Builder:
    """Builds one document from events, with its own stack instead of recursion."""

    def __init__(self) -> None:
        self._open: list[list[Plain] | dict[str, Plain]] = []
        self._keys: list[object] = []
        self._root: Plain = None

    def take(self) -> Plain:
        root, self._root = self._root, None
        return root

    def open(
        self, collection: list[Plain] | dict[str, Plain], event: yaml.CollectionStartEvent
    ) -> None:
        if event.anchor is not None:
            raise _refused(event, "anchors are not supported")
        if event.tag is not None:
            raise _refused(event, "tags are not supported")
        if len(self._open) == MAX_DEPTH:
            raise DocumentError(TOO_DEEP)
        self.add(collection, event)
        self._open.append(collection)
        self._keys.append(_KEY_PENDING)

    def close(self) -> None:
        self._open.pop()
        self._keys.pop()

    def add(self, value: Plain, event: yaml.Event) -> None:
        if not self._open:
            self._root = value
            return
        parent = self._open[-1]
        if isinstance(parent, list):
            parent.append(value)
            return
        key = self._keys[-1]
        if key is _KEY_PENDING:
            self._keys[-1] = _mapping_key(value, parent, event)
        else:
            parent[str(key)] = value
            self._keys[-1] = _KEY_PENDING


def _mapping_key(value: Plain, parent: dict[str, Plain], event: yaml.Event) -> str:
    if isinstance(event, yaml.ScalarEvent):
        if event.value == "<<" and not event.style:
            raise _refused(event, "merge keys are not supported")
        if event.value in parent:
            raise _refused(event, f"key {event.value[:64]!r} appears twice")
        return str(event.value)
    raise _refused(event, f"a mapping key must be text, not {type(value).__name__}")


def _scalar(event: yaml.ScalarEvent) -> Plain:
    if event.anchor is not None:
        raise _refused(event, "anchors are not supported")
    if event.tag is not None:
        raise _refused(event, "tags are not supported")
    text: str = event.value
    if event.style:  # quoted or block: text, whatever it looks like
        return text
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    return int(text) if _SHORT_DECIMAL.fullmatch(text) else text


def _refused(event: yaml.Event, why: str) -> DocumentError:
    return _marked(event.start_mark, why)


class _Mark(Protocol):
    """A position; the C parser and the Python parser of PyYAML have different classes for it."""

    line: int


def _marked(mark: _Mark | None, why: str) -> DocumentError:
    return DocumentError(f"line {mark.line + 1}: {why}" if mark else why)
