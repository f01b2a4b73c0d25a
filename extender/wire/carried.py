"""Whole nodes that requests carry, recognised by their bytes.

kube-scheduler sends the same nodes again with every pod, ten kilobytes each. A node whose bytes
are known is neither parsed nor copied: a JSON value ends by itself, so bytes that begin with a
known value hold just that value.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

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


@dataclass(frozen=True, slots=True)
class Arrived:
    """A body of whole nodes: what stands before them, and the nodes, each behind a comma."""

    head: bytes
    names: list[bytes]
    texts: list[bytes]
    new: Mapping[bytes, tuple[bytes, Node]]  # by name, those that were not known
    version: int  # all others were known of this version of what is known, and later

    def __bytes__(self) -> bytes:
        return joined(self.head, self.texts, (END,))


@dataclass(frozen=True, slots=True)
class Carried:
    """The nodes of one request, each as it came, behind a comma."""

    texts: Sequence[bytes]
    listing: Listing
    table: NodeTable

    def raw(self) -> list[Raw]:
        """The nodes as they came."""
        return [Raw(memoryview(text)[1:]) for text in self.texts]

    def nodes(self) -> Sequence[NodeInfo | None]:
        """The nodes as plugins see them."""
        rows = self.table.rows
        return [self.table.nodes[rows[name]] for name in self.listing.names]


@dataclass(slots=True, eq=False)
class Order:
    """The nodes of a request, in its order."""

    names: list[bytes]
    texts: list[bytes]
    listing: Listing
    version: int = 0  # of what is known, when it was last compared with it
    text: bytes = b""  # all texts and what stands behind them, if it came more than once


class KnownNodes:
    """The nodes that requests carried lately.

    What is to be looked at is `texts`, each behind a comma, by the bytes of its name; the order of
    the last request; and `orders` that came more than once. All may be other ones after any call.
    """

    def __init__(self) -> None:
        self.version = 0
        self._forget()

    def _forget(self) -> None:
        self.version += 1
        self.texts: dict[bytes, bytes] = {}
        self.last = Order([], [], Listing((), b"[]"))
        self.orders: list[Order] = []
        self._table = NodeTable()
        self._interner = Interner()
        self._bytes = 0

    def carried(self, arrived: Arrived) -> Carried | None:
        """The nodes of a request; None if one is none, or if a name is there twice or not plain."""
        if self._bytes > MAX_BYTES or len(self.texts) > MAX_NODES:
            self._forget()
        names, texts = arrived.names, arrived.texts
        lately = self.last, *self.orders
        # Lists are compared by identity first, and mostly it is all of them.
        order = next((order for order in lately if order.texts == texts), None)
        if order is not None:
            order.listing.kept = True
        else:
            listing = next((order.listing for order in lately if order.names == names), None)
            order = _ordered(names, texts, listing)
        if order is None or not self._known(order, arrived):
            return None
        # The same list is the same request once more.
        if order in lately and order.texts is not texts and not order.text:
            self._keep(order)
        self.last = order
        return Carried(order.texts, order.listing, self._table)

    def _keep(self, order: Order) -> None:
        """Have the next one like it compared at once. The memory is what this costs."""
        if sum(map(len, order.texts)) > MAX_ORDER_BYTES:
            return
        order.text = b"".join((*order.texts, END))
        kept = self.orders = [order, *self.orders][:MAX_ORDERS]
        while len(kept) > 1 and sum(len(order.text) for order in kept) > MAX_ORDER_BYTES:
            kept.pop()

    def _known(self, order: Order, arrived: Arrived) -> bool:
        """Whether all of them are nodes; from now on they are known."""
        if order.version == self.version:
            return True
        new = arrived.new if arrived.version == self.version else self._unknown(arrived)
        if new is None:
            return False
        if new:
            self.version += 1
            for name, (text, node) in new.items():
                self._learn(name, text, node)
        order.version = self.version
        return True

    def _unknown(self, arrived: Arrived) -> dict[bytes, tuple[bytes, Node]] | None:
        """Those that are not known, or not any more; None if one is no node."""
        new = {}
        for name, text in zip(arrived.names, arrived.texts, strict=True):
            if self.texts.get(name) != text:
                found = arrived.new.get(name)
                node = decoded(name, text) if found is None else found[1]
                if node is None:
                    return None
                new[name] = text, node
        return new

    def _learn(self, name: bytes, text: bytes, node: Node) -> None:
        self._bytes += len(text) - len(self.texts.get(name, b""))
        self.texts[name] = text
        info = self._interner.node_info(node)
        row = self._table.rows.get(info.name)
        before = None if row is None else self._table.nodes[row]
        if before is None or not info.same_as(before):  # mostly it is only a heartbeat
            self._table.put(info.name, info)


def _ordered(names: list[bytes], texts: list[bytes], listing: Listing | None) -> Order | None:
    """Nodes that came in an order for the first time; None if two of them share a name."""
    if listing is not None:
        listing.kept = True
    elif len(set(names)) == len(names):
        text = b'["%b"]' % b'","'.join(names)
        words = b'"'.join(names).decode()
        # What need not be escaped is written as it is.
        listing = Listing(words.split('"'), text) if words.isprintable() else None
    return None if listing is None else Order(names, texts, listing)


def decoded(name: bytes, text: bytes) -> Node | None:
    """The node of that name; None if the text, behind its comma, is no such node."""
    try:
        text.decode()
        node = _NODE.decode(memoryview(text)[1:])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    # It is another one if the name is written twice.
    same = node.metadata is not None and node.metadata.name.encode() == name
    return node if same else None


def joined(head: bytes, texts: Iterable[bytes], rest: Iterable[bytes]) -> bytes:
    """The body once more."""
    if not head:
        return b"".join(rest)
    first, *others = (*texts, *rest)
    # Its comma is none of the body's.
    return b"".join((head, memoryview(first)[1:], *others))
