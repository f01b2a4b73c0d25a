"""Variables, fields and indices; and `?:`, which upstream plans as a variable as well.

A chain such as `a.b[0]` costs 1 for the variable and 1 for each link that it applies.
"""

from collections.abc import Generator, Sequence
from typing import Any, Final

from extender.match.cel.check.declarations import CONSTANTS, TYPE_NAMES, UNDEFINED_TYPES
from extender.match.cel.faults import EvaluationError
from extender.match.cel.plan.code import FIELD_SLOTS, Code, State, charged, compose, constant
from extender.match.cel.plan.dispatch import go_type
from extender.match.cel.plan.links import KEY_TYPES, Qualifier, linked
from extender.match.cel.plan.rereading import reread, survives_reading
from extender.match.cel.plan.scope import Branch, ProgramError, Scope, Steps, Variable
from extender.match.cel.syntax.ast import Call, Constant, Expr, Ident, Select
from extender.match.cel.types import Type
from extender.match.cel.values import NO_SUCH_OVERLOAD, OptionalValue, TypeValue

TERNARY: Final = "_?_:_"
_INDEX: Final = "_[_]"
LINKS: Final = frozenset({_INDEX, "_?._", "_[?_]"})
_UNSET: Final = object()

_Links = Generator[Expr | Branch, Code, tuple[Qualifier, ...]]


def plan_ident(scope: Scope, expr: Ident) -> Steps:
    name = scope.checked.names.get(expr.id)
    if name is None or name == "taint":
        return (yield from plan_chain(scope, Branch(expr), unit=1))
    return _plan_name(name)


def plan_select(scope: Scope, expr: Select) -> Steps:
    name = scope.checked.names.get(expr.id)
    if name is not None:
        return _plan_name(name)
    return (yield from plan_chain(scope, Branch(expr), unit=1))


def _plan_name(name: str) -> Code:
    if name in CONSTANTS:
        return constant(CONSTANTS[name])
    if name in UNDEFINED_TYPES:
        raise ProgramError(f"reference to undefined type: {name}")
    return constant(TypeValue(name))


def plan_branch(scope: Scope, request: Branch) -> Steps:
    """A branch of `?:`, or the key of an index."""
    expr = request.expr
    if request.suffix or _is_chain(scope, expr):
        return (yield from plan_chain(scope, request, unit=0))
    code = yield expr
    return code if code.constant else _reread(code, scope.type_of(expr))


def _is_chain(scope: Scope, expr: Expr) -> bool:
    if isinstance(expr, Call):
        return expr.function in LINKS or expr.function == TERNARY
    if isinstance(expr, Ident | Select):
        return scope.checked.names.get(expr.id) in (None, "taint")
    return False


def plan_chain(scope: Scope, request: Branch, *, unit: int) -> Steps:
    """An expression with all the links that follow it."""
    expr = request.expr
    tested = isinstance(expr, Select) and expr.test_only
    cost = 0 if tested else unit
    base, keys = _unchained(scope, expr)
    if isinstance(base, Call) and base.function == TERNARY:
        links = yield from _plan_links(keys, tested=tested)
        # Upstream takes back the unit of `has`, though a `?:` is not charged one.
        return (yield from _plan_ternary(scope, base, (*links, *request.suffix), cost - unit))
    code = yield from _plan_base(scope, base)
    links = (*(yield from _plan_links(keys, tested=tested)), *request.suffix)
    field = _field(scope, base, links)
    if field is None:
        field = linked(code, scope.type_of(base), links, sound=scope.sound) if links else code
    return scope.settle(charged(field, cost), units=True)


