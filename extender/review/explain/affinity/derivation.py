"""Each term of a pod's or a volume's node affinity against one node.

Every verdict comes from the core, which compiles and evaluates each requirement alone. This
module only adds the words.
"""

from typing import Final

import msgspec

from extender.framework import rules
from extender.framework.interface import Settings
from extender.framework.snapshot import NodeInfo
from extender.match import operators, selectors
from extender.match.gates import FeatureGates
from extender.match.selectors import NAME_FIELD
from extender.model.core_v1 import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
)
from extender.plugins.node_affinity import NodeAffinity as NodeAffinityPlugin
from extender.review.explain.proposals import Case
from extender.review.explain.schema import Derivation, RequirementCheck, TermCheck
from extender.review.explain.words import (
    ANNOTATION,
    NATIVE,
    Side,
    compared,
    one_of,
    quoted,
)

NODE_SELECTOR: Final = "nodeSelector"
NO_LABEL: Final = "the node has no such label"


def derive(plugin: NodeAffinityPlugin, case: Case, limit: int, derived: Derivation) -> Derivation:
    """The derivation with the node selector and every required term in it."""
    found = checks(
        case.pod,
        case.node,
        plugin.settings,
        annotation_only=plugin.annotation_only,
        limit=limit,
    )
    return msgspec.structs.replace(derived, terms=tuple(found))


def checks(
    pod: Pod, node: NodeInfo, settings: Settings, *, annotation_only: bool, limit: int
) -> list[TermCheck]:
    """The node selector and the required terms of both carriers."""
    found = []
    selector = None if annotation_only or not pod.spec else pod.spec.node_selector
    if selector:
        found.append(_node_selector(selector, node, limit))
    for carrier, required in required_selectors(pod, settings, annotation_only=annotation_only):
        found += term_checks(carrier, required, node.name, node.labels, settings, limit)
    return found


def required_selectors(
    pod: Pod, settings: Settings, *, annotation_only: bool
) -> list[tuple[str, NodeSelector]]:
    """The required selector of each carrier; AnnotationError if the annotation is unreadable."""
    affinities = [
        (NATIVE, None if annotation_only else rules.native_affinity(pod)),
        (ANNOTATION, rules.annotated_affinity(pod, settings)),
    ]
    return [
        (carrier, affinity.required)
        for carrier, affinity in affinities
        if affinity is not None and affinity.required is not None
    ]


def term_checks(
    carrier: str,
    selector: NodeSelector,
    name: str,
    labels: selectors.Labels,
    settings: Settings,
    limit: int,
) -> list[TermCheck]:
    """Every term of one selector; one entry says so if there are none."""
    terms = selector.node_selector_terms or ()
    if not terms:
        return [TermCheck(carrier, 0, False, "there is no term, so no node matches", ())]
    return [
        _term(carrier, index, term, name, labels, settings, limit)
        for index, term in enumerate(terms[:limit])
    ]


def _term(
    carrier: str,
    index: int,
    term: NodeSelectorTerm,
    name: str,
    labels: selectors.Labels,
    settings: Settings,
    limit: int,
) -> TermCheck:
    compiled = selectors.compile_term(term, settings.gates, set())
    matches = compiled is not None and compiled.matches(name, labels, set())
    requirements = [
        requirement_check(each, labels, settings) for each in (term.match_expressions or ())[:limit]
    ]
    if name:  # for a volume there is no name: upstream parses its matchFields but ignores them
        requirements += [field_check(each, name) for each in (term.match_fields or ())[:limit]]
    failing = sum(not each.matches for each in requirements)
    if matches:
        why = "every requirement holds"
    elif compiled is None and not requirements:
        why = "an empty term matches nothing"
    elif compiled is None:
        why = "a malformed requirement keeps the whole term from matching"
    else:
        why = f"{failing} of {len(requirements)} requirement(s) do not hold"
    return TermCheck(carrier, index, matches, why, tuple(requirements))


