"""What charges and work are made of, and those that functions share.

A charge is upstream's cost of a call at run time. Work is what a call does beyond its charge, in
steps of about 0.1 us: it is counted before the call where the arguments tell, else right after.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from extender.match.cel.values import MAX_STEPS, OptionalValue, Value, from_key, size

LIST_BASE: Final = 11  # one for the call, ten for the list that it makes
_TABLED: Final = 1024
# In doubles and rounded up, as upstream computes it.
TENTHS: Final = tuple(math.ceil(length * 0.1) for length in range(_TABLED))
_TEXTS: Final = frozenset({str, bytes})
CONTAINERS: Final = frozenset({list, dict, OptionalValue})
_CONTAINER_STEPS: Final = 8
_WEIGHTY: Final = _TEXTS | CONTAINERS


class Charge(Struct, frozen=True):
    """A fixed charge, and one by the arguments or by the result; an error has the size 1."""

    fixed: int = 0
    by_arguments: Callable[..., int] | None = None
    by_result: Callable[[Value], int] | None = None


class Work(Struct, frozen=True):
    """Steps of every call, by the arguments, and by the result."""

    always: int = 0
    by_arguments: Callable[..., int] | None = None
    by_result: Callable[[Value], int] | None = None


def tenth(length: int) -> int:
    """A tenth of a length, rounded up."""
    return TENTHS[length] if length < _TABLED else math.ceil(length * 0.1)


def quarter(length: int) -> int:
    """A quarter of a length, rounded up: the charge for a regular expression."""
    return math.ceil(length * 0.25)


def fifth(length: int) -> int:
    """Two tenths of a length, rounded up."""
    return math.ceil(length * 2 * 0.1)


def first_tenth(a: Value, *_: Value) -> int:
    """A tenth of the size of the first argument."""
    return tenth(size(a))


def compared(a: Value, b: Value) -> int:
    """A tenth of the size of the smaller argument, optionals by what they hold."""
    return tenth(min(_present_size(a), _present_size(b)))


def _present_size(value: Value) -> int:
    while type(value) is OptionalValue and value.present:
        value = value.value
    return size(value)


def traversed(value: Value) -> int:
    """The charge for going through a value once."""
    total, pending = 0, [value]
    while pending:
        part = pending.pop()
        if type(part) is list:
            parts: Sequence[Value] = part
        elif type(part) is dict:
            parts = [*map(from_key, part), *part.values()]
        else:
            total += _TRAVERSALS.get(type(part), _one)(part)
            continue
        kinds = set(map(type, parts))
        if kinds.isdisjoint(_TRAVERSED):
            total += len(parts)
        elif len(kinds) == 1 and kinds <= _TRAVERSALS.keys():
            total += sum(map(_TRAVERSALS[kinds.pop()], parts))
        else:
            pending.extend(parts)
    return total


def _one(_: Value) -> int:
    return 1


def _text_traversal(text: Any) -> int:
    if not text.isascii():
        text = text.encode(errors="surrogatepass")
    return int(len(text) * 0.1)


_TRAVERSALS: Final[Mapping[type, Callable[[Any], int]]] = {
    str: _text_traversal,
    bytes: lambda data: int(len(data) * 0.1),
}
_TRAVERSED: Final = frozenset({str, bytes, list, dict})


def self_comparison(items: Value) -> int:
    """The charge for comparing each element of a list with each."""
    count = size(items)
    first = items[0] if type(items) is list and items else None
    factor = 2.1 if type(first) is str or type(first) is bytes else 2.0
    return int(float(count * count) * factor) + LIST_BASE


ONE: Final = Charge(fixed=1)
BY_FIRST: Final = Charge(by_arguments=first_tenth)
BY_FIRST_TWICE: Final = Charge(by_arguments=lambda a, *_: fifth(size(a)))
BY_COMPARISON: Final = Charge(by_arguments=compared)
BY_TRAVERSAL: Final = Charge(by_arguments=lambda items, *_: traversed(items))


def heft(value: Value) -> int:
    """The size of a value with all that it holds.

    A list may hold another many times over, so the count stops above the limit of steps.
    """
    total, pending = 0, [value]
    while pending and total <= MAX_STEPS:
        part = pending.pop()
        if type(part) in _TEXTS:
            total += len(part) >> 6  # type: ignore[arg-type]
        elif type(part) is list:
            total += _CONTAINER_STEPS + len(part)
            pending.extend(_weighty(part))
        elif type(part) is dict:
            total += _CONTAINER_STEPS + len(part)
            pending.extend(_weighty(part.values()))
        elif type(part) is OptionalValue:
            pending.append(part.value)
    return total


def _weighty(items: Any) -> Sequence[Value]:
    if _WEIGHTY.isdisjoint(map(type, items)):
        return ()
    return [item for item in items if type(item) in _WEIGHTY]


def built(value: Value) -> int:
    """The steps of building a value: they bound the memory that it takes."""
    if type(value) in _TEXTS:
        return len(value) >> 5  # type: ignore[arg-type]
    return len(value) >> 2 if type(value) is list else 0


def walked(steps: int) -> Work:
    """The work of a call that goes through all that its first argument holds."""
    return Work(by_arguments=lambda items, *_: steps * heft(items))


def read(steps: int) -> Work:
    """The work of parsing a text for a charge of 1, or nearly so."""
    return Work(steps, by_arguments=lambda text, *_: size(text) >> 4)


NOTHING: Final = Work()
BUILT: Final = Work(by_result=built)
PARSED: Final = Work(60)  # a text that is short, or refused as soon as it is too long
