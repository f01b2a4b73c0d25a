"""Whole nodes that requests carry, recognised by their bytes.

kube-scheduler sends the same nodes again with every pod, ten kilobytes each. A node whose bytes
are known is neither parsed nor copied: a JSON value ends by itself, so bytes that begin with a
known value hold just that value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec import Raw

from extender.framework.node_table import NodeTable
from extender.framework.snapshot import Interner, NodeInfo
from extender.model.core_v1 import Node
from extender.wire.listings import Listing, listed

MAX_BYTES: Final = 128 << 20
MAX_NODES: Final = 20_000

_NODE: Final = msgspec.json.Decoder(Node)


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


class KnownNodes:
    """The nodes that requests carried lately, by the bytes of their names.

    What is to be looked at is `texts`, each behind a comma, and the nodes of the last request in
    their order: `last_names` and `last_texts`. All three may be other ones after any call.
    """

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self.texts: dict[bytes, bytes] = {}
        self.last_names: list[bytes] = []
        self.last_texts: list[bytes] = []
        self._listing: Listing | None = None
        self._table = NodeTable()
        self._interner = Interner()
        self._bytes = 0

    def carried(
        self, names: list[bytes], texts: list[bytes], new: Mapping[bytes, Node]
    ) -> Carried | None:
        """The nodes of a request, of which some were new and decoded when it came.

        None if one is no node of that name, or if a name is there twice or not plain.
        """
        if self._bytes > MAX_BYTES or len(self.texts) > MAX_NODES:
            self._forget()
        listing = self._listing if names == self.last_names else _listed(names)
        if listing is None:
            return None
        listing.kept = listing is self._listing
        # Lists are compared by identity first, and mostly it is all of them.
        if texts != self.last_texts and list(map(self.texts.get, names)) != texts:
            self.last_names, self.last_texts = [], []
            for name, text in zip(names, texts, strict=True):
                if self.texts.get(name) != text:
                    # Another request may have made it unknown meanwhile.
                    node = new.get(name) or decoded(name, text)
                    if node is None:
                        return None
                    self._learn(name, text, node)
        self.last_names, self.last_texts, self._listing = names, texts, listing
        return Carried(texts, listing, self._table)

    def _learn(self, name: bytes, text: bytes, node: Node) -> None:
        self._bytes += len(text) - len(self.texts.get(name, b""))
        self.texts[name] = text
        info = self._interner.node_info(node)
        row = self._table.rows.get(info.name)
        before = None if row is None else self._table.nodes[row]
        if before is None or not info.same_as(before):  # mostly it is only a heartbeat
            self._table.put(info.name, info)


def _listed(names: list[bytes]) -> Listing | None:
    if len(set(names)) < len(names):
        return None
    return listed(b'"'.join(names).decode().split('"'))


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
