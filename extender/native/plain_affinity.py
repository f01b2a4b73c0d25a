"""Node affinity without semver operators: each becomes an `In` of the labels that nodes have.

For schedulers and controllers that know only Kubernetes' own operators. What is written here is
true of the nodes of today: a node with a new version needs a new list.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Final

from extender.errors import TooManyTermsError
from extender.match import operators, selectors
from extender.match.gates import FeatureGates
from extender.model.core_v1 import (
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
)

MAX_TERMS: Final = 64
_ANY_NODE: Final = "kubernetes.io/hostname"

# By key: the values that the label has on any node.
LabelValues = Mapping[str, Set[str]]


def is_semver(requirement: NodeSelectorRequirement) -> bool:
    """Whether only Leeway understands a requirement."""
    operator = operators.affinity(requirement.operator)
    return operator is not None and operator.kind == "semver"


def has_semver(affinity: NodeAffinity | None) -> bool:
    """Whether any term of an affinity compares versions."""
    return any(is_semver(each) for term in terms_of(affinity) for each in expressions_of(term))


def terms_of(affinity: NodeAffinity | None) -> Iterator[NodeSelectorTerm]:
    """Every term, required and preferred."""
    if affinity is None:
        return
    if affinity.required is not None:
        yield from affinity.required.node_selector_terms or ()
    for preferred in affinity.preferred or ():
        if preferred.preference is not None:
            yield preferred.preference


def expressions_of(term: NodeSelectorTerm) -> tuple[NodeSelectorRequirement, ...]:
    """The requirements on labels."""
    return term.match_expressions or ()


def plain_affinity(
    own: NodeAffinity | None,
    annotated: NodeAffinity | None,
    labels: LabelValues,
    gates: FeatureGates,
) -> NodeAffinity | None:
    """Both affinities as one that every part of Kubernetes understands; None if there is none.

    A node must match a required term of each, so the result has their product.
    TooManyTermsError if that has more than 64 terms.
    """
    required = [
        each.required for each in (own, annotated) if each is not None and each.required is not None
    ]
    preferred = tuple(
        plain
        for each in (own, annotated)
        if each is not None
        for written in each.preferred or ()
        if (plain := _preferred(written, labels, gates)) is not None
    )
    if not required and not preferred:
        return None
    selector = NodeSelector(_product(required, labels, gates)) if required else None
    return NodeAffinity(required=selector, preferred=preferred or None)


def _product(
    required: Sequence[NodeSelector], labels: LabelValues, gates: FeatureGates
) -> tuple[NodeSelectorTerm, ...]:
    """The terms of which a node must match one; never none of them."""
    joined = [NodeSelectorTerm()]
    for selector in required:
        plain = _terms(selector, labels, gates)
        joined = list(dict.fromkeys(_joined(left, right) for left in joined for right in plain))
        if len(joined) > MAX_TERMS:
            raise TooManyTermsError(len(joined), MAX_TERMS)
    return tuple(joined) or (_never(required),)


def _terms(
    selector: NodeSelector, labels: LabelValues, gates: FeatureGates
) -> list[NodeSelectorTerm]:
    found = (_term(each, labels, gates) for each in selector.node_selector_terms or ())
    return [each for each in found if each is not None]


def _term(
    term: NodeSelectorTerm, labels: LabelValues, gates: FeatureGates
) -> NodeSelectorTerm | None:
    """The term without semver operators; None if no node of today matches it."""
    if selectors.compile_term(term, gates, set()) is None:
        return None
    plain = []
    for each in expressions_of(term):
        if not is_semver(each):
            plain.append(_bare(each))
            continue
        values = _matching(each, labels.get(each.key, frozenset()))
        if not values:
            return None
        plain.append(NodeSelectorRequirement(each.key, "In", values))
    fields = tuple(map(_bare, term.match_fields or ()))
    return NodeSelectorTerm(tuple(plain) or None, fields or None)


def _bare(requirement: NodeSelectorRequirement) -> NodeSelectorRequirement:
    """The requirement as its plain type: those of an annotation have another, and never equal."""
    return NodeSelectorRequirement(requirement.key, requirement.operator, requirement.values)


def _matching(requirement: NodeSelectorRequirement, values: Iterable[str]) -> tuple[str, ...]:
    """The values that a well-formed semver requirement matches, sorted as text."""
    operator = operators.AFFINITY[requirement.operator]
    (bound,) = requirement.values or ()
    test = operator.comparison.against(bound) if operator.comparison else None
    return tuple(sorted(value for value in values if test is not None and test(value)))


def _joined(left: NodeSelectorTerm, right: NodeSelectorTerm) -> NodeSelectorTerm:
    """A term that matches where both match."""
    expressions = dict.fromkeys((*expressions_of(left), *expressions_of(right)))
    fields = dict.fromkeys((*(left.match_fields or ()), *(right.match_fields or ())))
    return NodeSelectorTerm(tuple(expressions) or None, tuple(fields) or None)


def _never(required: Iterable[NodeSelector]) -> NodeSelectorTerm:
    """A term that the API server takes and no node matches: an `In` needs at least one value."""
    keys = (
        each.key
        for selector in required
        for term in selector.node_selector_terms or ()
        for each in expressions_of(term)
        if is_semver(each) and selectors.is_label_key(each.key)
    )
    key = next(keys, _ANY_NODE)
    both = (
        NodeSelectorRequirement(key=key, operator="Exists"),
        NodeSelectorRequirement(key=key, operator="DoesNotExist"),
    )
    return NodeSelectorTerm(match_expressions=both)


def _preferred(
    written: PreferredSchedulingTerm, labels: LabelValues, gates: FeatureGates
) -> PreferredSchedulingTerm | None:
    """The preferred term; None if it adds to no node's score today."""
    if not written.weight or written.preference is None:
        return None
    plain = _term(written.preference, labels, gates)
    return None if plain is None else PreferredSchedulingTerm(written.weight, plain)
