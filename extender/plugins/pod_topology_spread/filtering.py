"""Hard constraints: who is refused, who is held back for pods in flight, what evictions cure."""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, repeat
from math import inf
from typing import Final

from extender.framework.interface import SUCCESS, Code, Status, unresolvable
from extender.framework.node_info import LabelOf, NodeInfo
from extender.framework.topology import Tally
from extender.match.findings import Finding
from extender.plugins.pod_topology_spread.constraints import Constraint

REASON: Final = "node(s) didn't match pod topology spread constraints"
REASON_MISSING_LABEL: Final = (
    "node(s) didn't match pod topology spread constraints (missing required label)"
)
REASON_IN_FLIGHT: Final = "node(s) were left to pods in flight by pod topology spread constraints"

# While pods are in flight a pod is let pass on this part of the domains that are open to it,
# but on one at least: what it does not get is left for the next pods.
SHARE: Final = 16

MISSING_LABEL: Final = unresolvable(REASON_MISSING_LABEL)
SKEWED: Final = Status(Code.UNSCHEDULABLE, (REASON,))
UNSETTLED: Final = Status(Code.UNSCHEDULABLE, (REASON_IN_FLIGHT,), unsettled=True)
# A verdict is worked with as its place in here: 0 passes.
VERDICTS: Final = (SUCCESS, MISSING_LABEL, SKEWED, UNSETTLED)
_PASSES, _MISSING_LABEL, _SKEWED, _UNSETTLED = range(len(VERDICTS))


@dataclass(frozen=True, slots=True)
class Asker:
    """The pod that asks, as far as others count for it."""

    pod: str
    priority: int
    slow: bool = False  # it takes its time to arrive, so others must know where it goes


