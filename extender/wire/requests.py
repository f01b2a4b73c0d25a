"""Reads requests as kube-scheduler writes them, without looking at every node of them.

Go writes an object always the same way: the pod, then the two lists. What lies between its braces
and the next key is the pod if it can be decoded as one, because a JSON value ends by itself. In
any other case the body is decoded as a whole, to the same arguments or the same fault.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from extender import rows
from extender.framework.columns.node_table import NodeTable
from extender.framework.snapshot import Interner, NodeInfo
from extender.model.core_v1 import Pod
from extender.model.nulls import Decoder
from extender.wire import extender_v1, known_nodes, node_stream
from extender.wire.extender_v1 import FilterArgs
from extender.wire.known_nodes import KnownNodes, NodeBatch, ParsedNodes
from extender.wire.node_stream import Body, NodeStreamReader

_POD_KEY: Final = b'{"Pod":'
_NAMES_KEY: Final = b',"Nodes":null,"NodeNames":'
_END: Final = b"]}"

_POD: Final[Decoder[Pod]] = Decoder(Pod)
_ENCODE: Final = msgspec.json.Encoder().encode


def read_filter_args(body: Body, known: KnownNodes) -> FilterArgs:
    """The body of `/filter` and `/prioritize`; BadRequestError if it makes no sense."""
    args = None
    if isinstance(body, ParsedNodes):
        args = _with_nodes(body)
    elif body.startswith(_POD_KEY):
        if body.endswith(_END):
            args = _with_names(body)
        elif body.endswith(known_nodes.END):
            reader = NodeStreamReader(known)
            reader.feed(body)
            args = _with_nodes(reader.end())
    return args or extender_v1.decode_filter_args(bytes(body))


def count(args: FilterArgs) -> int:
    """How many nodes a request asks about."""
    if args.parsed is not None:
        return len(args.parsed.nodes)
    return len((extender_v1.decode_filter_args(args.body) if args.names_at else args).names)


def nodes_of(
    args: FilterArgs, cluster: NodeTable, known: KnownNodes, interner: Interner
) -> NodeBatch:
    """The nodes that a request asks about, as rows of the cluster's table or of one of its own."""
    if args.names_at:
        candidates = cluster.index.read(args.body, args.names_at)
        if candidates is not None:
            return NodeBatch(cluster, candidates, ())
        args = extender_v1.decode_filter_args(args.body)
    if args.parsed is not None:
        batch = args.parsed.batch()
        if batch is not None:
            known.keep(args.parsed.memory)
            return batch
        args = extender_v1.decode_filter_args(bytes(args.parsed))
    if not args.nodes:
        return NodeBatch(cluster, cluster.find(args.names), ())
    carried = list(map(interner.node_info, args.nodes))
    if args.mode == "nodes":
        texts = [b",%b" % bytes(raw) for raw in args.raw]
        return _batch(carried, args.names, texts)
    by_name = {node.name: node for node in carried}
    found = [by_name.get(name) or cluster.node(name) for name in args.names]
    return _batch(found, args.names, ())


def _batch(
    nodes: Sequence[NodeInfo | None], names: Sequence[str], texts: Sequence[bytes]
) -> NodeBatch:
    """A table of these nodes alone; None stands for one that nobody knows."""
    table = NodeTable(node for node in nodes if node is not None)
    numbers = iter(range(1, len(table)))
    found = [rows.UNKNOWN if node is None else next(numbers) for node in nodes]
    return NodeBatch(table, rows.Candidates(found, list(map(_ENCODE, names))), texts)


def _with_names(body: bytes) -> FilterArgs | None:
    end = body.find(_NAMES_KEY)
    # Another key behind the list, a second pod above all, is left to the decoder.
    if body.find(b"]", end) != len(body) - len(_END):
        return None
    pod = _pod(body, end)
    if pod is None:
        return None
    return FilterArgs(pod, "names", body=body, names_at=end + len(_NAMES_KEY))


def _with_nodes(body: Body) -> FilterArgs | None:
    if not isinstance(body, ParsedNodes) or not body.head.startswith(_POD_KEY):
        return None
    pod = _pod(body.head, len(body.head) - len(node_stream.NODES_KEY))
    return None if pod is None else FilterArgs(pod, "nodes", parsed=body)


def _pod(body: bytes, end: int) -> Pod | None:
    """The pod that ends there, if it does and is not too large."""
    if end > extender_v1.MAX_POD_BYTES:
        return None
    text = body[len(_POD_KEY) : end]
    try:
        if not text.isascii():
            text.decode()
        return _POD.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
