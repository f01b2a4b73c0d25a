"""The plugin: parses constraints, and asks the cluster's counts for what they need."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar, Final

from extender.errors import AnnotationError, SelectorError
from extender.framework.interface import (
    SKIP,
    Code,
    NodeFilter,
    NodeScorer,
    Settings,
    Status,
    shortened,
    unresolvable,
)
from extender.framework.pods.cohorts import Selection
from extender.framework.pods.index import PodIndex, identity_of
from extender.framework.pods.topology import Tally, Topology
from extender.framework.snapshot import Snapshot
from extender.framework.volumes import Volumes
from extender.match.budget import Budget, Share
from extender.model.core_v1 import Pod
from extender.plugins.pod_topology_spread import constraints
from extender.plugins.pod_topology_spread.constraints import HARD, SOFT, Constraint, Inclusions
from extender.plugins.pod_topology_spread.filtering import Asker, HardConstraints, Skew
from extender.plugins.pod_topology_spread.scoring import HOSTNAME, Soft, SoftConstraints

# What the constraints of a pod may take in one call, as comparisons: about 50 ms. What was
# counted until then is kept, and the next call goes on from there.
MAX_WORK: Final = 100_000


@dataclass(frozen=True, slots=True)
class PodTopologySpread:
    """Filters by DoNotSchedule constraints, scores by ScheduleAnyway ones.

    Only constraints that the pod states are judged: the cluster's defaults are kube-scheduler's.
    Without a cluster source nobody knows where pods are, and the plugin stands aside.
    """

    name: ClassVar[str] = "PodTopologySpread"
    settings: Settings

    def signature(self, pod: Pod) -> Hashable | None:
        """Counts change with every pod; a pod without constraints never asks for them."""
        return None if pod.spec and pod.spec.topology_spread_constraints else ()

    def pre_filter(self, pod: Pod, snapshot: Snapshot) -> NodeFilter | Status:
        """Take the counts of every hard constraint; SKIP without any."""
        if snapshot.pods is None:
            return SKIP
        excess = constraints.excess(pod, HARD)
        if excess is not None:
            return unresolvable(excess)
        budget = Share(self.settings.budget, MAX_WORK)
        try:
            hard = constraints.parse(pod, HARD, self.settings)
            tallies = self._tallies(pod, hard, snapshot, snapshot.pods, budget)
        except SelectorError as exc:
            return _unreadable("hard", exc)
        except AnnotationError as exc:
            return unresolvable(str(exc))
        if not hard:
            return SKIP
        priority = (pod.spec.priority if pod.spec else None) or 0
        asker = Asker(identity_of(pod), priority, _is_slow(pod, snapshot))
        pairs = zip(hard, tallies, strict=True)
        return HardConstraints(tuple(Skew(each, tally, asker, budget) for each, tally in pairs))

    def pre_score(self, pod: Pod, snapshot: Snapshot) -> NodeScorer | Status:
        """Take the counts of every soft constraint; SKIP without any."""
        if snapshot.pods is None:
            return SKIP
        excess = constraints.excess(pod, SOFT)
        if excess is not None:
            return Status(Code.ERROR, (excess,))
        budget = Share(self.settings.budget, MAX_WORK)
        try:
            soft = constraints.parse(pod, SOFT, self.settings)
            tallies = self._tallies(pod, soft, snapshot, snapshot.pods, budget)
        except SelectorError as exc:
            return _unreadable("soft", exc)
        except AnnotationError as exc:
            return unresolvable(str(exc))
        if not soft:
            return SKIP
        # What it takes to score each node by each constraint.
        budget.spend(len(soft) * len(snapshot.nodes))
        return SoftConstraints(
            tuple(
                Soft(each, tally.selection, None if each.key == HOSTNAME else tally)
                for each, tally in zip(soft, tallies, strict=True)
            )
        )

    def _tallies(
        self,
        pod: Pod,
        parsed: tuple[Constraint, ...],
        snapshot: Snapshot,
        pods: PodIndex,
        budget: Budget,
    ) -> list[Tally]:
        """The counts of each constraint, out of the nodes that carry the keys of all of them."""
        namespace = pod.metadata.namespace if pod.metadata else ""
        keys = sorted({each.key for each in parsed})
        inclusions = Inclusions(pod, self.settings)
        included = [(each, inclusions.of(each)) for each in parsed]
        if not all(key in snapshot.table.labels for key in keys):
            # No node carries them all, so none counts, and there is nothing to count.
            return [
                Tally(Topology(each.key, keys, inclusion), Selection(namespace, each.selector))
                for each, inclusion in included
            ]
        return [
            pods.tally(
                pods.selection(namespace, each.selector, budget), each.key, keys, inclusion, budget
            )
            for each, inclusion in included
        ]


def _is_slow(pod: Pod, snapshot: Snapshot) -> bool:
    """Whether others will wait for long to see the pod arrive, where they can see it at all."""
    known = snapshot.volumes or Volumes()
    return snapshot.pods is not None and snapshot.pods.reserves and known.has_unbound(pod)


def _unreadable(kind: str, exc: SelectorError) -> Status:
    text = f"obtaining pod's {kind} topology spread constraints: {exc}"
    return Status(Code.ERROR, (shortened(text),))
