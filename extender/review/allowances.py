"""Which gates count as on for an object: those that are on, and those that its old state used.

As upstream, an update may keep what is switched off: one rule of a kind in the old object, in
whichever carrier, allows that kind in the new one.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from extender.match import operators
from extender.match.gates import ATTRIBUTE_OF, CEL_GATE, FeatureGates
from extender.match.operators import Operator
from extender.model.core_v1 import NodeSelectorTerm, Toleration


def of(
    gates: FeatureGates,
    old_tolerations: Collection[Toleration],
    old_terms: Iterable[NodeSelectorTerm],
) -> FeatureGates:
    """The gates with those switched on that the old rules needed."""
    used: list[Operator | None] = [
        operators.toleration(rule.operator) for rule in old_tolerations if not rule.expression
    ]
    used += [
        operators.affinity(requirement.operator)
        for term in old_terms
        for requirement in term.match_expressions or ()
    ]
    needed = {operator.gate for operator in used if operator is not None and operator.gate}
    if any(rule.expression for rule in old_tolerations):
        needed.add(CEL_GATE)
    return replace(gates, **{ATTRIBUTE_OF[gate]: True for gate in needed})
