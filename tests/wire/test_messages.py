import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from extender.config.schema import Config
from extender.errors import BadRequestError
from extender.framework.interface import SUCCESS, Code, Status, unresolvable
from extender.model.core_v1 import ObjectMeta, Pod
from extender.server.profiles import Profiles
from extender.server.verbs import Verbs
from extender.wire import messages as wire
from extender.wire.messages import FilterArgs, MetaVictims
from tests.serving import FixedSource

GOLDEN = Path(__file__).parent.parent / "golden"
GOLDENS = sorted(path.name.removesuffix(".request.json") for path in GOLDEN.glob("*.request.json"))


def golden_cluster() -> FixedSource:
    """The nodes of `tests/golden/cluster.json`."""
    return FixedSource(*json.loads((GOLDEN / "cluster.json").read_bytes())["items"])


def golden(name: str, part: str) -> bytes:
    return (GOLDEN / f"{name}.{part}.json").read_bytes().removesuffix(b"\n")


@pytest.mark.parametrize("name", GOLDENS)
def test_golden(name: str) -> None:
    ask = getattr(Verbs(golden_cluster(), Profiles(Config())), name.split("-")[0])

    assert ask(golden(name, "request")).body == golden(name, "answer")


def test_every_golden_has_its_answer_and_its_row() -> None:
    answers = {path.name.removesuffix(".answer.json") for path in GOLDEN.glob("*.answer.json")}
    readme = (GOLDEN / "README.md").read_text(encoding="utf-8")

    assert set(GOLDENS) == answers
    assert [name for name in GOLDENS if f"| `{name}` |" not in readme] == []


# --- reading filter and prioritize


def names_args(*names: str) -> FilterArgs:
    return FilterArgs(Pod(), names, (), None)


@pytest.mark.parametrize(
    ("body", "names", "carried", "mode"),
    [
        pytest.param(
            b'{"Pod":{},"Nodes":null,"NodeNames":["b","a"]}', ["b", "a"], [], "names", id="names"
        ),
        pytest.param(b'{"Pod":{},"NodeNames":["a"]}', ["a"], [], "names", id="no Nodes at all"),
        pytest.param(b'{"Pod":{},"Nodes":null,"NodeNames":[]}', [], [], "names", id="no names"),
        pytest.param(
            b'{"Pod":{},"Nodes":{"items":[{"metadata":{"name":"a"}}]},"NodeNames":null}',
            ["a"],
            ["a"],
            "nodes",
            id="whole nodes",
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":{"metadata":{},"items":null}}', [], [], "nodes", id="items: null"
        ),
        pytest.param(b'{"Pod":{},"Nodes":{"items":[]}}', [], [], "nodes", id="no items"),
        pytest.param(b'{"Pod":{},"Nodes":{}}', [], [], "nodes", id="a list of nothing"),
        pytest.param(
            b'{"Pod":{},"Nodes":{"items":[{},{"metadata":null}]}}',
            ["", ""],
            ["", ""],
            "nodes",
            id="nodes without a name",
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":{"items":[{"metadata":{"name":"b"}}]},"NodeNames":["a","b"]}',
            ["a", "b"],
            ["b"],
            "names",
            id="names were asked for, a node is carried along",
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":{"items":[{"metadata":{"name":"b"}}]},"NodeNames":[]}',
            ["b"],
            ["b"],
            "nodes",
            id="nodes beside an empty list of names",
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":null,"NodeNames":["a"],"Extra":{"deep":[1,{"x":null}]}}',
            ["a"],
            [],
            "names",
            id="unknown keys are ignored",
        ),
        pytest.param(
            b' \r\n{ "Pod" : { } ,\t"NodeNames" : [ "a" ] } \n',
            ["a"],
            [],
            "names",
            id="white space",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNames":["\\u003ca\\u003e","\\ud83d\\ude00"]}',
            ["<a>", "😀"],
            [],
            "names",
            id="escapes",
        ),
    ],
)
def test_decode_filter_args(body: bytes, names: list[str], carried: list[str], mode: str) -> None:
    args = wire.decode_filter_args(body)

    assert args.pod == Pod()
    assert list(args.names) == names
    assert [node.metadata.name if node.metadata else "" for node in args.nodes] == carried
    assert args.mode == mode


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"pod":{"metadata":{"name":"p"}},"nodeNames":["a"]}', id="camel case"),
        pytest.param(b'{"POD":{"metadata":{"name":"p"}},"NODENAMES":["a"]}', id="capitals"),
        pytest.param(b'{"pOd":{"metadata":{"name":"p"}},"nodenames":["a"]}', id="any case"),
        pytest.param(b'{"Pod":{"metadata":{"name":"p"}},"nodenames":["a"]}', id="one of two"),
        pytest.param(b'{"pod":{"metadata":{"name":"p"}},"NodeNames":["a"]}', id="the other one"),
        pytest.param(
            b'{"pod":{"metadata":{"name":"p"}},"nodes":null,"nodenames":["a"],"Extra":1}',
            id="with null and unknown keys",
        ),
        pytest.param(
            b'{"Pod":null,"pod":{"metadata":{"name":"p"}},"NodeNames":["a"]}', id="the later stands"
        ),
    ],
)
def test_keys_are_read_in_any_letter_case(body: bytes) -> None:
    args = wire.decode_filter_args(body)

    assert (args.pod, list(args.names)) == (Pod(ObjectMeta(name="p")), ["a"])


