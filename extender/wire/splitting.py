"""Reads requests as kube-scheduler writes them, without looking at every node of them.

Go writes an object always the same way: the pod, then the two lists. What lies between its braces
and the next key is the pod if it can be decoded as one, because a JSON value ends by itself. In
any other case the body is decoded as a whole, to the same arguments or the same fault.
"""

from dataclasses import dataclass, field
from typing import Final

import msgspec

from extender.model.core_v1 import Pod
from extender.wire import carried, intake, messages
from extender.wire.carried import Arrived, KnownNodes
from extender.wire.intake import Body, Intake
from extender.wire.listings import Listings
from extender.wire.messages import FilterArgs

_POD_KEY: Final = b'{"Pod":'
_NAMES_KEY: Final = b',"Nodes":null,"NodeNames":'
_END: Final = b"]}"

_POD: Final = msgspec.json.Decoder(Pod)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of earlier requests."""

    listings: Listings = field(default_factory=Listings)
    nodes: KnownNodes = field(default_factory=KnownNodes)


def read_filter_args(body: Body, known: Known) -> FilterArgs:
    """The body of `/filter` and `/prioritize`; BadRequestError if it makes no sense."""
    args = None
    if isinstance(body, Arrived):
        args = _split_nodes(body, known.nodes)
    elif body.startswith(_POD_KEY):
        if body.endswith(_END):
            args = _split_names(body, known.listings)
        elif body.endswith(carried.END):
            taken = Intake(known.nodes)
            taken.feed(body)
            args = _split_nodes(taken.end(), known.nodes)
    return args or messages.decode_filter_args(bytes(body))


def _split_names(body: bytes, listings: Listings) -> FilterArgs | None:
    end = body.find(_NAMES_KEY)
    pod = _pod(body, end)
    if pod is None:
        return None
    listing = listings.read(body, end + len(_NAMES_KEY))
    return None if listing is None else FilterArgs(pod, listing.names, (), None, listing)


def _split_nodes(body: Body, known: KnownNodes) -> FilterArgs | None:
    if not isinstance(body, Arrived) or not body.head.startswith(_POD_KEY):
        return None
    pod = _pod(body.head, len(body.head) - len(intake.NODES_KEY))
    nodes = None if pod is None else known.carried(body)
    if pod is None or nodes is None:
        return None
    return FilterArgs(pod, nodes.listing.names, (), (), nodes.listing, nodes)


def _pod(body: bytes, end: int) -> Pod | None:
    """The pod that ends there, if it does."""
    if end < 0:
        return None
    text = body[len(_POD_KEY) : end]
    try:
        if not text.isascii():
            text.decode()
        return _POD.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
