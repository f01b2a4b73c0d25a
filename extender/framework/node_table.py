"""Nodes as rows, and what they are alike in as columns of small numbers.

A column gives every row the code of its key. So what a rule says of the keys, which are few,
becomes what it says of the rows, which are many, by `translate`, which runs in C. A node that
changes changes its row, and nothing is made anew.
"""

from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import compress, count, islice
from operator import itemgetter
from typing import Final

from extender.framework.node_info import Facet, NodeInfo
from extender.framework.row_changes import RowChanges

MAX_COLUMNS: Final = 64
# As many codes as a byte has; a column with more keys is one of integers.
MAX_NARROW: Final = 256
# So many more codes than half of all may be unused.
MAX_UNUSED: Final = 32
# The code of a row without a node.
EMPTY: Final = 0
# And its key, which no node has.
NO_NODE: Final = object()
# No two tables have a number in common, nor does a number come again.
_NUMBERS: Final = count(1)


class Column:
    """The key of every row as a code; 0 stands for a row without a node."""

    def __init__(self, facet: Facet, nodes: Sequence[NodeInfo | None]) -> None:
        self._facet = facet
        self.stale: set[int] = set()
        self._build(nodes)

    def _build(self, nodes: Sequence[NodeInfo | None]) -> None:
        present = [node for node in nodes if node is not None]
        column = self._facet.column(present)
        alike = dict(zip(column, present, strict=True))
        counted = Counter(column)
        # By code.
        self._keys: list[Hashable] = [NO_NODE, *alike]
        self._samples: list[NodeInfo | None] = [None, *alike.values()]
        self._counts = [EMPTY, *(counted[key] for key in alike)]
        self._code_of = {key: code for code, key in enumerate(alike, start=1)}
        codes: Iterator[int] = map(self._code_of.__getitem__, column)
        if len(present) < len(nodes):
            codes = iter([EMPTY if node is None else next(codes) for node in nodes])
        self.narrow = len(self) <= MAX_NARROW
        self._codes: bytearray | list[int] = bytearray(codes) if self.narrow else list(codes)
        self.epoch = next(_NUMBERS)  # changes when there is a new code
        self._unused = 0  # codes that no row has any more
        self.stale.clear()

    def __len__(self) -> int:
        """How many codes there are, the one for an empty row too."""
        return len(self._counts)

    def rows_with(self, code: int) -> int:
        """How many rows have a code."""
        return self._counts[code]

    def keys_of(self, rows: Iterable[int]) -> list[Hashable]:
        """The keys of some rows; NO_NODE for one without a node."""
        return list(map(self._keys.__getitem__, map(self._codes.__getitem__, rows)))

    def present(self) -> Iterator[tuple[int, Hashable, NodeInfo]]:
        """The codes that any row has, with their keys, and a node for each."""
        keys = zip(count(), self._keys, self._samples, strict=False)
        return compress(keys, [EMPTY, *self._counts[1:]])  # type: ignore[arg-type]

    def known(self) -> Iterator[tuple[int, Hashable, NodeInfo]]:
        """All codes as `present` has them, those that no row has any more too."""
        return islice(zip(count(), self._keys, self._samples, strict=False), 1, None)  # type: ignore[arg-type]

    def translated(self, table: bytearray) -> bytes | bytearray:
        """For every row what the table has at its code; the table reaches to the last code."""
        if self.narrow:
            return self._codes.translate(table.ljust(MAX_NARROW, b"\0"))  # type: ignore[union-attr]
        return bytes(map(table.__getitem__, self._codes))

    def grow(self) -> None:
        """There is one more row."""
        self._codes.append(EMPTY)

    def refresh(self, nodes: Sequence[NodeInfo | None]) -> None:
        """Look at the rows that have changed."""
        if len(self.stale) > len(nodes) // 4 or 2 * self._unused > len(self) + MAX_UNUSED:
            self._build(nodes)
        while self.stale:
            row = self.stale.pop()
            self._count(self._codes[row], -1)
            node = nodes[row]
            self._codes[row] = code = EMPTY if node is None else self._code(node)
            self._count(code, 1)

    def _count(self, code: int, change: int) -> None:
        before = self._counts[code]
        self._counts[code] = before + change
        if code and not (before and before + change):
            self._unused -= change

    def _code(self, node: NodeInfo) -> int:
        (key,) = self._facet.column((node,))
        code = self._code_of.get(key)
        if code is None:
            code = self._code_of[key] = len(self)
            self._keys.append(key)
            self._samples.append(node)
            self._counts.append(0)
            self._unused += 1
            self.epoch = next(_NUMBERS)
            if self.narrow and len(self) > MAX_NARROW:
                self.narrow = False
                self._codes = list(self._codes)
        return code


