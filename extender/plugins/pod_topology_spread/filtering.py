"""Hard constraints: who is refused, who is held back for pods in flight, what evictions cure."""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from math import inf, log
from typing import ClassVar, Final

from msgspec.structs import replace

from extender.framework.interface import NOTHING_FOUND, SUCCESS, Code, Status, unresolvable
from extender.framework.node_info import NodeInfo
from extender.framework.pods.topology import Tally
from extender.framework.snapshot import NODE, AttributeFacet, LabelFacet
from extender.match.budget import Budget
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
# The same as long as those in flight arrive. If they fail, no event tells kube-scheduler.
SKEWED_SO_FAR: Final = replace(SKEWED, unsettled=True)
UNSETTLED: Final = Status(Code.UNSCHEDULABLE, (REASON_IN_FLIGHT,), unsettled=True)
# A verdict is worked with as its place in here: 0 passes.
VERDICTS: Final = (SUCCESS, MISSING_LABEL, SKEWED, SKEWED_SO_FAR, UNSETTLED)
_PASSES, _MISSING_LABEL, _SKEWED, _SKEWED_SO_FAR, _UNSETTLED = range(len(VERDICTS))
_NO_DOMAIN: Final = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Asker:
    """The pod that asks, as far as others count for it."""

    pod: str
    priority: int
    slow: bool = False  # it takes its time to arrive, so others must know where it goes


class Level:
    """So many pods in each domain, and whether one more is too many."""

    def __init__(self, constraint: Constraint, counts: Counter[str], sizes: Counter[str]) -> None:
        self.counts = counts
        self._sizes = sizes
        self._allowed = constraint.max_skew - constraint.matches_itself
        self._too_few = len(sizes) < constraint.min_domains
        # As upstream, where nothing counts nothing is too many.
        self._lowest = min(counts.values(), default=_NO_DOMAIN) if len(counts) == len(sizes) else 0
        self.limit = self._allowed + (0 if self._too_few else self._lowest)

    def is_full(self, domain: str, more: int = 0) -> bool:
        """Whether a pod is too many in a domain that has so many more pods."""
        return self.counts[domain] + more - self.smallest(domain, more) > self._allowed

    def smallest(self, domain: str, more: int = 0) -> float:
        """The fewest pods of any domain, if this one has so many more."""
        if self._too_few:
            return 0
        if domain in self._sizes:
            return min(self.counts[domain] + more, self._smallest_beside(domain))
        return self._lowest  # its nodes do not count, so it is judged by the others

    def _smallest_beside(self, domain: str) -> float:
        """The fewest pods that any other domain has."""
        if self.counts[domain] > self._lowest or self._ties > 1:
            return self._lowest
        return min((count for d, count in self.counts.items() if d != domain), default=inf)

    @cached_property
    def _ties(self) -> int:
        """How many domains have the fewest pods."""
        if not self._lowest:
            return len(self._sizes) - len(self.counts)
        return list(self.counts.values()).count(self._lowest)


@dataclass(frozen=True, slots=True)
class Account:
    """How a constraint comes to its verdict on one node: `matching + itself - minimum = skew`."""

    verdict: Status
    domain: str | None
    counts: Mapping[str, int]  # of every domain that counts, those without pods too
    sizes: Mapping[str, int]  # how many nodes each has
    included: bool  # whether the node itself counts
    matching: int
    itself: int
    minimum: int
    in_flight: int  # of `matching`, those that are not seen on a node yet
    maybe: int  # pods in flight that may turn up in the domain

    @property
    def skew(self) -> int:
        """What must not exceed maxSkew."""
        return self.matching + self.itself - self.minimum


