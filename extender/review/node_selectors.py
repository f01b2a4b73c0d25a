"""Validates node selectors: upstream's rules plus the operators of KEP-5721."""

from collections.abc import Collection, Iterator
from typing import Final

from extender.match import operators
from extender.match.gates import FeatureGates
from extender.match.operators import Operator
from extender.match.selectors import NAME_FIELD
from extender.match.versions import version_problem
from extender.model.core_v1 import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
)
from extender.review import fields, names
from extender.review.fields import FieldError

_NOT_AN_OPERATOR: Final = "not a valid selector operator"
_MAX_WEIGHT: Final = 100


def check_required(
    selector: NodeSelector,
    old: NodeSelector | None,
    path: str,
    allowed: FeatureGates,
) -> Iterator[FieldError]:
    """Errors of required terms; terms of the old selector are not checked again."""
    known = frozenset((old.node_selector_terms if old else None) or ())
    if selector == old:
        return
    if not selector.node_selector_terms:
        yield fields.required(
            f"{path}.nodeSelectorTerms", "must have at least one node selector term"
        )
    # Upstream tolerates invalid label values if the old object has one.
    lenient = _has_invalid_label_value(known)
    for index, term in enumerate(selector.node_selector_terms or ()):
        if term not in known:
            at = f"{path}.nodeSelectorTerms[{index}]"
            yield from check_term(term, at, allowed, lenient=lenient)


def check_preferred(
    terms: Collection[PreferredSchedulingTerm],
    known: Collection[PreferredSchedulingTerm],
    path: str,
    allowed: FeatureGates,
) -> Iterator[FieldError]:
    """Errors of preferred terms; as upstream, their label values are not checked."""
    for index, term in enumerate(terms):
        if term in known:
            continue
        at = f"{path}[{index}]"
        if not 0 < term.weight <= _MAX_WEIGHT:
            yield fields.invalid_number(
                f"{at}.weight", term.weight, f"must be in the range 1-{_MAX_WEIGHT}"
            )
        if term.preference is not None:
            yield from check_term(term.preference, f"{at}.preference", allowed, lenient=True)


def check_term(
    term: NodeSelectorTerm, path: str, allowed: FeatureGates, *, lenient: bool
) -> Iterator[FieldError]:
    """Errors of one term."""
    for index, requirement in enumerate(term.match_expressions or ()):
        at = f"{path}.matchExpressions[{index}]"
        yield from check_requirement(requirement, at, allowed, lenient=lenient)
    for index, requirement in enumerate(term.match_fields or ()):
        yield from _check_field(requirement, f"{path}.matchFields[{index}]")


def check_requirement(
    requirement: NodeSelectorRequirement, path: str, allowed: FeatureGates, *, lenient: bool
) -> Iterator[FieldError]:
    """Errors of one label requirement."""
    values = requirement.values or ()
    yield from _check_operator(requirement, values, path, allowed)
    for problem in names.label_key_problems(requirement.key):
        yield fields.invalid(f"{path}.key", requirement.key, problem)
    if lenient:
        return
    for index, value in enumerate(values):
        for problem in names.label_value_problems(value):
            yield fields.invalid(f"{path}.values[{index}]", value, problem)


def _check_operator(
    requirement: NodeSelectorRequirement,
    values: Collection[str],
    path: str,
    allowed: FeatureGates,
) -> Iterator[FieldError]:
    operator = operators.affinity(requirement.operator)
    if operator is None or not operator.is_on(allowed):
        name = requirement.operator
        error = fields.invalid_name(f"{path}.operator", name, _NOT_AN_OPERATOR)
        yield fields.unknown_operator(error, name)
        return
    if not operator.takes(len(values)):
        yield _wrong_count(operator, f"{path}.values")
    # Upstream leaves integers to the scheduler, and so do we.
    if operator.kind == "semver":
        for index, value in enumerate(values):
            wrong = version_problem(value)
            if wrong is not None:
                yield fields.invalid(f"{path}.values[{index}]", value, wrong)


def _wrong_count(operator: Operator, path: str) -> FieldError:
    alike = " or ".join(f"'{name}'" for name in operators.siblings(operator, operators.AFFINITY))
    match operator.arity:
        case operators.NONE:
            return fields.forbidden(path, f"may not be specified when `operator` is {alike}")
        case operators.SOME:
            return fields.required(path, f"must be specified when `operator` is {alike}")
        case _:
            return fields.required(
                path, f"must be specified single value when `operator` is {alike}"
            )


def _check_field(requirement: NodeSelectorRequirement, path: str) -> Iterator[FieldError]:
    values = requirement.values or ()
    if requirement.operator not in ("In", "NotIn"):
        yield fields.invalid_name(f"{path}.operator", requirement.operator, _NOT_AN_OPERATOR)
    elif len(values) != 1:
        yield fields.required(
            f"{path}.values",
            "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        )
    if requirement.key != NAME_FIELD:
        yield fields.invalid(f"{path}.key", requirement.key, "not a valid field selector key")
        return
    for index, value in enumerate(values):
        for problem in names.node_name_problems(value):
            yield fields.invalid(f"{path}.values[{index}]", value, problem)


def _has_invalid_label_value(terms: Collection[NodeSelectorTerm]) -> bool:
    return any(
        True
        for term in terms
        for requirement in term.match_expressions or ()
        for value in requirement.values or ()
        for _ in names.label_value_problems(value)
    )
