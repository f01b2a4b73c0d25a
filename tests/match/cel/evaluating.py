"""Evaluations for the tests, from the text of an expression: the answer and what it cost."""

import contextlib

from extender.match.cel.faults import CompileError, EvaluationError
from extender.match.cel.plan import compile as planner
from extender.match.cel.plan.code import State
from extender.match.cel.program import compile_expression
from extender.model.core_v1 import Taint
from tests.match.cel.expressions import checked

TAINT = Taint("example.com/dedicated", "gpu", "NoSchedule")


def answered(expression: str, taint: Taint = TAINT) -> tuple[bool | str | None, int]:
    """A bool, or the text of the error or of the refusal. Tables hold what cel-go said of TAINT."""
    try:
        program = compile_expression(expression)
    except CompileError as error:
        return str(error), 0
    said = program.evaluate(taint.key, taint.value, taint.effect)
    return said.error if said.result is None else said.result, said.cost


def steps_of(expression: str, taint: Taint = TAINT) -> int:
    """The work of one evaluation that cel-go does not charge for."""
    plan = planner.plan(checked(expression))
    s: State = [plan.cost, taint.key, taint.value, taint.effect, 0, *plan.locals]
    with contextlib.suppress(EvaluationError):
        plan.run(s)
    steps: int = s[4]
    return steps
