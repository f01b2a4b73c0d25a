"""Verdicts to the answer of `/filter`, in the field in which it was asked.

kube-scheduler reads the reasons of refused nodes only when no node is left, so they are told only
then, unless somebody wants to see them always. Every refusal goes to FailedAndUnresolvableNodes:
the preemption dry run on a node of FailedNodes finds no victim and ends in an error whose text
wakes the pod again at once.
"""

from collections.abc import Iterable, Sequence
from itertools import compress
from operator import not_
from typing import Final, Literal

import msgspec

from extender.framework.interface import Status
from extender.framework.results import FilterResult
from extender.wire.known_nodes import NodeBatch

# kube-scheduler prints every distinct reason into one event of at most 1,024 bytes.
MAX_DETAILED_REASONS: Final = 10
MAX_DETAILED_REASON_BYTES: Final = 700
REASON_UNKNOWN_NODE: Final = "node(s) not yet known to the extender"

# What an answer is made of, one behind the other.
Pieces = Sequence[bytes]
Refusals = Literal["needed", "always"]

_ENCODE: Final = msgspec.json.Encoder().encode
_UNKNOWN: Final = _ENCODE(REASON_UNKNOWN_NODE)
_NAMES: Final = b'{"Nodes":null,"NodeNames":'
_NODES: Final = b'{"Nodes":{"items":['
_NODES_END: Final = b']},"NodeNames":null'
_REFUSED: Final = b',"FailedNodes":{},"FailedAndUnresolvableNodes":{'
_END: Final = b'},"Error":""}'


def error_of(result: FilterResult) -> str:
    """Why no verdict can be told at all; empty if one can.

    An unknown node is refused when another passes. When none passes it may be the one that would,
    so the answer is an error: that is retried by itself, a refusal is not.
    """
    fault = result.fault()
    if fault is not None:
        return ": ".join((fault.plugin, *fault.reasons))
    if result.unknown and not result.passed:
        return f"{result.unknown} {REASON_UNKNOWN_NODE}"
    return ""


def encode_filter(batch: NodeBatch, result: FilterResult, mode: str, refusals: Refusals) -> Pieces:
    """The answer to `/filter`."""
    members = b""
    if refusals == "always" or not result.passed:
        members = result.candidates.members(texts(result))
    if mode == "names":
        return _NAMES, result.candidates.names(), _REFUSED, members, _END
    passing = list(compress(batch.texts, map(not_, result.candidates.places)))
    if passing:
        passing[0] = passing[0][1:]  # nobody stands before it
    return _NODES, *passing, _NODES_END, _REFUSED, members, _END


def texts(result: FilterResult) -> list[bytes]:
    """The text of each place as JSON; brief ones where there are too many different ones."""
    unknown = _UNKNOWN
    if result.settled is not None:
        unknown = _ENCODE(", ".join(result.settled.reasons))
    found = [b"", unknown]
    too_many = are_too_many(status for _, status in result.refusals())
    for each in result.verdicts:
        found += each.texts(brief=too_many)
    return found


def are_too_many(refusals: Iterable[Status]) -> bool:
    """Whether the reasons that could be briefer are too many or too long to be told in full."""
    distinct: set[str] = set()
    size = 0
    for status in refusals:
        text = ", ".join(status.reasons)
        if status.brief and text not in distinct:
            distinct.add(text)
            size += len(text.encode(errors="replace"))
            if len(distinct) > MAX_DETAILED_REASONS or size > MAX_DETAILED_REASON_BYTES:
                return True
    return False
