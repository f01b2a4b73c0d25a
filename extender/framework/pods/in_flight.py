"""Pods in flight: let pass, but not yet seen on a node.

kube-scheduler goes on to the next pod as soon as it has chosen a node, and a watch tells of the
choice some milliseconds later. Until then the nodes that were let pass are all that is known. A
reservation belongs to one pod, is replaced by the next answer to it, and ends when the pod is
seen on a node, when it is deleted, or after a while. Time is a parameter here.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from extender.framework.columns.node_table import PassingNodes
from extender.framework.pods.cohorts import Selection
from extender.framework.pods.topology import Topology
from extender.match.budget import Budget

# Longer than a binding takes that has to wait for its volumes to be made.
RESERVED_SECONDS: Final = 60.0
MAX_RESERVATIONS: Final = 5_000
# Of those that nobody counts yet: somebody may begin to while they are in flight.
MAX_UNCOUNTED: Final = 256
# So many nodes that a pod may be on are looked up in the time of one comparison.
NODES_A_UNIT: Final = 8


class Reservation(Struct, eq=False):
    """Where one pod may be by now; without nodes it waits for others to arrive."""

    pod: str
    uid: str
    key: str
    namespace: str
    labels: Mapping[str, str]
    nodes: PassingNodes | None
    selections: list[Selection]
    at: float
    _domains: dict[Topology, tuple[int, frozenset[str | None]]] = {}

    def domains(self, topology: Topology, budget: Budget) -> frozenset[str | None]:
        """The domains that the pod may be in; None for nodes that do not count."""
        known = self._domains.get(topology)
        if known is None or known[0] != topology.version:
            budget.spend(1 + len(self.nodes or ()) // NODES_A_UNIT)
            names = self.nodes.names() if self.nodes else ()
            known = topology.version, frozenset(map(topology.domain_of.get, names))
            self._domains[topology] = known
        return known[1]


class InFlight:
    """The reservations, the oldest first."""

    def __init__(self) -> None:
        self._reservations: dict[str, Reservation] = {}
        self._by_key: dict[str, str] = {}
        self._uncounted: dict[str, None] = {}

    def __len__(self) -> int:
        """How many there are that count for anybody."""
        return len(self._reservations) - len(self._uncounted)

    @property
    def all(self) -> int:
        """How many there are, those too that nobody counts."""
        return len(self._reservations)

    def reserve(self, reservation: Reservation) -> None:
        """Instead of what was known of this pod, and of an earlier one of its name."""
        self.release(reservation.pod)
        self.release(self._by_key.get(reservation.key, ""))
        if len(self._reservations) >= MAX_RESERVATIONS:
            self.release(next(iter(self._reservations)))
        self._reservations[reservation.pod] = reservation
        self._by_key[reservation.key] = reservation.pod
        for selection in reservation.selections:
            selection.in_flight[reservation.pod] = reservation
        if not reservation.selections:
            self._uncounted[reservation.pod] = None
            if len(self._uncounted) > MAX_UNCOUNTED:
                self.release(next(iter(self._uncounted)))

    def begin_to_count(self, selection: Selection) -> None:
        """A selection is new: pods that it means may be in flight already."""
        for pod, reservation in self._reservations.items():
            if selection.means(reservation.namespace, reservation.labels):
                reservation.selections.append(selection)
                selection.in_flight[pod] = reservation
                self._uncounted.pop(pod, None)

    def release(self, pod: str) -> bool:
        """The pod is in flight no more; whether it counted for anybody."""
        reservation = self._reservations.pop(pod, None)
        if reservation is None:
            return False
        del self._by_key[reservation.key]
        self._uncounted.pop(pod, None)
        for selection in reservation.selections:
            selection.in_flight.pop(pod, None)
        return bool(reservation.selections)

    def release_named(self, key: str, uid: str) -> bool:
        """A pod of this name is gone; if its UID is known, nobody else's reservation ends."""
        reservation = self._reservations.get(self._by_key.get(key, ""))
        if reservation is None or (uid and reservation.uid and uid != reservation.uid):
            return False
        return self.release(reservation.pod)

    def expire(self, now: float) -> bool:
        """End what has lasted too long; whether anything that counted has."""
        expired = False
        while self._reservations:
            oldest = next(iter(self._reservations.values()))
            if now - oldest.at < RESERVED_SECONDS:
                break
            expired = self.release(oldest.pod) or expired
        return expired
