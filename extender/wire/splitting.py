"""Reads requests as kube-scheduler writes them, without looking at every node of them.

Go writes an object always the same way: the pod, then the two lists. What lies between its braces
and the next key is the pod if it can be decoded as one, because a JSON value ends by itself. In
any other case the body is decoded as a whole, to the same arguments or the same fault.
"""

from typing import Final

import msgspec

from extender.model.core_v1 import Pod
from extender.wire import messages
from extender.wire.listings import Listings
from extender.wire.messages import FilterArgs

_POD_KEY: Final = b'{"Pod":'
_NAMES_KEY: Final = b',"Nodes":null,"NodeNames":'
_END: Final = b"]}"

_POD: Final = msgspec.json.Decoder(Pod)


def read_filter_args(body: bytes, listings: Listings) -> FilterArgs:
    """The body of `/filter` and `/prioritize`; BadRequestError if it makes no sense."""
    return _split(body, listings) or messages.decode_filter_args(body)


def _split(body: bytes, listings: Listings) -> FilterArgs | None:
    end = body.find(_NAMES_KEY)
    if end < 0 or not body.startswith(_POD_KEY) or not body.endswith(_END):
        return None
    messages.require_utf8(body)
    try:
        pod = _POD.decode(body[len(_POD_KEY) : end])
    except (msgspec.DecodeError, RecursionError):
        return None
    listing = listings.read(body, end + len(_NAMES_KEY))
    return None if listing is None else FilterArgs(pod, listing.names, (), None, listing)
