"""What nodes are alike in, as columns of codes: one small number a row.

A node that changes changes one code. What a rule says of the codes, which are few, is then what it
says of the rows, which are many.
"""

from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from itertools import count
from typing import Final

from extender.framework.columns.node_table import NodeTable
from extender.framework.node_info import Facet, NodeInfo

# The code of a row without a node.
EMPTY: Final = 0
# So many more codes than half of all may be unused before the column is built anew.
MAX_UNUSED: Final = 64
# What a code takes beside its share of the facet's labels: its key, its place in two tables.
CODE_BYTES: Final = 200

_SERIALS: Final = count(1)


class Column:
    """A code for each row of a table, and for each code one node that has it."""

    __slots__ = (
        "_code_of",
        "_counts",
        "_unused",
        "_version",
        "codes",
        "facet",
        "samples",
        "serial",
    )

    def __init__(self, facet: Facet, table: NodeTable) -> None:
        self.facet = facet
        self.serial = 0
        self.codes: array[int] = array("I")
        self.samples: list[NodeInfo | None] = []
        self._version = 0
        self._unused = 0
        self._counts: list[int] = []
        self._code_of: dict[Hashable, int] = {}
        self._build(table)

    def __len__(self) -> int:
        """How many codes there are, that of an empty row too."""
        return len(self.samples)

    @property
    def nbytes(self) -> int:
        """About what it takes in memory."""
        return 4 * len(self.codes) + (CODE_BYTES + self.facet.key_bytes) * len(self.samples)

    def code_of(self, key: Hashable) -> int | None:
        """The code of a key, if any node has or had it."""
        return self._code_of.get(key)

    def refresh(self, table: NodeTable) -> None:
        """Look at the rows that have changed."""
        if self._version == table.version:
            return
        changed = table.changed_since(self._version)
        few = changed is not None and len(changed) <= len(table) // 4
        if changed is None or not few or 2 * self._unused > len(self) + MAX_UNUSED:
            self._build(table)
            return
        # The facet is asked first: if it breaks, nothing has happened.
        present = {row: node for row in changed if (node := table.nodes[row]) is not None}
        keys = dict(zip(present, self.facet.column(list(present.values())), strict=True))
        self.codes.extend([EMPTY] * (len(table) - len(self.codes)))
        for row in set(changed):
            self._count(self.codes[row], -1)
            code = self._code(keys[row], present[row]) if row in present else EMPTY
            self.codes[row] = code
            self._count(code, 1)
        self._version = table.version

    def apart(self, exceptions: Mapping[int, Hashable], table: NodeTable) -> "Column":
        """The same, but rows that are exceptions have codes of their own; for one call."""
        found = copy(self)
        found.serial = next(_SERIALS)
        found.codes, found.samples = array("I", self.codes), list(self.samples)
        known: dict[Hashable, int] = {}
        for row, key in exceptions.items():
            code = known.setdefault((self.codes[row], key), len(found.samples))
            if code == len(found.samples):
                found.samples.append(table.nodes[row])
            found.codes[row] = code
        # What stood for a code may be an exception now: another row that still has it does.
        # They may be as many as the rows, so each row is looked at once; mostly few of them are.
        left = {self.codes[row] for row in exceptions}
        for row, code in enumerate(found.codes):
            if code in left:
                left.discard(code)
                found.samples[code] = table.nodes[row]
                if not left:
                    break
        return found

    def _build(self, table: NodeTable) -> None:
        present = [node for node in table.nodes if node is not None]
        keys = self.facet.column(present)
        code_of: dict[Hashable, int] = {}
        samples: list[NodeInfo | None] = [None]
        for key, node in zip(keys, present, strict=True):
            if key not in code_of:
                code_of[key] = len(samples)
                samples.append(node)
        # Who remembers what was said of the codes sees by the serial that they are other ones.
        self.serial = next(_SERIALS)
        self._version = table.version
        self._code_of, self.samples = code_of, samples
        codes = map(code_of.__getitem__, keys)
        if len(present) == len(table) - 1:
            self.codes = array("I", [EMPTY, *codes])
        else:
            self.codes = array("I", [EMPTY if n is None else next(codes) for n in table.nodes])
        counted = Counter(self.codes)
        self._counts = [counted[code] for code in range(len(samples))]
        self._unused = 0

    def _count(self, code: int, change: int) -> None:
        before = self._counts[code]
        self._counts[code] = before + change
        if code and not (before and before + change):
            self._unused -= change

    def _code(self, key: Hashable, node: NodeInfo) -> int:
        code = self._code_of.get(key)
        if code is None:
            code = self._code_of[key] = len(self.samples)
            self.samples.append(node)
            self._counts.append(0)
            self._unused += 1
        return code


def samples(column: Column, codes: Iterable[int], facet: Facet) -> Sequence[NodeInfo]:
    """A node for each code, as a question with this facet may see it.

    Every code but that of an empty row has a node. It may be one of a while ago, with labels that
    no node has any more: a question that reads such a label, and whose facet was narrowed because
    no node has it, must not see it.
    """
    nodes = [node for code in codes if (node := column.samples[code]) is not None]
    return nodes if facet == column.facet else column.facet.seen(nodes)
