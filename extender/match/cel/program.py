"""Compiles and evaluates an expression: runs the five steps."""

from typing import Final

from msgspec import Struct

from extender.match.cel.check.checker import check
from extender.match.cel.check.notes import Checked
from extender.match.cel.check.validators import validate
from extender.match.cel.cost.estimate import estimate
from extender.match.cel.faults import CompileError, CostLimitError, EvaluationError, PanicError
from extender.match.cel.plan.code import (
    EFFECT_SLOT,
    KEY_SLOT,
    VALUE_SLOT,
    State,
)
from extender.match.cel.plan.compile import Plan, plan
from extender.match.cel.plan.patterns import Afford, any_size
from extender.match.cel.plan.scope import ProgramError
from extender.match.cel.syntax.parser import parse
from extender.match.cel.syntax.source import IssuesError, Source, format_issues
from extender.match.cel.types import BOOL, is_wrapper
from extender.match.cel.values import COST_LIMIT, COST_LIMIT_EXCEEDED, MAX_STEPS, PANIC, type_name
from extender.model.core_v1 import Taint

MAX_BYTES: Final = 10_240


class Evaluation(Struct, frozen=True, gc=False):
    """The result of an expression for one taint, or the error, and the cost."""

    result: bool | None
    error: str | None
    cost: int
    steps: int = 0  # of work that the cost does not cover


class Program(Struct, frozen=True):
    """A compiled expression. The caller must check `too_costly` before it runs one."""

    expression: str
    type: str
    max_cost: int
    plan: Plan

    @property
    def too_costly(self) -> bool:
        return self.max_cost > COST_LIMIT

    def seen(self, taint: Taint) -> Taint:
        """The taint with only the fields that the expression reads."""
        fields = self.plan.fields
        return Taint(
            taint.key if KEY_SLOT in fields else "",
            taint.value if VALUE_SLOT in fields else "",
            taint.effect if EFFECT_SLOT in fields else "",
        )

    def evaluate(self, key: str, value: str, effect: str) -> Evaluation:
        """The same for the same taint on any machine: the limits are counted, never timed."""
        s = self._new_state(key, value, effect)
        evaluation = _run(self.plan, s)
        return evaluation if _is_exact(evaluation, s) else self._evaluate_exactly(s, evaluation)

    def judge(self, taint: Taint) -> Evaluation:
        """The same, faster; the cost of a cancelled evaluation is only about upstream's."""
        return _run(self.plan, self._new_state(taint.key, taint.value, taint.effect))

    def _new_state(self, key: str, value: str, effect: str) -> State:
        return [self.plan.cost, key, value, effect, 0, *self.plan.locals]

    def _evaluate_exactly(self, s: State, evaluation: Evaluation) -> Evaluation:
        """Evaluate again, charging node by node."""
        try:
            exact = plan(_checked(Source(self.expression)), exact=True)
        except ProgramError:  # an exact plan nests deeper, here too deep
            return evaluation
        again: State = [exact.cost, *s[1:5], *exact.locals]
        exact_evaluation = _run(exact, again)
        return evaluation if again[4] > MAX_STEPS else exact_evaluation


def _is_exact(evaluation: Evaluation, s: State) -> bool:
    """A plan charges in advance, so its cost differs where upstream stops halfway."""
    if evaluation.error is None or s[4] > MAX_STEPS:
        return True
    return evaluation.cost <= COST_LIMIT and not evaluation.error.startswith(PANIC)


def _run(plan_: Plan, s: State) -> Evaluation:
    try:
        result = plan_.run(s)
    except (EvaluationError, PanicError) as error:
        return Evaluation(None, str(error), s[0], s[4])
    except CostLimitError:
        return Evaluation(None, COST_LIMIT_EXCEEDED, s[0], s[4])
    if s[0] > COST_LIMIT:
        return Evaluation(None, COST_LIMIT_EXCEEDED, s[0], s[4])
    if result is True or result is False:
        return Evaluation(result, None, s[0], s[4])
    return Evaluation(None, f"must evaluate to bool, not {type_name(result)}", s[0], s[4])


def compile_expression(text: str, afford: Afford = any_size) -> Program:
    """Raises CompileError, in upstream's words, and what `afford` raises."""
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
    if type_ != BOOL or is_wrapper(type_):
        raise CompileError(f"must evaluate to bool, not {type_}")
    try:
        planned = plan(checked, afford)
    except ProgramError as error:
        raise CompileError(f"program instantiation failed: {error}") from None
    return Program(text, str(type_), estimate(checked), planned)


def _checked(source: Source) -> Checked:
    return check(source, parse(source))
