"""Finds the fewest changes with which a pod passes on a node, by trying them.

A change is kept only if fewer obstacles remain after it. The changes for a plugin are kept only
if the plugin then lets the pod pass.
"""

from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from extender.framework.interface import Code, FilterPlugin, Profile, Settings, Status
from extender.framework.runner import Runner
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.match.annotations import NODE_AFFINITY, TOLERATIONS
from extender.model.core_v1 import Pod
from extender.review.explain import annotation_cure
from extender.review.explain.annotation_cure import AnnotationCure
from extender.review.explain.inquiry import no_clock
from extender.review.explain.proposals import Case, Cure, Proposal
from extender.review.explain.registry import EXPLAINERS
from extender.review.explain.schema import Change
from extender.review.explain.steps import Steps

MAX_CHANGES: Final = 8
MAX_PROPOSALS: Final = 24
MAX_TOLERATIONS: Final = 100
MAX_TEXT: Final = 16_384
_LETS_PASS: Final = (Code.SUCCESS, Code.SKIP)


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes that were tried, and the pod and node with them."""

    case: Case
    changes: tuple[Change, ...] = ()
    advice: tuple[str, ...] = ()
    cost: float = 0.0
    complete: bool = False

    def with_change(self, proposal: Proposal) -> "Plan":
        """One change more."""
        case = replace(self.case, pod=proposal.pod, node=proposal.node)
        return replace(
            self,
            case=case,
            changes=(*self.changes, proposal.change),
            cost=self.cost + proposal.cost,
        )


@dataclass(frozen=True, slots=True)
class Planner:
    """Looks for changes; `additive` allows only those that cannot exclude another node."""

    profile: Profile
    settings: Settings
    snapshot: Snapshot
    additive: bool = False

    def too_large(self, pod: Pod) -> bool:
        """Whether the pod has too many rules to try changes."""
        annotations = (pod.metadata and pod.metadata.annotations) or {}
        prefix = self.settings.annotation_prefix
        texts = (annotations.get(prefix + name, "") for name in (TOLERATIONS, NODE_AFFINITY))
        tolerations = (pod.spec and pod.spec.tolerations) or ()
        return len(tolerations) > MAX_TOLERATIONS or max(map(len, texts)) > MAX_TEXT

    def plan(self, pod: Pod, node: NodeInfo) -> Steps[Plan]:
        """The changes that let the pod pass on the node, as far as they are known."""
        plan = Plan(Case(pod, node, self.snapshot))
        open_plugins: list[str] = []
        for plugin in self.profile.filters:
            if self._lets_pass(plugin, plan.case):
                continue
            cure = self._cure(plugin, plan.case)
            cured = None if cure is None else (yield from self._cured(plugin, cure, plan))
            if cured is not None:
                plan = cured
            else:
                open_plugins.append(plugin.name)
                advice = [*plan.advice, *(cure.advice(plan.case) if cure else ())]
                plan = replace(plan, advice=tuple(dict.fromkeys(advice)))
            yield
        return replace(plan, complete=not open_plugins and self._passes(plan.case))

    def _cured(self, plugin: FilterPlugin, cure: Cure, plan: Plan) -> Steps[Plan | None]:
        """The plan plus changes that satisfy this plugin; None if there are none."""
        for _ in range(MAX_CHANGES):
            left = cure.obstacles(plan.case)
            proposals = islice(cure.proposals(plan.case), MAX_PROPOSALS)
            for proposal in sorted(proposals, key=lambda each: each.cost):
                yield
                tried = plan.with_change(proposal)
                if self.additive and not proposal.additive:
                    continue
                if cure.obstacles(tried.case) < left:
                    plan = tried
                    break
            else:
                return None
            if self._lets_pass(plugin, plan.case):
                return plan
        return None

    def _cure(self, plugin: FilterPlugin, case: Case) -> Cure | None:
        for name in (TOLERATIONS, NODE_AFFINITY):
            if not annotation_cure.readable(case.pod, name, self.settings):
                return AnnotationCure(self.settings, plugin.name)
        explainer = EXPLAINERS.get(plugin.name)
        return None if explainer is None else explainer.cure(plugin, self.settings)

    def _lets_pass(self, plugin: FilterPlugin, case: Case) -> bool:
        alone = Profile(self.profile.name, (plugin,), ())
        return all(status.code in _LETS_PASS for status in self._judged(alone, case))

    def _passes(self, case: Case) -> bool:
        return all(status.code in _LETS_PASS for status in self._judged(self.profile, case))

    def _judged(self, profile: Profile, case: Case) -> list[Status]:
        return Runner(clock=no_clock).explain(profile, case.pod, case.snapshot, case.node)
