"""Text to plain data: JSON first, then a guarded subset of YAML.

PyYAML's C loader recurses and crashes the process on 25 KB of `[`; its event parser does not. So
this module builds the data from events in one pass that counts depth. It supports what
annotations, manifests and configuration need: no tags, and anchors, aliases and merge keys in
manifests alone. Of the plain scalars only null, true, false and short decimal integers are not
text: `1.20` stays text.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

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
_MERGE: Final = "<<"
# Characters, and one for each value, that all aliases of a file may stand for: more than an API
# server takes as one object. Nine lines of nine aliases each would be 10^9 values.
MAX_ALIASED: Final = 1_000_000

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]


def parse_one(text: str, limit: int, *, max_values: int | None = None) -> Plain:
    """The one document of `text`; empty text is None."""
    documents = parse_all(text, limit, max_values=max_values)
    if len(documents) > 1:
        raise DocumentError("more than one YAML document")
    return documents[0] if documents else None


def parse_manifests(text: str, limit: int) -> list[Plain]:
    """Every document of a manifest file; unlike annotations, it may have aliases."""
    return parse_all(text, limit, max_aliased=MAX_ALIASED)


def parse_all(
    text: str, limit: int, *, max_values: int | None = None, max_aliased: int | None = None
) -> list[Plain]:
    """Every document of `text`, of at most `limit` bytes; JSON is one document.

    `max_values` bounds the work on untrusted YAML, which takes about two microseconds a value.
    `max_aliased` allows aliases that stand for so much in all; None refuses them.
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
        aliases = None if max_aliased is None else _Aliases(max_aliased)
        return list(_documents(_parse_events(text, max_values), _Builder(aliases)))
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


def _documents(events: Iterator[yaml.Event], builder: "_Builder") -> Iterator[Plain]:
    for event in events:
        match event:
            case yaml.ScalarEvent():
                builder.add_scalar(event)
            case yaml.MappingStartEvent():
                builder.open({}, event)
            case yaml.SequenceStartEvent():
                builder.open([], event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                builder.close(event)
            case yaml.AliasEvent():
                builder.add_alias(event)
            case yaml.DocumentEndEvent():
                yield builder.take()
            case _:
                pass  # the start and end of the stream and of a document


class _Size(NamedTuple):
    """How much a value is: its characters, one for each value in it, and its depth."""

    weight: int
    height: int = 0


class _Aliases:
    """The anchors of a document, and how much aliases may still stand for."""

    def __init__(self, room: int) -> None:
        self._room = self._left = room
        self._anchors: dict[str | None, tuple[Plain, _Size]] = {}

    def forget(self) -> None:
        """Anchors end with their document; what was spent stays so."""
        self._anchors.clear()

    def learn(self, anchor: str, value: Plain, size: _Size) -> None:
        """Remember the value of an anchor; a later anchor of the same name replaces it."""
        self._anchors[anchor] = value, size

    def take(self, event: yaml.AliasEvent, depth: int) -> tuple[Plain, _Size]:
        """What an alias stands for."""
        name = str(event.anchor)
        if name not in self._anchors:
            raise _refused(event, f"alias {name[:64]!r} has no anchor before it")
        value, size = self._anchors[name]
        if depth + size.height > MAX_DEPTH:
            raise _refused(event, TOO_DEEP)
        self._left -= size.weight
        if self._left < 0:
            raise _refused(event, f"aliases stand for more than {self._room} characters")
        return value, size


class _Open:
    """A collection that is being built."""

    __slots__ = ("anchor", "collection", "height", "key", "merges", "weight")

    def __init__(self, collection: list[Plain] | dict[str, Plain], anchor: str | None) -> None:
        self.collection = collection
        self.anchor = anchor
        self.key: object = _KEY_PENDING  # of the value that comes next, in a mapping
        self.merges = False  # whether it has a merge key
        self.weight, self.height = 1, 1

    def grow(self, size: _Size) -> None:
        self.weight += size.weight
        self.height = max(self.height, size.height + 1)


class _Builder:
    """Builds one document after the other from events, with its own stack instead of recursion."""

    def __init__(self, aliases: _Aliases | None) -> None:
        self._open: list[_Open] = []
        self._root: Plain = None
        self._aliases = aliases

    def take(self) -> Plain:
        root, self._root = self._root, None
        if self._aliases is not None:
            self._aliases.forget()
        return root

    def open(
        self, collection: list[Plain] | dict[str, Plain], event: yaml.CollectionStartEvent
    ) -> None:
        self._check(event)
        if len(self._open) == MAX_DEPTH:
            raise DocumentError(TOO_DEEP)
        self._add(collection, event)
        self._open.append(_Open(collection, event.anchor))

    def close(self, event: yaml.Event) -> None:
        closed = self._open.pop()
        if closed.merges and isinstance(closed.collection, dict):
            _merge(closed.collection, event)
        if self._aliases is not None:
            self._measure(closed.anchor, closed.collection, _Size(closed.weight, closed.height))

    def add_scalar(self, event: yaml.ScalarEvent) -> None:
        self._check(event)
        value = _scalar(event)
        self._add(value, event)
        if self._aliases is not None:
            self._measure(event.anchor, value, _Size(1 + len(event.value)))

    def add_alias(self, event: yaml.AliasEvent) -> None:
        if self._aliases is None:
            raise _refused(event, "aliases are not supported")
        value, size = self._aliases.take(event, len(self._open))
        self._add(value, event)
        self._measure(None, value, size)

    def _add(self, value: Plain, event: yaml.Event) -> None:
        if not self._open:
            self._root = value
            return
        parent = self._open[-1]
        if isinstance(parent.collection, list):
            parent.collection.append(value)
        elif parent.key is _KEY_PENDING:
            parent.key = _mapping_key(value, parent.collection, event)
            if parent.key == _MERGE and not getattr(event, "style", None):
                self._check_merge(event)
                parent.merges = True
        else:
            parent.collection[str(parent.key)] = value
            parent.key = _KEY_PENDING

    def _measure(self, anchor: str | None, value: Plain, size: _Size) -> None:
        """Count a value for the collection around it, and keep it if it has an anchor."""
        if self._open:
            self._open[-1].grow(size)
        if anchor is not None and self._aliases is not None:
            self._aliases.learn(anchor, value, size)

    def _check(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        if event.anchor is not None and self._aliases is None:
            raise _refused(event, "anchors are not supported")
        if event.tag is not None:
            raise _refused(event, "tags are not supported")

    def _check_merge(self, event: yaml.Event) -> None:
        if self._aliases is None:
            raise _refused(event, "merge keys are not supported")


def _mapping_key(value: Plain, parent: dict[str, Plain], event: yaml.Event) -> str:
    if isinstance(event, yaml.ScalarEvent):
        if event.value in parent:
            raise _refused(event, f"key {event.value[:64]!r} appears twice")
        return str(event.value)
    raise _refused(event, f"a mapping key must be text, not {type(value).__name__}")


def _merge(mapping: dict[str, Plain], event: yaml.Event) -> None:
    """Replace the merge key by what it names: own keys win, then the earlier mapping."""
    named = mapping.pop(_MERGE)
    for each in named if isinstance(named, list) else [named]:
        if not isinstance(each, dict):
            raise _refused(event, "a merge key takes a mapping, or a list of mappings")
        for key, value in each.items():
            mapping.setdefault(key, value)


def _scalar(event: yaml.ScalarEvent) -> Plain:
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
