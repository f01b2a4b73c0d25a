"""The extended rules of an object, with their operator, gate and carrier."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from extender.framework.interface import Settings
from extender.match import operators
from extender.match.gates import (
    CEL_GATE,
    COMPARISON_GATE,
    INCLUSION_GATE,
    SEMVER_GATE,
)
from extender.model.core_v1 import (
    NodeAffinity,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PreferredSchedulingTerm,
    Toleration,
    TopologySpreadConstraint,
)
from extender.model.storage_v1 import VolumeNodeAffinity
from extender.model.workloads import RuledMeta, RuledPod, RuledPodSpec, RuledVolume, RuledVolumeSpec
from extender.review import subjects
from extender.review.scan.objects import ScannedVolume
from extender.review.subjects import Carrier

Rule = Toleration | NodeSelectorRequirement | TopologySpreadConstraint

# In the order of the report. Annotated rules without a gate need Leeway, which alone reads them.
GATES: Final = (COMPARISON_GATE, SEMVER_GATE, CEL_GATE, INCLUSION_GATE, "")

_DEFAULT_POLICIES: Final = (None, "Honor"), (None, "Ignore")  # of affinity, of taints


@dataclass(frozen=True, slots=True)
class Usage:
    """One extended rule of an object."""

    gate: str
    operator: str
    annotated: bool
    path: str
    rule: Rule

    def text(self) -> str:
        """The rule on one line."""
        return rule_text(self.rule)


def of_pod(pod: Pod, settings: Settings) -> tuple[list[Usage], list[Carrier]]:
    """The extended rules of a pod, and its annotations that cannot be read."""
    meta, spec = pod.metadata, pod.spec
    ruled = RuledPod(
        RuledMeta(annotations=meta.annotations if meta else None),
        RuledPodSpec(spec.affinity, spec.tolerations) if spec else None,
    )
    carriers = subjects.read(ruled, settings)
    usages = [usage for carrier in carriers for usage in _of_carrier(carrier)]
    constraints = (spec.topology_spread_constraints if spec else None) or ()
    usages += _of_constraints(constraints)
    return usages, [carrier for carrier in carriers if carrier.problem]


def of_volume(volume: ScannedVolume, settings: Settings) -> tuple[list[Usage], list[Carrier]]:
    """The extended rules of a volume, and its annotation if it cannot be read."""
    ruled = RuledVolume(
        RuledMeta(annotations=volume.metadata.annotations),
        RuledVolumeSpec(volume.spec.node_affinity),
    )
    carriers = subjects.read(ruled, settings)
    usages = [usage for carrier in carriers for usage in _of_carrier(carrier)]
    return usages, [carrier for carrier in carriers if carrier.problem]


def rule_text(rule: Rule) -> str:
    """A rule on one line."""
    match rule:
        case Toleration(expression=expression) if expression:
            return expression
        case Toleration():
            words = (
                rule.key or "*",
                rule.operator or operators.DEFAULT_TOLERATION,
                rule.value,
                rule.effect,
            )
            return " ".join(word for word in words if word)
        case NodeSelectorRequirement():
            return " ".join((rule.key, rule.operator, ",".join(rule.values or ()))).rstrip()
        case TopologySpreadConstraint():
            policies = {
                "nodeAffinityPolicy": rule.node_affinity_policy,
                "nodeTaintsPolicy": rule.node_taints_policy,
            }
            said = ", ".join(f"{name}: {value}" for name, value in policies.items() if value)
            return f"{rule.topology_key} {said}"


def _of_carrier(carrier: Carrier) -> Iterator[Usage]:
    match carrier.rules:
        case tuple() as tolerations:
            for index, toleration in enumerate(tolerations):
                gate, operator = _of_toleration(toleration)
                if gate or carrier.annotated:
                    path = f"{carrier.path}[{index}]"
                    # Strict and native structs of the same rule must compare equal.
                    plain = Toleration(*msgspec.structs.astuple(toleration))
                    yield Usage(gate, operator, carrier.annotated, path, plain)
        case NodeAffinity() | VolumeNodeAffinity() as affinity:
            for path, requirement in _requirements(affinity, carrier.path):
                known = operators.affinity(requirement.operator)
                gate = known.gate if known is not None else ""
                if gate or carrier.annotated:
                    plain_one = NodeSelectorRequirement(*msgspec.structs.astuple(requirement))
                    yield Usage(gate, requirement.operator, carrier.annotated, path, plain_one)
        case None:
            pass


def _of_toleration(toleration: Toleration) -> tuple[str, str]:
    if toleration.expression:
        return CEL_GATE, "expression"
    operator = operators.toleration(toleration.operator)
    return (operator.gate, operator.name) if operator is not None else ("", toleration.operator)


def _requirements(
    affinity: NodeAffinity | VolumeNodeAffinity, path: str
) -> Iterator[tuple[str, NodeSelectorRequirement]]:
    name, weighed = "required", tuple[PreferredSchedulingTerm, ...]()
    if isinstance(affinity, NodeAffinity):
        name = "requiredDuringSchedulingIgnoredDuringExecution"
        weighed = affinity.preferred or ()
    terms = (affinity.required.node_selector_terms if affinity.required else None) or ()
    for index, term in enumerate(terms):
        yield from _of_term(term, f"{path}.{name}.nodeSelectorTerms[{index}]")
    for index, preferred in enumerate(weighed):
        if preferred.preference is not None:
            at = f"{path}.preferredDuringSchedulingIgnoredDuringExecution[{index}].preference"
            yield from _of_term(preferred.preference, at)


def _of_term(term: NodeSelectorTerm, path: str) -> Iterator[tuple[str, NodeSelectorRequirement]]:
    for index, requirement in enumerate(term.match_expressions or ()):
        yield f"{path}.matchExpressions[{index}]", requirement
    for index, requirement in enumerate(term.match_fields or ()):
        yield f"{path}.matchFields[{index}]", requirement


def _of_constraints(constraints: tuple[TopologySpreadConstraint, ...]) -> Iterator[Usage]:
    for index, each in enumerate(constraints):
        policies = (each.node_affinity_policy, each.node_taints_policy)
        if any(p not in defaults for p, defaults in zip(policies, _DEFAULT_POLICIES, strict=True)):
            path = f"spec.topologySpreadConstraints[{index}]"
            name = "nodeTaintsPolicy" if policies[1] == "Honor" else "nodeAffinityPolicy"
            bare = msgspec.structs.replace(each, label_selector=None)  # which has no hash
            yield Usage(INCLUSION_GATE, name, annotated=False, path=path, rule=bare)
