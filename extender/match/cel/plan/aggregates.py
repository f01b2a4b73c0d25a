"""Literals of lists, maps and objects. The first part that fails ends the evaluation of one."""

from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, Final

from extender.match.cel.faults import EvaluationError, PanicError
from extender.match.cel.library.messages import KINDS, make
from extender.match.cel.plan.code import Code, Run, State, compose, constant, spend
from extender.match.cel.plan.rereading import taken
from extender.match.cel.plan.scope import ProgramError, Scope, Steps, plan_each
from extender.match.cel.syntax.ast import ListExpr, MapExpr, StructExpr
from extender.match.cel.values import OptionalValue, Value, map_key, shown

LIST_COST: Final = 10
_MAP_COST: Final = 30
_STRUCT_COST: Final = 40


def plan_list(scope: Scope, expr: ListExpr) -> Steps:
    parts = yield from plan_each(expr.elements)
    optional = tuple(index in expr.optional_indices for index in range(len(parts)))
    if _is_constant(parts, optional):
        return constant([part.known for part in parts])
    gather = in_turn(parts)
    run = _present_items(gather, optional) if any(optional) else gather
    return scope.settle(compose(run, parts, cost=LIST_COST))


def plan_map(scope: Scope, expr: MapExpr) -> Steps:
    parts = yield from plan_each(
        part for entry in expr.entries for part in (entry.key, entry.value)
    )
    optional = tuple(entry.optional for entry in expr.entries)
    if _is_constant(parts, optional):
        return _constant_map([part.known for part in parts])
    return scope.settle(compose(_by_entry(parts, optional), parts, cost=_MAP_COST))


def _by_entry(parts: Sequence[Code], optional: Sequence[bool]) -> Run:
    """Enter each entry before the next is evaluated, because a key may be refused."""
    runs = tuple(part.run for part in parts)
    keys_and_values = tuple(zip(runs[::2], runs[1::2], optional, strict=True))
    unspent = _unspent(parts)

    def build(s: State) -> dict[Hashable, Value]:
        entries: dict[Hashable, Value] = {}
        begun = 0
        try:
            for get_key, get_value, is_optional in keys_and_values:
                begun += 1
                key = get_key(s)
                begun += 1
                _enter(entries, key, get_value(s), is_optional=is_optional)
        except EvaluationError:
            s[0] -= unspent[begun]
            raise
        return entries

    return build


def _constant_map(parts: Sequence[Value]) -> Code:
    try:
        return constant(dict(zip(map(map_key, parts[::2]), parts[1::2], strict=True)))
    except PanicError as error:
        raise ProgramError(str(error)) from None


def plan_struct(scope: Scope, expr: StructExpr) -> Steps:
    parts = yield from plan_each(field.value for field in expr.fields)
    name = scope.checked.names[expr.id]
    gather = _by_field(parts, expr)

    def build(s: State) -> Any:
        given = gather(s)
        if name not in KINDS:  # a name of a type that only the checker knows
            raise EvaluationError(f"unknown type '{name}'")
        return make(name, given, partial(spend, s))

    return scope.settle(compose(build, parts, cost=_STRUCT_COST))


def _by_field(parts: Sequence[Code], expr: StructExpr) -> Run:
    """Set each field before the next is evaluated, because it may be refused."""
    fields = tuple(
        (field.name, part.run, field.optional)
        for field, part in zip(expr.fields, parts, strict=True)
    )
    unspent = _unspent(parts)

    def gather(s: State) -> dict[str, Value]:
        given: dict[Any, Value] = {}
        begun = 0
        try:
            for name, run, is_optional in fields:
                begun += 1
                _enter(given, name, run(s), is_optional=is_optional)
        except EvaluationError:
            s[0] -= unspent[begun]
            raise
        return given

    return gather


def _is_constant(parts: Iterable[Code], optional: Iterable[bool]) -> bool:
    return all(part.constant for part in parts) and not any(optional)


def _unspent(parts: Sequence[Code]) -> Sequence[int]:
    """At index n, the cost of the parts behind the first n."""
    return [*accumulate([part.cost for part in reversed(parts)], initial=0)][::-1]


def in_turn(parts: Sequence[Code]) -> Run:
    """All values, in order. If one fails, the cost of those behind it is taken back."""
    runs = tuple(part.run for part in parts)
    unspent = _unspent(parts)

    def gather(s: State) -> list[Any]:
        values: list[Any] = []
        try:
            for run in runs:
                values.append(run(s))  # noqa: PERF401  how many there are when one fails, counts
        except EvaluationError:
            s[0] -= unspent[len(values) + 1]
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


def _enter(entries: dict[Hashable, Value], key: Value, value: Value, *, is_optional: bool) -> None:
    if not is_optional:
        entries[map_key(key)] = value
    elif type(value) is not OptionalValue:
        raise EvaluationError(
            f"cannot initialize optional entry '{shown(key)}'"
            f" from non-optional value {shown(value)}"
        )
    elif value.present:
        entries[map_key(key)] = taken(value.value)
    else:
        entries.pop(map_key(key), None)
