"""Looks over all nodes for the fix with the least to do.

An estimate says of every node how much would have to change at least. Fixes are tried on the
nodes with the smallest estimates, until no other node can be better.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from heapq import nsmallest
from typing import Final

from extender.framework.interface import Code, FilterPlugin, Profile, Settings
from extender.framework.snapshot import NodeInfo
from extender.model.core_v1 import Pod
from extender.model.documents import Plain
from extender.plugins.taint_toleration import TaintToleration
from extender.review.explain import annotation_cure, targets
from extender.review.explain.annotation_cure import AnnotationCure
from extender.review.explain.cordon import uncordoned
from extender.review.explain.edits import Editor
from extender.review.explain.fixes import Plan, Planner
from extender.review.explain.inquiry import Inquiry
from extender.review.explain.proposals import INCURABLE, NOTHING_TO_DO, Case, Estimate
from extender.review.explain.schema import Fix, ObjectReference
from extender.review.explain.steps import Bench, Steps, filtered
from extender.review.explain.targets import Target

MAX_TRIED: Final = 12  # nodes that differ in what refuses them, of one group
MAX_EQUALS: Final = 8  # equally good plans, of which the one that opens the most nodes is taken
# Rules that are compared with the taints or labels of nodes, for the estimates of a plugin.
MAX_COMPARED: Final = 100_000
_RULE_CHARACTERS: Final = 50
_USUAL: Final = Estimate(1, 3.0)  # of nodes beyond that
_AT_A_TIME: Final = 10
_DIGITS: Final = 6

# What it costs that a pod must be made anew: a step in place is preferred to the same step there.
NEW_POD: Final = 0.02

Found = tuple[Target, Plan]
Order = tuple[bool, int, float]


class Search:
    """The nodes of a cluster, how far each is, and the fixes for them."""

    def __init__(
        self, inquiry: Inquiry, nodes: Sequence[NodeInfo], passes: Sequence[bool], bench: Bench
    ) -> None:
        self._inquiry = inquiry
        self._nodes = nodes
        self._passes = passes
        self._bench = bench
        self._targets = targets.of(inquiry.subject)
        self._planner = Planner(inquiry.profile, inquiry.settings, inquiry.snapshot)
        self._estimates: dict[str, Estimate] = {}
        self._kinds: dict[str, Hashable] = {}  # nodes of a kind are refused for the same causes
        self.too_large = self._planner.too_large(inquiry.pod)
        self._most = MAX_COMPARED // rule_count(inquiry.pod, inquiry.settings)

    def estimate(self) -> Steps[None]:
        """Estimate all nodes."""
        asked = self._inquiry
        pod, begun = self._readable()
        total = dict.fromkeys((node.name for node in self._nodes), begun)
        kinds: dict[str, list[Hashable]] = {node.name: [] for node in self._nodes}
        for plugin in asked.profile.filters:
            refused = yield from self._refused(plugin, pod)
            cure = (
                self._planner.cure(plugin, Case(pod, refused[0], asked.snapshot))
                if refused
                else None
            )
            known: dict[Hashable, Estimate] = {}
            for place, node in enumerate(refused):
                case = Case(pod, _cured_before(node, plugin), asked.snapshot)
                facet = None if cure is None else cure.facet(case)
                if facet not in known and len(known) < self._most:
                    known[facet] = INCURABLE if cure is None else cure.estimate(case)
                total[node.name] = total[node.name].plus(known.get(facet, _USUAL))
                kinds[node.name].append((plugin.name, facet))
                if place % _AT_A_TIME == 0:
                    yield
        self._estimates = total
        self._kinds = {name: tuple(facets) for name, facets in kinds.items()}

    def _readable(self) -> tuple[Pod, Estimate]:
        """The pod with annotations that can be read, and what it costs to correct them."""
        asked, total = self._inquiry, NOTHING_TO_DO
        pod, cure = asked.pod, AnnotationCure(asked.settings, "")
        while annotation_cure.unreadable(pod, asked.settings):
            case = Case(pod, self._nodes[0], asked.snapshot)
            mended = next(iter(cure.proposals(case)), None)
            if mended is None:
                return asked.pod, INCURABLE
            pod, total = mended.make().pod, total.plus(Estimate(1, mended.cost))
        return pod, total

    def _refused(self, plugin: FilterPlugin, pod: Pod) -> Steps[list[NodeInfo]]:
        asked = self._inquiry
        alone = Profile(asked.profile.name, (plugin,), ())
        result = yield from filtered(alone, pod, asked.snapshot, self._nodes, bench=self._bench)
        pairs = zip(self._nodes, result.statuses, strict=True)
        return [node for node, status in pairs if status.code is not Code.SUCCESS]

    def best(self, nodes: Iterable[NodeInfo]) -> Steps[Fix | None]:
        """The fix with the least to do on one of these nodes."""
        found: list[Found] = []
        for node in self._in_order(nodes):
            if found and _is_better(found[0], self._estimates[node.name]):
                break
            plans = yield from self._plans(node)
            found = _nearest_of([*found, *plans])
        return (yield from self._chosen(found))

    def fix(self, node: NodeInfo) -> Steps[Fix | None]:
        """The fix with the least to do on this node."""
        found = [] if self.too_large else (yield from self._plans(node))
        return (yield from self._chosen(_nearest_of(found)))

    def _in_order(self, nodes: Iterable[NodeInfo]) -> list[NodeInfo]:
        """One node of each kind, the nearest first; of equals the most frequent kind."""
        sizes: Counter[Hashable] = Counter()
        first: dict[Hashable, NodeInfo] = {}
        for node in nodes:
            kind = self._kinds[node.name]
            sizes[kind] += 1
            first.setdefault(kind, node)
        return nsmallest(
            MAX_TRIED,
            first.values(),
            key=lambda node: (self._estimates[node.name], -sizes[self._kinds[node.name]]),
        )

    def _plans(self, node: NodeInfo, *, additive: bool = False) -> Steps[list[Found]]:
        """What could be done, in each of the objects that can be changed."""
        found: list[Found] = []
        for target in self._targets:
            planner = replace(self._planner, living=target.living, additive=additive)
            plans = yield from planner.plans(target.pod, node)
            found += ((target, plan) for plan in plans)
        return found

    def _chosen(self, found: Sequence[Found]) -> Steps[Fix | None]:
        """The fix that opens the most nodes, of those that cost the pod no node."""
        fixes: list[Fix] = []
        for target, plan in found[:MAX_EQUALS]:
            fix = yield from self._made(target, plan)
            if fix is not None:
                fixes.append(fix)
        if found and not fixes:
            node = next(each for each in self._nodes if each.name == found[0][1].case.node.name)
            plans = yield from self._plans(node, additive=True)
            for target, plan in _nearest_of(plans)[:MAX_EQUALS]:
                fix = yield from self._made(target, plan)
                if fix is not None:
                    fixes.append(fix)
        return nearest(fixes)

    def _made(self, target: Target, plan: Plan) -> Steps[Fix | None]:
        """The plan as a fix; None if there is nothing to do, or if a node would be lost."""
        if not plan.changes and not plan.advice:
            return None
        passing = yield from self._passing_with(plan)
        if passing is None:
            return None
        editor = Editor(self._inquiry.settings, target.implicit)
        patch = _nested(editor.patch(target.pod, plan.case.pod), target.template)
        return Fix(
            plan.case.node.name,
            plan.complete,
            plan.changes,
            plan.advice,
            passing,
            patch,
            plan.cost,
            ObjectReference(target.kind, target.namespace, target.name) if patch else None,
            target.needs_new_pod and patch is not None,
            target.how if patch else "",
        )

    def _passing_with(self, plan: Plan) -> Steps[int | None]:
        """How many nodes pass with the changes; None if a node that passed is lost."""
        if not plan.changes:
            return sum(self._passes)
        asked, changed = self._inquiry, plan.case.node
        nodes, bench = self._nodes, self._bench
        if asked.snapshot.nodes.get(changed.name) is not changed:
            nodes = [changed if node.name == changed.name else node for node in self._nodes]
            bench = Bench(nodes)
        result = yield from filtered(
            asked.profile, plan.case.pod, asked.snapshot, nodes, bench=bench
        )
        passes = [status.code is Code.SUCCESS for status in result.statuses]
        lost = any(old and not new for old, new in zip(self._passes, passes, strict=True))
        return None if lost else sum(passes)


def rule_count(pod: Pod, settings: Settings) -> int:
    """About how many rules a pod has, without reading its annotations; one at least."""
    annotations = (pod.metadata.annotations if pod.metadata else None) or {}
    texts = [
        text for key, text in annotations.items() if key.startswith(settings.annotation_prefix)
    ]
    native = len((pod.spec.tolerations if pod.spec else None) or ())
    return 1 + native + sum(map(len, texts)) // _RULE_CHARACTERS


def _cured_before(node: NodeInfo, plugin: FilterPlugin) -> NodeInfo:
    """The node as it is when a plugin is cured: uncordoning also removes a taint."""
    cordoned = node.unschedulable and plugin.name == TaintToleration.name
    return uncordoned(node) if cordoned else node


def _is_better(found: Found, least: Estimate) -> bool:
    """Whether a plan is better than everything that an estimate allows."""
    is_partial, to_do, step = _order(found)
    return not is_partial and (to_do, step) < (least.changes, round(least.cost, _DIGITS))


def _nearest_of(found: Iterable[Found]) -> list[Found]:
    """The plans with the least to do that differ in what they make of pod and node."""
    listed = list(found)
    best = min(map(_order, listed), default=None)
    equals: list[Found] = []
    for target, plan in listed:
        known = any(
            (each.case.pod, each.case.node) == (plan.case.pod, plan.case.node) for _, each in equals
        )
        if _order((target, plan)) == best and not known:
            equals.append((target, plan))
    return equals


def _order(found: Found) -> Order:
    target, plan = found
    new_pod = target.needs_new_pod and plan.case.pod is not target.pod
    return _order_of(plan, new_pod=new_pod)


def _order_of(plan: Plan | Fix, *, new_pod: bool) -> Order:
    """Complete ones first, then the fewest things to do, then the smallest step."""
    to_do = len(plan.changes) + len(plan.advice)
    return not plan.complete, to_do, round(plan.cost + new_pod * NEW_POD, _DIGITS)


def nearness_of(fix: Fix) -> tuple[Order, int]:
    """The sort key of fixes: of equals the one that opens the most nodes comes first."""
    return _order_of(fix, new_pod=fix.needs_new_pod), -fix.passing


def nearest(fixes: Iterable[Fix | None]) -> Fix | None:
    """The fix with the least to do; of equals the one that opens the most nodes."""
    return min((fix for fix in fixes if fix is not None), key=nearness_of, default=None)


def _nested(patch: dict[str, Plain], template: Sequence[str]) -> dict[str, Plain] | None:
    """The patch of a pod as a patch of its workload."""
    if not patch:
        return None
    for name in reversed(template):
        patch = {name: patch}
    return patch
