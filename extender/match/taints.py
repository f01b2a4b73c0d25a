"""Tolerations against taints, including the comparison operators and CEL expressions.

The direction is always *taint compared to toleration*: `Gt 900` tolerates a taint of 950.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import Struct

from extender.match import operators
from extender.match.cel.cache import ProgramCache
from extender.match.findings import Finding, Kind, Noticed
from extender.match.gates import FeatureGates
from extender.match.operators import AnyComparison, Relation
from extender.model.core_v1 import Taint, Toleration

NO_SCHEDULE: Final = "NoSchedule"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
NO_EXECUTE: Final = "NoExecute"
HARD_EFFECTS: Final = frozenset({NO_SCHEDULE, NO_EXECUTE})


class _Scale:
    """Thresholds of one kind, integers or versions: the only ones that can decide."""

    __slots__ = ("above", "below", "equal", "order")

    def __init__(self, comparison: AnyComparison) -> None:
        self.order: Callable[[str], Any] = comparison.order
        self.above: Any = None  # the smallest of all: what is above another is above this one
        self.below: Any = None  # the largest
        self.equal: set[Any] = set()

    def enter(self, relation: Relation, bound: Any) -> None:
        """One threshold more."""
        if relation == "above":
            self.above = bound if self.above is None else min(self.above, bound)
        elif relation == "below":
            self.below = bound if self.below is None else max(self.below, bound)
        else:
            self.equal.add(bound)

    def holds(self, value: Any) -> bool:
        """Whether any of the comparisons holds."""
        if self.above is not None and value > self.above:
            return True
        return (self.below is not None and value < self.below) or value in self.equal


class _Group:
    """All tolerations of one key that speak of one effect: a look-up, however many there are."""

    __slots__ = ("always", "scales", "values")

    def __init__(self) -> None:
        self.always = False
        self.values: set[str] = set()
        self.scales: dict[Kind, _Scale] = {}


class _Never(Struct, frozen=True, gc=False):
    """No such operator, a gate that is off, or a value that does not parse."""

    def enter(self, group: _Group) -> None:
        """It speaks of the taint, and adds nothing."""

    def accepts(self, _taint: Taint, _noticed: Noticed) -> bool:
        return False


class _Always(Struct, frozen=True, gc=False):
    """`Exists`."""

    def enter(self, group: _Group) -> None:
        group.always = True

    def accepts(self, _taint: Taint, _noticed: Noticed) -> bool:
        return True


class _Equal(Struct, frozen=True, gc=False):
    """`Equal`: the same text."""

    value: str

    def enter(self, group: _Group) -> None:
        group.values.add(self.value)

    def accepts(self, taint: Taint, _noticed: Noticed) -> bool:
        return taint.value == self.value


class _Compared(Struct, frozen=True, gc=False):
    """The operators that compare numbers or versions."""

    comparison: AnyComparison
    bound: Any

    def enter(self, group: _Group) -> None:
        scale = group.scales.get(self.comparison.kind)
        if scale is None:
            scale = group.scales[self.comparison.kind] = _Scale(self.comparison)
        scale.enter(self.comparison.relation, self.bound)

    def accepts(self, taint: Taint, noticed: Noticed) -> bool:
        value = self.comparison.order(taint.value)
        if value is None:
            noticed.add(Finding("taint", self.comparison.kind, taint.key, taint.value))
            return False
        holds: Callable[[Any, Any], bool] = self.comparison.holds
        return holds(value, self.bound)


class _Expression(Struct, frozen=True, gc=False):
    """A CEL expression that compiles."""

    text: str
    programs: ProgramCache

    def accepts(self, taint: Taint, noticed: Noticed) -> bool:
        # Look the program up each time: a cached test must not keep it alive.
        verdict = self.programs.evaluate(self.text, taint)
        if verdict.error is not None:
            noticed.add(Finding("taint", "cel", taint.key, taint.value, self.text, verdict.error))
        return verdict.result is True


_NEVER: Final = _Never()
_ALWAYS: Final = _Always()


class Matcher(Struct, frozen=True, gc=False):
    """One compiled toleration: its key, its effect and the test of its operator."""

    key: str
    effect: str
    test: _Never | _Always | _Equal | _Compared | _Expression

    def addresses(self, taint: Taint) -> bool:
        """Whether key and effect match; an empty one is a wildcard, whatever the operator."""
        return self.effect in ("", taint.effect) and self.key in ("", taint.key)

    def accepts(self, taint: Taint, noticed: Noticed) -> bool:
        """Whether the value of a taint that it addresses is tolerated."""
        return self.test.accepts(taint, noticed)


class Tolerations:
    """The compiled tolerations of one carrier.

    A taint is looked up, not compared with each: 5,000 thresholds of a key come to one.
    """

    __slots__ = ("_by_key", "_expressions", "_groups", "matchers")

    def __init__(self, matchers: tuple[Matcher, ...]) -> None:
        self.matchers = matchers
        self._expressions = [m.test for m in matchers if isinstance(m.test, _Expression)]
        self._by_key: dict[str, list[Matcher]] = {}
        for matcher in matchers:
            if not isinstance(matcher.test, _Expression):
                self._by_key.setdefault(matcher.key, []).append(matcher)
        # By key and effect, made when a taint asks: a pod may tolerate 50,000 keys of no node.
        self._groups: dict[tuple[str, str], _Group | None] = {}

    @property
    def lookups(self) -> int:
        """How many look-ups one taint takes at most: its key, any key, each expression."""
        wildcards = "" in self._by_key
        return (len(self._by_key) > wildcards) + wildcards + len(self._expressions)

    def tolerates(self, taint: Taint, noticed: Noticed) -> bool:
        """Whether any toleration matches, whatever their order.

        Nothing is noticed of a taint that is tolerated. Of another one its value is noticed for
        each kind of comparison that cannot read it, and each expression that ends in an error.
        """
        groups = self._groups_of(taint)
        for group in groups:
            if group.always or taint.value in group.values:
                return True
        missed: Noticed = set()
        if self._compares(groups, taint, missed):
            return True
        for expression in self._expressions:
            if expression.accepts(taint, missed):
                return True
        noticed |= missed
        return False

    def _compares(self, groups: Iterable[_Group], taint: Taint, missed: Noticed) -> bool:
        for group in groups:
            for kind, scale in group.scales.items():
                value = scale.order(taint.value)
                if value is None:
                    missed.add(Finding("taint", kind, taint.key, taint.value))
                elif scale.holds(value):
                    return True
        return False

    def addresses(self, taint: Taint) -> bool:
        """Whether any toleration has the key and effect of the taint, matching or not."""
        return bool(self._expressions or self._groups_of(taint))

    def _groups_of(self, taint: Taint) -> list[_Group]:
        by_key, found = self._by_key, []
        if taint.key in by_key and (group := self._group(taint.key, taint.effect)) is not None:
            found.append(group)
        if "" in by_key and taint.key and (group := self._group("", taint.effect)) is not None:
            found.append(group)
        return found

    def _group(self, key: str, effect: str) -> _Group | None:
        at = key, effect
        if at not in self._groups:
            self._groups[at] = _grouped(self._by_key[key], effect)
        return self._groups[at]

    def joined(self, other: "Tolerations") -> "Tolerations":
        """Both lists as one: a taint is tolerated if either list tolerates it."""
        if not other.matchers:
            return self
        return Tolerations(self.matchers + other.matchers) if self.matchers else other


def _grouped(matchers: Iterable[Matcher], effect: str) -> _Group | None:
    """The group of those that speak of the effect; None if none does."""
    group = None
    for matcher in matchers:
        if matcher.effect in ("", effect) and not isinstance(matcher.test, _Expression):
            group = group or _Group()
            matcher.test.enter(group)
    return group


def compile_tolerations(
    tolerations: Iterable[Toleration], gates: FeatureGates, programs: ProgramCache, noticed: Noticed
) -> Tolerations:
    """Compile each toleration once; a value that does not parse becomes a finding."""
    matchers = []
    expressions: set[str] = set()
    for toleration in tolerations:
        expression = toleration.expression
        if not expression:
            test = _value_test(toleration, gates, noticed)
            matchers.append(Matcher(toleration.key, toleration.effect, test))
        elif expression not in expressions:
            expressions.add(expression)
            # The expression alone decides: key and effect do not apply.
            test = _expression_test(expression, gates, programs, noticed)
            matchers.append(Matcher("", "", test))
    return Tolerations(tuple(matchers))


def _expression_test(
    expression: str, gates: FeatureGates, programs: ProgramCache, noticed: Noticed
) -> _Never | _Expression:
    if not gates.cel:
        return _NEVER
    problem = programs.problem(expression)
    if problem is not None:
        noticed.add(Finding("toleration", "cel", "", expression, problem=problem))
        return _NEVER
    return _Expression(expression, programs)


def _value_test(
    toleration: Toleration, gates: FeatureGates, noticed: Noticed
) -> _Never | _Always | _Equal | _Compared:
    operator = operators.toleration(toleration.operator)
    if operator is None or not operator.is_on(gates):
        return _NEVER
    if operator.comparison is None:
        return _ALWAYS if operator.arity == operators.NONE else _Equal(toleration.value)
    bound = operator.comparison.order(toleration.value)
    if bound is None:
        noticed.add(
            Finding("toleration", operator.comparison.kind, toleration.key, toleration.value)
        )
        return _NEVER
    return _Compared(operator.comparison, bound)
