"""Which rows of a table have changed since when.

A node that gets a taint and loses it again is as it was: who has not looked meanwhile need not
look at it at all.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from extender.framework.node_info import NodeInfo

MAX_ROWS: Final = 512


class _Change(Struct, frozen=True, gc=False):
    version: int
    before: NodeInfo | None  # what was in the row, and since which version
    began: int
    # The row is as it was from the one version on until the other.
    same_from: int = 0
    same_until: int = 0


class RowChanges:
    """The changes of late, the last one of each row."""

    def __init__(self) -> None:
        self._changes: dict[int, _Change] = {}  # the latest is the last
        self._forgotten = 0

    def note(self, row: int, version: int, before: NodeInfo | None, now: NodeInfo | None) -> None:
        """From a version on a row is another one."""
        known = self._changes.pop(row, None)
        change = _Change(version, before, known.version if known else 0)
        if known is not None and _same(known.before, now):
            change = _Change(version, before, known.version, known.began, known.version)
        self._changes[row] = change
        if len(self._changes) > MAX_ROWS:
            oldest = next(iter(self._changes))
            self._forgotten = self._changes.pop(oldest).version

    def since(self, version: int, *, most: int) -> Sequence[int] | None:
        """The rows that are not as they were at a version; None if they may be more than `most`."""
        if version < self._forgotten:
            return None
        rows: list[int] = []
        for row, change in reversed(self._changes.items()):
            if change.version <= version:
                break
            if not change.same_from <= version < change.same_until:
                if len(rows) == most:
                    return None
                rows.append(row)
        return rows


def _same(one: NodeInfo | None, other: NodeInfo | None) -> bool:
    if one is None or other is None:
        return False
    return one.name == other.name and one.same_as(other)
