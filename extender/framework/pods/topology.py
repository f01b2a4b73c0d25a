"""Domains: which node belongs to which, and how many of the selected pods are in each.

What is asked of a node is asked when somebody wants to know, not when the node changes: a rule
may be costly or fail, and then it must do so inside of the call that it belongs to.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Final, Protocol

from extender.framework.node_info import NodeInfo
from extender.framework.pods.cohorts import Selection
from extender.match.budget import Budget

# What an entry takes: the domain of a node, a count of a domain.
NODE_BYTES: Final = 120
DOMAIN_BYTES: Final = 160
# So many required labels of a node, and counts of domains, are looked at in the time of one
# comparison.
LABELS_A_UNIT: Final = 8
COUNTS_A_UNIT: Final = 4


class Inclusion(Protocol):
    """Which nodes count."""

    @property
    def key(self) -> Hashable:
        """Equal keys include the same nodes."""
        ...

    def column(self, nodes: Sequence[NodeInfo]) -> Sequence[bool]:
        """Whether each node counts."""
        ...


class Topology:
    """The domains of one topology key, out of the nodes that one inclusion lets in."""

    def __init__(self, key: str, required: Sequence[str], inclusion: Inclusion) -> None:
        self.key = key
        self.domain_of: dict[str, str] = {}
        self.sizes: Counter[str] = Counter()  # included nodes of each domain
        self.stale: set[str] = set()
        self.tallies: dict[Selection, Tally] = {}
        self.version = 0
        self._required = frozenset(required)
        self._inclusion = inclusion

    @property
    def nbytes(self) -> int:
        """About what it takes in memory, with all that is counted in it."""
        counts = sum([len(tally.counts) for tally in self.tallies.values()])
        return NODE_BYTES * len(self.domain_of) + DOMAIN_BYTES * (
            len(self.sizes) + counts + len(self.tallies)
        )

    def refresh(self, nodes: Mapping[str, NodeInfo], budget: Budget) -> None:
        """Look at the nodes that have changed. If a rule fails, nothing has happened."""
        if not self.stale:
            return
        budget.spend(len(self.stale) * (2 + len(self._required) // LABELS_A_UNIT))
        known = [nodes[name] for name in self.stale if name in nodes]
        included = self._inclusion.column(known)
        now = {
            node.name: node.labels[self.key]
            for node, counts in zip(known, included, strict=True)
            if counts and node.labels.keys() >= self._required
        }
        if not self.domain_of:
            self.domain_of = now
            self.sizes = Counter(now.values())
            for tally in self.tallies.values():
                tally.recount()
        else:
            for name in self.stale:
                self._move(name, self.domain_of.get(name), now.get(name))
        self.stale.clear()
        self.version += 1

    def _move(self, name: str, old: str | None, new: str | None) -> None:
        if old == new:
            return
        for tally in self.tallies.values():
            tally.move(tally.selection.on_node.get(name, 0), old, new)
        if old is not None:
            del self.domain_of[name]
            _change(self.sizes, old, -1)
        if new is not None:
            self.domain_of[name] = new
            _change(self.sizes, new, 1)

    def tally(self, selection: Selection) -> "Tally":
        """The selected pods by domain, counted on from now on."""
        tally = self.tallies.get(selection)
        if tally is None:
            tally = self.tallies[selection] = Tally(self, selection)
            selection.tallies.append(tally)
        return tally

    def tally_cost(self, selection: Selection) -> int:
        """What `tally` takes, as comparisons."""
        tally = self.tallies.get(selection)
        if tally is None:
            return 1 + len(selection.on_node)
        return 1 + len(tally.counts) // COUNTS_A_UNIT

    def close(self) -> None:
        """Count no more."""
        for selection, tally in self.tallies.items():
            selection.tallies.remove(tally)


class Tally:
    """How many pods of a selection are in each domain; domains without any are left out."""

    def __init__(self, topology: Topology, selection: Selection) -> None:
        self.topology = topology
        self.selection = selection
        self.counts: Counter[str] = Counter()
        self.recount()

    def recount(self) -> None:
        """Count from the nodes."""
        domain_of = self.topology.domain_of
        self.counts = Counter()
        for node, count in self.selection.on_node.items():
            domain = domain_of.get(node)
            if domain is not None:
                self.counts[domain] += count

    def add(self, node: str, change: int) -> None:
        """A pod came to a node, or left it."""
        domain = self.topology.domain_of.get(node)
        if domain is not None:
            _change(self.counts, domain, change)

    def move(self, count: int, old: str | None, new: str | None) -> None:
        """A node with this many pods went from one domain to another."""
        if not count:
            return
        if old is not None:
            _change(self.counts, old, -count)
        if new is not None:
            _change(self.counts, new, count)


def _change(counts: Counter[str], key: str, by: int) -> None:
    """Add, and leave no zero behind."""
    count = counts[key] + by
    if count:
        counts[key] = count
    else:
        del counts[key]
