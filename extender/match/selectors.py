"""Node selectors, compiled: required terms, preferred terms, `spec.nodeSelector`.

As upstream, a malformed requirement is no error: its term never matches, the other terms still
can. Every selector can list the labels that it reads, so that it is evaluated once for nodes
with equal values of those.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from extender.match import operators
from extender.match.findings import Finding, Noticed
from extender.match.gates import FeatureGates
from extender.match.operators import AnyComparison
from extender.match.term_index import Pin, TermIndex
from extender.model.core_v1 import (
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
)

NAME_FIELD: Final = "metadata.name"

_NAME: Final = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_VALUE: Final = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_SUBDOMAIN: Final = re.compile(
    r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*"
)
_NAME_MAX: Final = 63
_SUBDOMAIN_MAX: Final = 253

Labels = Mapping[str, str]
LabelTest = Callable[[Labels, Noticed], bool]
FieldTest = Callable[[str], bool]


class Term(Struct, frozen=True, gc=False):
    """Requirements that must all match; a malformed term is not compiled at all."""

    label_tests: tuple[LabelTest, ...]
    field_tests: tuple[FieldTest, ...]
    label_keys: frozenset[str]
    pin: Pin | None = None  # the values of its first requirement, if that is an `In`

    @property
    def cost(self) -> int:
        """How many terms of up to three requirements it counts as."""
        return (len(self.label_tests) + len(self.field_tests) + 2) // 3

    def matches(self, name: str, labels: Labels, noticed: Noticed) -> bool:
        """Whether a node with this name and these labels matches every requirement."""
        # Loops here and below: all() and any() over a few tests take twice as long.
        for label_test in self.label_tests:
            if not label_test(labels, noticed):
                return False
        if name:  # as upstream: a node without a name has no fields to match
            for field_test in self.field_tests:
                if not field_test(name):
                    return False
        return True


class Terms:
    """Terms of which one must match; an index skips terms that a node cannot match."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self._terms = tuple(terms)
        costs = [term.cost for term in self._terms]
        self._index = TermIndex([term.pin for term in self._terms], costs)
        self.most = self._index.most

    @property
    def only(self) -> LabelTest | None:
        """The single label test that all of this amounts to, if there is one."""
        if len(self._terms) != 1:
            return None
        (term,) = self._terms
        return term.label_tests[0] if len(term.label_tests) == 1 and not term.field_tests else None

    def matching(self, name: str, labels: Labels, noticed: Noticed) -> Iterator[int]:
        """The indexes of the terms that a node matches."""
        return (
            place
            for place in self._index.places(name, labels)
            if self._terms[place].matches(name, labels, noticed)
        )

    def match(self, name: str, labels: Labels, noticed: Noticed) -> bool:
        """Whether a node matches at least one term."""
        terms = self._terms
        for place in self._index.places(name, labels):
            if terms[place].matches(name, labels, noticed):
                return True
        return False

    def __iter__(self) -> Iterator[Term]:
        return iter(self._terms)


class Required(Struct, frozen=True, gc=False):
    """What a node must match: exact labels, and one term of each selector."""

    labels: tuple[tuple[str, str], ...]
    selectors: tuple[Terms, ...]

    def matches(self, name: str, labels: Labels, noticed: Noticed) -> bool:
        """Whether a node with this name and these labels matches."""
        for key, value in self.labels:
            if labels.get(key) != value:
                return False
        for terms in self.selectors:  # noqa: SIM110 - a loop, as above
            if not terms.match(name, labels, noticed):
                return False
        return True

    @property
    def only(self) -> LabelTest | None:
        """The single label test that all of this amounts to, if there is one."""
        if self.labels or len(self.selectors) != 1:
            return None
        return self.selectors[0].only

    @property
    def most(self) -> int:
        """What the terms cost that one node may have to be compared with."""
        return sum(terms.most for terms in self.selectors)

    def terms(self) -> Iterable[Term]:
        """Every term of every selector."""
        return (term for terms in self.selectors for term in terms)


class Preferred(Struct, frozen=True, gc=False):
    """Terms with weights; the weights of matching terms are added."""

    weights: tuple[int, ...]
    terms: Terms

    def score(self, name: str, labels: Labels, noticed: Noticed) -> int:
        """The sum of the weights of the terms that a node matches."""
        return sum(map(self.weights.__getitem__, self.terms.matching(name, labels, noticed)))


def compile_required(
    node_selector: Labels | None,
    affinities: Iterable[NodeAffinity | None],
    gates: FeatureGates,
    noticed: Noticed,
) -> Required | None:
    """`spec.nodeSelector` and the required terms of each affinity; None if there are none."""
    selectors = [
        compile_selector(affinity.required, gates, noticed)
        for affinity in affinities
        if affinity is not None and affinity.required is not None
    ]
    if not node_selector and not selectors:
        return None
    return Required(tuple((node_selector or {}).items()), tuple(selectors))


