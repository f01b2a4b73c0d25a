"""What a macro goes over: the elements of a list or the entries of a map, one by one."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from extender.match.cel.dispatch import go_type
from extender.match.cel.faults import EvaluationError
from extender.match.cel.plan import Code, Run, State
from extender.match.cel.types import Type
from extender.match.cel.values import Value, from_key


class Loop(Struct, frozen=True):
    """What is iterated over, and the slot of the variable; a second one is set by the iterator."""

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