def test_whole_nodes_are_read_in_any_letter_case() -> None:
    args = wire.decode_filter_args(b'{"pod":{},"nodes":{"items":[{"metadata":{"name":"a"}}]}}')

    assert (args.mode, list(args.names)) == ("nodes", ["a"])
    assert args.raw is not None
    assert bytes(args.raw[0]) == b'{"metadata":{"name":"a"}}'


def test_letter_case_matters_below_the_top_level() -> None:
    """Those are ordinary Kubernetes objects, whose keys have tags."""
    args = wire.decode_filter_args(b'{"pod":{"Metadata":{"name":"p"}},"nodes":{"Items":[{}]}}')

    assert (args.pod, list(args.names)) == (Pod(), [])


def error_of(body: bytes) -> str:
    with pytest.raises(BadRequestError) as caught:
        wire.decode_filter_args(body)
    return str(caught.value)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        pytest.param(b"", "ExtenderArgs is not JSON: Input data was truncated", id="nothing"),
        pytest.param(b"null", "ExtenderArgs: Expected `object`, got `null`", id="null"),
        pytest.param(b"[]", "ExtenderArgs: Expected `object`, got `array`", id="a list"),
        pytest.param(b"{}", "ExtenderArgs: Pod is missing", id="an empty object"),
        pytest.param(
            b'{"Pod":null,"NodeNames":["a"]}', "ExtenderArgs: Pod is missing", id="no pod"
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":null,"NodeNames":null}',
            "ExtenderArgs: neither Nodes nor NodeNames is given",
            id="neither list",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNames":["a"]} x',
            "ExtenderArgs is not JSON: JSON is malformed: trailing characters (byte 30)",
            id="trailing bytes",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNames":["a"]}{}',
            "ExtenderArgs is not JSON: JSON is malformed: trailing characters (byte 29)",
            id="a second object",
        ),
        pytest.param(
            b'\xef\xbb\xbf{"Pod":{},"NodeNames":["a"]}',
            "ExtenderArgs is not JSON: JSON is malformed: invalid character (byte 0)",
            id="a byte order mark",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNames":["a"],"X":NaN}',
            "ExtenderArgs is not JSON: JSON is malformed: invalid character (byte 32)",
            id="not a number",
        ),
        pytest.param(
            b'{"Pod":{"spec":{"tolerations":[{},{"key":5}]}},"NodeNames":["a"]}',
            "ExtenderArgs: Expected `str`, got `int` - at `$.Pod.spec.tolerations[1].key`",
            id="a wrong type in the pod",
        ),
        pytest.param(
            b'{"pod":{"spec":{"tolerations":{}}},"nodenames":["a"]}',
            "ExtenderArgs: Expected `array | null`, got `object` - at `$.Pod.spec.tolerations`",
            id="a wrong type under keys of another case",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNames":"a"}',
            "ExtenderArgs: Expected `array | null`, got `str` - at `$.NodeNames`",
            id="a name without a list",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNames":["a",null]}',
            "ExtenderArgs: Expected `str`, got `null` - at `$.NodeNames[1]`",
            id="a null for a name",
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":[]}',
            "ExtenderArgs: Expected `object | null`, got `array` - at `$.Nodes`",
            id="nodes without a NodeList",
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":{"items":[{},null]}}',
            "ExtenderArgs: Nodes.items[1]: Expected `object`, got `null`",
            id="a null for a node",
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":{"items":[{},{"spec":{"taints":[{"value":1}]}}]}}',
            "ExtenderArgs: Nodes.items[1]: Expected `str`, got `int` - at `$.spec.taints[0].value`",
            id="a wrong type in a node",
        ),
        pytest.param(
            b'{"Pod":{"spec":{"tolerations":[{"tolerationSeconds":' + b"9" * 5000 + b"}]}}}",
            "ExtenderArgs: Integer value out of range"
            " - at `$.Pod.spec.tolerations[0].tolerationSeconds`",
            id="a number of 5,000 digits",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNames":["a"],"Other":"\xff"}',
            "the body is not UTF-8: 'utf-8' codec can't decode byte 0xff in position 37:"
            " invalid start byte",
            id="bad UTF-8 in a field that is not read",
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":{"items":[{"status":{"x":"\xc3("}}]}}',
            "the body is not UTF-8: 'utf-8' codec can't decode byte 0xc3 in position 44:"
            " invalid continuation byte",
            id="bad UTF-8 inside a node",
        ),
        pytest.param(
            b'{"Pod":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b'},"NodeNames":["a"]}',
            "ExtenderArgs is nested too deeply",
            id="a field that is not read, too deep",
        ),
        pytest.param(
            b'{"x":' + b'{"y":' * 100_000 + b"1" + b"}" * 100_001,
            "ExtenderArgs is nested too deeply",
            id="an unknown key, too deep",
        ),
    ],
)
def test_what_kube_scheduler_does_not_send_is_refused_with_its_place(
    body: bytes, error: str
) -> None:
    assert error_of(body) == error


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"Pod":{"metadata":{"name":"\\ud800"}},"NodeNames":[]}', id="in a name"),
        pytest.param(b'{"Pod":{"\\udc00":1},"NodeNames":["a"]}', id="in a key that is not read"),
        pytest.param(b'{"Pod":{},"Nodes":{"items":[{"status":"\\udc00"}]}}', id="inside a node"),
    ],
)
def test_half_a_surrogate_pair_is_not_json(body: bytes) -> None:
    assert error_of(body).startswith("ExtenderArgs is not JSON: ")