class NodeTable:
    """The nodes of a cluster, or of a request, each in a row of its own."""

    def __init__(self, nodes: Iterable[NodeInfo] = ()) -> None:
        self.nodes: list[NodeInfo | None] = [*nodes]
        self.rows: dict[str, int] = {
            node.name: row for row, node in enumerate(self.nodes) if node is not None
        }
        self.serial = next(_NUMBERS)
        self.version = next(_NUMBERS)  # changes with any node
        self.layout = next(_NUMBERS)  # changes when a name gets a row, or loses it
        self._scattered = len(self.rows)  # names that came one by one
        self._free: list[int] = []
        self._frozen: tuple[NodeInfo | None, ...] | None = None
        self._names: tuple[int, list[str]] = 0, []
        self._columns: OrderedDict[Facet, Column] = OrderedDict()
        self._changes = RowChanges()

    def __len__(self) -> int:
        return len(self.nodes)

    def frozen(self) -> tuple[NodeInfo | None, ...]:
        """The nodes by row, as they are now."""
        if self._frozen is None:
            self._frozen = tuple(self.nodes)
        return self._frozen

    def names(self) -> Sequence[str]:
        """The names by row; an empty one for a row without a node."""
        layout, names = self._names
        if layout != self.layout:
            names = ["" if node is None else node.name for node in self.nodes]
            self._names = self.layout, names
        return names

    def put(self, name: str, node: NodeInfo) -> None:
        """There is a new node, or a newer state of it."""
        row = self.rows.get(name)
        if row is None:
            row = self.rows[name] = self._new_row()
            self._scattered += 1
            self.layout = next(_NUMBERS)
        self._change(row, node)

    def remove(self, name: str) -> None:
        """A node is gone; its row is left for another."""
        row = self.rows.pop(name)
        self._free.append(row)
        self.layout = next(_NUMBERS)
        self._change(row, None)

    def places(self, names: Sequence[str], *, once: bool) -> tuple[Sequence[int], bool]:
        """The rows of these names; if it is asked, whether each row is there `once`.

        KeyError if a name is unknown.
        """
        if self._scattered > len(self.rows) // 8:
            # Names that lie side by side in memory are found in half the time.
            names_anew = [
                name.encode(errors="surrogatepass").decode(errors="surrogatepass")
                for name in self.rows
            ]
            self.rows = dict(zip(names_anew, self.rows.values(), strict=True))
            self._scattered = 0
        if not once or len(names) != len(self.nodes):
            return self._places(names), False
        left = self.rows.copy()
        try:
            # Who is there twice is not found the second time.
            rows = list(map(left.pop, names))
        except KeyError:
            return self._places(names), False
        return rows, True

    def _places(self, names: Sequence[str]) -> Sequence[int]:
        rows = self.rows
        # Faster than `map` by a fifth; but a single item would come without a tuple around it.
        return itemgetter(*names)(rows) if len(names) > 1 else [rows[name] for name in names]

    def changed_since(self, version: int, *, most: int) -> Sequence[int] | None:
        """The rows that have changed since a version; None if they may be more than `most`."""
        return self._changes.since(version, most=most)

    def column(self, facet: Facet) -> Column:
        """What the nodes have for a facet, as it is now."""
        column = self._columns.get(facet)
        if column is None:
            column = self._columns[facet] = Column(facet, self.nodes)
            if len(self._columns) > MAX_COLUMNS:
                self._columns.popitem(last=False)
        else:
            self._columns.move_to_end(facet)
            if column.stale:
                column.refresh(self.nodes)
        return column

    def _new_row(self) -> int:
        if self._free:
            return self._free.pop()
        self.nodes.append(None)
        for column in self._columns.values():
            column.grow()
        return len(self.nodes) - 1

    def _change(self, row: int, node: NodeInfo | None) -> None:
        self.version = next(_NUMBERS)
        self._changes.note(row, self.version, self.nodes[row], node)
        self.nodes[row] = node
        self._frozen = None
        for column in self._columns.values():
            column.stale.add(row)
