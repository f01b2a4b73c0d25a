"""The loops that macros become.

As upstream, an element that fails does not end a loop: the others are still evaluated and charged.
Then `all` and `exists` fail unless another element decided, and all other macros fail.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.lists import insert, insert_all
from extender.match.cel.plan.code import Code, Run, State, caught, over_limit
from extender.match.cel.plan.dispatch import go_type
from extender.match.cel.types import Type
from extender.match.cel.values import COST_LIMIT, NO_SUCH_OVERLOAD, Value, from_key, type_name

_END: Final = object()


_READ: Final = 1  # reading the accumulator, as any variable


_COUNT: Final = 2  # reading it, and adding to it or comparing it


class Loop(Struct, frozen=True):
    """An iterable, and the slot of the variable. The iterable itself sets a second variable."""

    items: Run
    slot: int


def loop_over(source: Code, type_: Type, slots: Sequence[int], *, sound: bool) -> Loop:
    """A loop over a value of a static type."""
    run = source.run
    if len(slots) == 2:
        second = slots[1]
        return Loop(lambda s: _setting(s, second, _pairs(run(s))), slots[0])
    if sound and type_.kind == "list":
        return Loop(run, slots[0])
    return Loop(lambda s: _one_by_one(run(s)), slots[0])


def _one_by_one(value: Value) -> Iterable[Value]:
    if type(value) is list:
        return value
    if type(value) is dict:
        return map(from_key, value)
    raise EvaluationError(f"got '{go_type(value)}', expected iterable type")


def _pairs(value: Value) -> Iterable[tuple[Value, Value]]:
    if type(value) is list:
        return enumerate(value)
    if type(value) is dict:
        return ((from_key(key), entry) for key, entry in value.items())
    raise EvaluationError(f"unsupported comprehension range type: {go_type(value)}")


def _setting(s: State, slot: int, pairs: Iterable[tuple[Value, Value]]) -> Iterator[Value]:
    for key, value in pairs:
        s[slot] = value
        yield key


def deciding(loop: Loop, predicate: Code, *, stop: bool) -> Run:
    """`exists` (stops at true) and `all` (at false)."""
    items, slot = loop.items, loop.slot
    holds = predicate.run
    # Upstream checks the condition before each element, and once more behind the decisive one.
    asking = 3 if stop else 2
    per_element = asking + _READ + predicate.cost

    def decide(s: State) -> Any:
        failure: str | None = None
        elements = iter(items(s))
        for element in elements:
            s[slot] = element
            cost = s[0] = s[0] + per_element
            if cost > COST_LIMIT:
                raise over_limit(s)
            try:
                if holds(s) is stop:
                    s[0] += _READ if next(elements, _END) is _END else asking + _READ
                    return stop
            except EvaluationError as error:
                text = caught(s, error)
                failure = failure or text
        s[0] += _READ
        if failure is None:
            return not stop
        raise EvaluationError(failure)

    return decide


def counting(loop: Loop, predicate: Code) -> Run:
    """`exists_one`."""
    items, slot = loop.items, loop.slot
    holds, per_element = predicate.run, predicate.cost

    def count(s: State) -> bool:
        failure: str | None = None
        found = 0
        for element in items(s):
            s[slot] = element
            cost = s[0] = s[0] + per_element
            if cost > COST_LIMIT:
                raise over_limit(s)
            try:
                if holds(s):
                    found += 1
                    s[0] += _COUNT
            except EvaluationError as error:
                failure = caught(s, error)
        s[0] += _COUNT
        if failure is None:
            return found == 1
        raise EvaluationError(failure)

    return count


def asking(loop: Loop, predicate: Code, failure: int) -> Loop:
    """A loop over the elements for which a predicate holds.

    Slot `failure` has the error of the whole loop: the last one of the predicate, else the first
    one of an element.
    """
    items, slot = loop.items, loop.slot
    holds, per_element = predicate.run, predicate.cost

    def ask(s: State) -> Iterator[Value]:
        for element in items(s):
            s[slot] = element
            cost = s[0] = s[0] + per_element
            if cost > COST_LIMIT:
                raise over_limit(s)
            try:
                if not holds(s):
                    continue
            except EvaluationError as error:
                s[failure] = caught(s, error)
                continue
            yield element

    return Loop(ask, slot)


def collecting(loop: Loop, added: Code, failure: int) -> Run:
    """`map`, `filter` and `transformList`."""
    items, slot = loop.items, loop.slot
    make, per_item = added.run, _READ + added.cost

    def collect(s: State) -> list[Any]:
        s[failure] = None
        built = []
        for element in items(s):
            s[slot] = element
            cost = s[0] = s[0] + per_item
            if cost > COST_LIMIT:
                raise over_limit(s)
            try:
                built.append(make(s))
            except EvaluationError as error:
                text = caught(s, error)
                s[failure] = s[failure] or text
        s[0] += _READ
        if s[failure] is None:
            return built
        raise EvaluationError(s[failure])

    return collect


def inserting(loop: Loop, added: Code, failure: int, *, keyed: bool) -> Run:
    """`transformMap` (the key is that of the element) and `transformMapEntry`."""
    items, slot = loop.items, loop.slot
    make, per_entry = added.run, _READ + keyed + added.cost

    def build(s: State) -> dict[Hashable, Value]:
        s[failure] = None
        entries: dict[Hashable, Value] = {}
        for element in items(s):
            s[slot] = element
            if keyed and s[failure] is not None:
                s[0] += _READ
                continue
            cost = s[0] = s[0] + per_entry
            if cost > COST_LIMIT:
                raise over_limit(s)
            try:
                added_value = make(s)
                if keyed:
                    insert(entries, element, added_value)
                elif s[failure] is None:
                    insert_all(entries, _map(added_value))
            except EvaluationError as error:
                text = caught(s, error)
                s[failure] = s[failure] or text
        s[0] += _READ
        if s[failure] is None:
            return entries
        raise EvaluationError(s[failure])

    return build


def _map(value: Any) -> dict[Hashable, Value]:
    if type(value) is dict:
        return value
    raise EvaluationError(f"{NO_SUCH_OVERLOAD}: cel.@mapInsert(map, {type_name(value)})")
