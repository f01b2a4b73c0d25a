"""Estimates for every node how much would have to change for the pod to pass.

The exact changes are then computed for the nearest nodes only.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from extender.errors import AnnotationError
from extender.framework.interface import Code, FilterPlugin, Profile
from extender.framework.snapshot import NodeInfo, TaintSet
from extender.plugins.taint_toleration import TaintToleration
from extender.review.explain.inquiry import Inquiry
from extender.review.explain.proposals import Case
from extender.review.explain.registry import EXPLAINERS
from extender.review.explain.steps import Steps, filtered
from extender.review.explain.taints.cure import TaintCure

MAX_TAINT_SETS: Final = 500
_AT_A_TIME: Final = 2
_USUAL: Final = 3.0


class Distances:
    """The distance of each node, in the unit of `Proposal.cost`."""

    def __init__(self, inquiry: Inquiry, nodes: Sequence[NodeInfo]) -> None:
        self._inquiry = inquiry
        self._nodes = nodes

    def measured(self) -> Steps[Mapping[str, float]]:
        """The sum over the plugins that refuse a node."""
        asked = self._inquiry
        total = dict.fromkeys((node.name for node in self._nodes), 0.0)
        for plugin in asked.profile.filters:
            refused = yield from self._refused(plugin)
            weights: Mapping[TaintSet, float] = {}
            if isinstance(plugin, TaintToleration):
                weights = yield from self._by_taints(refused)
            explainer = EXPLAINERS.get(plugin.name)
            usual = _USUAL if explainer is None else explainer.distance
            for node in refused:
                total[node.name] += weights.get(node.taints, usual)
        return total

    def _refused(self, plugin: FilterPlugin) -> Steps[list[NodeInfo]]:
        asked = self._inquiry
        alone = Profile(asked.profile.name, (plugin,), ())
        result = yield from filtered(alone, asked.pod, asked.snapshot, self._nodes)
        pairs = zip(self._nodes, result.statuses, strict=True)
        return [node for node, status in pairs if status.code is not Code.SUCCESS]

    def _by_taints(self, refused: Sequence[NodeInfo]) -> Steps[Mapping[TaintSet, float]]:
        """The distance by set of taints: nodes with equal taints are equally far."""
        cure = TaintCure(self._inquiry.settings)
        sample = {node.taints: node for node in refused}
        found: dict[TaintSet, float] = {}
        try:
            for taints, node in islice(sample.items(), MAX_TAINT_SETS):
                case = Case(self._inquiry.pod, node, self._inquiry.snapshot)
                found[taints] = cure.distance(case)
                if len(found) % _AT_A_TIME == 0:
                    yield
        except AnnotationError:
            pass  # then all nodes are equally far
        return found
