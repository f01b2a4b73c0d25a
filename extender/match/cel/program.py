"""An expression, compiled: the door of the engine."""

from typing import Final

from msgspec import Struct

from extender.match.cel.checked import Checked
from extender.match.cel.checker import check
from extender.match.cel.estimate import estimate
from extender.match.cel.faults import CompileError, CostLimitError, EvaluationError, PanicError
from extender.match.cel.parser import parse
from extender.match.cel.plan import COST_LIMIT, MAX_STEPS, State
from extender.match.cel.planner import Plan, plan
from extender.match.cel.planning import ProgramError
from extender.match.cel.source import IssuesError, Source, format_issues
from extender.match.cel.types import BOOL
from extender.match.cel.validators import validate
from extender.match.cel.values import COST_LIMIT_EXCEEDED, type_name

MAX_BYTES: Final = 10_240


class Evaluation(Struct, frozen=True, gc=False):
    """The result of an expression for one taint, or why there is none, and what it cost."""

    result: bool | None
    error: str | None
    cost: int


class Program(Struct, frozen=True):
    """An expression that may be run; whether it is too costly for that, the caller decides."""

    expression: str
    type: str
    max_cost: int
    plan: Plan

    @property
    def too_costly(self) -> bool:
        return self.max_cost > COST_LIMIT

    def evaluate(self, key: str, value: str, effect: str) -> Evaluation:
        """Always the same for the same taint: what bounds it is counted, never timed."""
        s: State = [self.plan.cost, key, value, effect, 0, *self.plan.locals]
        try:
            evaluation = _run(self.plan, s)
        except PanicError as error:
            return self._evaluate_exactly(s, Evaluation(None, str(error), s[0]))
        if evaluation.cost <= COST_LIMIT or s[4] > MAX_STEPS:
            return evaluation
        return self._evaluate_exactly(s, evaluation)

    def _evaluate_exactly(self, s: State, evaluation: Evaluation) -> Evaluation:
        """Again, for the cost at the very end of it: a plan charges in advance what it can."""
        try:
            exact = plan(_checked(Source(self.expression)), exact=True)
        except ProgramError:  # nested too deeply for that
            return evaluation
        again: State = [exact.cost, *s[1:5], *exact.locals]
        try:
            exact_evaluation = _run(exact, again)
        except PanicError as error:
            return Evaluation(None, str(error), again[0])
        return evaluation if again[4] > MAX_STEPS else exact_evaluation


def _run(plan_: Plan, s: State) -> Evaluation:
    try:
        result = plan_.run(s)
    except EvaluationError as error:
        return Evaluation(None, str(error), s[0])
    except CostLimitError:
        return Evaluation(None, COST_LIMIT_EXCEEDED, s[0])
    if s[0] > COST_LIMIT:
        return Evaluation(None, COST_LIMIT_EXCEEDED, s[0])
    if result is True or result is False:
        return Evaluation(result, None, s[0])
    return Evaluation(None, f"must evaluate to bool, not {type_name(result)}", s[0])


def compile_expression(text: str) -> Program:
    """Raises CompileError, in upstream's words."""
    if len(text.encode(errors="surrogatepass")) > MAX_BYTES:
        raise CompileError(f"Too long: may not be more than {MAX_BYTES} bytes")
    source = Source(text)
    try:
        checked = _checked(source)
        validate(source, checked)
    except IssuesError as error:
        issues = format_issues(source, error.issues)
        raise CompileError(f"compilation failed: {issues}") from None
    type_ = checked.types[checked.root.id]
    if type_ != BOOL:
        raise CompileError(f"must evaluate to bool, not {type_}")
    try:
        planned = plan(checked)
    except ProgramError as error:
        raise CompileError(f"program instantiation failed: {error}") from None
    return Program(text, str(type_), estimate(checked), planned)


def _checked(source: Source) -> Checked:
    return check(source, parse(source))