def _node_selector(selector: selectors.Labels, node: NodeInfo, limit: int) -> TermCheck:
    rows = []
    for key, value in list(selector.items())[:limit]:
        matches = selectors.Required(((key, value),), ()).matches(node.name, node.labels, set())
        actual = node.labels.get(key)
        why = NO_LABEL if actual is None else one_of(actual, (value,))
        rows.append(RequirementCheck(key, "=", (value,), actual, matches, why))
    all_match = selectors.Required(tuple(selector.items()), ()).matches(
        node.name, node.labels, set()
    )
    failing = sum(not row.matches for row in rows)
    why = "every label is equal" if all_match else f"{failing} label(s) differ"
    return TermCheck(NODE_SELECTOR, 0, all_match, why, tuple(rows))


def requirement_check(
    requirement: NodeSelectorRequirement, labels: selectors.Labels, settings: Settings
) -> RequirementCheck:
    """One requirement on a label."""
    term = selectors.compile_term(
        NodeSelectorTerm(match_expressions=(requirement,)), settings.gates, set()
    )
    matches = term is not None and term.matches("", labels, set())
    key, operator, values = requirement.key, requirement.operator, requirement.values or ()
    actual = labels.get(key)
    known = operators.affinity(operator)
    comparison = known.comparison if known is not None and len(values) == 1 else None
    own = theirs = None
    if comparison is not None:
        parsed = comparison.parse(values[0]), None if actual is None else comparison.parse(actual)
        own, theirs = (None if each is None else str(each) for each in parsed)
    why = malformed(requirement, settings.gates) if term is None else ""
    if not why and actual is None:
        why = NO_LABEL
    elif not why and comparison is not None:
        why = compared(
            comparison,
            Side("rule", values[0], own),
            Side("label", actual or "", theirs),
            holds=matches,
        )
    elif not why:
        why = _set_words(operator, actual or "", values)
    return RequirementCheck(key, operator, values, actual, matches, why, own, theirs)


def malformed(requirement: NodeSelectorRequirement, gates: FeatureGates) -> str:
    """Why a requirement can never match."""
    values = requirement.values or ()
    operator = operators.affinity(requirement.operator)
    if operator is None:
        return f"operator {quoted(requirement.operator)} is unknown"
    if not operator.is_on(gates):
        return f"feature gate {operator.gate} is off: {operator.name} matches nothing"
    if not selectors.is_label_key(requirement.key):
        return f"{quoted(requirement.key)} is not a label key"
    bad = next((value for value in values if not selectors.is_label_value(value)), None)
    if bad is not None:
        return f"{quoted(bad)} is not a label value"
    if operator.comparison is not None and len(values) == 1:
        rule, label = Side("rule", values[0], None), Side("label", "", "")
        return compared(operator.comparison, rule, label, holds=False)
    return f"{operator.name} takes {operator.arity}, not {len(values)}"


def field_check(requirement: NodeSelectorRequirement, name: str) -> RequirementCheck:
    """One requirement on a field of the node."""
    term = selectors.compile_term(
        NodeSelectorTerm(match_fields=(requirement,)), FeatureGates(), set()
    )
    matches = term is not None and term.matches(name, {}, set())
    actual = name if requirement.key == NAME_FIELD else None
    values = requirement.values or ()
    if term is None:
        why = "matchFields takes In or NotIn with exactly one value"
    elif actual is None:
        why = f"only {NAME_FIELD} is a field of a node"
    else:
        why = _set_words(requirement.operator, actual, values)
    return RequirementCheck(
        f"field {requirement.key}", requirement.operator, values, actual, matches, why
    )


def _set_words(operator: str, actual: str, values: tuple[str, ...]) -> str:
    if operator in ("Exists", "DoesNotExist"):
        return "the node has the label"
    if operator == "NotIn":
        return f"{quoted(actual)} {'is' if actual in values else 'is not'} excluded"
    return one_of(actual, values)
