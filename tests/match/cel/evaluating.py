"""Evaluations for the tests, from the text of an expression: the answer and what it cost."""

from extender.match.cel.faults import CompileError
from extender.match.cel.program import compile_expression
from extender.model.core_v1 import Taint

TAINT = Taint("example.com/dedicated", "gpu", "NoSchedule")


def answered(expression: str, taint: Taint = TAINT) -> tuple[bool | str | None, int]:
    """A bool, or the text of the error or of the refusal. Tables hold what cel-go said of TAINT."""
    try:
        program = compile_expression(expression)
    except CompileError as error:
        return str(error), 0
    said = program.evaluate(taint.key, taint.value, taint.effect)
    return said.error if said.result is None else said.result, said.cost
