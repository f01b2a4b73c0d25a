"""Some rows of a table, in the order of a request."""

from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from operator import itemgetter
from typing import Any, TypeVar, overload

from extender.framework.node_info import NodeInfo

T = TypeVar("T")


class Rows:
    """Puts what a table has a row into the order of a request."""

    def __init__(self, rows: Sequence[int], size: int, *, whole: bool = False) -> None:
        self._rows = rows
        self._size = size
        # Mostly the first one tells.
        in_order = len(rows) == size and (not size or rows[0] == 0)
        self.in_order = in_order and list(rows) == list(range(size))
        self.whole = whole or self.in_order  # each row of the table is there once
        self._getter: Callable[[Any], tuple[Any, ...]] | None = None

    def pick(self, codes: bytes) -> bytes:
        """One byte a row, in the order of the request."""
        return codes if self.in_order else bytes(self._get(codes))

    def of(self, column: Sequence[T]) -> Sequence[T]:
        """One of anything a row, in the order of the request."""
        return column if self.in_order else self._get(column)

    def passing(self, passes: bytes) -> "Rows":
        """Some of the rows, in the same order."""
        return Rows(list(compress(self._rows, passes)), self._size)

    def _get(self, column: Sequence[T]) -> tuple[T, ...]:
        if self._getter is None:
            rows = self._rows
            # A single item would come without a tuple around it.
            self._getter = (
                itemgetter(*rows) if len(rows) > 1 else lambda c: tuple(c[row] for row in rows)
            )
        return self._getter(column)


class Passing(Sequence[NodeInfo]):
    """The nodes of some rows that pass; most are never looked at."""

    def __init__(
        self, nodes: Sequence[NodeInfo | None], rows: Rows, passes: bytes, *, count: int
    ) -> None:
        self._nodes = nodes
        self._rows = rows
        self._passes = passes
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[NodeInfo]:
        picked = compress(self._rows.of(self._nodes), self._passes)
        return (node for node in picked if node is not None)

    @overload
    def __getitem__(self, index: int) -> NodeInfo: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[NodeInfo]: ...

    def __getitem__(self, index: int | slice) -> NodeInfo | Sequence[NodeInfo]:
        return list(self)[index]
