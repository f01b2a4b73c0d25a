"""Nodes as rows, kept event by event.

A name has a row for as long as the node exists. Row 0 belongs to nobody: it stands for a node that
is not known.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, count
from typing import Final

import msgspec

from extender import rows
from extender.framework.node_info import NodeInfo
from extender.rows import Candidates, NameIndex

# How many changes are remembered; who looks less often than that looks at every row again.
MAX_CHANGES: Final = 4_096

_SERIALS: Final = count(1)
_ENCODE: Final = msgspec.json.Encoder().encode
# The eight flags of each byte, lowest bit first.
_FLAGS: Final = tuple(bytes(byte >> bit & 1 for bit in range(8)) for byte in range(256))


class NodeTable:
    """The nodes of a cluster, or of a request, each in a row of its own."""

    def __init__(self, nodes: Iterable[NodeInfo] = (), *, lasting: bool = False) -> None:
        self.lasting = lasting  # it will be asked about again, so what is said of it is kept
        self.serial = next(_SERIALS)  # no other table has it, and none will
        self.version = 0  # grows by one with each change
        self.nodes: list[NodeInfo | None] = [None]
        self.rows: dict[str, int] = {}
        self.labels: Counter[str] = Counter()  # how many nodes have a label, by its key
        # Python's own hash is keyed anew in each process, so nobody outside can foresee ours.
        self.index: NameIndex = rows.NameIndex(hash(("leeway", self.serial)) & (1 << 64) - 1)
        self._named_at: list[int] = [0]  # by row: the version at which its node came
        self._free: list[int] = []
        self._changes: list[int] = []  # the rows of the last changes, the newest last
        for node in nodes:
            self._append(node)

    def __len__(self) -> int:
        """How many rows there are, empty ones too."""
        return len(self.nodes)

    def put(self, node: NodeInfo) -> None:
        """There is a new node, or a newer state of it."""
        row = self.rows.get(node.name)
        if row is None:
            row = self._append(node) if not self._free else self._reuse(self._free.pop(), node)
            self._named_at[row] = self.version + 1
        else:
            self._count_labels(row, -1)
            self.nodes[row] = node
            self._count_labels(row, 1)
        self._changed(row)

    def remove(self, name: str) -> None:
        """A node is gone; its row is left for another."""
        row = self.rows.pop(name)
        self.index.remove(name)
        self._count_labels(row, -1)
        self.nodes[row] = None
        self._free.append(row)
        self._changed(row)

    def changed_since(self, version: int) -> Sequence[int] | None:
        """The rows that have changed since a version, some twice; None if too many have."""
        changes = self.version - version
        if changes > len(self._changes):
            return None
        return self._changes[len(self._changes) - changes :]

    def node(self, name: str) -> NodeInfo | None:
        """The node of a name, if it is known."""
        row = self.rows.get(name)
        return None if row is None else self.nodes[row]

    def find(self, names: Sequence[str]) -> Candidates:
        """The nodes of these names, in this order."""
        found = [self.rows.get(name, rows.UNKNOWN) for name in names]
        return rows.Candidates(found, list(map(_ENCODE, names)))

    def candidates(self) -> Candidates:
        """All nodes, by row."""
        present = [row for row, node in enumerate(self.nodes) if node is not None]
        return self.candidates_of(present)

    def candidates_of(self, present: Sequence[int]) -> Candidates:
        """The nodes of these rows, which are not empty."""
        names = [node.name for node in self._nodes_of(present)]
        return rows.Candidates(present, list(map(_ENCODE, names)))

    def nodes_of(self, candidates: Candidates, place: int = 0) -> list[NodeInfo]:
        """The candidates with a place, in the order of the request."""
        return list(self._nodes_of(candidates.rows(place)))

    def passing(self, candidates: Candidates) -> "PassingNodes":
        """The candidates that pass, to be remembered for a while."""
        return PassingNodes(self, candidates.passing_bits(len(self)), candidates.counts[0])

    def passing_of(self, table: "NodeTable", candidates: Candidates) -> "PassingNodes":
        """The same for candidates of another table, which need not be remembered with them.

        A request's own table of 5,000 nodes takes 3 MB; a bit a row of this one takes 700 bytes.
        Row 0 stands for those that are not known here.
        """
        if table is self:
            return self.passing(candidates)
        found = [self.rows.get(node.name, rows.UNKNOWN) for node in table.nodes_of(candidates)]
        bits = bytearray(len(self) // 8 + 1)
        for row in found:
            bits[row >> 3] |= 1 << (row & 7)
        return PassingNodes(self, bytes(bits), len(found))

    def names_in(self, bits: bytes, version: int) -> list[str]:
        """The names that rows had at a version; an empty one where the node is gone."""
        flags = b"".join(map(_FLAGS.__getitem__, bits))
        return [
            "" if node is None or named_at > version else node.name
            for node, named_at in zip(
                compress(self.nodes, flags), compress(self._named_at, flags), strict=True
            )
        ]

    def _nodes_of(self, present: Iterable[int]) -> Iterator[NodeInfo]:
        return (node for row in present if (node := self.nodes[row]) is not None)

    def _append(self, node: NodeInfo) -> int:
        self.nodes.append(None)
        self._named_at.append(self.version)
        return self._reuse(len(self.nodes) - 1, node)

    def _reuse(self, row: int, node: NodeInfo) -> int:
        self.nodes[row] = node
        self.rows[node.name] = row
        self.index.put(node.name, row)
        self._count_labels(row, 1)
        return row

    def _count_labels(self, row: int, change: int) -> None:
        node, labels = self.nodes[row], self.labels
        for key in node.labels if node is not None else ():
            labels[key] += change
            if not labels[key]:
                del labels[key]

    def _changed(self, row: int) -> None:
        self.version += 1
        self._changes.append(row)
        if len(self._changes) > 2 * MAX_CHANGES:
            del self._changes[:MAX_CHANGES]


class PassingNodes:
    """The nodes that one pod was let pass on: a bit a row, because few are ever looked at."""

    __slots__ = ("_bits", "_count", "_table", "_version")

    def __init__(self, table: NodeTable, bits: bytes, passed: int) -> None:
        self._table = table
        self._bits = bits
        self._count = passed
        self._version = table.version

    def __len__(self) -> int:
        return self._count

    def names(self) -> list[str]:
        """Their names; an empty one for a node that is gone."""
        return self._table.names_in(self._bits, self._version)
