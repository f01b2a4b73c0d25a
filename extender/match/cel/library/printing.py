"""Prints values as `%s` of `format` does: lists and maps as CEL literals."""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.times import duration_text, timestamp_text
from extender.match.cel.values import (
    Duration,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    bound_text,
    double_text,
    from_key,
    type_name,
)
from extender.match.versions import go_quote

_CHUNK: Final = 65_536


def joined(pieces: Iterable[str]) -> str:
    """The pieces as one text, unless that is too long."""
    length, kept = 0, []
    for piece in pieces:
        length += len(piece)
        bound_text(length)
        kept.append(piece)
    return "".join(kept)


def pieces(value: Value) -> Iterable[str]:
    """Any value as text, in pieces."""
    if type(value) is list or type(value) is dict:
        return _aggregate(value)
    printed = _SCALARS.get(type(value))
    if printed is None:
        raise EvaluationError(
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
            f"types, durations, and timestamps, was given {type_name(value)}"
        )
    return (printed(value),)


def _bytes(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        fault = go_quote("invalid UTF-8 in bytes, cannot convert to string")
        raise EvaluationError(f"could not convert argument {fault} to string") from None


_SCALARS: Final[Mapping[type, Callable[..., str]]] = {
    type(None): lambda _: "null",
    bool: lambda value: "true" if value else "false",
    int: str,
    Uint: str,
    float: double_text,
    str: str,
    bytes: _bytes,
    Duration: duration_text,
    Timestamp: timestamp_text,
    TypeValue: lambda value: value.name,
}


def _aggregate(value: list[Value] | dict[Hashable, Value]) -> Iterator[str]:
    """A list or a map. Not recursive: values can nest deeper than Python's stack."""
    open_parts = [_parts(value)]
    while open_parts:
        for part in open_parts[-1]:
            if type(part) is str:
                yield part
            else:
                open_parts.append(_parts(part))
                break
        else:
            open_parts.pop()


def _parts(value: Value) -> Iterator[Value]:
    """Texts, and the lists and maps between them."""
    if type(value) is dict:
        return _map_parts(value)
    return _list_parts(value if type(value) is list else [])


def _list_parts(items: list[Value]) -> Iterator[Value]:
    yield "["
    for index, item in enumerate(items):
        if index:
            yield ", "
        yield _member(item)
    yield "]"


def _map_parts(entries: dict[Hashable, Value]) -> Iterator[Value]:
    members = [(_key(from_key(key)), value) for key, value in entries.items()]
    members.sort(key=itemgetter(0))
    yield "{"
    for index, (key, value) in enumerate(members):
        yield f"{', ' if index else ''}{key}:"
        yield _member(value)
    yield "}"


def _key(value: Value) -> str:
    if type(value) is str:
        return _quoted(value)
    if type(value) in (bool, int, Uint):
        return _SCALARS[type(value)](value)
    raise EvaluationError(f"no formatting function for map key of type {type_name(value)}")


def _member(value: Value) -> Value:
    """A member of a list or a map as a literal; a list or a map is left to be taken apart."""
    if type(value) is list or type(value) is dict:
        return value
    literal = _LITERALS.get(type(value)) or _SCALARS.get(type(value))
    if literal is None:
        raise EvaluationError(f"no formatting function for {type_name(value)}")
    return literal(value)


def _quoted(text: str) -> str:
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    chunks = (text[start : start + _CHUNK] for start in range(0, len(text), _CHUNK))
    return f'"{joined(go_quote(chunk)[1:-1] for chunk in chunks)}"'


def _double(number: float) -> str:
    # CEL has no literals for these, so upstream quotes them.
    return f"{number:.6f}" if math.isfinite(number) else f'"{double_text(number)}"'


_LITERALS: Final[Mapping[type, Callable[..., str]]] = {
    str: _quoted,
    bytes: lambda value: f"b{_quoted(_bytes(value))}",
    float: _double,
    Duration: lambda value: f'duration("{duration_text(value)}")',
    Timestamp: lambda value: f'timestamp("{timestamp_text(value)}")',
}
