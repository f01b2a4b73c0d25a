"""Constant regular expressions, compiled when the program is built."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.charges import quarter, tenth
from extender.match.cel.library.patterns import TooLargeError
from extender.match.cel.library.regex import FINDING_STEPS, Pattern, search_steps
from extender.match.cel.plan.code import Code, Run, State, compose, spend
from extender.match.cel.plan.invocations import Invocation, invoked
from extender.match.cel.plan.scope import ProgramError, Scope
from extender.match.cel.values import NO_SUCH_OVERLOAD, TypeValue, Value, size

# Told how many instructions are to be compiled; raises what it likes if they are too many.
Afford: TypeAlias = Callable[[int], object]

_FUNCTIONS: Final = frozenset({"matches", "find", "findAll"})
_SHORT: Final = 1024
# Instructions of all patterns of a program; together they are to fit into the cache of programs.
_MAX_TOGETHER: Final = 40_000
# A search in more is not covered by what upstream charges for it.
_MAX_LIGHT: Final = 300


def any_size(_: int) -> None:
    """Affords as many instructions as there are."""


def plan_pattern(scope: Scope, invocation: Invocation) -> Code | None:
    """Upstream replaces such a call by one that stops at the first argument that fails."""
    function = invocation.function
    if function not in _FUNCTIONS:
        return None
    part = invocation.parts[1]
    text = part.known
    if not part.constant or type(text) is not str:
        scope.heavy = True  # it is compiled when the program runs
        return None
    pattern = _measured(scope, text)
    pattern.often |= function == "matches"
    if invocation.overload == "matches_string" and invocation.texts[0]:
        run = _search(invocation.parts[0].run, pattern, quarter(len(text)))
        return compose(run, invocation.parts, work=invocation.work.always)
    work = replace(invocation.work, by_arguments=partial(_steps, function, pattern))
    call = _on_text(_operation(function, pattern))
    return invoked(replace(invocation, call=call, work=work, in_order=True))


def compile_patterns(scope: Scope, afford: Afford) -> None:
    """Compile them once it is known what all of them cost."""
    total = sum(pattern.size for pattern in scope.patterns.values())
    if total:
        afford(total)
    scope.heavy |= total > _MAX_LIGHT
    for pattern in scope.patterns.values():
        try:
            pattern.compile()
        except TooLargeError as error:
            raise ProgramError(str(error)) from None


def _measured(scope: Scope, text: str) -> Pattern:
    pattern = scope.patterns.get(text)
    if pattern is None:
        try:
            pattern = scope.patterns[text] = Pattern(text)
        except EvaluationError as error:
            raise ProgramError(str(error)) from None
        if sum(each.size for each in scope.patterns.values()) > _MAX_TOGETHER:
            raise ProgramError(
                "regular expressions are too large together, they take more than"
                f" {_MAX_TOGETHER} instructions"
            )
    return pattern


def _search(run: Run, pattern: Pattern, price: int) -> Run:
    test, steps_per_character = pattern.test, pattern.size

    def search(s: State) -> bool:
        text = run(s)
        length = len(text)
        s[0] += tenth(1 + length) * price
        if length * steps_per_character > _SHORT:
            spend(s, pattern.testing_steps(length))
        return test(text)

    return search


def _steps(function: str, pattern: Pattern, searched: Value, *_: Value) -> int:
    length = size(searched)
    if function == "matches":
        return pattern.testing_steps(length)
    per_character = FINDING_STEPS if function == "findAll" else 0
    return per_character * length + search_steps(length, pattern.size)


def _operation(function: str, pattern: Pattern) -> Callable[..., Any]:
    if function == "matches":
        return pattern.test
    return pattern.find if function == "find" else pattern.find_all


def _on_text(operation: Callable[..., Any]) -> Callable[..., Any]:
    def call(text: Value, _: Value, *others: Value) -> Any:
        if type(text) is TypeValue:  # upstream takes the name for the text
            text = text.name
        if type(text) is not str or any(type(other) is not int for other in others):
            raise EvaluationError(NO_SUCH_OVERLOAD)
        return operation(text, *others)

    return call
