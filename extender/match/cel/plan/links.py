"""The links of a chain: `.field`, `[key]`, `.?field` and `[?key]`."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.messages import has_field, read_field
from extender.match.cel.plan.code import Code, Run, State, compose
from extender.match.cel.plan.dispatch import go_type
from extender.match.cel.types import Type
from extender.match.cel.values import (
    MISSING,
    NONE,
    Message,
    OptionalValue,
    Uint,
    Value,
    find,
    index_list,
    index_map,
    position,
    shown,
)

KEY_TYPES: Final = frozenset({str, int, Uint, bool, float})


class Qualifier(Struct, frozen=True):
    """One link of a chain; `tested` for the last link inside `has()`."""

    key: Code
    optional: bool = False
    tested: bool = False


def _get(value: Value, key: Value) -> Value:
    if type(key) not in KEY_TYPES:
        raise EvaluationError(f"invalid qualifier type: {go_type(key)}")
    if type(value) is dict:
        return index_map(value, key)
    if type(value) is list:
        return index_list(value, key)
    if type(value) is Message:
        return read_field(value, key)
    raise EvaluationError(f"no such key: {shown(key)}")


def _look_up(value: Value, key: Value) -> Value:
    """The value of a key, or MISSING."""
    if type(key) not in KEY_TYPES:
        raise EvaluationError(f"invalid qualifier type: {go_type(key)}")
    if type(value) is dict:
        return find(value, key)
    if type(value) is Message:
        return read_field(value, key) if has_field(value, key) else MISSING
    if type(value) is not list:
        return MISSING
    index = position(key)
    return value[index] if 0 <= index < len(value) else MISSING


def linked(base: Code, base_type: Type, links: Sequence[Qualifier], *, sound: bool) -> Code:
    """A value and all the links that follow it."""
    first = links[0]
    plain = len(links) == 1 and not first.optional and not first.tested
    if plain and sound and base_type.kind in ("list", "map"):
        return _indexed(base, first.key, is_list=base_type.kind == "list")
    keys = [link.key for link in links]
    return compose(_walk(base.run, links), (base,), later=keys)


def _walk(base: Run, links: Sequence[Qualifier]) -> Run:
    """Apply all links in order; behind an optional one, all are optional."""
    tested = links[-1].tested
    followed = tuple(
        (link.key.run, link.key.cost, link.optional) for link in links if not link.tested
    )
    last = links[-1].key.run

    def walk(s: State) -> Any:
        value = base(s)
        optional = type(value) is OptionalValue
        if optional:
            if not value.present:
                return False if tested else value
            value = value.value
        for key, cost, is_optional in followed:
            s[0] += cost
            optional = optional or is_optional
            if optional:
                value = _look_up(value, key(s))
                if value is MISSING:
                    return False if tested else NONE
                s[0] += 1
            else:
                s[0] += 1
                value = _get(value, key(s))
        if tested:
            s[0] += not optional
            found = _look_up(value, last(s)) is not MISSING
            s[0] += found and optional
            return found
        return OptionalValue(value) if optional else value

    return walk


def _indexed(base: Code, key: Code, *, is_list: bool) -> Code:
    """One index into a value that is always a list or a map: its cost is fixed."""
    get_base, get_key, refund = base.run, key.run, 1 + key.cost
    get = index_list if is_list else _get
    place: Any = key.known

    def index(s: State) -> Any:
        try:
            value = get_base(s)
        except EvaluationError:
            s[0] -= refund
            raise
        return get(value, get_key(s))

    def index_constant(s: State) -> Any:
        try:
            value = get_base(s)
        except EvaluationError:
            s[0] -= refund
            raise
        if place < len(value):
            return value[place]
        raise EvaluationError(f"index out of bounds: {place}")

    fits = is_list and type(place) is int and place >= 0
    return compose(index_constant if fits else index, (base, key), cost=1)
