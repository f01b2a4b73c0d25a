"""Tolerations against taints, including the comparison operators and CEL expressions.

The direction is always *taint compared to toleration*: `Gt 900` tolerates a taint of 950.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from extender.match import operators
from extender.match.cel.cache import ProgramCache
from extender.match.findings import Finding, Kind, Noticed
from extender.match.gates import FeatureGates
from extender.match.operators import AnyComparison, Operator, Relation
from extender.model.core_v1 import Taint, Toleration

NO_SCHEDULE: Final = "NoSchedule"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
NO_EXECUTE: Final = "NoExecute"
HARD_EFFECTS: Final = frozenset({NO_SCHEDULE, NO_EXECUTE})
# What cordoning stands for. Upstream asks about it whether or not the node carries it.
CORDON: Final = Taint(key="node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)


class _Scale:
    """Thresholds of one kind, integers or versions: the only ones that can decide."""

    __slots__ = ("above", "below", "equal", "kind", "order")

    def __init__(self, comparison: AnyComparison) -> None:
        self.kind = comparison.kind
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

    __slots__ = ("always", "scales", "size", "values")

    def __init__(self) -> None:
        self.size = 0
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


_ValueTest = _Never | _Always | _Equal | _Compared

_NEVER: Final = _Never()
_ALWAYS: Final = _Always()


class Matcher(Struct, frozen=True, gc=False):
    """One compiled toleration: its key, its effect, the test of its operator, its seconds."""

    key: str
    effect: str
    test: _ValueTest | _Expression
    seconds: int | None = None

    @property
    def can_match(self) -> bool:
        """Whether there is any taint that it tolerates."""
        return not isinstance(self.test, _Never)

    def tolerates(self, taint: Taint, noticed: Noticed) -> bool:
        """Whether it addresses a taint and accepts its value."""
        return self.addresses(taint) and self.accepts(taint, noticed)

    def addresses(self, taint: Taint) -> bool:
        """Whether key and effect match; an empty one is a wildcard, whatever the operator."""
        return self.effect in ("", taint.effect) and self.key in ("", taint.key)

    def accepts(self, taint: Taint, noticed: Noticed) -> bool:
        """Whether the value of a taint that it addresses is tolerated."""
        return self.test.accepts(taint, noticed)


class _Key:
    """The tolerations of one key, or of any key, and the groups that they form."""

    __slots__ = ("groups", "matchers")

    def __init__(self, matchers: Sequence[Matcher]) -> None:
        self.matchers = matchers
        self.groups: dict[str, _Group] = {}

    def group(self, effect: str) -> _Group:
        """The tolerations that speak of an effect, as one."""
        group = self.groups.get(effect)
        if group is None:
            group = self.groups[effect] = _Group()
            for matcher in self.matchers:
                test = matcher.test
                if matcher.effect in ("", effect) and not isinstance(test, _Expression):
                    group.size += 1
                    test.enter(group)
        return group


class Tolerations:
    """The compiled tolerations of one carrier.

    A taint is looked up, not compared with each: 5,000 thresholds of a key come to one.
    """

    __slots__ = ("_any_key", "_by_key", "_expressions", "_keys", "matchers")

    def __init__(self, matchers: tuple[Matcher, ...]) -> None:
        self.matchers = matchers
        self._expressions: list[_Expression] = []
        # Mostly one of a key, and then no list: 50,000 of those take 15 MB and 100 ms.
        by_key: dict[str, Matcher | list[Matcher]] = {}
        for matcher in matchers:
            if isinstance(matcher.test, _Expression):
                self._expressions.append(matcher.test)
                continue
            known = by_key.setdefault(matcher.key, matcher)
            if isinstance(known, list):
                known.append(matcher)
            elif known is not matcher:
                by_key[matcher.key] = [known, matcher]
        self._by_key = by_key
        # By the keys of taints that asked: a pod may tolerate 50,000 keys that no node has.
        self._keys: dict[str, _Key] = {}
        self._any_key = self._key("")

    def _key(self, key: str) -> _Key | None:
        found = self._keys.get(key)
        if found is None and key in self._by_key:
            matchers = self._by_key[key]
            found = self._keys[key] = _Key(matchers if isinstance(matchers, list) else (matchers,))
        return found

    @property
    def lookups(self) -> int:
        """How many look-ups one taint takes at most: its key, any key, each expression."""
        wildcards = self._any_key is not None
        return (len(self._by_key) > wildcards) + wildcards + len(self._expressions)

    def tolerates(self, taint: Taint, noticed: Noticed) -> bool:
        """Whether any toleration matches, whatever their order.

        Nothing is noticed of a taint that is tolerated. Of another one its value is noticed for
        each kind of comparison that cannot read it, and each expression that ends in an error.
        """
        value = taint.value
        scales: Sequence[_Scale] = ()
        named = taint.key in self._by_key
        for key in (self._key(taint.key) if named else None, self._any_key):
            if key is not None:
                group = key.groups.get(taint.effect) or key.group(taint.effect)
                if group.always or value in group.values:
                    return True
                if group.scales:
                    scales = [*scales, *group.scales.values()]
        return bool(scales or self._expressions) and self._compares(taint, scales, noticed)

    def _compares(self, taint: Taint, scales: Iterable[_Scale], noticed: Noticed) -> bool:
        missed: Noticed = set()
        for scale in scales:
            value = scale.order(taint.value)
            if value is None:
                missed.add(Finding("taint", scale.kind, taint.key, taint.value))
            elif scale.holds(value):
                return True
        for expression in self._expressions:
            if expression.accepts(taint, missed):
                return True
        noticed |= missed
        return False

    def addresses(self, taint: Taint) -> bool:
        """Whether any toleration has the key and effect of the taint, matching or not."""
        keys = self._key(taint.key), self._any_key
        return bool(self._expressions) or any(
            key is not None and key.group(taint.effect).size for key in keys
        )

    def joined(self, other: "Tolerations") -> "Tolerations":
        """Both lists as one: a taint is tolerated if either list tolerates it."""
        if not other.matchers:
            return self
        return Tolerations(self.matchers + other.matchers) if self.matchers else other


def compile_tolerations(
    tolerations: Iterable[Toleration], gates: FeatureGates, programs: ProgramCache, noticed: Noticed
) -> Tolerations:
    """Compile each toleration once; a value that does not parse becomes a finding."""
    matchers = []
    expressions: set[str] = set()
    usable = _usable(gates)
    for toleration in tolerations:
        expression = toleration.expression
        if not expression:
            operator = usable.get(toleration.operator or operators.DEFAULT_TOLERATION)
            test = _NEVER if operator is None else _value_test(toleration, operator, noticed)
            seconds = toleration.toleration_seconds
            matchers.append(Matcher(toleration.key, toleration.effect, test, seconds))
        elif expression not in expressions:
            expressions.add(expression)
            # The expression alone decides: key and effect do not apply.
            judge = _expression_test(expression, gates, programs, noticed)
            matchers.append(Matcher("", "", judge, toleration.toleration_seconds))
    return Tolerations(tuple(matchers))


@functools.cache
def _usable(gates: FeatureGates) -> Mapping[str, Operator]:
    """The operators whose gates are on; a pod may have 50,000 tolerations that ask."""
    return {name: each for name, each in operators.TOLERATION.items() if each.is_on(gates)}


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


def _value_test(toleration: Toleration, operator: Operator, noticed: Noticed) -> _ValueTest:
    comparison = operator.comparison
    if comparison is None:
        return _ALWAYS if operator.arity == operators.NONE else _Equal(toleration.value)
    bound = comparison.order(toleration.value)
    if bound is None:
        noticed.add(Finding("toleration", comparison.kind, toleration.key, toleration.value))
        return _NEVER
    return _Compared(comparison, bound)
