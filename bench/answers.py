"""The two answers that a floor can return for a call: the lean one and the full one.

The lean answer is the one that is due: refused nodes are named only when no node passes, and
prioritize names only hosts above the lowest score. The full answer names every node: each refused
one with a reason, each host with a score. Both are made from the answer that Leeway gave, outside
of any timing, whichever of the two Leeway gave.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Raw

NULL: Final = Raw(b"null")
# What most refusals say, when Leeway left them out. Only its length matters.
REASON: Final = "node(s) had untolerated taint {node.kubernetes.io/sla}"


class FilterResult(msgspec.Struct, rename="pascal"):
    """ExtenderFilterResult; whole nodes stay the bytes that they came as."""

    nodes: Raw = NULL
    node_names: list[str] | None = None
    failed_nodes: dict[str, str] = {}
    failed_and_unresolvable_nodes: dict[str, str] = {}
    error: str = ""


class HostPriority(msgspec.Struct, rename="pascal"):
    """A host and its score."""

    host: str
    score: int


class Named(msgspec.Struct):
    """The metadata of a node."""

    name: str


class Node(msgspec.Struct):
    """A node, for its name."""

    metadata: Named


class NodeList(msgspec.Struct):
    """Whole nodes, for their names."""

    items: list[Node] | None = None


def passing(result: FilterResult) -> list[str]:
    """The nodes that passed."""
    if result.node_names is not None:
        return result.node_names
    nodes = msgspec.json.decode(result.nodes, type=NodeList | None)
    return [node.metadata.name for node in (nodes.items or [] if nodes else [])]


def lean(verb: str, answer: bytes, asked: Sequence[str]) -> bytes:
    """The least that may be answered. A lean answer is returned as it is."""
    if verb == "filter":
        result = msgspec.json.decode(answer, type=FilterResult)
        if not result.failed_and_unresolvable_nodes or not passing(result):
            return answer
        result.failed_and_unresolvable_nodes = {}
        return msgspec.json.encode(result)
    scores = msgspec.json.decode(answer, type=list[HostPriority])
    if len(scores) < len(asked):
        return answer
    least = min((host.score for host in scores), default=0)
    kept = [HostPriority(host.host, host.score - least) for host in scores if host.score > least]
    return msgspec.json.encode(kept)


def full(verb: str, answer: bytes, asked: Sequence[str]) -> bytes:
    """The same, with every node that was asked about."""
    if verb == "filter":
        result = msgspec.json.decode(answer, type=FilterResult)
        if not result.failed_and_unresolvable_nodes:
            passed = set(passing(result))
            refused = {name: REASON for name in asked if name not in passed}
            result.failed_and_unresolvable_nodes = refused
        return msgspec.json.encode(result)
    scores = {
        host.host: host.score for host in msgspec.json.decode(answer, type=list[HostPriority])
    }
    return msgspec.json.encode([HostPriority(name, scores.get(name, 0)) for name in asked])
