"""Says in words where data does not have the shape of a type.

msgspec decodes, and stops at the first problem with a sentence for programmers. This module finds
that problem again, for whoever writes the manifest: with its field, and with what to write instead.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from msgspec import inspect

from extender.match import integers
from extender.match.spelling import spelling
from extender.match.versions import go_quote
from extender.model.documents import Plain

_Path = tuple[str | int, ...]

_MAX_SHOWN: Final = 64
_MAX_FIELD: Final = 200
_EMPTY: Final = '""'


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """What is wrong with a field of a document; without a field, with the whole."""

    field: str  # such as [0].value
    shown: str  # the value, if it is short
    text: str

    @property
    def brief(self) -> str:
        """The problem beside the field: the last name of the field is enough."""
        return _sentence(self.field.rpartition(".")[2], self.text)

    def __str__(self) -> str:
        return _sentence(self.field, self.text)


@dataclass(frozen=True, slots=True)
class Words:
    """How to speak of data: whether null stands for an absent value, and the parts' names."""

    nulls: bool = True
    nouns: Mapping[type, str] = field(default_factory=dict)


def first_problem(
    data: Plain, kind: Any, exc: msgspec.ValidationError, words: Words
) -> FieldProblem:
    """The problem that made msgspec raise `exc`."""
    unknown = FieldProblem("", "", str(exc))  # a problem of a kind that this module does not know
    return next(_problems(data, _shape(kind), (), words), unknown)


@functools.cache
def _shape(kind: Any) -> inspect.Type:
    return inspect.type_info(kind)


def _problems(
    data: Plain, shape: inspect.Type, path: _Path, words: Words
) -> Iterator[FieldProblem]:
    """All problems, in the order of the data, which is msgspec's."""
    if isinstance(shape, inspect.UnionType):
        shape = next(each for each in shape.types if not isinstance(each, inspect.NoneType))
    if data is None and words.nulls and path:
        return
    match shape:
        case inspect.StructType():
            yield from _of_struct(data, shape, path, words)
        case inspect.DictType(value_type=inner) if isinstance(data, dict):
            named = ((f"[{key}]", value) for key, value in data.items())
            yield from _of_entries(named, inner, path, words)
        case inspect.VarTupleType(item_type=inner) if isinstance(data, list):
            yield from _of_entries(enumerate(data), inner, path, words)
        case _:
            text = _wrong_type(data, shape, path)
            if text:
                yield _problem(path, data, text)


def _of_entries(
    entries: Iterable[tuple[str | int, Plain]], shape: inspect.Type, path: _Path, words: Words
) -> Iterator[FieldProblem]:
    for key, value in entries:
        yield from _problems(value, shape, (*path, key), words)


def _of_struct(
    data: Plain, shape: inspect.StructType, path: _Path, words: Words
) -> Iterator[FieldProblem]:
    noun = words.nouns.get(shape.cls, "an object")
    if isinstance(data, dict):
        yield from _of_fields(data, shape, path, words, noun)
    else:
        yield _problem(path, data, f"must be {noun}{_but_is(data, path)}")


def _of_fields(
    data: dict[str, Plain], shape: inspect.StructType, path: _Path, words: Words, noun: str
) -> Iterator[FieldProblem]:
    fields = {each.encode_name: each.type for each in shape.fields}
    for key, value in data.items():
        if key in fields:
            yield from _problems(value, fields[key], (*path, key), words)
        elif shape.forbid_unknown_fields:
            meant = spelling(key, fields)
            hint = f"did you mean {meant}?" if meant else f"it has {', '.join(fields)}"
            yield _problem((*path, key), None, f"is not a field of {noun}: {hint}")


def _wrong_type(data: Plain, shape: inspect.Type, path: _Path) -> str:
    """What the data must be instead; empty if it is that."""
    match shape:
        case inspect.DictType():
            return f"must be a mapping{_but_is(data, path)}"
        case inspect.VarTupleType():
            dashes = ": begin each entry with a dash" if isinstance(data, dict) else ""
            return f"must be a list{_but_is(data, path)}{dashes}"
        case inspect.StrType() if isinstance(data, bool | int | float):
            return f"must be text: write {go_quote(_literal(data))}"
        case inspect.StrType() if not isinstance(data, str):
            return f"must be text{_but_is(data, path)}"
        case inspect.IntType():
            return _must_be_number(data, path)
        case inspect.BoolType() if not isinstance(data, bool):
            return f"must be true or false{_but_is(data, path)}"
        case _:
            return ""


def _must_be_number(data: Plain, path: _Path) -> str:
    if isinstance(data, str) and integers.canonical(data) is not None:
        return f"must be a number: write {data} without quotes"
    if isinstance(data, float):
        return "must be a whole number"
    is_number = isinstance(data, int) and not isinstance(data, bool)
    return "" if is_number else f"must be a number{_but_is(data, path)}"


def _but_is(data: Plain, path: _Path) -> str:
    """What the data is instead, for the end of a sentence."""
    match data:
        case None:
            return ", not null" if path else ", but there is nothing"
        case bool() | int() | float():
            return f", not {_literal(data)}"
        case str():
            return ", not text"
        case list():
            return ", not a list"
        case _:
            return ", not a mapping"


def _literal(data: float | bool) -> str:
    text = str(data).lower() if isinstance(data, bool) else repr(data)
    return _cut(text, _MAX_SHOWN)


def _problem(path: _Path, data: Plain, text: str) -> FieldProblem:
    at = "".join(map(_step, path))
    shown = _literal(data) if isinstance(data, bool | int | float) else ""
    return FieldProblem(_cut(at.removeprefix("."), _MAX_FIELD), shown, text)


def _step(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return part if part.startswith("[") else f".{part or _EMPTY}"


def _sentence(field: str, text: str) -> str:
    return f"{field} {text}" if field else text


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}..."
