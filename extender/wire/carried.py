"""Whole nodes that requests carry, recognised by their bytes.

kube-scheduler sends the same nodes again with every pod, ten kilobytes each. A node whose bytes
are known is neither parsed nor copied: a JSON value ends by itself, so bytes that begin with a
known value hold just that value.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec import Raw

from extender.framework.node_table import NodeTable
from extender.framework.snapshot import Interner, NodeInfo
from extender.model.core_v1 import Node
from extender.wire.listings import Listing, listed

# How every node begins that Go writes.
_BEGIN: Final = b'{"metadata":{"name":"'
_NEXT: Final = b',{"metadata":{"name":"'
END: Final = b']},"NodeNames":null}'

MAX_BYTES: Final = 128 << 20
MAX_NODES: Final = 20_000

_NODE: Final = msgspec.json.Decoder(Node)


@dataclass(frozen=True, slots=True)
class Carried:
    """The nodes of one request: where each of them stands in the body."""

    body: bytes
    starts: Sequence[int]
    ends: Sequence[int]
    listing: Listing
    table: NodeTable

    def raw(self) -> list[Raw]:
        """The nodes as they came."""
        view = memoryview(self.body)
        return [Raw(view[a:b]) for a, b in zip(self.starts, self.ends, strict=True)]

    def nodes(self) -> Sequence[NodeInfo | None]:
        """The nodes as plugins see them."""
        rows = self.table.rows
        return [self.table.nodes[rows[name]] for name in self.listing.names]


class KnownNodes:
    """The nodes that requests carried lately, by the bytes of their names."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._raw: dict[bytes, bytes] = {}
        self._table = NodeTable()
        self._interner = Interner()
        self._bytes = 0
        self._listing: Listing | None = None

    def read(self, body: bytes, start: int) -> Carried | None:
        """The nodes from `start` to the end of the body; None if they are written otherwise."""
        if self._bytes > MAX_BYTES or len(self._raw) > MAX_NODES:
            self._forget()
        names: list[bytes] = []
        starts: list[int] = []
        ends: list[int] = []
        last = len(body) - len(END)
        while start < last:
            name = self._name(body, start)
            end = -1 if name is None else self._end(body, start, name, last)
            if name is None or end < 0 or body[end] not in b",]":
                return None
            names.append(name)
            starts.append(start)
            ends.append(end)
            start = end + 1
        # The last comma would have to be the bracket of the list.
        if start != last + 1 or not names or len(set(names)) < len(names):
            return None
        listing = self._listed([name.decode() for name in names])
        return None if listing is None else Carried(body, starts, ends, listing, self._table)

    def _name(self, body: bytes, start: int) -> bytes | None:
        if not body.startswith(_BEGIN, start):
            return None
        start += len(_BEGIN)
        name = body[start : body.find(b'"', start)]
        return name if name.isascii() and b"\\" not in name else None

    def _end(self, body: bytes, start: int, name: bytes, last: int) -> int:
        """Where the node ends; -1 if that cannot be told."""
        raw = self._raw.get(name)
        if raw is not None and body.startswith(raw, start):
            return start + len(raw)
        end = body.find(_NEXT, start, last)
        raw = body[start : last if end < 0 else end]
        try:
            raw.decode()
            node = _NODE.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return -1
        if node.metadata is None or node.metadata.name.encode() != name:
            return -1  # the name is written twice
        self._learn(name, raw, node)
        return start + len(raw)

    def _learn(self, name: bytes, raw: bytes, node: Node) -> None:
        self._bytes += len(raw) - len(self._raw.get(name, b""))
        self._raw[name] = raw
        info = self._interner.node_info(node)
        row = self._table.rows.get(info.name)
        known = None if row is None else self._table.nodes[row]
        if known is None or not info.same_as(known):  # mostly it is only a heartbeat
            self._table.put(info.name, info)

    def _listed(self, names: list[str]) -> Listing | None:
        if self._listing is None or self._listing.names != names:
            self._listing = listed(names)
        else:
            self._listing.kept = True
        return self._listing