# --- reading preempt


def victims_of(*uids: str, violations: int = 0) -> MetaVictims:
    pods = [{"UID": uid} for uid in uids]
    return msgspec.convert({"Pods": pods, "NumPDBViolations": violations}, MetaVictims)


UIDS = victims_of("u1", "u2", violations=3)


@pytest.mark.parametrize(
    ("body", "victims", "mode"),
    [
        pytest.param(
            b'{"Pod":{},"NodeNameToVictims":null,"NodeNameToMetaVictims":'
            b'{"a":{"Pods":[{"UID":"u1"},{"UID":"u2"}],"NumPDBViolations":3}}}',
            {"a": UIDS},
            "names",
            id="by UID",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNameToVictims":{"a":{"Pods":[{"metadata":{"uid":"u1","name":"x"}},'
            b'{"metadata":{"uid":"u2"}}],"NumPDBViolations":3}},"NodeNameToMetaVictims":null}',
            {"a": UIDS},
            "nodes",
            id="whole pods",
        ),
        pytest.param(
            b'{"pod":{},"nodenametometavictims":'
            b'{"a":{"Pods":[{"UID":"u1"},{"UID":"u2"}],"NumPDBViolations":3}}}',
            {"a": UIDS},
            "names",
            id="by UID, keys in another case",
        ),
        pytest.param(
            b'{"Pod":{},"nodeNameToMetaVictims":'
            b'{"a":{"Pods":[{"UID":"u1"},{"UID":"u2"}],"NumPDBViolations":3}}}',
            {"a": UIDS},
            "names",
            id="by UID, one key in another case",
        ),
        pytest.param(
            b'{"pod":{},"NodeNameToMetaVictims":'
            b'{"a":{"Pods":[{"UID":"u1"},{"UID":"u2"}],"NumPDBViolations":3}}}',
            {"a": UIDS},
            "names",
            id="by UID, the other key in another case",
        ),
        pytest.param(
            b'{"POD":{},"NODENAMETOVICTIMS":{"a":{"Pods":[{"metadata":{"uid":"u1"}},'
            b'{"metadata":{"uid":"u2"}}],"NumPDBViolations":3}}}',
            {"a": UIDS},
            "nodes",
            id="whole pods, keys in another case",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNameToMetaVictims":{"a":null,"b":{"Pods":null},"c":{"Pods":[]}}}',
            {"a": MetaVictims(), "b": MetaVictims(), "c": MetaVictims(())},
            "names",
            id="by UID, nobody",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNameToVictims":{"a":null,"b":{"Pods":null},"c":{"Pods":[]}}}',
            {"a": MetaVictims(), "b": MetaVictims(()), "c": MetaVictims(())},
            "nodes",
            id="whole pods, nobody",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNameToVictims":{"a":{"Pods":[{},{"metadata":null}]}}}',
            {"a": victims_of("", "")},
            "nodes",
            id="victims that have no UID",
        ),
        pytest.param(b'{"Pod":{},"NodeNameToMetaVictims":{}}', {}, "names", id="no candidates"),
        pytest.param(b'{"Pod":{},"NodeNameToVictims":{}}', {}, "nodes", id="no candidates, whole"),
        pytest.param(b'{"Pod":{}}', {}, "names", id="neither map"),
        pytest.param(
            b'{"Pod":{},"NodeNameToVictims":{"b":null},"NodeNameToMetaVictims":'
            b'{"a":{"Pods":[{"UID":"u1"},{"UID":"u2"}],"NumPDBViolations":3}}}',
            {"a": UIDS},
            "names",
            id="both maps: those by UID",
        ),
    ],
)
def test_decode_preemption_args(body: bytes, victims: dict[str, MetaVictims], mode: str) -> None:
    args = wire.decode_preemption_args(body)

    assert (args.pod, dict(args.victims), args.mode) == (Pod(), victims, mode)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        pytest.param(
            b"{", "ExtenderPreemptionArgs is not JSON: Input data was truncated", id="cut"
        ),
        pytest.param(b"[]", "ExtenderPreemptionArgs: Expected `object`, got `array`", id="a list"),
        pytest.param(
            b'{"NodeNameToMetaVictims":{}}', "ExtenderPreemptionArgs: Pod is missing", id="no pod"
        ),
        pytest.param(
            b'{"Pod":{},"NodeNameToMetaVictims":{"a":{"Pods":["u1"]}}}',
            "ExtenderPreemptionArgs: Expected `object`, got `str`"
            " - at `$.NodeNameToMetaVictims[...].Pods[0]`",
            id="a bare UID",
        ),
        pytest.param(
            b'{"pod":{"spec":5},"nodenametovictims":{}}',
            "ExtenderPreemptionArgs: Expected `object | null`, got `int` - at `$.Pod.spec`",
            id="a wrong type under keys of another case",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNameToVictims":{"a":{"NumPDBViolations":"1"}}}',
            "ExtenderPreemptionArgs: Expected `int`, got `str`"
            " - at `$.NodeNameToVictims[...].NumPDBViolations`",
            id="a count as text",
        ),
        pytest.param(
            b'{"Pod":{},"X":"\xfe"}',
            "the body is not UTF-8: 'utf-8' codec can't decode byte 0xfe in position 15:"
            " invalid start byte",
            id="bad UTF-8",
        ),
        pytest.param(
            b'{"Pod":{},"X":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            "ExtenderPreemptionArgs is nested too deeply",
            id="too deep",
        ),
    ],
)
def test_a_preemption_that_cannot_be_read_says_where(body: bytes, error: str) -> None:
    with pytest.raises(BadRequestError) as caught:
        wire.decode_preemption_args(body)

    assert str(caught.value) == error


