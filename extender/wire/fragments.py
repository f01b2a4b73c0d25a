"""Answers about many nodes, put together from what is encoded already.

The same answers as those of `messages`, for listings whose names need no escaping. What is done
for a node is done by `join`, `compress` and slices, which run in C.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from itertools import compress
from operator import itemgetter
from typing import Final

import msgspec

from extender.framework.recent import Recent
from extender.framework.rows import Rows
from extender.wire import listings, messages
from extender.wire.carried import Carried
from extender.wire.listings import NAMES_END, NAMES_HEAD, Listing

# What an answer is made of, one behind the other.
Pieces = Sequence[bytes | memoryview]

_ENCODER: Final = msgspec.json.Encoder()
_REFUSED: Final = NAMES_END + b',"FailedAndUnresolvableNodes":{'
_TAIL: Final = b'},"Error":""}'
# From so many on it takes as long to tell all anew.
MAX_CHANGES: Final = 32
# Of what several answers have in common.
MAX_PARTS: Final = 256
MAX_PART_BYTES: Final = 8 << 20
# How far a member may be from where it would be if all were of the same length.
_SLACK: Final = 8_192
# The two digits of a score, by score; the first is a space where JSON wants none.
_TENS: Final = b"          1".ljust(256)
_SCORE: Final = ',"Score": 0}'
_ONES: Final = b"01234567890".ljust(256)


def filter_answer(listing: Listing, passes: bytes, refused: bytes) -> bytes:
    """The answer to `/filter`, with the members of those that do not pass."""
    return b"".join((NAMES_HEAD, _passing(listing, passes), _REFUSED, refused, _TAIL))


def refusals(refused: bytes) -> bytes:
    """An answer to `/filter` that does not say who passes yet."""
    return b"".join((NAMES_HEAD, b"[]", _REFUSED, refused, _TAIL))


def with_passing(body: bytes, listing: Listing, passes: bytes) -> bytes:
    """Such an answer, with those that pass in the order of the request."""
    rest = memoryview(body)[len(NAMES_HEAD) + len(b"[]") :]
    return b"".join((NAMES_HEAD, _passing(listing, passes), rest))


def text_changes(
    before: bytes, told: Mapping[int, str], codes: bytes, texts: Mapping[int, str]
) -> Sequence[tuple[int, str, str]] | None:
    """Where other texts are told than before, as `retold` wants it.

    None if there is another difference, or one in many places.
    """
    if any(told.get(code, text) != text for code, text in texts.items()):
        return None
    differs = int.from_bytes(before, "little") ^ int.from_bytes(codes, "little")
    changes: list[tuple[int, str, str]] = []
    while differs:
        place = (differs.bit_length() - 1) // 8
        old, new = before[place], codes[place]
        if len(changes) == MAX_CHANGES or not (old and new):
            return None
        changes.append((place, told[old], texts[new]))
        differs ^= (old ^ new) << 8 * place
    return changes


def retold(body: bytes, names: Sequence[str], changes: Sequence[tuple[int, str, str]]) -> Pieces:
    """The same answer to `/filter` but for the texts of some refusals, without a copy of the rest.

    `changes` are places among the names, each with the text that was told and the one that is to
    be. Mostly the members of an answer are in the order of the names.
    """
    # No name has a quote in it, so this is where it seems to be.
    first = body.index(_REFUSED) + len(_REFUSED)
    found = []
    for place, old, new in changes:
        member = f'"{names[place]}":'.encode()
        guess = first + (len(body) - first) * place // len(names) - _SLACK
        at = body.find(member, max(guess, first))
        if at < 0:
            at = body.index(member, first)
        found.append((at + len(member), old, new))
    view = memoryview(body)
    pieces: list[bytes | memoryview] = []
    done = 0
    for at, old, new in sorted(found):
        pieces += view[done:at], _ENCODER.encode(new)
        done = at + len(_ENCODER.encode(old))
    return [*pieces, view[done : -len(_TAIL)], _TAIL]


def _passing(listing: Listing, passes: bytes) -> bytes:
    if 0 not in passes:
        return listing.text
    if 1 not in passes:
        return b"[]"
    passing = '","'.join(compress(listing.names, passes))
    return f'["{passing}"]'.encode()


def carried_nodes(carried: Carried, passes: bytes) -> Pieces:
    """How an answer to `/filter` for whole nodes begins: those that pass return as they came."""
    pieces: list[bytes] = list(map(itemgetter(0), compress(carried.familiar, passes)))
    head = b'{"Nodes":{"items":['
    pieces[:1] = [head + pieces[0][1:] if pieces else head]
    return pieces


def carried_refusals(refused: bytes) -> bytes:
    """How it ends: with those that do not pass."""
    return b"".join((b']},"NodeNames":null', _REFUSED, refused, _TAIL))


def refused_members(names: Sequence[str], codes: bytes, texts: Mapping[int, str]) -> bytes:
    """Those that do not pass, as the members of an object: each name with the text of its code."""
    if not texts:
        return b""
    if 0 in codes:
        names = list(compress(names, codes))
        codes = codes.translate(None, b"\0")
    reasons = {code: _ENCODER.encode(text).decode() for code, text in texts.items()}
    if len(reasons) == 1:
        (reason,) = reasons.values()
        return f'''"{f'":{reason},"'.join(names)}":{reason}'''.encode()
    pieces: list[str] = [""] * (2 * len(names))
    pieces[::2] = names
    ends = [f'":{reasons.get(code)},"' for code in range(max(reasons) + 1)]
    pieces[1::2] = itemgetter(*codes)(ends)
    pieces[0] = f'"{names[0]}'
    pieces[-1] = pieces[-1][:-2]  # the last one is followed by nobody
    return "".join(pieces).encode()


class Refused:
    """Those that do not pass, as the members of an object: some of them come again.

    Rules that are new differ from others mostly in what one plugin reads. So what the last plugin
    refuses stands behind the others, and these are kept by what is said of them.
    """

    def __init__(self) -> None:
        self._parts: Recent[Hashable, bytes] = Recent(MAX_PARTS, MAX_PART_BYTES)

    def members(
        self,
        layout: int,
        names: Sequence[str],
        codes: bytes,
        texts: Mapping[int, str],
        last: Collection[int],
    ) -> bytes:
        """As `refused_members` for the names of a layout; `last` are codes of one plugin."""
        told, told_last = dict(texts), {}
        others, lasts = bytearray(range(256)), bytearray(256)
        for code in last:
            told_last[code] = told.pop(code)
            others[code], lasts[code] = 0, code
        rest = codes.translate(others)
        key = layout, rest, tuple(told.items())
        part = self._parts.get(key)
        if part is None:
            part = refused_members(names, rest, told)
            self._parts.put(key, part, len(part) + len(rest))
        final = refused_members(names, codes.translate(lasts), told_last)
        return b",".join((part, final)) if part else final


class Hosts:
    """The hosts of a table as an answer to `/prioritize` names them, each of the same length.

    So the scores stand at equal distances, and are put there all at once.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._width = max(map(len, names), default=0)
        # Names that need escaping, and one that would make of all of them mostly spaces.
        text = "".join(names)
        plain = listings.is_plain(_ENCODER.encode(text))
        self._padded: list[str] | None = None
        if plain and self._width * len(names) <= 2 * len(text) + 64 * len(names):
            self._padded = [f'{{"Host":"{name}"'.ljust(self._width + 10) for name in names]
            self._in_order = _unscored(self._padded)
        self._alike = all(len(name) == self._width for name in names)

    def scored(self, names: Sequence[str], rows: Rows, scores: bytes) -> bytes:
        """A score of 0 to 10 for each of these names, which have these rows."""
        if self._padded is None:
            return messages.encode_priorities(names, scores)
        if rows.in_order:
            unscored = self._in_order
        elif self._alike:
            unscored = _unscored(names, '{"Host":"', '"')
        else:
            unscored = _unscored(rows.of(self._padded))
        answer = bytearray(unscored)
        stride = self._width + len(f'{{"Host":""{_SCORE},')
        answer[stride - 3 :: stride] = scores.translate(_TENS)
        answer[stride - 2 :: stride] = scores.translate(_ONES)
        return bytes(answer)


def _unscored(hosts: Sequence[str], before: str = "", after: str = "") -> bytes:
    after += _SCORE
    return f"[{before}{f'{after},{before}'.join(hosts)}{after}]".encode()