class Skew:
    """One constraint over the domains as they are for one pod.

    `base` are the pods that are there, and those in flight to one known domain. A pod in flight
    that may be in several domains, and one that is only nominated, may be in a domain or not: a
    verdict must hold either way.
    """

    held_back: Final = UNSETTLED
    findings: Final = NOTHING_FOUND

    def __init__(self, constraint: Constraint, tally: Tally, asker: Asker, budget: Budget) -> None:
        self.constraint = constraint
        self.facet = LabelFacet(constraint.key)
        self._tally = tally
        self._asker = asker
        self._maybe: Counter[str] = Counter()
        certain = self._in_flight(budget)
        sizes = tally.topology.sizes
        self._seen = self._base = Level(constraint, tally.counts, sizes)
        if certain:
            self._base = Level(constraint, tally.counts + certain, sizes)
        self._nominated = self._nominees()
        limit = self._base.limit
        full = [domain for domain, count in self._base.counts.items() if count > limit]
        # The refusals by domain, None for a node without one; who is not in here has the default.
        self._refusals: dict[str | None, int] = dict.fromkeys(full, _SKEWED)
        self._refusals[None] = _MISSING_LABEL
        self._default = _PASSES if limit >= 0 else _SKEWED
        for domain in certain.keys() | self._nominated.keys() | self._maybe.keys():
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
        return len(self._tally.topology.sizes)

    def filter(self, node: NodeInfo) -> Status:
        """The verdict of this constraint on a node."""
        domain = node.labels.get(self.constraint.key)
        return VERDICTS[self._refusals.get(domain, self._default)]

    def by_key(self) -> tuple[Status, Mapping[Hashable, Status]]:
        """Most domains are like each other; those that are full, or may be, are told apart."""
        others: dict[Hashable, Status] = {
            domain: VERDICTS[verdict] for domain, verdict in self._refusals.items()
        }
        return VERDICTS[self._default], others

    def keeps(self, nodes: Sequence[NodeInfo], counts: Sequence[int]) -> Sequence[bool]:
        """While others are in flight, let pass so little that everyone knows where this one is."""
        domains = [node.labels.get(self.constraint.key) for node in nodes]
        chosen = self.chosen(dict(zip(domains, counts, strict=True)))
        return [domain in chosen for domain in domains]

    def without(self, node: NodeInfo, victims: Collection[str]) -> Status:
        """The verdict once these pods are gone from the node."""
        domain = node.labels.get(self.constraint.key)
        if domain is None:
            return MISSING_LABEL
        more = self._nominated[domain] + self._maybe[domain]
        if node.name in self._tally.topology.domain_of:
            more -= self._tally.selection.victims(node.name, victims)
        return SKEWED if self._base.is_full(domain, more) else SUCCESS

    def skew(self, node: NodeInfo) -> int:
        """What must not exceed maxSkew if the pod went to the node, which has a domain."""
        here = node.labels[self.constraint.key]
        nominated = self._nominated[here]
        matching = self._base.counts[here] + nominated
        own = int(self.constraint.matches_itself)
        return matching + own - int(self._base.smallest(here, nominated))

    def account(self, node: NodeInfo) -> Account:
        """How the verdict on one node comes about, for a person."""
        domain = node.labels.get(self.constraint.key)
        here = domain or ""
        sizes, nominated = self._tally.topology.sizes, self._nominated[here]
        matching = self._base.counts[here] + nominated
        return Account(
            self.filter(node),
            domain,
            counts={each: self._base.counts[each] for each in sizes},
            sizes=sizes,
            included=node.name in self._tally.topology.domain_of,
            matching=matching,
            itself=int(self.constraint.matches_itself),
            minimum=int(self._base.smallest(here, nominated)),
            in_flight=matching - self._seen.counts[here],
            maybe=self._maybe[here],
        )

    def chosen(self, open_nodes: Mapping[str | None, int]) -> frozenset[str | None]:
        """The domains to be let pass, given how many nodes pass in each.

        Those that nobody may be in yet and that have the fewest pods; among equals those where
        the fewest were seen, because a pod in flight may still fail. Then lots are drawn: the
        pods of many small workloads must not all end up in one zone.
        """
        base, seen = self._base.counts, self._seen.counts
        levels = {
            domain: (self._maybe[domain], base[domain], seen[domain])
            for domain in open_nodes
            if domain is not None
        }
        best = min(levels.values())
        pool = [domain for domain, level in levels.items() if level == best]
        share = len(open_nodes) // SHARE
        if share > 1:
            return frozenset(pool[:share])
        pod = self._asker.pod
        return frozenset({min(pool, key=lambda domain: _lot(pod, domain, open_nodes[domain]))})

    def _in_flight(self, budget: Budget) -> Counter[str]:
        """Those who go to one known domain; where others may be is noted."""
        certain: Counter[str] = Counter()
        for reservation in self._tally.selection.in_flight.values():
            if reservation.pod == self._asker.pod:
                continue
            domains = reservation.domains(self._tally.topology, budget)
            known = [domain for domain in domains if domain is not None]
            (certain if len(domains) == 1 else self._maybe).update(known)
        return certain

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

    def _judge_unsettled(self, domain: str) -> None:
        """Tell a refusal that stands from one that only pods in flight are to blame for."""
        nominated = self._nominated[domain]
        if self._base.is_full(domain, nominated):
            stands = self._seen.is_full(domain, nominated)
            self._refusals[domain] = _SKEWED if stands else _SKEWED_SO_FAR
        elif self._base.is_full(domain, nominated + self._maybe[domain]):
            self._refusals[domain] = _UNSETTLED


def _lot(pod: str, domain: str, nodes: int) -> float:
    """A number that a pod draws for a domain, always the same; the more nodes, the lower."""
    digest = blake2b(f"{pod} {domain}".encode(errors="replace"), digest_size=4).digest()
    return -log((int.from_bytes(digest) + 1) / (1 << 32)) / nodes


@dataclass(frozen=True, slots=True)
class HardConstraints:
    """Every constraint in order; the first refusal of a node stands."""

    parts: tuple[Skew, ...]
    facet: ClassVar[AttributeFacet] = NODE
    findings: ClassVar[frozenset[Finding]] = NOTHING_FOUND

    def filter(self, node: NodeInfo) -> Status:
        """The first refusal, or success."""
        verdicts = (part.filter(node) for part in self.parts)
        return next((verdict for verdict in verdicts if verdict is not SUCCESS), SUCCESS)
