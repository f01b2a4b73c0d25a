"""What plugins can ask about the pods of the cluster, kept up to date event by event.

Selections and topologies come into being when they are first asked about, are counted on from
then on, and are dropped when others are asked about more. An event costs one step for each
selection that meets the pod, however many pods there are.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from extender.framework.columns.node_table import PassingNodes
from extender.framework.node_info import NodeInfo
from extender.framework.pods.cohorts import Cohort, PodInfo, Selection, pod_id
from extender.framework.pods.in_flight import InFlight, Reservation
from extender.framework.pods.topology import Inclusion, Tally, Topology
from extender.match.budget import Budget
from extender.match.label_selectors import Selector
from extender.match.lru import LRU, CacheBudget, weight_of
from extender.model.core_v1 import ObjectMeta, Pod

# To link a cohort takes as long as three comparisons. So many others are done in the time of one:
# cohorts passed over, further labels of them looked up, pods counted by node.
LINK_COST: Final = 3
COHORTS_A_UNIT: Final = 2
LABELS_A_UNIT: Final = 8
PODS_A_UNIT: Final = 8


@dataclass(slots=True)
class _Namespace:
    cohorts: dict[int, Cohort] = field(default_factory=dict)  # by the identity of their labels
    selections: dict[Selector, Selection] = field(default_factory=dict)


class PodIndex:
    """The pods of the cluster, and those in flight if `reserves`."""

    def __init__(
        self,
        nodes: Mapping[str, NodeInfo],
        *,
        reserves: bool = False,
        on_change: Callable[[], None] = lambda: None,
        caches: CacheBudget | None = None,
    ) -> None:
        budget = CacheBudget() if caches is None else caches
        self._nodes = nodes
        self.reserves = reserves
        self._on_change = on_change
        self._namespaces: dict[str, _Namespace] = {}
        self._selections: LRU[tuple[str, Selector], Selection] = LRU(
            "selections", budget, on_evict=self._drop_selection
        )
        self._topologies: LRU[Hashable, Topology] = LRU(
            "topologies", budget, on_evict=lambda _key, topology: topology.close()
        )
        self._in_flight = InFlight()
        self._now = 0.0

    # What happens.

    def put(self, pod: PodInfo, old: PodInfo | None) -> None:
        """There is a pod, or a newer state of it."""
        if old is not None:
            if pod.counts_as(old):
                return
            self._leave(old)
        if not pod.terminating:
            self._enter(pod)
        if pod.node_name and self._in_flight.release(pod.id):
            self._on_change()

    def remove(self, pod: PodInfo) -> None:
        """A pod does not count any more."""
        self._leave(pod)

    def gone(self, key: str, uid: str) -> None:
        """A pod was deleted or has ended, whether or not it ever had a node."""
        if self._in_flight.release_named(key, uid):
            self._on_change()

    def node_changed(self, name: str) -> None:
        """A node came, changed or went; who is asked next will look at it."""
        for topology in self._topologies.values():
            topology.stale.add(name)

    def close(self) -> None:
        """Nobody asks any more: let go of what is remembered."""
        self._selections.clear()
        self._topologies.clear()

    def advance(self, now: float) -> None:
        """Let time pass: reservations end."""
        self._now = now
        if self._in_flight.expire(now):
            self._on_change()

    def answered(self, pod: Pod, nodes: PassingNodes | None, *, waits: bool = False) -> None:
        """The pod was let pass on these nodes; with none it `waits` for others, or was refused."""
        if not self.reserves:
            return
        identity = identity_of(pod)
        if not nodes and not waits:
            self._in_flight.release(identity)
            return
        meta = pod.metadata or ObjectMeta()
        labels = meta.labels or {}
        space = self._namespaces.get(meta.namespace)
        selections = [
            selection
            for selector, selection in (space.selections if space else {}).items()
            if selector.counts(labels)
        ]
        key = f"{meta.namespace}/{meta.name}"
        self._in_flight.reserve(
            Reservation(
                identity, meta.uid, key, meta.namespace, labels, nodes, selections, self._now
            )
        )

    @property
    def in_flight(self) -> int:
        """How many pods are in flight, of those that count for anybody."""
        return len(self._in_flight)

    # What can be asked.

    def selection(self, namespace: str, selector: Selector, budget: Budget) -> Selection:
        """The pods that a selector means; BudgetError before it takes more than is left."""
        key = namespace, selector
        selection = self._selections.get(key)
        if selection is None:
            space = self._namespaces.get(namespace) or _Namespace()
            cohorts = self._meant(selector, space, budget)
            self._namespaces[namespace] = space
            selection = space.selections[selector] = Selection(namespace, selector)
            for cohort in cohorts:
                selection.link(cohort)
            self._in_flight.begin_to_count(selection)
            if not self._selections.put(key, selection, selection.nbytes + weight_of(key)):
                self._drop_selection(key, selection)
        return selection

    def _meant(self, selector: Selector, space: _Namespace, budget: Budget) -> list[Cohort]:
        """The cohorts that a selector means, once all that it takes to count them is paid."""
        exact = selector.exact
        budget.spend(len(space.cohorts) * (1 + len(exact) // LABELS_A_UNIT) // COHORTS_A_UNIT)
        likely = [each for each in space.cohorts.values() if each.labels.items() >= exact]
        budget.spend((1 + selector.size) * (len(likely) + self._in_flight.all))
        cohorts = [each for each in likely if selector.counts(each.labels)]
        placed = sum([len(each.placed) for each in cohorts])
        budget.spend(LINK_COST * len(cohorts) + placed // PODS_A_UNIT)
        return cohorts

    def tally(
        self,
        selection: Selection,
        key: str,
        required: Sequence[str],
        inclusion: Inclusion,
        budget: Budget,
    ) -> Tally:
        """The selected pods by domain, out of the nodes that carry every required label.

        BudgetError before it takes more than is left.
        """
        identity = key, tuple(required), inclusion.key
        topology = self._topologies.get(identity)
        if topology is None:
            topology = Topology(key, required, inclusion)
            topology.stale.update(self._nodes)
            topology.refresh(self._nodes, budget)
            weight = topology.nbytes + weight_of(identity)
            if not self._topologies.put(identity, topology, weight):
                budget.spend(topology.tally_cost(selection))
                return Tally(topology, selection)
        else:
            topology.refresh(self._nodes, budget)
        known = len(topology.tallies)
        budget.spend(topology.tally_cost(selection))
        tally = topology.tally(selection)
        if len(topology.tallies) > known:
            self._topologies.reweigh(identity, topology.nbytes + weight_of(identity))
        return tally

    # How it is kept.

    def _enter(self, pod: PodInfo) -> None:
        space = self._namespaces.setdefault(pod.namespace, _Namespace())
        cohort = space.cohorts.get(id(pod.labels))
        if cohort is None:
            cohort = space.cohorts[id(pod.labels)] = Cohort(pod.labels)
            for selector, selection in space.selections.items():
                if selector.counts(pod.labels):
                    selection.link(cohort)
        if pod.node_name:
            cohort.placed[pod.id] = pod.node_name
            for selection in tuple(cohort.selections):  # weighing one may drop another
                if selection.add(pod.node_name, 1):
                    key = selection.namespace, selection.selector
                    self._selections.reweigh(key, selection.nbytes + weight_of(key))
        else:
            cohort.nominated[pod.id] = pod.nominated_node_name, pod.priority
        if cohort.selections:
            self._on_change()

    def _leave(self, pod: PodInfo) -> None:
        space = self._namespaces.get(pod.namespace)
        cohort = space.cohorts.get(id(pod.labels)) if space else None
        if space is None or cohort is None:
            return
        node = cohort.placed.pop(pod.id, None)
        if node is not None:
            for selection in cohort.selections:
                selection.add(node, -1)
        cohort.nominated.pop(pod.id, None)
        if cohort.selections:
            self._on_change()
        if not cohort.placed and not cohort.nominated:
            del space.cohorts[id(pod.labels)]
            for selection in cohort.selections:
                selection.cohorts.discard(cohort)
            self._tidy(pod.namespace, space)

    def _drop_selection(self, key: tuple[str, Selector], selection: Selection) -> None:
        namespace, selector = key
        for cohort in selection.cohorts:
            cohort.selections.remove(selection)
        for tally in selection.tallies:
            del tally.topology.tallies[selection]
        space = self._namespaces[namespace]
        space.selections.pop(selector, None)
        self._tidy(namespace, space)

    def _tidy(self, namespace: str, space: _Namespace) -> None:
        if not space.cohorts and not space.selections:
            del self._namespaces[namespace]


def identity_of(pod: Pod) -> str:
    """Who a pod is that asks for a node."""
    meta = pod.metadata
    return pod_id(meta.namespace, meta.name, meta.uid) if meta else ""