def _unchained(scope: Scope, expr: Expr) -> tuple[Expr, Sequence[tuple[Expr, bool]]]:
    """The expression that a chain starts from, and its keys, each with whether it is optional."""
    keys: list[tuple[Expr, bool]] = []
    while True:
        if isinstance(expr, Select) and expr.id not in scope.checked.names:
            keys.append((Constant(expr.id, expr.offset, expr.field, "string"), False))
            expr = expr.operand
        elif isinstance(expr, Call) and expr.function in LINKS:
            keys.append((expr.args[1], expr.function != _INDEX))
            expr = expr.args[0]
        else:
            break
    keys.reverse()
    return expr, keys


def _plan_links(keys: Sequence[tuple[Expr, bool]], *, tested: bool) -> _Links:
    links = []
    for number, (expr, optional) in enumerate(keys, 1):
        key = yield Branch(expr)
        if key.constant and type(key.known) not in KEY_TYPES:
            raise ProgramError(f"invalid qualifier type: {go_type(key.known)}")
        links.append(Qualifier(key, optional, tested and number == len(keys)))
    return tuple(links)


def _plan_base(scope: Scope, base: Expr) -> Steps:
    if not isinstance(base, Ident) or not _is_chain(scope, base):
        return (yield base)
    if base.id in scope.checked.names:
        return Code(lambda s: {"key": s[1], "value": s[2], "effect": s[3]})
    type_ = scope.type_of(base)
    refuse_types(base.name, type_)
    return _reread(_read(scope.variable(base.name)), type_)


def refuse_types(name: str, type_: Type) -> None:
    """Upstream resolves a variable whose value is a type as the name of a type, and fails."""
    if type_.kind == "type" and name not in TYPE_NAMES:
        raise ProgramError(f"reference to undefined type: {name}")


def _field(scope: Scope, base: Expr, links: Sequence[Qualifier]) -> Code | None:
    """A field of the taint, if the chain is just that."""
    if scope.checked.names.get(base.id) != "taint":
        return None
    if len(links) != 1:
        scope.fields.update(FIELD_SLOTS.values())
        return None
    slot = FIELD_SLOTS[str(links[0].key.known)]
    scope.fields.add(slot)
    if links[0].tested:
        return Code(lambda _: True, 1, known=True)
    if links[0].optional:
        return Code(lambda s: OptionalValue(s[slot]), 1)
    return Code(lambda s: s[slot], 1, slot=slot)


def _read(variable: Variable) -> Code:
    slot, init = variable.slot, variable.init
    if init is None:
        return Code(lambda s: s[slot], slot=slot)
    evaluate, cost = init.run, init.cost

    def read(s: State) -> Any:
        value = s[slot]
        if value is _UNSET:
            s[0] += cost
            try:
                value = evaluate(s)
            except EvaluationError as error:
                value = EvaluationError(str(error))
            s[slot] = value
        if type(value) is EvaluationError:
            raise EvaluationError(str(value))
        return value

    return compose(read, later=(init,))


def bound(slot: int, result: Code) -> Code:
    """`cel.bind`: the variable is evaluated when the result first reads it."""
    run = result.run

    def bind(s: State) -> Any:
        s[slot] = _UNSET
        return run(s)

    return compose(bind, (result,))


def _reread(code: Code, type_: Type) -> Code:
    if survives_reading(type_):
        return code
    run = code.run
    return compose(lambda s: reread(run(s)), (code,))


def _plan_ternary(scope: Scope, expr: Call, links: tuple[Qualifier, ...], cost: int) -> Steps:
    condition = yield expr.args[0]
    then = yield Branch(expr.args[1], links)
    otherwise = yield Branch(expr.args[2], links)
    decide = condition.run
    if_true, cost_if_true = then.run, then.cost
    if_false, cost_if_false = otherwise.run, otherwise.cost

    def choose(s: State) -> Any:
        truth = decide(s)
        if truth is True:
            s[0] += cost_if_true
            return if_true(s)
        if truth is False:
            s[0] += cost_if_false
            return if_false(s)
        raise EvaluationError(NO_SUCH_OVERLOAD)

    later, work = (then, otherwise), condition.is_free
    return scope.settle(compose(choose, (condition,), cost=cost, work=work, later=later))
