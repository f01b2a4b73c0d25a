"""What plugins can ask about the pods of the cluster, kept up to date event by event.

Selections and topologies come into being when they are first asked about, are counted on from
then on, and are dropped when others are asked about more. An event costs one step for each
selection that meets the pod, however many pods there are.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from extender.framework.columns.node_table import PassingNodes
from extender.framework.node_info import NodeInfo
from extender.framework.pods.cohorts import Cohort, PodInfo, Selection, pod_id
from extender.framework.pods.in_flight import InFlight, Reservation
from extender.framework.pods.topology import Inclusion, Tally, Topology
from extender.match.label_selectors import Selector
from extender.match.lru import LRU, CacheBudget, weight_of
from extender.model.core_v1 import ObjectMeta, Pod


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

    def selection(self, namespace: str, selector: Selector) -> Selection:
        """The pods that a selector means."""
        key = namespace, selector
        selection = self._selections.get(key)
        if selection is None:
            selection = Selection(namespace, selector)
            space = self._namespaces.setdefault(namespace, _Namespace())
            space.selections[selector] = selection
            for cohort in space.cohorts.values():
                if selector.counts(cohort.labels):
                    selection.link(cohort)
            self._in_flight.begin_to_count(selection)
            if not self._selections.put(key, selection, selection.nbytes + weight_of(key)):
                self._drop_selection(key, selection)
        return selection

    def tally(
        self, selection: Selection, key: str, required: Sequence[str], inclusion: Inclusion
    ) -> Tally:
        """The selected pods by domain, out of the nodes that carry every required label."""
        identity = key, tuple(required), inclusion.key
        topology = self._topologies.get(identity)
        if topology is None:
            topology = Topology(key, required, inclusion)
            topology.stale.update(self._nodes)
            topology.refresh(self._nodes)
            weight = topology.nbytes + weight_of(identity)
            if not self._topologies.put(identity, topology, weight):
                return Tally(topology, selection)
        else:
            topology.refresh(self._nodes)
        known = len(topology.tallies)
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