# --- whole nodes

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


@pytest.mark.parametrize("node", ODD_NODES)
@pytest.mark.parametrize("pod", [b'"Pod"', b'"pod"'], ids=["Go's keys", "keys of another case"])
def test_a_whole_node_returns_byte_for_byte(pod: bytes, node: bytes) -> None:
    body = b"{" + pod + b':{},"Nodes":{"items":[ ' + node + b' , {"metadata":{"name":"z"}} ]}}'

    args = wire.decode_filter_args(body)
    answer = wire.encode_filter(args, [SUCCESS, unresolvable("no")])

    assert args.names == ["a", "z"]
    assert answer.body == (
        b'{"Nodes":{"items":[' + node + b']},"NodeNames":null,"FailedNodes":{},'
        b'"FailedAndUnresolvableNodes":{"z":"no"},"Error":""}'
    )


# --- writing filter


def told(args: FilterArgs, statuses: Sequence[Status | None]) -> Any:
    return json.loads(wire.encode_filter(args, statuses).body)


def test_a_filter_answer_has_all_of_gos_fields() -> None:
    answer = wire.encode_filter(
        names_args("a", "b", "c", "d"),
        [SUCCESS, unresolvable("no"), None, Status(Code.UNSCHEDULABLE, ("x", "y"))],
    )

    assert answer.body == (
        b'{"Nodes":null,"NodeNames":["a"],"FailedNodes":{},"FailedAndUnresolvableNodes":'
        b'{"b":"no","c":"node(s) not yet known to the extender","d":"x, y"},"Error":""}'
    )
    assert (answer.passed, answer.refused, answer.error) == (1, 3, "")


