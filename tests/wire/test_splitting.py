"""Bodies as kube-scheduler writes them are split, all others decoded: to the same arguments."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from extender.errors import BadRequestError
from extender.wire import messages, splitting
from extender.wire.listings import Listings
from extender.wire.messages import FilterArgs
from tests.builders import pod_json, toleration

POD = json.dumps(pod_json(toleration("sla", "Gt", "900")), separators=(",", ":")).encode()
BODY = b'{"Pod":' + POD + b',"Nodes":null,"NodeNames":["a","b"]}'
NESTED = BODY.replace(b'"spec":', b'"x":{"y":1,"Nodes":null,"NodeNames":["z"]},"spec":')


def outcome(body: bytes, listings: Listings | None) -> tuple[Any, ...]:
    """What is understood, or that nothing is."""
    try:
        args: FilterArgs = (
            messages.decode_filter_args(body)
            if listings is None
            else splitting.read_filter_args(body, listings)
        )
    except BadRequestError as exc:
        return (str(exc),)
    raw = None if args.raw is None else [bytes(each) for each in args.raw]
    listed = None if args.listing is None else list(args.listing.names)
    return args.pod, list(args.names), list(args.nodes), raw, listed


def test_a_body_of_kube_scheduler_is_split(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = outcome(BODY, None)
    monkeypatch.setattr(messages, "decode_filter_args", None)

    assert outcome(BODY, Listings()) == expected
    assert expected[1] == ["a", "b"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(NESTED, id="the next key stands within the pod too"),
        pytest.param(BODY.replace(POD, b"null"), id="no pod"),
        pytest.param(BODY.replace(POD, POD + POD), id="two pods"),
        pytest.param(BODY.replace(POD, POD + b',"Pod":{}'), id="two pods by key"),
        pytest.param(BODY.replace(POD, b"[" * 100_000), id="too deep"),
        pytest.param(BODY.replace(b"]}", b'],"NodeNames":["c"]}'), id="two lists of names"),
        pytest.param(BODY.replace(b"]}", b'],"Pod":{},"x":[]}'), id="another pod behind"),
        pytest.param(BODY.replace(b'"a"', b'"\\u0061"'), id="an escaped name"),
        pytest.param(BODY.replace(b'"a"', '"é"'.encode()), id="a name that is not ASCII"),
        pytest.param(BODY.replace(b'"a"', b"7"), id="a number among the names"),
        pytest.param(BODY.replace(b'"a"', b'"\xff"'), id="no UTF-8 in a name"),
        pytest.param(BODY.replace(b"web-0", b"\xff"), id="no UTF-8 in the pod"),
        pytest.param(BODY.replace(b'"a","b"', b""), id="no names"),
        pytest.param(BODY + b"x", id="something behind"),
        pytest.param(BODY + b" ", id="a space behind"),
        pytest.param(BODY.replace(b'"NodeNames"', b'"nodenames"'), id="another letter case"),
    ],
)
def test_whatever_else_comes_is_understood_as_ever(body: bytes) -> None:
    assert outcome(body, Listings()) == outcome(body, None)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A body with some of its bytes changed, doubled or gone."""
    body = bytearray(draw(st.sampled_from([BODY, NESTED])))
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


@settings(max_examples=400)
@given(bodies=st.lists(mutated(), min_size=1, max_size=3))
@example([BODY, BODY, NESTED])
def test_splitting_and_decoding_agree_on_any_body(bodies: list[bytes]) -> None:
    listings = Listings()
    for body in bodies:
        assert outcome(body, listings) == outcome(body, None)
