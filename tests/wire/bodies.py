"""Bodies as kube-scheduler writes them, what is understood of them, what chance makes of them."""

import json
from typing import Any

from hypothesis import strategies as st

from extender.errors import BadRequestError
from extender.framework.columns.node_table import NodeTable
from extender.framework.snapshot import Interner
from extender.match.lru import CacheBudget
from extender.wire import extender_v1, requests
from extender.wire.known_nodes import KnownNodes
from extender.wire.node_stream import Body
from tests.builders import node_json, pod_json, some_nodes, toleration

POD = json.dumps(pod_json(toleration("sla", "Gt", "900")), separators=(",", ":")).encode()
BODY = b'{"Pod":' + POD + b',"Nodes":null,"NodeNames":["a","b"]}'
NODES = [
    b'{"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}',
    b'{"metadata":{"name":"b"},"status":{"images":[1,2,3]}}',
    b'{"metadata":{"name":"c"}}',
]
WHOLE = (
    b'{"Pod":'
    + POD
    + b',"Nodes":{"metadata":{},"items":['
    + b",".join(NODES)
    + b']},"NodeNames":null}'
)
NESTED = BODY.replace(b'"spec":', b'"x":{"y":1,"Nodes":null,"NodeNames":["z"]},"spec":')

CLUSTER = NodeTable(some_nodes(node_json("a")))


def outcome(body: Body, known: KnownNodes | None) -> tuple[Any, ...]:
    """What is understood, or that nothing is."""
    try:
        return _outcome(body, known)
    except BadRequestError as exc:
        return (str(exc),)


def _outcome(body: Body, known: KnownNodes | None) -> tuple[Any, ...]:
    args = (
        extender_v1.decode_filter_args(bytes(body))
        if known is None
        else requests.read_filter_args(body, known)
    )
    batch = requests.nodes_of(args, CLUSTER, known or knowing(), Interner())
    batch.candidates.judge((), (), ())
    found = (batch.table.nodes[row] for row in batch.candidates.rows(0))
    return (
        args.pod,
        args.mode,
        requests.count(args),
        batch.candidates.names(),
        batch.candidates.members([b"", b"unknown"]),
        [(node.name, node.labels, node.taints.hard) for node in found if node is not None],
        list(batch.texts),
    )


def knowing(*bodies: bytes, max_bytes: int = 1 << 26) -> KnownNodes:
    """What is known after these bodies."""
    known = KnownNodes(CacheBudget(max_bytes))
    for body in bodies:
        outcome(body, known)
    return known


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A body with some of its bytes changed, doubled or gone."""
    body = bytearray(draw(st.sampled_from([BODY, NESTED, WHOLE])))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(body)))
        to = min(len(body), at + draw(st.integers(0, 30)))
        piece = draw(
            st.sampled_from(
                [b"", b'"', b"\\", b"{", b"}", b"]", b",", b"null", b'"Pod":', b"\xc3", b"\0", b"1"]
            )
            | st.just(bytes(body[at:to]))
            | st.binary(max_size=3)
        )
        body[draw(st.sampled_from([at, to])) : to] = piece
    return bytes(body)
