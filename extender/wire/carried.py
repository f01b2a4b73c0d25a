"""Whole nodes that requests carry, recognised by their bytes.

kube-scheduler sends the same nodes again with every pod, ten kilobytes each. A node whose bytes
are known is neither parsed nor copied: a JSON value ends by itself, so bytes that begin with a
known value hold just that value.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final, NamedTuple

import msgspec
from msgspec import Raw

from extender.framework.node_table import NodeTable
from extender.framework.snapshot import Interner, NodeInfo
from extender.model.core_v1 import Node
from extender.wire.listings import Listing

MAX_BYTES: Final = 128 << 20
MAX_NODES: Final = 20_000
MAX_ORDERS: Final = 4
MAX_ORDER_BYTES: Final = 32 << 20

# What stands behind whole nodes, as Go writes it.
END: Final = b']},"NodeNames":null}'

_NODE: Final = msgspec.json.Decoder(Node)


class Familiar(NamedTuple):
    """A node that is known."""

    text: bytes  # as it came, behind a comma
    name: str
    row: int  # in the table; -1 of one that is to become known


@dataclass(frozen=True, slots=True)
class Arrived:
    """A body of whole nodes: what stands before them, and the nodes."""

    head: bytes
    nodes: list[Familiar]
    new: Mapping[int, Node]  # by their place, those that were not known
    version: int  # all others were known of this version of what is known, and later

    def __bytes__(self) -> bytes:
        return joined(self.head, self.nodes, (END,))


@dataclass(frozen=True, slots=True)
class Carried:
    """The nodes of one request."""

    familiar: Sequence[Familiar]
    listing: Listing
    table: NodeTable

    def raw(self) -> list[Raw]:
        """The nodes as they came."""
        return [Raw(memoryview(node.text)[1:]) for node in self.familiar]

    def nodes(self) -> Sequence[NodeInfo | None]:
        """The nodes as plugins see them."""
        return [self.table.nodes[node.row] for node in self.familiar]


@dataclass(slots=True, eq=False)
class Order:
    """The nodes of a request, in its order."""

    nodes: list[Familiar]
    rows: list[int]
    listing: Listing
    came: Sequence[Familiar] = ()  # by which the same request is known if it is asked once more
    version: int = 0  # of what is known, when it was last compared with it
    text: bytes = b""  # all texts and what stands behind them, if it came more than once


class KnownNodes:
    """The nodes that requests carried lately.

    What is to be looked at is `known`, by the bytes of a name, the order of the last request, and
    `orders` that came more than once. All may be other ones after any call.
    """

    def __init__(self) -> None:
        self.version = 0
        self._forget()

    def _forget(self) -> None:
        self.version += 1
        self.known: dict[bytes, Familiar] = {}
        self.last = Order([], [], Listing((), b"[]"))
        self.orders: list[Order] = []
        self._table = NodeTable()
        self._interner = Interner()
        self._bytes = 0

    def carried(self, arrived: Arrived) -> Carried | None:
        """The nodes of a request; None if one is none, or if a name is there twice."""
        if self._bytes > MAX_BYTES or len(self.known) > MAX_NODES:
            self._forget()
        nodes = self._learned(arrived)
        if nodes is None:
            return None
        lately = self.last, *self.orders
        # Lists are compared by identity first, and mostly it is all of them.
        order = next((order for order in lately if order.nodes == nodes), None)
        if order is None:
            order = self._ordered(nodes, lately)
            if order is None:
                return None
        else:
            order.listing.kept = True
            if not order.text and order.came is not arrived.nodes:
                self._keep(order)
        order.came, order.version = arrived.nodes, self.version
        self.last = order
        return Carried(order.nodes, order.listing, self._table)

    def _ordered(self, nodes: list[Familiar], lately: Iterable[Order]) -> Order | None:
        """Nodes that came like this for the first time; None if two of them share a name."""
        rows = list(map(itemgetter(2), nodes))
        for order in lately:
            if order.rows == rows:
                order.listing.kept = True
                return Order(nodes, rows, order.listing)
        if len(set(rows)) < len(rows):
            return None
        names = list(map(itemgetter(1), nodes))
        listing = Listing(names, '["{}"]'.format('","'.join(names)).encode())
        listing.place(self._table, rows)
        return Order(nodes, rows, listing)

    def _keep(self, order: Order) -> None:
        """Have the next one like it compared at once. The memory is what this costs."""
        if sum(len(node.text) for node in order.nodes) > MAX_ORDER_BYTES:
            return
        order.text = b"".join((*(node.text for node in order.nodes), END))
        kept = self.orders = [order, *self.orders][:MAX_ORDERS]
        while len(kept) > 1 and sum(len(order.text) for order in kept) > MAX_ORDER_BYTES:
            kept.pop()

    def _learned(self, arrived: Arrived) -> list[Familiar] | None:
        """The nodes as they are known now; None if one is no node of its name."""
        nodes, new = arrived.nodes, arrived.new
        if arrived.version != self.version:
            # Other requests came in between, after which any of these may be unknown.
            nodes, new = self._once_more(arrived)
            if len(nodes) < len(arrived.nodes):
                return None
        if new:
            self.version += 1
            nodes = nodes.copy()
            for place, node in new.items():
                nodes[place] = self._learn(nodes[place], node)
        return nodes

    def _once_more(self, arrived: Arrived) -> tuple[list[Familiar], Mapping[int, Node]]:
        """The nodes and which of them are new, as far as they are nodes."""
        nodes, new = [], {}
        for place, node in enumerate(arrived.nodes):
            known = self.known.get(node.name.encode())
            if known is None or known.text != node.text:
                found = arrived.new.get(place) or decoded(node.name.encode(), node.text)
                if found is None:
                    break
                new[place] = found
                known = node
            nodes.append(known)
        return nodes, new

    def _learn(self, new: Familiar, node: Node) -> Familiar:
        name = new.name.encode()
        known = self.known.get(name)
        self._bytes += len(new.text) - (0 if known is None else len(known.text))
        info = self._interner.node_info(node)
        row = self._table.rows.get(info.name)
        before = None if row is None else self._table.nodes[row]
        if before is None or not info.same_as(before):  # mostly it is only a heartbeat
            self._table.put(info.name, info)
        learned = self.known[name] = new._replace(row=self._table.rows[info.name])
        return learned


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


def joined(head: bytes, nodes: Iterable[Familiar], rest: Iterable[bytes]) -> bytes:
    """The body once more."""
    if not head:
        return b"".join(rest)
    first, *others = (*(node.text for node in nodes), *rest)
    # Its comma is none of the body's.
    return b"".join((head, memoryview(first)[1:], *others))
