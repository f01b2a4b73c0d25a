"""Whole nodes that requests carried before, known by their bytes.

kube-scheduler sends the same nodes again with every pod, ten kilobytes each. A node whose bytes
are known is neither parsed nor copied: a JSON value ends by itself, so bytes that begin with a
known value hold just that value. 1,000 nodes take 13 ms to parse, and 1 ms to compare.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from extender import rows
from extender.framework.columns.node_table import NodeTable
from extender.framework.snapshot import Interner
from extender.match.lru import LRU, CacheBudget
from extender.model.core_v1 import Node
from extender.model.nulls import Decoder
from extender.rows import Candidates

# What a known node takes beside its bytes: names, what plugins read, its places in tables.
NODE_BYTES: Final = 2_048
# Of the budget of all caches; a cluster that is sent whole has no other use for most of it.
SHARE: Final = 0.75
# What stands behind whole nodes, as Go writes it.
END: Final = b']},"NodeNames":null}'

_NODE: Final[Decoder[Node]] = Decoder(Node)
_ALL: Final = "all"
_TEXT, _LITERAL, _ROW = map(itemgetter, range(3))  # of a KnownNode


class KnownNode(NamedTuple):
    """A node of a request."""

    text: bytes  # as it came, behind a comma
    literal: bytes  # its name as JSON
    row: int  # in the table of known nodes; 0 for one that is not known yet

    @property
    def name(self) -> bytes:
        """The name, which is never escaped."""
        return self.literal[1:-1]


class NodeBatch(Struct, frozen=True, gc=False):
    """The whole nodes of one request, as rows of a table."""

    table: NodeTable
    candidates: Candidates
    texts: Sequence[bytes]  # of each node, behind a comma


class NodeMemory:
    """The nodes of late: a table of them, and their bytes by name."""

    def __init__(self) -> None:
        self.table = NodeTable(lasting=True)
        self.known: dict[bytes, KnownNode] = {}
        self.changes = 0
        self.nbytes = 0
        self._interner = Interner()

    def learn(self, new: KnownNode, node: Node) -> KnownNode:
        """Know a node from now on."""
        before = self.known.get(new.name)
        self.nbytes += len(new.text) - len(before.text) if before else len(new.text) + NODE_BYTES
        info = self._interner.node_info(node)
        row = self.table.rows.get(info.name)
        old = None if row is None else self.table.nodes[row]
        if old is None or not info.same_as(old):  # mostly it is only a heartbeat
            self.table.put(info)
        self.changes += 1
        learned = self.known[new.name] = new._replace(row=self.table.rows[info.name])
        return learned


class ParsedNodes(Struct, frozen=True, gc=False):
    """A body of whole nodes: what stands before them, and the nodes."""

    head: bytes
    nodes: list[KnownNode]
    new: Mapping[int, Node]  # by their place, those that were not known
    memory: NodeMemory  # in which the others were known
    changes: int  # that had happened to it when the body began

    def __bytes__(self) -> bytes:
        return joined(self.head, self.nodes, (END,))

    def batch(self) -> NodeBatch | None:
        """The nodes as rows, all of them known from now on.

        None if a name is there twice, or if another request has changed a node meanwhile.
        """
        memory, nodes = self.memory, self.nodes
        if self.changes != memory.changes and any(
            node.row and memory.known[node.name] is not node for node in nodes
        ):
            return None
        if self.new:
            nodes = nodes.copy()
            for place, node in self.new.items():
                nodes[place] = memory.learn(nodes[place], node)
        # Mapped in C: a list comprehension over named fields takes four times as long.
        found = list(map(_ROW, nodes))
        if len(set(found)) < len(found):
            return None
        candidates = rows.Candidates(found, list(map(_LITERAL, nodes)))
        return NodeBatch(memory.table, candidates, list(map(_TEXT, nodes)))


class KnownNodes:
    """The memory of nodes, as long as it fits into the budget of all caches."""

    def __init__(self, caches: CacheBudget) -> None:
        self._cache: LRU[str, NodeMemory] = LRU("nodes", caches, share=SHARE)

    def memory(self) -> NodeMemory:
        """What is known now; a new one where it had to be forgotten."""
        return self._cache.get(_ALL) or NodeMemory()

    def keep(self, memory: NodeMemory) -> None:
        """Keep what was learned, if there is room for it."""
        self._cache.put(_ALL, memory, memory.nbytes)


def decoded(name: bytes, text: bytes) -> Node | None:
    """The node of that name; None if the text, behind its comma, is no such node."""
    try:
        text.decode()
        node = _NODE.decode(memoryview(text)[1:])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    # It is another one if the name is written twice. What is printable need not be escaped.
    same = node.metadata is not None and node.metadata.name.encode() == name
    return node if same and name.decode().isprintable() else None


def joined(head: bytes, nodes: Iterable[KnownNode], rest: Iterable[bytes]) -> bytes:
    """The body once more."""
    first, *others = (*(node.text for node in nodes), *rest)
    # Its comma is none of the body's.
    return b"".join((head, memoryview(first)[1:], *others))
