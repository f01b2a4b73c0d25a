"""The nodes that a request is about, in its order, with what answers about them are made of.

kube-scheduler asks about the same nodes over and over, so the lists of late are kept, and found
again by comparing bytes.
"""

from collections.abc import Sequence
from itertools import compress, count
from typing import Final

import msgspec

from extender.framework.node_table import NodeTable
from extender.framework.recent import Recent
from extender.framework.rows import Rows

MAX_LISTINGS: Final = 32
MAX_BYTES: Final = 32 << 20
MAX_SEEN: Final = 256
# What a name takes in a list: the name itself, its row, its place in the texts.
_BYTES_A_NAME: Final = 160
# The end of a list by which it is looked up; whether it is the same is then compared.
_TAIL: Final = 64

# How an answer to `/filter` begins, up to the names that pass.
NAMES_HEAD: Final = b'{"Nodes":null,"NodeNames":'
# And what follows them. No name has a quote in it, so it stands nowhere else.
NAMES_END: Final = b',"FailedNodes":{}'

_NAMES: Final = msgspec.json.Decoder(list[str])

_SERIALS: Final = count(1)


class Listing:
    """Names in the order of the request. `text` is their JSON, in which none is escaped."""

    def __init__(self, names: Sequence[str], text: bytes) -> None:
        self.serial = next(_SERIALS)
        self.kept = False  # it may come again, so that answers about it are worth keeping
        self.names = names
        self.text = text
        self._distinct: bool | None = None
        self._layout = 0
        self._once = False
        self._rows: Rows | None = None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def distinct(self) -> bool:
        """Whether no name is there twice."""
        if self._distinct is None:
            self._distinct = len(set(self.names)) == len(self.names)
        return self._distinct

    def rows(self, table: NodeTable, *, once: bool = False) -> Rows | None:
        """Where the names are in a table; None if it does not know one of them.

        With `once` it is looked whether each row is there once.
        """
        if self._layout != table.layout or (once and not self._once):
            self._layout, self._once = table.layout, once
            try:
                rows, whole = table.places(self.names, once=once)
                self._rows = Rows(rows, len(table), whole=whole)
            except KeyError:
                self._rows = None
        return self._rows

    def place(self, table: NodeTable, rows: Sequence[int]) -> None:
        """Where the names are in a table, each of them once, is known already."""
        self._layout, self._once, self._distinct = table.layout, True, True
        self._rows = Rows(rows, len(table), whole=len(rows) == len(table))

    def passing(self, passes: bytes, text: bytes) -> "Listing":
        """Those of the names that pass, without looking them up again; `text` is their JSON."""
        listing = Listing(list(compress(self.names, passes)), text)
        if self._rows is not None:
            listing._layout, listing._rows = self._layout, self._rows.passing(passes)
        return listing


class Listings:
    """The listings of late."""

    def __init__(self) -> None:
        self._recent: Recent[tuple[int, bytes], Listing] = Recent(MAX_LISTINGS, MAX_BYTES)
        self._seen: Recent[tuple[int, bytes], bool] = Recent(MAX_SEEN, MAX_SEEN)
        self._offered: tuple[bytes, Listing, bytes] | None = None

    def offer(self, answer: bytes, listing: Listing, passes: bytes) -> None:
        """An answer to `/filter` says who passes: mostly the next call is about these.

        kube-scheduler asks for their priorities, in the order in which they were told.
        """
        self._offered = answer, listing, passes

    def read(self, body: bytes, start: int) -> Listing | None:
        """The names from `start` to the last brace; None if they are not a plain list of names.

        The caller has seen that the body ends with a brace.
        """
        size = len(body) - start - 1
        key = size, body[max(start, len(body) - _TAIL) :]
        known = self._recent.get(key)
        if known is not None and body.startswith(known.text, start):
            return known
        text = body[start:-1]
        offered = self._taken(text)
        if offered is not None:
            return offered
        listing = _plain(text)
        # A list is kept when it comes for the second time. Most that come once never come again,
        # and to keep them would cost the memory that is warm.
        if listing is not None and self._seen.get(key):
            listing.kept = True
            self._recent.put(key, listing, size + _BYTES_A_NAME * len(listing))
        self._seen.put(key, value=True, weight=1)
        return listing

    def _taken(self, text: bytes) -> Listing | None:
        """The names that were offered, if it is these; once, as whoever asks again may repeat."""
        if self._offered is None:
            return None
        answer, listing, passes = self._offered
        if not (
            answer.startswith(text, len(NAMES_HEAD))
            and answer.startswith(NAMES_END, len(NAMES_HEAD) + len(text))
        ):
            return None
        self._offered = None
        return listing.passing(passes, text) if 0 in passes else listing


def listed(names: Sequence[str]) -> Listing | None:
    """The listing of these names; None if any needs escaping."""
    text = msgspec.json.encode(names)
    return Listing(names, text) if is_plain(text) else None


def _plain(text: bytes) -> Listing | None:
    if not is_plain(text):
        return None
    try:
        return Listing(_NAMES.decode(text), text)
    except (msgspec.DecodeError, RecursionError):
        return None


def is_plain(text: bytes) -> bool:
    """Whether what stands between two quotes is the name itself."""
    return b"\\" not in text and text.isascii()
