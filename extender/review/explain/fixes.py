"""Finds the fewest changes with which a pod passes on a node, by trying them.

One change that lets the pod pass is looked for first, the smallest one. If there is none, plugin
after plugin is cured: a change is kept only if fewer obstacles remain after it, and the changes
for a plugin only if the plugin then lets the pod pass.

A change is tried only if the API server accepts it, and `living` allows only what a pod that
lives may change.
"""

from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from extender.framework.interface import Code, FilterPlugin, Profile, Settings, Status
from extender.framework.runner import Runner
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.match.annotations import NODE_AFFINITY, TOLERATIONS
from extender.model.core_v1 import Pod
from extender.review.explain import annotation_cure, living
from extender.review.explain.annotation_cure import AnnotationCure
from extender.review.explain.inquiry import no_clock
from extender.review.explain.proposals import Case, Cure, Edit, Proposal
from extender.review.explain.registry import EXPLAINERS
from extender.review.explain.schema import Change
from extender.review.explain.steps import Steps

MAX_CHANGES: Final = 8
MAX_PROPOSALS: Final = 24
MAX_TOLERATIONS: Final = 100
MAX_TEXT: Final = 16_384
# Costs that differ by less are equal: sums of fractions are not exact.
SAME_COST: Final = 1e-9
_LETS_PASS: Final = (Code.SUCCESS, Code.SKIP)


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes that were tried, and the pod and node with them."""

    case: Case
    changes: tuple[Change, ...] = ()
    advice: tuple[str, ...] = ()
    cost: float = 0.0
    complete: bool = False

    def with_change(self, edit: Edit, cost: float) -> "Plan":
        """One change more."""
        case = replace(self.case, pod=edit.pod, node=edit.node)
        changes = (*self.changes, edit.change)
        return replace(self, case=case, changes=changes, cost=self.cost + cost)


@dataclass(frozen=True, slots=True)
class Planner:
    """Looks for changes."""

    profile: Profile
    settings: Settings
    snapshot: Snapshot
    additive: bool = False  # only what cannot exclude another node
    living: bool = False  # only what a pod that lives may change

    def too_large(self, pod: Pod) -> bool:
        """Whether the pod has too many rules to try changes."""
        annotations = (pod.metadata and pod.metadata.annotations) or {}
        prefix = self.settings.annotation_prefix
        texts = (annotations.get(prefix + name, "") for name in (TOLERATIONS, NODE_AFFINITY))
        tolerations = (pod.spec and pod.spec.tolerations) or ()
        return len(tolerations) > MAX_TOLERATIONS or max(map(len, texts)) > MAX_TEXT

    def plans(self, pod: Pod, node: NodeInfo) -> Steps[list[Plan]]:
        """The changes that let the pod pass on the node, as far as they are known.

        Several plans are equally good.
        """
        begun = Plan(Case(pod, node, self.snapshot))
        refusing = [each for each in self.profile.filters if not self._lets_pass(each, begun.case)]
        found = yield from self._single(begun, refusing)
        if not found and refusing:
            found = [(yield from self._one_after_the_other(begun))]
        return found or [replace(begun, complete=True)]

    def _single(self, begun: Plan, refusing: list[FilterPlugin]) -> Steps[list[Plan]]:
        """The smallest changes that suffice alone."""
        proposals: list[Proposal] = []
        for plugin in refusing:
            cure = self.cure(plugin, begun.case)
            proposals += () if cure is None else islice(cure.proposals(begun.case), MAX_PROPOSALS)
        found: list[Plan] = []
        for proposal in sorted(proposals, key=lambda each: each.cost):
            if found and proposal.cost > found[0].cost + SAME_COST:
                break
            yield
            edit = self.made(begun.case, proposal)
            if edit is not None and self._passes(replace(begun.case, pod=edit.pod, node=edit.node)):
                found.append(replace(begun.with_change(edit, proposal.cost), complete=True))
        return found

    def _one_after_the_other(self, plan: Plan) -> Steps[Plan]:
        open_plugins: list[str] = []
        for plugin in self.profile.filters:
            if self._lets_pass(plugin, plan.case):
                continue
            cure = self.cure(plugin, plan.case)
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
                edit = self.made(plan.case, proposal)
                if edit is None:
                    continue
                tried = plan.with_change(edit, proposal.cost)
                if cure.obstacles(tried.case) < left:
                    plan = tried
                    break
            else:
                return None
            if self._lets_pass(plugin, plan.case):
                return plan
        return None

    def made(self, case: Case, proposal: Proposal) -> Edit | None:
        """The change, if it is allowed."""
        if self.additive and not proposal.additive:
            return None
        edit = proposal.make()
        if edit.pod is case.pod:
            return edit
        if self.living and not living.may_become(case.pod, edit.pod):
            return None
        return edit if living.is_valid(case.pod, edit.pod, self.settings) else None

    def cure(self, plugin: FilterPlugin, case: Case) -> Cure | None:
        """What knows how to cure this plugin's refusals."""
        if annotation_cure.unreadable(case.pod, self.settings):
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