class Skew:
    """One constraint over the domains as they are for one pod.

    `base` are the pods that are there, and those in flight to one known domain. A pod in flight
    that may be in several domains, and one that is only nominated, may be in a domain or not: a
    verdict must hold either way.
    """

    def __init__(self, constraint: Constraint, tally: Tally, labels: LabelOf, asker: Asker) -> None:
        self.constraint = constraint
        self._labels = labels
        self._tally = tally
        self._asker = asker
        self._self = int(constraint.matches_itself)
        self._sizes = tally.topology.sizes
        self._too_few = len(self._sizes) < constraint.min_domains
        self._maybe: Counter[str] = Counter()
        self._base = self._with_pods_in_flight()
        self._nominated = self._nominees()
        self._lowest = self._smallest()
        limit = constraint.max_skew - self._self + (0 if self._too_few else self._lowest)
        full = [domain for domain, count in self._base.items() if count > limit]
        # The refusals by domain, None for a node without one; who is not in here has the default.
        self._refusals: dict[str | None, int] = dict.fromkeys(full, _SKEWED)
        self._refusals[None] = _MISSING_LABEL
        self._default = _PASSES if limit >= 0 else _SKEWED
        for domain in self._nominated.keys() | self._maybe.keys():
            if domain not in self._refusals:
                self._judge_unsettled(domain)

    @property
    def crowded(self) -> bool:
        """Whether it must be certain where this pod goes, because others are on their way."""
        if not self.constraint.matches_itself:
            return False
        return self._asker.slow or self._tally.selection.crowded(self._asker.pod)

    @property
    def domains(self) -> int:
        """How many there are."""
        return len(self._sizes)

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[int]:
        """The verdict of this constraint on each node."""
        return list(map(self._refusals.get, self.domains_of(nodes), repeat(self._default)))

    def domains_of(self, nodes: Sequence[NodeInfo]) -> Sequence[str | None]:
        """The domain of each node."""
        return self._labels.column(nodes)

    def without(self, node: NodeInfo, victims: Collection[str]) -> Status:
        """The verdict once these pods are gone from the node."""
        domain = node.labels.get(self.constraint.key)
        if domain is None:
            return MISSING_LABEL
        count = self._base[domain] + self._nominated[domain] + self._maybe[domain]
        if node.name in self._tally.topology.domain_of:
            count -= self._tally.selection.victims(node.name, victims)
        return SKEWED if self._fails(domain, count) else SUCCESS

    def chosen(self, open_nodes: Mapping[str | None, int]) -> frozenset[str | None]:
        """The domains to be let pass, given how many nodes pass in each.

        Those that nobody may be in yet and that have the fewest pods; among equals those where
        the fewest were seen, because a pod in flight may still fail, then those with most nodes.
        """
        seen = self._tally.counts
        levels = {
            domain: (self._maybe[domain], self._base[domain], seen[domain])
            for domain in open_nodes
            if domain is not None
        }
        best = min(levels.values())
        pool = [domain for domain, level in levels.items() if level == best]
        pool.sort(key=open_nodes.__getitem__, reverse=True)
        return frozenset(pool[: max(1, len(open_nodes) // SHARE)])

    def _with_pods_in_flight(self) -> Counter[str]:
        certain: list[str] = []
        for reservation in self._tally.selection.in_flight.values():
            if reservation.pod == self._asker.pod:
                continue
            domains = reservation.domains(self._tally.topology)
            known = [domain for domain in domains if domain is not None]
            if len(domains) == 1:
                certain += known
            else:
                self._maybe.update(known)
        return self._tally.counts + Counter(certain) if certain else self._tally.counts

    def _nominees(self) -> Counter[str]:
        """Pods that wait for their victims to leave count for those that are not above them."""
        selection, domain_of = self._tally.selection, self._tally.topology.domain_of
        found: Counter[str] = Counter()
        for cohort in selection.cohorts:
            for pod, (node, priority) in cohort.nominated.items():
                domain = domain_of.get(node)
                foreign = pod != self._asker.pod and pod not in selection.in_flight
                if domain is not None and foreign and priority >= self._asker.priority:
                    found[domain] += 1
        return found

    def _smallest(self) -> int:
        return 0 if len(self._base) < len(self._sizes) else min(self._base.values(), default=0)

    def _judge_unsettled(self, domain: str) -> None:
        count = self._base[domain] + self._nominated[domain]
        if self._fails(domain, count):
            self._refusals[domain] = _SKEWED
        elif self._fails(domain, count + self._maybe[domain]):
            self._refusals[domain] = _UNSETTLED

    def _fails(self, domain: str, count: int) -> bool:
        """Whether one more pod is too many in a domain that has so many pods."""
        if self._too_few:
            smallest: float = 0
        elif domain in self._sizes:
            smallest = min(count, self._smallest_beside(domain))
        else:  # its nodes do not count, so it is judged by the others
            smallest = self._lowest
        return count + self._self - smallest > self.constraint.max_skew

    def _smallest_beside(self, domain: str) -> float:
        """The fewest pods that any other domain has."""
        if self._base[domain] > self._lowest or self._ties > 1:
            return self._lowest
        return min((count for d, count in self._base.items() if d != domain), default=inf)

    @cached_property
    def _ties(self) -> int:
        """How many domains have the fewest pods."""
        if not self._lowest:
            return len(self._sizes) - len(self._base)
        return list(self._base.values()).count(self._lowest)


@dataclass(frozen=True, slots=True)
class SkewFacet:
    """The verdict itself: whoever has the same is alike."""

    skews: tuple[Skew, ...]

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        """The first refusal of each node, or that it passes."""
        return self.verdicts(nodes)

    def verdicts(self, nodes: Sequence[NodeInfo]) -> Sequence[int]:
        """The same, as places in VERDICTS."""
        first, *others = (skew.column(nodes) for skew in self.skews)
        for column in others:
            first = [one or other for one, other in zip(first, column, strict=True)]
        return first


@dataclass(frozen=True, slots=True)
class HardConstraints:
    """Asks every constraint in order; the first refusal of a node stands."""

    skews: tuple[Skew, ...]
    findings: frozenset[Finding] = frozenset()
    held_back: Status = field(default=UNSETTLED)

    @property
    def facet(self) -> SkewFacet:
        """What the verdict depends on."""
        return SkewFacet(self.skews)

    def filter(self, node: NodeInfo) -> Status:
        """The first refusal, or success."""
        (verdict,) = self.facet.verdicts([node])
        return VERDICTS[verdict]

    def narrow(self, nodes: Sequence[NodeInfo]) -> Sequence[bool]:
        """While others are in flight, let pass so little that everyone knows where this one is."""
        kept = nodes
        for skew in sorted(self.skews, key=lambda skew: skew.domains):
            if skew.crowded:
                domains = skew.domains_of(kept)
                chosen = skew.chosen(Counter(domains))
                kept = list(compress(kept, map(chosen.__contains__, domains)))
        return list(map(set(kept).__contains__, nodes))

    def without(self, node: NodeInfo, victims: Collection[str]) -> Status:
        """The first refusal once these pods are gone from the node."""
        verdicts = (skew.without(node, victims) for skew in self.skews)
        return next((v for v in verdicts if v is not SUCCESS), SUCCESS)
