"""Bodies as kube-scheduler writes them are split, all others decoded: to the same arguments."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from extender.match.lru import CacheBudget
from extender.model.core_v1 import NodeSpec, ObjectMeta, Pod, PodSpec, Taint
from extender.wire import extender_v1, requests
from extender.wire.known_nodes import KnownNodes
from tests.wire.bodies import BODY, NESTED, NODES, POD, WHOLE, knowing, mutated, outcome


def test_a_body_of_kube_scheduler_is_split(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = outcome(BODY, None)
    monkeypatch.setattr(requests, "count", lambda args: 2)  # which is asked only in a fault
    monkeypatch.setattr(extender_v1, "decode_filter_args", None)

    assert outcome(BODY, knowing()) == expected
    assert expected[1:5] == ("names", 2, b'["a"]', b'"b":unknown')


def test_whole_nodes_are_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = WHOLE.replace(b"[1,2,3]", b"[4]")
    expected = outcome(WHOLE, None), outcome(changed, None)
    monkeypatch.setattr(extender_v1, "decode_filter_args", None)
    known = knowing()

    assert outcome(WHOLE, known) == expected[0]
    assert outcome(changed, known) == expected[1]
    assert outcome(WHOLE, known) == expected[0]


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
        pytest.param(WHOLE.replace(b'"b"', b'"a"'), id="two nodes of one name"),
        pytest.param(WHOLE.replace(b'"c"}', b'"c","name":"d"}'), id="a node with two names"),
        pytest.param(WHOLE.replace(b'"c"', b'"\\u0063"'), id="an escaped name of a node"),
        pytest.param(WHOLE.replace(b'"c"', '"é"'.encode()), id="a node that is not ASCII"),
        pytest.param(WHOLE.replace(b"1,2", b'"\xff"'), id="no UTF-8 in a node"),
        pytest.param(WHOLE.replace(b"1,2", '"é"'.encode()), id="UTF-8 in a node"),
        pytest.param(WHOLE.replace(b"[1,2,3]", b"[1,2"), id="a broken node"),
        pytest.param(WHOLE.replace(NODES[2], b"7"), id="a number among the nodes"),
        pytest.param(WHOLE.replace(b"," + NODES[2], b","), id="a comma behind the last node"),
        pytest.param(WHOLE.replace(b"," + NODES[2], NODES[2]), id="no comma between two nodes"),
        pytest.param(WHOLE.replace(b",".join(NODES), b""), id="no nodes"),
        pytest.param(WHOLE.replace(POD, b"[]"), id="no pod beside whole nodes"),
        pytest.param(
            WHOLE.replace(b'"images"', b'"x":[0,{"metadata":{"name":"z"}}],"images"'),
            id="a node within a node",
        ),
        pytest.param(BODY + b" ", id="a space behind"),
        pytest.param(BODY.replace(b'"NodeNames"', b'"nodenames"'), id="another letter case"),
    ],
)
def test_whatever_else_comes_is_understood_as_ever(body: bytes) -> None:
    assert outcome(body, knowing()) == outcome(body, None)


@settings(max_examples=400)
@given(bodies=st.lists(mutated(), min_size=1, max_size=3))
@example([BODY, BODY, NESTED])
@example([WHOLE, WHOLE, WHOLE.replace(b"1,2", b"2,1")])
def test_splitting_and_decoding_agree_on_any_body(bodies: list[bytes]) -> None:
    known = knowing()
    for body in bodies:
        assert outcome(body, known) == outcome(body, None)


def test_a_null_in_the_pod_or_in_a_node_does_not_make_the_whole_body_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(extender_v1, "decode_filter_args")
    pod = b'{"metadata":{"name":"p","uid":null},"spec":{"schedulerName":null}}'
    node = b'{"metadata":{"name":"a","uid":null},"spec":{"taints":[{"key":"k","value":null}]}}'
    named = b'{"Pod":%b,"Nodes":null,"NodeNames":["a"]}' % pod
    whole = b'{"Pod":%b,"Nodes":{"metadata":{},"items":[%b]},"NodeNames":null}' % (pod, node)

    one, other = (
        requests.read_filter_args(body, KnownNodes(CacheBudget())) for body in (named, whole)
    )
    assert one.pod == other.pod == Pod(ObjectMeta("p"), PodSpec())
    assert other.parsed is not None
    assert other.parsed.new[0].spec == NodeSpec(taints=(Taint("k"),))