def compile_selector(selector: NodeSelector, gates: FeatureGates, noticed: Noticed) -> Terms:
    """The terms that can match: empty and malformed terms never do."""
    compiled = [compile_term(term, gates, noticed) for term in selector.node_selector_terms or ()]
    return Terms([term for term in compiled if term is not None])


def compile_preferred(
    affinities: Iterable[NodeAffinity | None], gates: FeatureGates, noticed: Noticed
) -> Preferred | None:
    """The preferred terms of each affinity, one list; None if nothing is preferred."""
    terms = [
        term for affinity in affinities if affinity is not None for term in affinity.preferred or ()
    ]
    if not terms:
        return None
    weighed = [(term.weight, _preference(term, gates, noticed)) for term in terms]
    return Preferred(
        tuple(weight for weight, term in weighed if term is not None),
        Terms(term for _, term in weighed if term is not None),
    )


def compile_term(term: NodeSelectorTerm, gates: FeatureGates, noticed: Noticed) -> Term | None:
    """The term, or None if it can never match: empty, or malformed somewhere."""
    expressions = term.match_expressions or ()
    fields = term.match_fields or ()
    label_tests = [_label_test(requirement, gates, noticed) for requirement in expressions]
    field_tests = [_field_test(requirement) for requirement in fields]
    if not expressions and not fields:
        return None
    good_labels = tuple([test for test in label_tests if test is not None])
    good_fields = tuple([test for test in field_tests if test is not None])
    if len(good_labels) < len(label_tests) or len(good_fields) < len(field_tests):
        return None
    keys = frozenset([requirement.key for requirement in expressions])
    return Term(good_labels, good_fields, keys, _pin(expressions, fields))


def _pin(
    expressions: Sequence[NodeSelectorRequirement], fields: Sequence[NodeSelectorRequirement]
) -> Pin | None:
    """What the first requirement pins the term to; labels are compared before fields."""
    first = expressions[0] if expressions else fields[0]
    if first.operator != "In" or (not expressions and first.key != NAME_FIELD):
        return None
    return first.key if expressions else None, frozenset(first.values or ())


def is_label_key(text: str) -> bool:
    """Whether `text` is a qualified name: an optional DNS subdomain, a slash, a name."""
    prefix, slash, name = text.rpartition("/")
    if slash and not (len(prefix) <= _SUBDOMAIN_MAX and _SUBDOMAIN.fullmatch(prefix)):
        return False
    return len(name) <= _NAME_MAX and _NAME.fullmatch(name) is not None


def is_label_value(text: str) -> bool:
    """Whether `text` may be the value of a label."""
    return _VALUE.fullmatch(text) is not None


def _preference(
    term: PreferredSchedulingTerm, gates: FeatureGates, noticed: Noticed
) -> Term | None:
    # Upstream does not even parse a term of weight 0.
    if not term.weight or term.preference is None:
        return None
    return compile_term(term.preference, gates, noticed)


def _label_test(
    requirement: NodeSelectorRequirement, gates: FeatureGates, noticed: Noticed
) -> LabelTest | None:
    key, values = requirement.key, requirement.values or ()
    # Not by way of `is_label_value`: a requirement may have 50,000 values.
    if not is_label_key(key) or not all(map(_VALUE.fullmatch, values)):
        return None
    operator = operators.affinity(requirement.operator)
    if operator is None or not operator.is_on(gates) or not operator.takes(len(values)):
        return None
    if operator.comparison is not None:
        return _comparison_test(key, operator.comparison, values[0], noticed)
    return _string_test(key, operator.name, frozenset(values))


def _string_test(key: str, operator: str, values: frozenset[str]) -> LabelTest:
    match operator:
        case "In":
            return lambda labels, _: labels.get(key) in values
        case "NotIn":
            return lambda labels, _: labels.get(key) not in values
        case "Exists":
            return lambda labels, _: key in labels
        case _:
            return lambda labels, _: key not in labels


def _comparison_test(
    key: str, comparison: AnyComparison, value: str, noticed: Noticed
) -> LabelTest | None:
    # Not by way of `against`: that costs one more call for every value.
    order: Callable[[str], Any] = comparison.order
    holds: Callable[[Any, Any], bool] = comparison.holds
    kind = comparison.kind
    bound = order(value)
    if bound is None:
        noticed.add(Finding("affinity", kind, key, value))
        return None

    def test(labels: Labels, noticed: Noticed) -> bool:
        label = labels.get(key)
        if label is None:
            return False
        found = order(label)
        if found is None:
            noticed.add(Finding("label", kind, key, label))
            return False
        return holds(found, bound)

    return test


def _field_test(requirement: NodeSelectorRequirement) -> FieldTest | None:
    values = requirement.values or ()
    if len(values) != 1 or requirement.operator not in ("In", "NotIn"):
        return None
    # The name is the only field of a node; any other one is empty.
    known = requirement.key == NAME_FIELD
    expected, wanted = values[0], requirement.operator == "In"
    return lambda name: ((name if known else "") == expected) is wanted
