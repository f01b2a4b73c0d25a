"""The answer to filter: who is named, with which words, byte for byte."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from extender.config.schema import Config
from extender.framework.interface import Code, Status, unresolvable
from extender.verbs import filter as filter_verb
from extender.verbs.context import Context
from extender.verbs.profiles import Profiles
from extender.wire import answers
from extender.wire.answers import Refusals
from tests.builders import JSON, node_json, pod_json, taint
from tests.serving import FixedSource, names_request, nodes_request

UNKNOWN = "node(s) not yet known to the extender"
GOLD = node_json("gold", taint("sla", "950"))
PLAIN = node_json("plain")


def asked(
    *nodes: JSON,
    names: Sequence[str] | None = None,
    pod: JSON | None = None,
    refusals: Refusals = "always",
) -> Any:
    """The answer about these nodes of a cluster, or about these names."""
    context = Context(FixedSource(*nodes), Profiles(Config()), refusals=refusals)
    listed = names if names is not None else [each["metadata"]["name"] for each in nodes]
    request = names_request(pod or pod_json(), *listed)
    return json.loads(filter_verb.answer(context, json.dumps(request).encode()).body)


def body_of(nodes: Sequence[bytes]) -> bytes:
    items = b",".join(nodes)
    return b'{"Pod":{},"Nodes":{"metadata":{},"items":[%b]},"NodeNames":null}' % items


def test_a_filter_answer_has_all_of_gos_fields() -> None:
    context = Context(FixedSource(PLAIN, GOLD), Profiles(Config()), refusals="always")
    request = json.dumps(names_request(pod_json(), "plain", "gold", "new"))

    answer = filter_verb.answer(context, request.encode())

    assert answer.body == (
        b'{"Nodes":null,"NodeNames":["plain"],"FailedNodes":{},"FailedAndUnresolvableNodes":'
        b'{"gold":"node(s) had untolerated taint {sla: 950}",'
        b'"new":"node(s) not yet known to the extender"},"Error":""}'
    )
    assert (answer.nodes, answer.passed, answer.error) == (3, 1, "")


@pytest.mark.parametrize("names", [["plain", "gold", "new"], ["gold", "plain"]])
def test_where_a_node_passes_the_refused_are_named_only_if_somebody_wants_it(
    names: list[str],
) -> None:
    needed = asked(PLAIN, GOLD, names=names, refusals="needed")
    always = asked(PLAIN, GOLD, names=names, refusals="always")

    assert needed == {**always, "FailedAndUnresolvableNodes": {}}
    assert always["NodeNames"] == ["plain"]
    assert set(always["FailedAndUnresolvableNodes"]) == set(names) - {"plain"}


def test_where_none_passes_the_refused_are_named_in_any_case() -> None:
    needed = asked(GOLD, refusals="needed")

    assert needed == asked(GOLD, refusals="always")
    assert needed["FailedAndUnresolvableNodes"] == {
        "gold": "node(s) had untolerated taint {sla: 950}"
    }


def test_the_order_of_the_request_is_kept() -> None:
    nodes = [node_json(name, *([taint("k")] if name in "ac" else [])) for name in "dacb"]

    answer = asked(*reversed(nodes), names=["d", "a", "c", "b"])

    assert answer["NodeNames"] == ["d", "b"]
    assert list(answer["FailedAndUnresolvableNodes"]) == ["a", "c"]


@pytest.mark.parametrize("names", [["new"], ["new", "gold", "newer"]])
def test_unknown_nodes_are_an_error_where_none_passes(names: list[str]) -> None:
    answer = asked(GOLD, names=names)

    assert answer["Error"] == f"{len(names) - ('gold' in names)} {UNKNOWN}"
    assert (answer["NodeNames"], answer["FailedAndUnresolvableNodes"]) == ([], {})


def test_a_pod_that_is_refused_itself_is_refused_by_unknown_nodes_too() -> None:
    pod = pod_json(annotated_tolerations="{}")

    answer = asked(PLAIN, names=["plain", "new"], pod=pod, refusals="needed")

    assert answer["Error"] == ""
    assert set(answer["FailedAndUnresolvableNodes"]) == {"plain", "new"}
    assert len(set(answer["FailedAndUnresolvableNodes"].values())) == 1


def test_nobody_was_asked_about() -> None:
    assert asked(names=[]) == {
        "Nodes": None,
        "NodeNames": [],
        "FailedNodes": {},
        "FailedAndUnresolvableNodes": {},
        "Error": "",
    }


ODD_NODES = [
    pytest.param(b'{"metadata":{"name":"a"}}', id="compact"),
    pytest.param(b'{ "metadata" :\n\t{ "name"\r: "a" } , "x" : [ 1 , 2 ] }', id="white space"),
    pytest.param(
        b'{"metadata":{"name":"\\u0061"},"x":"\\u003c\\u0026\\/\\ud83d\\ude00"}', id="escapes"
    ),
    pytest.param('{"metadata":{"name":"a"},"x":"Zürich 😀\u2028"}'.encode(), id="beyond ASCII"),
    pytest.param(
        b'{"metadata":{"name":"b"},"metadata":{"name":"a"},"x":1,"x":2}', id="keys that come twice"
    ),
    pytest.param(
        b'{"metadata":{"name":"a"},"x":[1.0,1e5,-0,0.10,' + b"1" * 400 + b"]}", id="odd numbers"
    ),
    pytest.param(b'{"x":null,"status":{},"metadata":{"name":"a"},"":{}}', id="odd keys"),
]
REFUSED = json.dumps(node_json("z", taint("k"))).encode()


@pytest.mark.parametrize("node", ODD_NODES)
@pytest.mark.parametrize("place", [0, 1, 2], ids=["first", "in the middle", "last"])
def test_whole_nodes_return_byte_for_byte(node: bytes, place: int) -> None:
    others = [REFUSED, b'{"metadata":{"name":"m"}}']
    nodes = [*others[:place], node, *others[place:]]
    context = Context(FixedSource(), Profiles(Config()), refusals="always")
    for _ in range(2):  # the second time they are known
        answer = filter_verb.answer(context, body_of(nodes))

        assert answer.body == (
            b'{"Nodes":{"items":['
            + b",".join(each for each in nodes if each is not REFUSED)
            + b']},"NodeNames":null,"FailedNodes":{},"FailedAndUnresolvableNodes":'
            b'{"z":"node(s) had untolerated taint {k: }"},"Error":""}'
        )


def reasons_of(*nodes: JSON) -> list[str]:
    context = Context(FixedSource(), Profiles(Config()), refusals="always")
    request = json.dumps(nodes_request(pod_json(), *nodes, PLAIN)).encode()
    answer = json.loads(filter_verb.answer(context, request).body)
    return list(answer["FailedAndUnresolvableNodes"].values())


def tainted(*keys_and_values: tuple[str, str]) -> list[JSON]:
    return [node_json(f"n{i}", taint(k, v)) for i, (k, v) in enumerate(keys_and_values)]


def full(key: str, value: str) -> str:
    return f"node(s) had untolerated taint {{{key}: {value}}}"


def test_up_to_ten_different_reasons_are_told_in_full() -> None:
    pairs = [("sla", str(i % 10)) for i in range(30)]

    assert reasons_of(*tainted(*pairs)) == [full(*pair) for pair in pairs]


def test_more_than_ten_are_collapsed_to_the_key() -> None:
    pairs = [("sla", str(i)) for i in range(10)] + [("gpu", "x")]

    assert reasons_of(*tainted(*pairs)) == [
        *["node(s) had untolerated taint {sla}"] * 10,
        "node(s) had untolerated taint {gpu}",
    ]


def status(text: str, brief: str = "brief") -> Status:
    return unresolvable(text, brief=brief)


@pytest.mark.parametrize(
    ("texts", "too_many"),
    [
        pytest.param(["x" * 350, "y" * 350], False, id="700 bytes"),
        pytest.param(["x" * 350, "y" * 351], True, id="701 bytes"),
        pytest.param(["é" * 175, "à" * 175], False, id="700 bytes beyond ASCII"),
        pytest.param(["é" * 175, "à" * 175 + "x"], True, id="701 bytes beyond ASCII"),
        pytest.param(["x" * 350] * 20, False, id="a text counts once"),
        pytest.param([str(i) for i in range(10)], False, id="ten texts"),
        pytest.param([str(i) for i in range(11)], True, id="eleven texts"),
        pytest.param([], False, id="none"),
    ],
)
def test_reasons_are_too_many_by_number_and_by_size(texts: list[str], *, too_many: bool) -> None:
    assert answers.are_too_many(map(status, texts)) is too_many


def test_reasons_without_a_brief_form_do_not_count() -> None:
    fixed = [Status(Code.UNSCHEDULABLE, (f"{i} " + "x" * 200,)) for i in range(20)]

    assert not answers.are_too_many([*fixed, status("one")])