def test_the_order_of_the_request_is_kept() -> None:
    names = ["n9", "n1", "n5", "n3"]
    no = unresolvable("no")

    assert told(names_args(*names), [SUCCESS] * 4)["NodeNames"] == names
    assert list(told(names_args(*names), [no] * 4)["FailedAndUnresolvableNodes"]) == names
    mixed = told(names_args(*names), [SUCCESS, no, SUCCESS, no])
    assert mixed["NodeNames"] == ["n9", "n5"]
    assert list(mixed["FailedAndUnresolvableNodes"]) == ["n1", "n3"]


@pytest.mark.parametrize(
    ("statuses", "error"),
    [
        pytest.param([None, None], "2 node(s) not yet known to the extender", id="none is known"),
        pytest.param(
            [None, unresolvable("no")],
            "1 node(s) not yet known to the extender",
            id="none of the known ones passes",
        ),
        pytest.param(
            [SUCCESS, Status(Code.ERROR, ("internal fault (KeyError)",), "TaintToleration")],
            "TaintToleration: internal fault (KeyError)",
            id="a plugin broke",
        ),
        pytest.param(
            [None, Status(Code.ERROR, ("internal fault (KeyError)",), "NodeAffinity")],
            "NodeAffinity: internal fault (KeyError)",
            id="a fault is told before an unknown node",
        ),
    ],
)
def test_an_error_comes_with_empty_lists(statuses: list[Status | None], error: str) -> None:
    by_name = wire.encode_filter(names_args("a", "b"), statuses)
    body = b'{"Pod":{},"Nodes":{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}}'
    whole = wire.encode_filter(wire.decode_filter_args(body), statuses)

    assert json.loads(by_name.body) == {
        "Nodes": None,
        "NodeNames": [],
        "FailedNodes": {},
        "FailedAndUnresolvableNodes": {},
        "Error": error,
    }
    assert json.loads(whole.body) == {
        "Nodes": {"items": []},
        "NodeNames": None,
        "FailedNodes": {},
        "FailedAndUnresolvableNodes": {},
        "Error": error,
    }
    assert (by_name.passed, by_name.refused, by_name.error) == (0, 0, error)


def test_errors_without_statuses() -> None:
    answer = wire.encode_filter_error(names_args("a"), "cache not synced")

    assert json.loads(answer.body)["Error"] == "cache not synced"
    assert (answer.passed, answer.refused, answer.error) == (0, 0, "cache not synced")
    assert json.loads(wire.encode_filter_fault("broken")) == {
        "Nodes": {"items": []},
        "NodeNames": [],
        "FailedNodes": {},
        "FailedAndUnresolvableNodes": {},
        "Error": "broken",
    }


