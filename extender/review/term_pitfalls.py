"""Warnings about node affinity terms that the API server accepts but that never match."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from extender.match import operators, versions
from extender.match.findings import Kind
from extender.match.operators import Relation
from extender.match.selectors import is_label_value
from extender.model.core_v1 import NodeAffinity, NodeSelectorRequirement, NodeSelectorTerm
from extender.model.storage_v1 import VolumeNodeAffinity
from extender.review import version_pitfalls

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"

# A path and a message.
Remark = tuple[str, str]

_MAX_SHOWN: Final = 40


def of_affinity(affinity: NodeAffinity | VolumeNodeAffinity, path: str) -> Iterator[Remark]:
    """Warnings about its terms."""
    of_pod = isinstance(affinity, NodeAffinity)
    required = f"{path}.{REQUIRED if of_pod else 'required'}.nodeSelectorTerms"
    terms = affinity.required.node_selector_terms if affinity.required else None
    for index, term in enumerate(terms or ()):
        yield from _of_term(term, f"{required}[{index}]")
    if isinstance(affinity, NodeAffinity):
        for index, weighed in enumerate(affinity.preferred or ()):
            term = weighed.preference or NodeSelectorTerm()
            yield from _of_term(term, f"{path}.{PREFERRED}[{index}].preference")


def _of_term(term: NodeSelectorTerm, path: str) -> Iterator[Remark]:
    expressions = term.match_expressions or ()
    if not expressions and not term.match_fields:
        yield path, "an empty term matches no node: give it a requirement, or remove it"
    for index, requirement in enumerate(expressions):
        at = f"{path}.matchExpressions[{index}]"
        for number, value in enumerate(requirement.values or ()):
            for text in _of_value(requirement, value):
                yield f"{at}.values[{number}]", text
    yield from _of_ranges(expressions, path)


def _of_value(requirement: NodeSelectorRequirement, value: str) -> Iterator[str]:
    if not is_label_value(value):
        yield f"{_shown(value)} can be no label, so the term never matches: {_way_out(value)}"
        return
    operator = operators.affinity(requirement.operator)
    if operator is None or operator.comparison is None:
        return
    if operator.kind == "semver":
        yield from version_pitfalls.of_value(requirement.key, operator, value)
        return
    bound: Any = operator.comparison.parse(value)
    if bound is None:
        yield f"{_shown(value)} is no integer, so the term never matches: write a whole number"
    elif operator.comparison.relation == "below" and bound <= 0:
        yield (
            f"no label can have a value below {bound}, so the term never matches: use a larger"
            " bound"
        )


def _way_out(value: str) -> str:
    version = versions.parse(value)
    if version is not None:
        spelled = str(version.replace(build=None))
        if is_label_value(spelled):
            return f"write {spelled[:_MAX_SHOWN]}"
    return "labels have letters, digits, '-', '_' and '.'"


def _shown(value: str) -> str:
    cut = value if len(value) <= _MAX_SHOWN else f"{value[:_MAX_SHOWN]}..."
    return versions.go_quote(cut)


def _of_ranges(expressions: Sequence[NodeSelectorRequirement], path: str) -> Iterator[Remark]:
    yield from _of_bounds(expressions, path, "integer", 1)
    yield from _of_bounds(expressions, path, "semver", 0)


def _of_bounds(
    expressions: Sequence[NodeSelectorRequirement],
    path: str,
    kind: Kind,
    gap: int,
) -> Iterator[Remark]:
    """Bounds on one label with nothing between them; integers need a `gap` of 1."""
    lowest: dict[str, Any] = {}
    for requirement in expressions:
        bound = _bound(requirement, kind, "above")
        if bound is not None:
            key = requirement.key
            lowest[key] = max(bound, lowest.get(key, bound))
    for index, requirement in enumerate(expressions):
        upper = _bound(requirement, kind, "below")
        lower = lowest.get(requirement.key)
        if upper is None or lower is None:
            continue
        if upper <= lower or (gap and upper - lower <= gap):
            at = f"{path}.matchExpressions[{index}].values[0]"
            yield (
                at,
                (
                    f"nothing is above {str(lower)[:_MAX_SHOWN]} and below"
                    f" {str(upper)[:_MAX_SHOWN]}, so the term never matches: widen a bound, or use"
                    " two terms"
                ),
            )


def _bound(requirement: NodeSelectorRequirement, kind: Kind, relation: Relation) -> Any:
    """The value that a requirement compares labels to, if that is how it compares."""
    operator, values = operators.affinity(requirement.operator), requirement.values or ()
    comparison = operator.comparison if operator is not None else None
    if comparison is None or (comparison.kind, comparison.relation) != (kind, relation):
        return None
    return comparison.parse(values[0]) if len(values) == 1 else None
