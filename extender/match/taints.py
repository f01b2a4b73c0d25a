"""Tolerations against taints, including the comparison operators and CEL expressions.

The direction is always *taint compared to toleration*: `Gt 900` tolerates a taint of 950.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import Struct

from extender.match import operators
from extender.match.cel.cache import ProgramCache
from extender.match.findings import Finding, Noticed
from extender.match.gates import FeatureGates
from extender.match.operators import AnyComparison
from extender.model.core_v1 import Taint, Toleration

NO_SCHEDULE: Final = "NoSchedule"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
NO_EXECUTE: Final = "NoExecute"
HARD_EFFECTS: Final = frozenset({NO_SCHEDULE, NO_EXECUTE})

ValueTest = Callable[[Taint, Noticed], bool]


class Matcher(Struct, frozen=True, gc=False):
    """One compiled toleration: its key, its effect and the test of its operator."""

    key: str
    effect: str
    accepts: ValueTest

    def addresses(self, taint: Taint) -> bool:
        """Whether key and effect match; an empty one is a wildcard, whatever the operator."""
        return self.effect in ("", taint.effect) and self.key in ("", taint.key)


class Tolerations:
    """The compiled tolerations of one carrier."""

    __slots__ = ("_by_key", "matchers")

    def __init__(self, matchers: tuple[Matcher, ...]) -> None:
        self.matchers = matchers
        # Effect and test by key: a pod may have many tolerations, but few for one key.
        self._by_key: dict[str, list[tuple[str, ValueTest]]] = {}
        for matcher in matchers:
            test = matcher.effect, matcher.accepts
            self._by_key.setdefault(matcher.key, []).append(test)

    def tolerates(self, taint: Taint, noticed: Noticed) -> bool:
        """Whether any toleration matches; values that do not parse are noticed."""
        by_key = self._by_key
        asked = by_key.get(taint.key, ())
        if "" in by_key and taint.key:
            if asked:
                # Findings depend on the order in which the tolerations are written.
                return self._any_tolerates(taint, noticed)
            asked = by_key[""]
        # A loop, because this runs for every taint: any() takes twice as long.
        for effect, accepts in asked:
            if (not effect or effect == taint.effect) and accepts(taint, noticed):
                return True
        return False

    def _any_tolerates(self, taint: Taint, noticed: Noticed) -> bool:
        for matcher in self.matchers:
            if matcher.addresses(taint) and matcher.accepts(taint, noticed):
                return True
        return False

    def addresses(self, taint: Taint) -> bool:
        """Whether any toleration has the key and effect of the taint, matching or not."""
        return any(matcher.addresses(taint) for matcher in self.matchers)

    def joined(self, other: "Tolerations") -> "Tolerations":
        """Both lists as one: a taint is tolerated if either list tolerates it."""
        if not other.matchers:
            return self
        return Tolerations(self.matchers + other.matchers) if self.matchers else other

    def for_effects(self, *effects: str) -> "Tolerations":
        """Only the tolerations with one of these effects."""
        return Tolerations(tuple(m for m in self.matchers if m.effect in effects))


def compile_tolerations(
    tolerations: Iterable[Toleration], gates: FeatureGates, programs: ProgramCache, noticed: Noticed
) -> Tolerations:
    """Compile each toleration once; a value that does not parse becomes a finding."""
    matchers = []
    for toleration in dict.fromkeys(tolerations):
        expression = toleration.expression
        if expression:
            # The expression alone decides: key and effect do not apply.
            test = _expression_test(expression, gates, programs, noticed)
            matchers.append(Matcher("", "", test))
        else:
            test = _value_test(toleration, gates, noticed)
            matchers.append(Matcher(toleration.key, toleration.effect, test))
    return Tolerations(tuple(matchers))


def _expression_test(
    expression: str, gates: FeatureGates, programs: ProgramCache, noticed: Noticed
) -> ValueTest:
    if not gates.cel:
        return _never
    problem = programs.problem(expression)
    if problem is not None:
        noticed.add(Finding("toleration", "cel", "", expression, problem=problem))
        return _never

    # Look the program up each time: a cached closure must not keep it alive.
    def accepts(taint: Taint, noticed: Noticed) -> bool:
        verdict = programs.evaluate(expression, taint)
        if verdict.error is not None:
            noticed.add(Finding("taint", "cel", taint.key, taint.value, expression, verdict.error))
        return verdict.result is True

    return accepts


def _value_test(toleration: Toleration, gates: FeatureGates, noticed: Noticed) -> ValueTest:
    operator = operators.toleration(toleration.operator)
    if operator is None or not operator.is_on(gates):
        return _never
    if operator.comparison is not None:
        return _comparison_test(toleration, operator.comparison, noticed)
    if operator.arity == operators.NONE:
        return _always
    expected = toleration.value
    return lambda taint, _: taint.value == expected


def _comparison_test(
    toleration: Toleration, comparison: AnyComparison, noticed: Noticed
) -> ValueTest:
    # Not by way of `against`: that costs one more call for every taint.
    order: Callable[[str], Any] = comparison.order
    holds: Callable[[Any, Any], bool] = comparison.holds
    kind = comparison.kind
    bound = order(toleration.value)
    if bound is None:
        noticed.add(Finding("toleration", kind, toleration.key, toleration.value))
        return _never

    def accepts(taint: Taint, noticed: Noticed) -> bool:
        value = order(taint.value)
        if value is None:
            noticed.add(Finding("taint", kind, taint.key, taint.value))
            return False
        return holds(value, bound)

    return accepts


def _always(_taint: Taint, _noticed: Noticed) -> bool:
    return True


def _never(_taint: Taint, _noticed: Noticed) -> bool:
    return False
