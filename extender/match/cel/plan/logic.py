"""`&&`, `||`, and `or`, `orValue` of optionals: a skipped operand is not charged."""

from collections.abc import Sequence
from typing import Any, Final, cast

from extender.match.cel.faults import EvaluationError
from extender.match.cel.plan.code import Code, Run, State, caught, compose
from extender.match.cel.plan.dispatch import as_bool
from extender.match.cel.plan.rereading import taken
from extender.match.cel.plan.scope import Scope, Steps
from extender.match.cel.syntax.ast import Call, Expr
from extender.match.cel.values import OptionalValue

# The value that decides at once, by operator.
DECISIVE: Final = {"_&&_": False, "_||_": True}


def plan_logic(scope: Scope, expr: Call) -> Steps:
    """A chain such as `a && b && c` becomes one node, evaluated from left to right."""
    terms = []
    for operand in _operands(expr):
        term = yield operand
        terms.append(strict(scope, term))
    stop = DECISIVE[expr.function]
    if len(terms) > 2:
        run = _many(terms, stop)
    elif stop:
        run = _either(terms[0].run, terms[1])
    else:
        run = _both(terms[0].run, terms[1])
    free = sum(term.is_free for term in terms)
    code = compose(run, terms[:1], work=free, later=terms[1:])
    return scope.settle(code)


def _operands(expr: Call) -> Sequence[Expr]:
    operands: list[Expr] = []
    pending: list[Expr] = [expr]
    while pending:
        operand = pending.pop()
        if isinstance(operand, Call) and operand.function == expr.function:
            pending.extend(reversed(operand.args))
        else:
            operands.append(operand)
    return operands


def strict(scope: Scope, term: Code) -> Code:
    """A term that fails unless it is a bool."""
    if scope.sound:
        return term
    run = term.run
    return compose(lambda s: as_bool(run(s)), (term,))


def _both(left: Run, right: Code) -> Run:
    run, cost = right.run, right.cost

    def both(s: State) -> Any:
        try:
            if not left(s):
                return False
        except EvaluationError as error:
            caught(s, error)
            s[0] += cost
            if _decides(run, s, stop=False):
                return False
            raise
        s[0] += cost
        return run(s)

    return both


def _either(left: Run, right: Code) -> Run:
    run, cost = right.run, right.cost

    def either(s: State) -> Any:
        try:
            if left(s):
                return True
        except EvaluationError as error:
            caught(s, error)
            s[0] += cost
            if _decides(run, s, stop=True):
                return True
            raise
        s[0] += cost
        return run(s)

    return either


def _decides(run: Run, s: State, *, stop: bool) -> bool:
    try:
        return run(s) is stop
    except EvaluationError as error:
        caught(s, error)
        return False


def _many(terms: Sequence[Code], stop: bool) -> Run:
    first = terms[0].run
    rest = tuple((term.run, term.cost) for term in terms[1:])

    def any_of(s: State) -> Any:
        failure: str | None = None
        try:
            if first(s) is stop:
                return stop
        except EvaluationError as error:
            failure = caught(s, error)
        for run, cost in rest:
            s[0] += cost
            try:
                if run(s) is stop:
                    return stop
            except EvaluationError as error:
                text = caught(s, error)
                failure = failure or text
        if failure is None:
            return not stop
        raise EvaluationError(failure)

    return any_of


def plan_or(scope: Scope, expr: Call) -> Steps:
    """The alternative is evaluated only if the optional is empty; the call itself is free."""
    optional = yield cast(Expr, expr.target)
    alternative = yield expr.args[0]
    get, run, cost = optional.run, alternative.run, alternative.cost
    unwrapped = expr.function == "orValue"

    def either(s: State) -> Any:
        value = get(s)
        if type(value) is not OptionalValue:  # upstream lets it pass
            return value
        if value.present:
            return taken(value.value) if unwrapped else value
        s[0] += cost
        return run(s)

    code = compose(either, (optional,), work=optional.is_free, later=(alternative,))
    return scope.settle(code)
