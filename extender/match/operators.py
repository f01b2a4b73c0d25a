"""Every operator of tolerations and of node affinity, described once.

Matching, validation, `explain`, `scan` and the command line all read these two tables. The same
name means the same order in both, but integers differ: a toleration takes canonical integers
only, node affinity takes whatever Go's ParseInt does.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

from semver import Version

from extender.match import integers, versions
from extender.match.findings import Kind
from extender.match.gates import ATTRIBUTE_OF, COMPARISON_GATE, SEMVER_GATE, FeatureGates
from extender.match.versions import Order

# True or False as the comparison goes, None if the node's value does not parse.
ValueTest = Callable[[str], bool | None]
Arity = Literal["no value", "exactly one value", "at least one value"]
# Where the node's value must be, seen from the rule's.
Relation = Literal["above", "below", "equal"]
T = TypeVar("T")
K = TypeVar("K")

NONE: Final[Arity] = "no value"
ONE: Final[Arity] = "exactly one value"
SOME: Final[Arity] = "at least one value"

_HOLDS: Final[Mapping[Relation, Callable[[Any, Any], bool]]] = {
    "above": operator.gt,
    "below": operator.lt,
    "equal": operator.eq,
}
_WORDS: Final[Mapping[Relation, str]] = {
    "above": "greater than",
    "below": "less than",
    "equal": "equal to",
}


@dataclass(frozen=True, slots=True)
class Comparison(Generic[T, K]):
    """How an operator reads both values, and when it holds (the node's value comes first)."""

    kind: Kind
    noun: str  # what both values must be, such as "a version"
    relation: Relation
    parse: Callable[[str], T | None]
    order: Callable[[str], K | None]  # the parsed value as a sort key
    holds: Callable[[K, K], bool]  # compares two sort keys, the node's first

    @property
    def words(self) -> str:
        """The relation in words: "greater than"."""
        return _WORDS[self.relation]

    def against(self, text: str) -> ValueTest | None:
        """A test of values against `text`, which is parsed once; None if it does not parse."""
        bound = self.order(text)
        if bound is None:
            return None
        order, holds = self.order, self.holds

        def test(value: str) -> bool | None:
            key = order(value)
            return None if key is None else holds(key, bound)

        return test


AnyComparison = Comparison[Version, Order] | Comparison[int, int]


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator; without a `comparison` it treats values as plain strings."""

    name: str
    arity: Arity
    gate: str = ""  # the feature gate that it needs; empty: none
    comparison: AnyComparison | None = None
    aliases: tuple[str, ...] = ()  # what people write who mean this one

    @property
    def kind(self) -> Literal["string", "integer", "semver"]:
        """What kind of value it compares."""
        if self.comparison is None:
            return "string"
        return "semver" if self.comparison.kind == "semver" else "integer"

    def is_on(self, gates: FeatureGates) -> bool:
        """Whether its feature gate is on; without a gate it always is."""
        return not self.gate or bool(getattr(gates, ATTRIBUTE_OF[self.gate]))

    def takes(self, count: int) -> bool:
        """Whether it takes so many values."""
        return count == 1 if self.arity == ONE else (count > 0) == (self.arity == SOME)


Operators = Mapping[str, Operator]


def _integers(
    parse: Callable[[str], int | None], noun: str, relation: Relation
) -> Comparison[int, int]:
    return Comparison("integer", noun, relation, parse, parse, _HOLDS[relation])


def _versions(relation: Relation) -> Comparison[Version, Order]:
    return Comparison(
        "semver", "a version", relation, versions.parse, versions.order, _HOLDS[relation]
    )


def _table(*described: Operator) -> Operators:
    return {each.name: each for each in described}


_CANONICAL: Final = (integers.canonical, "an integer in canonical form")
_SIGNED: Final = (integers.signed, "an integer")
_SEMVER: Final = (
    Operator("SemverLt", ONE, SEMVER_GATE, _versions("below")),
    Operator("SemverGt", ONE, SEMVER_GATE, _versions("above")),
    Operator("SemverEq", ONE, SEMVER_GATE, _versions("equal")),
)
# The order is upstream's: admission lists operators in it.
TOLERATION: Final = _table(
    Operator("Equal", ONE, aliases=("=", "==", "In")),
    Operator("Exists", NONE),
    Operator("Lt", ONE, COMPARISON_GATE, _integers(*_CANONICAL, "below"), ("<",)),
    Operator("Gt", ONE, COMPARISON_GATE, _integers(*_CANONICAL, "above"), (">",)),
    *_SEMVER,
)
AFFINITY: Final = _table(
    Operator("In", SOME, aliases=("=", "==", "Equal")),
    Operator("NotIn", SOME, aliases=("!=",)),
    Operator("Exists", NONE),
    Operator("DoesNotExist", NONE),
    Operator("Lt", ONE, "", _integers(*_SIGNED, "below"), ("<",)),
    Operator("Gt", ONE, "", _integers(*_SIGNED, "above"), (">",)),
    *_SEMVER,
)
DEFAULT_TOLERATION: Final = "Equal"


def toleration(name: str) -> Operator | None:
    """The operator of a toleration, an empty name being `Equal`; None if it is unknown."""
    return TOLERATION.get(name or DEFAULT_TOLERATION)


def affinity(name: str) -> Operator | None:
    """The operator of a node selector requirement; None if it is unknown."""
    return AFFINITY.get(name)


def meant_by(alias: str, table: Operators) -> str | None:
    """The operator that somebody means who writes `alias`, such as `>`."""
    return next((each.name for each in table.values() if alias in each.aliases), None)


def siblings(known: Operator, table: Operators) -> tuple[str, ...]:
    """The operators with the same kind and number of values, itself included."""
    return tuple(
        each.name for each in table.values() if (each.kind, each.arity) == (known.kind, known.arity)
    )