def test_nobody_was_asked_about() -> None:
    assert told(names_args(), []) == {
        "Nodes": None,
        "NodeNames": [],
        "FailedNodes": {},
        "FailedAndUnresolvableNodes": {},
        "Error": "",
    }


# --- reasons


def tainted(key: str, value: str) -> Status:
    return unresolvable(f"taint {{{key}: {value}}}", brief=f"taint {{{key}}}")


def reasons_of(*statuses: Status | None) -> list[str]:
    names = [f"n{i}" for i in range(len(statuses))]
    answer = told(names_args(*names, "passes"), [*statuses, SUCCESS])
    return list(answer["FailedAndUnresolvableNodes"].values())


def test_up_to_ten_different_reasons_are_told_in_full() -> None:
    ten = [tainted("sla", str(i)) for i in range(10)]

    assert reasons_of(*ten) == [f"taint {{sla: {i}}}" for i in range(10)]
    assert reasons_of(*ten, *ten) == [f"taint {{sla: {i}}}" for i in range(10)] * 2


def test_more_than_ten_are_collapsed_to_the_key() -> None:
    eleven = [tainted("sla", str(i)) for i in range(10)] + [tainted("gpu", "x")]

    assert reasons_of(*eleven) == ["taint {sla}"] * 10 + ["taint {gpu}"]


def test_texts_are_counted_not_statuses() -> None:
    alike = [tainted("sla", str(i % 10)) for i in range(30)]

    assert reasons_of(*alike) == [f"taint {{sla: {i % 10}}}" for i in range(30)]


@pytest.mark.parametrize(
    ("first", "second", "size"),
    [
        pytest.param("x" * 339, "x" * 339, 700, id="700 bytes"),
        pytest.param("x" * 339, "x" * 340, 701, id="701 bytes"),
        pytest.param("é" * 169 + "x", "é" * 169 + "x", 700, id="700 bytes beyond ASCII"),
        pytest.param("é" * 169 + "x", "é" * 170, 701, id="701 bytes beyond ASCII"),
    ],
)
def test_up_to_700_bytes_of_reasons_are_told_in_full(first: str, second: str, size: int) -> None:
    full = [f"taint {{a: {first}}}", f"taint {{b: {second}}}"]
    a, b = tainted("a", first), tainted("b", second)

    assert len("".join(full).encode()) == size
    assert reasons_of(a, b) == (full if size == 700 else ["taint {a}", "taint {b}"])
    # A text counts once, however many nodes share it.
    assert reasons_of(a, a, b)[1:] == reasons_of(a, b)


def test_reasons_without_a_brief_form_neither_count_nor_change() -> None:
    fixed = [unresolvable(f"fixed {i} " + "x" * 200) for i in range(20)]
    ten = [tainted("sla", str(i)) for i in range(10)]

    told_ = reasons_of(*fixed, *ten, None)
    assert told_ == (
        [s.reasons[0] for s in fixed]
        + [f"taint {{sla: {i}}}" for i in range(10)]
        + ["node(s) not yet known to the extender"]
    )
    eleven = reasons_of(*fixed, *ten, tainted("sla", "10"))
    assert eleven == [s.reasons[0] for s in fixed] + ["taint {sla}"] * 11


def test_same_state_same_text_whatever_the_order() -> None:
    statuses = [tainted("sla", str(i)) for i in range(12)] + [unresolvable("no")]
    names = [f"n{i}" for i in range(13)]

    def by_name(order: Sequence[int]) -> Any:
        args = names_args(*(names[i] for i in order))
        return told(args, [statuses[i] for i in order])["FailedAndUnresolvableNodes"]

    assert by_name(range(13)) == by_name(range(12, -1, -1))


# --- writing the rest


def test_encode_priorities() -> None:
    assert wire.encode_priorities(["b", "a"], [10, 0]) == (
        b'[{"Host":"b","Score":10},{"Host":"a","Score":0}]'
    )
    assert wire.encode_priorities([], []) == b"[]"


def test_encode_preemption() -> None:
    assert wire.encode_preemption({"a": UIDS}) == (
        b'{"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"u1"},{"UID":"u2"}],"NumPDBViolations":3}}}'
    )
    assert wire.encode_preemption({}) == b'{"NodeNameToMetaVictims":{}}'
