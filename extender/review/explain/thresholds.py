"""How many nodes pass at which bound of a rule, so that a person can choose one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from extender.errors import AnnotationError
from extender.framework.interface import Code, Settings
from extender.framework.snapshot import NodeInfo
from extender.match import operators
from extender.match.operators import AnyComparison, Operator
from extender.model.core_v1 import NodeSelectorRequirement, Pod, Taint, Toleration
from extender.plugins.node_affinity import NodeAffinity
from extender.review.explain import nearness
from extender.review.explain.affinity import derivation as affinity
from extender.review.explain.edits import Editor, terms_path
from extender.review.explain.inquiry import Inquiry
from extender.review.explain.schema import Threshold, ThresholdStep
from extender.review.explain.steps import Bench, Steps, filtered
from extender.review.explain.taints.derivation import Placed, placed_tolerations

MAX_RULES: Final = 3
MAX_STEPS: Final = 8
_MAX_VALUES: Final = 200  # of versions or numbers on the nodes


@dataclass(frozen=True, slots=True)
class _Rule:
    """A comparison with a bound, and the pod with another bound in it."""

    path: str
    key: str
    operator: str
    comparison: AnyComparison
    value: str
    values: Callable[[NodeInfo], Sequence[str]]  # what a node has for it
    changed: Callable[[str], Pod]


def of(inquiry: Inquiry, nodes: Sequence[NodeInfo], bench: Bench) -> Steps[list[Threshold]]:
    """The rules with a bound for which it matters what the bound is."""
    try:
        rules = [*_tolerations(inquiry), *_requirements(inquiry)][:MAX_RULES]
    except AnnotationError:
        return []  # the reason says what is wrong with the annotation
    found = []
    for rule in rules:
        made = yield from _threshold(rule, inquiry, nodes, bench)
        if made is not None:
            found.append(made)
    return found


def _tolerations(inquiry: Inquiry) -> Iterator[_Rule]:
    settings, pod = inquiry.settings, inquiry.pod
    for placed in placed_tolerations(pod, settings):
        toleration = placed.toleration
        known = None if toleration.expression else operators.toleration(toleration.operator)
        comparison = _bounded(known, settings)
        if comparison is not None:
            yield _of_toleration(pod, placed, comparison, settings)


def _bounded(operator: Operator | None, settings: Settings) -> AnyComparison | None:
    """The comparison of an operator with a bound, if it is on."""
    comparison = operator.comparison if operator and operator.is_on(settings.gates) else None
    return None if comparison is None or comparison.relation == "equal" else comparison


def _of_toleration(
    pod: Pod, placed: Placed, comparison: AnyComparison, settings: Settings
) -> _Rule:
    editor, toleration = Editor(settings), placed.toleration

    def values(node: NodeInfo) -> list[str]:
        return [each.value for each in node.taints.hard if _speaks_of(toleration, each)]

    def changed(value: str) -> Pod:
        listed = editor.tolerations(pod, placed.carrier)
        listed[placed.index] = replace(toleration, value=value)
        return editor.with_tolerations(pod, placed.carrier, listed)

    path = f"{editor.path(placed.carrier)}[{placed.index}]"
    name, value = toleration.operator, toleration.value
    return _Rule(path, toleration.key, name, comparison, value, values, changed)


def _speaks_of(toleration: Toleration, taint: Taint) -> bool:
    return toleration.key in ("", taint.key) and toleration.effect in ("", taint.effect)


def _requirements(inquiry: Inquiry) -> Iterator[_Rule]:
    for plugin in inquiry.profile.filters:
        if not isinstance(plugin, NodeAffinity):
            continue
        for carrier, selector in affinity.required_selectors(
            inquiry.pod, inquiry.settings, annotation_only=plugin.annotation_only
        ):
            for index, term in enumerate(selector.node_selector_terms or ()):
                for place, each in enumerate(term.match_expressions or ()):
                    comparison = _bounded(operators.affinity(each.operator), inquiry.settings)
                    if comparison is not None and len(each.values or ()) == 1:
                        at = carrier, index, place
                        yield _of_requirement(inquiry, at, each, comparison)


def _of_requirement(
    inquiry: Inquiry,
    at: tuple[str, int, int],
    requirement: NodeSelectorRequirement,
    comparison: AnyComparison,
) -> _Rule:
    editor, key = Editor(inquiry.settings), requirement.key
    carrier, index, place = at

    def values(node: NodeInfo) -> list[str]:
        return [node.labels[key]] if key in node.labels else []

    def changed(value: str) -> Pod:
        return editor.with_requirement(inquiry.pod, *at, replace(requirement, values=(value,)))

    path = f"{terms_path(carrier, inquiry.settings)}[{index}].matchExpressions[{place}]"
    (value,) = requirement.values or ("",)
    return _Rule(path, key, requirement.operator, comparison, value, values, changed)


def _threshold(
    rule: _Rule, inquiry: Inquiry, nodes: Sequence[NodeInfo], bench: Bench
) -> Steps[Threshold | None]:
    bounds = _bounds(rule, nodes)
    if len(bounds) < 2:
        return None
    steps = []
    for value in bounds:
        pod = inquiry.pod if value == rule.value else rule.changed(value)
        result = yield from filtered(inquiry.profile, pod, inquiry.snapshot, nodes, bench=bench)
        passing = sum(status.code is Code.SUCCESS for status in result.statuses)
        steps.append(ThresholdStep(value, passing, value == rule.value))
    if len({step.passing for step in steps}) == 1:
        return None  # something else decides
    return Threshold(rule.path, rule.key, rule.operator, tuple(steps))


def _bounds(rule: _Rule, nodes: Sequence[NodeInfo]) -> list[str]:
    """Bounds that differ in the nodes that they match, ascending, with the current one."""
    order: Callable[[str], Any] = rule.comparison.order
    there = {value for node in nodes for value in rule.values(node)}
    values = _some(
        sorted((each for each in there if order(each) is not None), key=order), _MAX_VALUES
    )
    if rule.comparison.kind == "integer":
        numbers = sorted({order(value) for value in values})
        proposed = _numbers(numbers, above=rule.comparison.relation == "above")
    else:
        near = (nearness.bound(rule.comparison, value) for value in values)
        proposed = [each for each in near if each is not None]
    known: dict[tuple[bool | None, ...], str] = {}
    for bound in (rule.value, *proposed):
        test = rule.comparison.against(bound)
        if test is not None:
            known.setdefault(tuple(map(test, values)), bound)
    found = sorted(known.values(), key=order)
    kept = _some(found, MAX_STEPS)
    return [each for each in found if each in kept or each == rule.value]


def _some(values: Sequence[str], limit: int) -> list[str]:
    """At most so many, evenly spread, with the first and the last."""
    if len(values) <= limit:
        return list(values)
    last = len(values) - 1
    return [values[round(place * last / (limit - 1))] for place in range(limit)]


def _numbers(values: Sequence[int], *, above: bool) -> list[str]:
    """A round number between each two neighbours, or round numbers over the whole range."""
    if len(values) > MAX_STEPS:
        return _round_numbers(values[0], values[-1])
    # `Gt b` matches v from b = v - 1 downwards, `Lt b` from b = v + 1 upwards.
    sign = -1 if above else 1
    edges = [value + sign for value in values]
    found = []
    for place, edge in enumerate(edges):
        neighbour = place + sign
        if 0 <= neighbour < len(edges):
            far = edges[neighbour] - sign
        else:
            far = edge + sign * (_magnitude(edge) - 1)
        found.append(str(_round(edge, far)))
    return found


def _round_numbers(lowest: int, highest: int) -> list[str]:
    unit = _magnitude(highest - lowest)
    if (highest - lowest) // unit <= MAX_STEPS // 4:
        unit = max(1, unit // 5)
    first = (lowest - 1) // unit * unit
    return [str(each) for each in range(first, highest + 2 * unit, unit)]


def _round(near: int, far: int) -> int:
    """The roundest number from `near` to `far`, of equals the nearest one."""
    low, high = min(near, far), max(near, far)
    unit = 10 * _magnitude(max(abs(low), abs(high)))
    while unit > 1:
        found = high // unit * unit if near == high else -(-low // unit) * unit
        if low <= found <= high:
            return found
        unit //= 10
    return near


def _magnitude(number: int) -> int:
    """The power of ten with as many digits."""
    return int("1" + "0" * (len(str(abs(number))) - 1))
