"""Answers about many nodes, put together from what is encoded already.

The same answers as those of `messages`, for listings whose names need no escaping. What is done
for a node is done by `join`, `compress` and slices, which run in C.
"""

from collections.abc import Mapping, Sequence
from itertools import compress
from operator import itemgetter
from typing import Final

import msgspec

from extender.framework.rows import Rows
from extender.wire import listings, messages
from extender.wire.carried import Carried
from extender.wire.listings import Listing

_ENCODER: Final = msgspec.json.Encoder()
_REFUSED: Final = b',"FailedNodes":{},"FailedAndUnresolvableNodes":{'
_TAIL: Final = b'},"Error":""}'
# Where a status passes, and where it does not.
_PASSES: Final = bytes((1, *bytes(255)))
# The two digits of a score, by score; the first is a space where JSON wants none.
_TENS: Final = b"          1".ljust(256)
_SCORE: Final = ',"Score": 0}'
_ONES: Final = b"01234567890".ljust(256)


def filter_answer(listing: Listing, codes: bytes, texts: Mapping[int, str]) -> bytes:
    """The answer to `/filter`: who has a code that is not among the texts passes."""
    head = b'{"Nodes":null,"NodeNames":'
    if not texts:
        return b"".join((head, listing.text, _REFUSED, _TAIL))
    refusals = codes.translate(None, b"\0")
    passed = b"[]"
    names = listing.names
    if len(refusals) < len(codes):
        passing = '","'.join(compress(names, codes.translate(_PASSES)))
        passed = f'["{passing}"]'.encode()
        names = list(compress(names, codes))
    return b"".join((head, passed, _REFUSED, _refused(names, refusals, texts), _TAIL))


def carried_nodes(carried: Carried, passes: bytes) -> Sequence[bytes]:
    """How an answer to `/filter` for whole nodes begins: those that pass return as they came."""
    pieces = list(compress(carried.texts, passes))
    head = b'{"Nodes":{"items":['
    pieces[:1] = [head + pieces[0][1:] if pieces else head]
    return pieces


def carried_refusals(names: Sequence[str], codes: bytes, texts: Mapping[int, str]) -> bytes:
    """How it ends: with those that do not pass."""
    refused = b""
    if texts:
        refused = _refused(list(compress(names, codes)), codes.translate(None, b"\0"), texts)
    return b"".join((b']},"NodeNames":null', _REFUSED, refused, _TAIL))


def _refused(names: Sequence[str], codes: bytes, texts: Mapping[int, str]) -> bytes:
    """The members of an object: each name with the text of its code."""
    reasons = {code: _ENCODER.encode(text).decode() for code, text in texts.items()}
    if len(reasons) == 1:
        (reason,) = reasons.values()
        return f'''"{f'":{reason},"'.join(names)}":{reason}'''.encode()
    pieces: list[str] = [""] * (2 * len(names))
    pieces[::2] = names
    ends = [f'":{reasons.get(code)},"' for code in range(max(reasons) + 1)]
    pieces[1::2] = itemgetter(*codes)(ends)
    # The last one is followed by nobody.
    return ('"' + "".join(pieces)).encode()[:-2]


class Hosts:
    """The hosts of a table as an answer to `/prioritize` names them, each of the same length.

    So the scores stand at equal distances, and are put there all at once.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._width = max(map(len, names), default=0)
        # Names that need escaping, and one that would make of all of them mostly spaces.
        text = "".join(names)
        plain = listings.is_plain(_ENCODER.encode(text))
        self._padded: list[str] | None = None
        if plain and self._width * len(names) <= 2 * len(text) + 64 * len(names):
            self._padded = [f'{{"Host":"{name}"'.ljust(self._width + 10) for name in names]

    def scored(self, rows: Rows, scores: bytes) -> bytes:
        """A score of 0 to 10 for each of these rows."""
        if self._padded is None:
            return messages.encode_priorities(rows.of(self._names), scores)
        records = f"{_SCORE},".join(rows.of(self._padded))
        answer = bytearray(f"[{records}{_SCORE}]".encode())
        stride = self._width + len(f'{{"Host":""{_SCORE},')
        answer[stride - 3 :: stride] = scores.translate(_TENS)
        answer[stride - 2 :: stride] = scores.translate(_ONES)
        return bytes(answer)
