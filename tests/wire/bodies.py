"""Bodies as kube-scheduler writes them, what is understood of them, what chance makes of them."""

import json
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from extender.errors import BadRequestError
from extender.framework.snapshot import Interner, NodeInfo
from extender.wire import messages, splitting
from extender.wire.intake import Body
from extender.wire.messages import FilterArgs
from extender.wire.splitting import Known
from tests.builders import pod_json, toleration

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


def outcome(body: Body, known: Known | None) -> tuple[Any, ...]:
    """What is understood, or that nothing is."""
    try:
        args: FilterArgs = (
            messages.decode_filter_args(bytes(body))
            if known is None
            else splitting.read_filter_args(body, known)
        )
    except BadRequestError as exc:
        return (str(exc),)
    nodes: Iterable[NodeInfo | None] = map(Interner().node_info, args.nodes)
    raw = args.raw
    if args.carried is not None:
        nodes, raw = args.carried.nodes(), args.carried.raw()
    infos = [(node.name, node.labels, node.taints.hard) for node in nodes if node is not None]
    listed = None if args.listing is None or args.raw is not None else list(args.listing.names)
    return args.pod, list(args.names), infos, raw and [bytes(each).strip() for each in raw], listed


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
