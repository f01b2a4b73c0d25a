"""What plugins can ask about the pods of the cluster, kept up to date event by event.

Selections and topologies come into being when they are first asked about, are counted on from
then on, and are dropped when others are asked about more. An event costs one step for each
selection that meets the pod, however many pods there are.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from extender.framework.in_flight import InFlight, Reservation
from extender.framework.node_info import LabelOf, NodeInfo
from extender.framework.pods import Cohort, PodInfo, Selection, pod_id
from extender.framework.topology import Inclusion, Tally, Topology
from extender.match.label_selectors import Selector
from extender.model.core_v1 import ObjectMeta, Pod

MAX_SELECTIONS: Final = 1_024
MAX_TOPOLOGIES: Final = 64


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
    ) -> None:
        self._nodes = nodes
        self.reserves = reserves
        self._on_change = on_change
        self._namespaces: dict[str, _Namespace] = {}
        self._selections: OrderedDict[tuple[str, Selector], Selection] = OrderedDict()
        self._topologies: OrderedDict[Hashable, Topology] = OrderedDict()
        self._labels: OrderedDict[str, LabelOf] = OrderedDict()
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

    def advance(self, now: float) -> None:
        """Let time pass: reservations end."""
        self._now = now
        if self._in_flight.expire(now):
            self._on_change()

    def answered(self, pod: Pod, nodes: Sequence[NodeInfo], *, waits: bool = False) -> None:
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
            selection = self._selections[key] = Selection(namespace, selector)
            space = self._namespaces.setdefault(namespace, _Namespace())
            space.selections[selector] = selection
            for cohort in space.cohorts.values():
                if selector.counts(cohort.labels):
                    selection.link(cohort)
            self._in_flight.begin_to_count(selection)
            if len(self._selections) > MAX_SELECTIONS:
                self._drop_selection(*self._selections.popitem(last=False))
        else:
            self._selections.move_to_end(key)
        return selection

    def tally(
        self, selection: Selection, key: str, required: Sequence[str], inclusion: Inclusion
    ) -> Tally:
        """The selected pods by domain, out of the nodes that carry every required label."""
        identity = None if inclusion.key is None else (key, tuple(required), inclusion.key)
        topology = None if identity is None else self._topologies.get(identity)
        if topology is None:
            topology = Topology(key, required, inclusion)
            topology.stale.update(self._nodes)
            topology.refresh(self._nodes)
            if identity is None:
                return Tally(topology, selection)
            self._topologies[identity] = topology
            if len(self._topologies) > MAX_TOPOLOGIES:
                self._topologies.popitem(last=False)[1].close()
        else:
            topology.refresh(self._nodes)
            self._topologies.move_to_end(identity)
        return topology.tally(selection)

    def labels(self, key: str) -> LabelOf:
        """What nodes have for one label."""
        labels = self._labels.get(key)
        if labels is None:
            labels = self._labels[key] = LabelOf(key)
            if len(self._labels) > MAX_TOPOLOGIES:
                self._labels.popitem(last=False)
        return labels

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
            for selection in cohort.selections:
                selection.add(pod.node_name, 1)
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
        del space.selections[selector]
        self._tidy(namespace, space)

    def _tidy(self, namespace: str, space: _Namespace) -> None:
        if not space.cohorts and not space.selections:
            del self._namespaces[namespace]


def identity_of(pod: Pod) -> str:
    """Who a pod is that asks for a node."""
    meta = pod.metadata
    return pod_id(meta.namespace, meta.name, meta.uid) if meta else ""
