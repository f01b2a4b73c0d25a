"""Answers about many nodes, put together from what is encoded already.

The same answers as those of `messages`, for listings whose names need no escaping. What is done
for a node is done by `join`, `compress` and slices, which run in C.
"""

from collections.abc import Mapping, Sequence
from itertools import compress
from operator import itemgetter
from typing import Final

import msgspec

from extender.wire import messages
from extender.wire.listings import Listing

_ENCODER: Final = msgspec.json.Encoder()
_REFUSED: Final = b',"FailedNodes":{},"FailedAndUnresolvableNodes":{'
_TAIL: Final = b'},"Error":""}'
# Where a status passes, and where it does not.
_PASSES: Final = bytes((1, *bytes(255)))
# The two digits of a score, by score; the first is a space where JSON wants none.
_TENS: Final = b"          1".ljust(256)
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


def priorities(listing: Listing, scores: bytes) -> bytes:
    """The answer to `/prioritize`: a score of 0 to 10 for each name."""
    scored = listing.scored()
    if scored is None:
        return messages.encode_priorities(listing.names, scores)
    template, stride = scored
    answer = bytearray(template)
    answer[stride - 3 :: stride] = scores.translate(_TENS)
    answer[stride - 2 :: stride] = scores.translate(_ONES)
    return bytes(answer)
