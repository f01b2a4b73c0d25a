"""Constant regular expressions, compiled when the program is built."""

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.charges import quarter, tenth
from extender.match.cel.library.regex import FINDING_STEPS, Pattern, compile_pattern, search_steps
from extender.match.cel.plan.code import Code, Run, State, compose, spend
from extender.match.cel.plan.invocations import Invocation, invoked
from extender.match.cel.plan.scope import ProgramError, Scope
from extender.match.cel.values import NO_SUCH_OVERLOAD, TypeValue, Value, size

_FUNCTIONS: Final = frozenset({"matches", "find", "findAll"})
_SHORT: Final = 1024
# Instructions of all patterns of a program: half a second to compile, and a few megabytes.
_MAX_PATTERN_SIZE: Final = 250_000


def plan_pattern(scope: Scope, invocation: Invocation) -> Code | None:
    """Upstream replaces such a call by one that stops at the first argument that fails."""
    if invocation.function not in _FUNCTIONS or not invocation.parts[1].constant:
        return None
    text = invocation.parts[1].known
    if type(text) is not str:
        return None
    pattern = _compiled(scope, text)
    if invocation.overload == "matches_string" and invocation.texts[0]:
        run = _search(invocation.parts[0].run, pattern, quarter(len(text)))
        return compose(run, invocation.parts, work=invocation.work.always)
    call = _on_text(_operation(invocation.function, pattern))
    per_character = FINDING_STEPS if invocation.function == "findAll" else 0
    work = replace(
        invocation.work,
        by_arguments=lambda searched, *_: (
            per_character * size(searched) + search_steps(size(searched), pattern.size)
        ),
    )
    return invoked(replace(invocation, call=call, work=work, in_order=True))


def _compiled(scope: Scope, text: str) -> Pattern:
    try:
        pattern = compile_pattern(text)
    except EvaluationError as error:
        raise ProgramError(str(error)) from None
    scope.patterns.append(pattern)
    if sum(each.size for each in scope.patterns) > _MAX_PATTERN_SIZE:
        raise ProgramError("regular expressions are too large together")
    return pattern


def _search(run: Run, pattern: Pattern, price: int) -> Run:
    test, steps_per_character = pattern.matcher(), pattern.size

    def search(s: State) -> bool:
        text = run(s)
        length = len(text)
        s[0] += tenth(1 + length) * price
        if length * steps_per_character > _SHORT:
            spend(s, search_steps(length, steps_per_character))
        return test(text)

    return search


def _operation(function: str, pattern: Pattern) -> Callable[..., Any]:
    if function == "matches":
        return pattern.matcher()
    return pattern.find if function == "find" else pattern.find_all


def _on_text(operation: Callable[..., Any]) -> Callable[..., Any]:
    def call(text: Value, _: Value, *others: Value) -> Any:
        if type(text) is TypeValue:  # upstream takes the name for the text
            text = text.name
        if type(text) is not str or any(type(other) is not int for other in others):
            raise EvaluationError(NO_SUCH_OVERLOAD)
        return operation(text, *others)

    return call
