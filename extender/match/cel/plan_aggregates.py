"""Lists, maps and objects that an expression spells out; the first part that fails ends it."""

from collections.abc import Hashable, Iterable, Sequence
from itertools import accumulate
from typing import Any, Final

from extender.match.cel.ast import ListExpr, MapExpr, StructExpr
from extender.match.cel.faults import EvaluationError
from extender.match.cel.plan import Code, Run, State, compose, constant
from extender.match.cel.planning import Planning, ProgramError, Steps, plan_each
from extender.match.cel.rereading import taken
from extender.match.cel.values import OptionalValue, Value, map_key, shown

LIST_COST: Final = 10
_MAP_COST: Final = 30
_STRUCT_COST: Final = 40


def plan_list(planning: Planning, expr: ListExpr) -> Steps:
    parts = yield from plan_each(expr.elements)
    optional = tuple(index in expr.optional_indices for index in range(len(parts)))
    if _is_constant(parts, optional):
        return constant([part.known for part in parts])
    gather = in_turn(parts)
    run = _present_items(gather, optional) if any(optional) else gather
    return planning.settle(compose(run, parts, cost=LIST_COST))


def plan_map(planning: Planning, expr: MapExpr) -> Steps:
    parts = yield from plan_each(
        part for entry in expr.entries for part in (entry.key, entry.value)
    )
    optional = tuple(entry.optional for entry in expr.entries)
    if _is_constant(parts, optional):
        return _constant_map([part.known for part in parts], optional)
    gather = in_turn(parts)

    def build(s: State) -> Any:
        return _entries(gather(s), optional)

    return planning.settle(compose(build, parts, cost=_MAP_COST))


def _constant_map(parts: Sequence[Value], optional: Sequence[bool]) -> Code:
    try:
        return constant(_entries(parts, optional))
    except EvaluationError as error:
        raise ProgramError(str(error)) from None


def plan_struct(planning: Planning, expr: StructExpr) -> Steps:
    """No object can be made: its type is known to the checker only."""
    parts = yield from plan_each(field.value for field in expr.fields)
    gather, name = in_turn(parts), expr.type_name

    def fail(s: State) -> Any:
        gather(s)
        raise EvaluationError(f"unknown type '{name}'")

    return planning.settle(compose(fail, parts, cost=_STRUCT_COST))


def _is_constant(parts: Iterable[Code], optional: Iterable[bool]) -> bool:
    return all(part.constant for part in parts) and not any(optional)


def in_turn(parts: Sequence[Code]) -> Run:
    """All values, in order; where one fails, those that follow are not charged for."""
    runs = tuple(part.run for part in parts)
    # By how many values there are already, the cost of what is behind the one that fails.
    refunds = [*accumulate([part.cost for part in reversed(parts)], initial=0)][-2::-1]

    def gather(s: State) -> list[Any]:
        values: list[Any] = []
        try:
            for run in runs:
                values.append(run(s))  # noqa: PERF401  how many there are when one fails, counts
        except EvaluationError:
            s[0] -= refunds[len(values)]
            raise
        return values

    return gather


def _present_items(gather: Run, optional: Sequence[bool]) -> Run:
    def build(s: State) -> Any:
        items = []
        for value, is_optional in zip(gather(s), optional, strict=True):
            if not is_optional:
                items.append(value)
            elif type(value) is not OptionalValue:
                raise EvaluationError(
                    "cannot initialize optional list element from non-optional value"
                    f" {shown(value)}"
                )
            elif value.present:
                items.append(taken(value.value))
        return items

    return build


def _entries(parts: Sequence[Value], optional: Sequence[bool]) -> dict[Hashable, Value]:
    entries: dict[Hashable, Value] = {}
    for index, is_optional in enumerate(optional):
        key, value = map_key(parts[2 * index]), parts[2 * index + 1]
        if not is_optional:
            entries[key] = value
        elif type(value) is not OptionalValue:
            raise EvaluationError(
                f"cannot initialize optional entry '{shown(parts[2 * index])}'"
                f" from non-optional value {shown(value)}"
            )
        elif value.present:
            entries[key] = taken(value.value)
        else:
            entries.pop(key, None)
    return entries
